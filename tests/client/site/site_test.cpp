#include "client/site/site.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "client/site/own_addresses.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.kind();
  }
  FAIL("expected an error");
  return ErrorKind::io;
}

TEST_CASE("a secret is read as it was written, with space around it") {
  const SiteSecret secret = SiteSecret::generate();
  const std::string text = secret.text();
  CHECK(text.size() == 13 + 40);
  CHECK(SiteSecret::parse(" " + text + "\r\n").text() == text);
  CHECK(SiteSecret::parse(text).id() == secret.id());
  CHECK(SiteSecret::generate().id() != secret.id());
  CHECK(text.find(secret.id().hex().substr(0, 8)) == std::string::npos);
}

TEST_CASE("every slip in a secret is noticed, and no secret is repeated") {
  const std::string text = SiteSecret::generate().text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    std::string wrong = text;
    wrong[at] = wrong[at] == '3' ? '4' : '3';
    try {
      SiteSecret::parse(wrong);
      FAIL("a slip was not noticed");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::usage);
      CHECK(std::string(e.what()).find(text.substr(13, 8)) ==
            std::string::npos);
    }
    CHECK(kind_of([&] { SiteSecret::parse(text.substr(0, at)); }) ==
          ErrorKind::usage);
  }
}

TEST_CASE("what is sealed opens for the same secret, kind and binding only") {
  const SiteSecret secret = SiteSecret::generate();
  const SiteSecret other = SiteSecret::generate();
  const Bytes sealed =
      secret.seal(MateMessage::reply, as_bytes("text"), as_bytes("bound"));
  const auto open = [&](const SiteSecret& by, MateMessage kind,
                        std::string_view bound) {
    return by.open(kind, sealed, as_bytes(bound)).has_value();
  };
  CHECK(open(SiteSecret::parse(secret.text()), MateMessage::reply, "bound"));
  CHECK_FALSE(open(other, MateMessage::reply, "bound"));
  CHECK_FALSE(open(secret, MateMessage::request, "bound"));
  CHECK_FALSE(open(secret, MateMessage::contact, "bound"));
  CHECK_FALSE(open(secret, MateMessage::reply, "found"));
}

TEST_CASE("site.json is its owner's alone") {
  test::TemporaryFolder root;
  const DataFolder folder(root.path());
  CHECK_FALSE(read_site(folder));
  const SiteSettings settings{
      SiteSecret::generate(), {"192.168.1.7", "2001:db8::7"}, 8471};
  write_site(folder, settings);
  const auto read = read_site(folder);
  REQUIRE(read);
  CHECK(read->secret.text() == settings.secret.text());
  CHECK(read->addresses == settings.addresses);
  CHECK(read->port == 8471);
  const fs::path file = root / "site.json";
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  CHECK(kind_of([&] { read_site(folder); }) == ErrorKind::denied);
  CHECK(remove_site(folder));
  CHECK_FALSE(remove_site(folder));
  CHECK_FALSE(read_site(folder));
}

TEST_CASE("a damaged site.json is refused with its place") {
  const std::string secret = SiteSecret::generate().text();
  const auto text = [&](const std::string& addresses, const std::string& port) {
    return "{\"secret\":\"" + secret + "\",\"addresses\":" + addresses +
           ",\"port\":" + port + "}";
  };
  CHECK(parse_site(text("[]", "0"), "x").addresses.empty());
  for (const std::string& wrong :
       {std::string(), std::string("{"), std::string("{}"), text("[]", "65536"),
        text("[7]", "1"), text("[\"a b\"]", "1"), text("[\"http://x\"]", "1"),
        text("[\"10.0.0.1:80\"]", "1"),
        text("[\"a\",\"b\",\"c\",\"d\",\"e\"]", "1"),
        text("[\"" + std::string(65, 'a') + "\"]", "1")}) {
    CAPTURE(wrong);
    try {
      parse_site(wrong, "folder/site.json");
      FAIL("it was taken");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::corrupt);
      CHECK(std::string(e.what()).find("folder/site.json") !=
            std::string::npos);
    }
  }
}

TEST_CASE("own addresses are ones that others can reach") {
  for (const std::string& address : own_addresses()) {
    CAPTURE(address);
    CHECK_FALSE(is_loopback(address));
    CHECK(address.rfind("fe80:", 0) != 0);
    expect_site_addresses({address});
  }
  CHECK(is_loopback("127.0.0.1"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("192.168.1.7"));
}

}  // namespace
}  // namespace quorate::client
