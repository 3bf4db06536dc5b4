#include "client/stock_boinc/local_client.h"

#include <functional>

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

// The text of what is thrown, which is of this kind.
std::string refusal(ErrorKind kind, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("nothing was thrown");
  return "";
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

void write(const fs::path& file, const std::string& text) {
  write_file_durably(file, as_bytes(text));
}

TEST_CASE("where a client listens") {
  CHECK(parse_gui_address("127.0.0.1:4000").port == 4000);
  CHECK(parse_gui_address("attic.example.org").host == "attic.example.org");
  CHECK(parse_gui_address("attic").port == 31416);
  for (const char* wrong :
       {"", ":4000", "attic:", "attic:0", "attic:65536", "attic:4x", "a b",
        "attic:4000:1", "::1", "http://attic", "attic/x"}) {
    CAPTURE(wrong);
    refusal(ErrorKind::usage, [&] { parse_gui_address(wrong); });
  }
}

TEST_CASE("the first data folder that there is counts") {
  test::TemporaryFolder folder;
  const fs::path none = folder / "none";
  const fs::path first = folder / "first";
  const fs::path second = folder / "second";
  fs::create_directory(second);
  CHECK(find_password_file({none, first, second}) ==
        second / "gui_rpc_auth.cfg");
  fs::create_directory(first);
  CHECK(find_password_file({none, first, second}) ==
        first / "gui_rpc_auth.cfg");
  const std::string why =
      refusal(ErrorKind::unavailable, [&] { find_password_file({none}); });
  CHECK(has(why, none.string()));
  CHECK(has(why, "apt install boinc-client"));
}

TEST_CASE("a password is the first line, without blanks around it") {
  test::TemporaryFolder folder;
  const fs::path file = folder / "gui_rpc_auth.cfg";
  struct Case {
    std::string text;
    std::string password;
  };
  for (const Case& c :
       {Case{"", ""}, Case{"\n", ""}, Case{" \r\n", ""}, Case{"pw", "pw"},
        Case{" pw two\t\r\nmore\n", "pw two"},
        Case{std::string(255, 'x') + "\n", std::string(255, 'x')}}) {
    CAPTURE(c.text);
    write(file, c.text);
    CHECK(read_gui_password(file) == c.password);
  }
}

TEST_CASE("what is no password file") {
  test::TemporaryFolder folder;
  const fs::path file = folder / "gui_rpc_auth.cfg";
  CHECK(has(refusal(ErrorKind::unavailable, [&] { read_gui_password(file); }),
            "start the client once"));
  for (const std::string& text : {std::string(256, 'x'), std::string("a\0b", 3),
                                  std::string(5000, 'x')}) {
    write(file, text);
    refusal(ErrorKind::corrupt, [&] { read_gui_password(file); });
  }
  write(file, "pw");
  fs::permissions(file, fs::perms::none);
  if (::geteuid() != 0) {  // root may read everything
    CHECK(has(refusal(ErrorKind::denied, [&] { read_gui_password(file); }),
              "usermod"));
  }
}

TEST_CASE("nobody listens") {
  test::TemporaryFolder folder;
  const fs::path file = folder / "gui_rpc_auth.cfg";
  write(file, "pw\n");
  CHECK(has(refusal(ErrorKind::unavailable,
                    [&] {
                      open_stock_client({"127.0.0.1:1", file.string()});
                    }),
            "BOINC client at 127.0.0.1:1: nobody listens there"));
}

}  // namespace
}  // namespace quorate::client
