#include "server/http/tls/tls.h"

#include <curl/curl.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;
using namespace quorate::test;

namespace {

struct Fetched {
  CURLcode code = CURLE_OK;
  std::string body;
};

std::size_t append(char* data, std::size_t, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(data, size);
  return size;
}

// Gets `url`, or puts `upload` there, from a server with this key.
Fetched fetch(const std::string& url, const std::string& pin,
              const std::string& authority = {}, const std::string& upload = {},
              bool says_proxy_header = false) {
  Fetched fetched;
  CURL* curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, pin.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &fetched.body);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  if (says_proxy_header) {
    curl_easy_setopt(curl, CURLOPT_HAPROXYPROTOCOL, 1L);
  }
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
  if (authority.empty()) {
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  } else {
    curl_easy_setopt(curl, CURLOPT_CAINFO, authority.c_str());
  }
  if (!upload.empty()) {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(upload.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, upload.data());
  }
  fetched.code = curl_easy_perform(curl);
  curl_easy_cleanup(curl);
  return fetched;
}

}  // namespace

TEST_CASE("a server with TLS is known by its pin") {
  // Given
  TemporaryFolder folder;
  TlsFiles files{folder / "tls.crt", folder / "tls.key"};
  make_self_signed_certificate(files, "quorate.example");
  std::string pin = public_key_pin(files.certificate);
  std::string content(3'000'001, 'c');
  write_file_durably(folder / "f", as_bytes(content));

  Router router;
  router.add(Method::get, "/f", [&folder](Request&, Responder responder) {
    responder.send(file_response(folder / "f", "", ""));
  });
  router.add(Method::get, "/memory", [&](Request&, Responder responder) {
    responder.send(text(content));
  });
  router.add(Method::put, "/echo", echo(), 10 << 20);
  HttpServer server({1, {}, {}});
  std::uint16_t port =
      server.listen({"127.0.0.1", 0, files}, std::move(router));
  server.start();
  std::string url = "https://127.0.0.1:" + std::to_string(port);

  SUBCASE("files, memory and bodies go through") {
    for (const char* path : {"/f", "/memory"}) {
      Fetched got = fetch(url + path, pin);
      CHECK(got.code == CURLE_OK);
      CHECK((got.body == content));
    }
    Fetched echoed = fetch(url + "/echo", pin, {}, content);
    CHECK(echoed.code == CURLE_OK);
    CHECK((echoed.body == content));
  }
  SUBCASE("another key is refused by the client") {
    TlsFiles other{folder / "other.crt", folder / "other.key"};
    make_self_signed_certificate(other, "quorate.example");
    CHECK(fetch(url + "/f", public_key_pin(other.certificate)).code ==
          CURLE_SSL_PINNEDPUBKEYNOTMATCH);
  }
  SUBCASE("the certificate is good for its addresses") {
    std::string local = "https://localhost:" + std::to_string(port) + "/f";
    CHECK(fetch(url + "/f", pin, files.certificate.string()).code == CURLE_OK);
    CHECK(fetch(local, pin, files.certificate.string()).code == CURLE_OK);
  }
  SUBCASE("plain HTTP is hung up on") {
    RawHttp client(port);
    CHECK(client.exchange("GET /f HTTP/1.1\r\n\r\n").status == 0);
  }
}

TEST_CASE("a proxy names its client before TLS begins") {
  TemporaryFolder folder;
  TlsFiles files{folder / "tls.crt", folder / "tls.key"};
  make_self_signed_certificate(files, "quorate.example");
  const std::string pin = public_key_pin(files.certificate);
  HttpServer server({1, {}, {*parse_ip_block("127.0.0.1")}, true});
  Router router;
  router.add(Method::get, "/", [](Request& request, Responder responder) {
    responder.send(text(request.remote_address));
  });
  const std::uint16_t port =
      server.listen({"127.0.0.1", 0, files}, std::move(router));
  server.start();
  const std::string url = "https://127.0.0.1:" + std::to_string(port) + "/";
  // curl then says that its own address is its client's.
  CHECK(fetch(url, pin, {}, {}, true).body == "127.0.0.1");
  CHECK(fetch(url, pin).code != CURLE_OK);
}

TEST_CASE("the key of a certificate is for its owner only") {
  TemporaryFolder folder;
  make_self_signed_certificate({folder / "c", folder / "k"}, "192.0.2.5");
  struct stat status {};
  REQUIRE(::stat((folder / "k").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("names and files that cannot be are refused") {
  TemporaryFolder folder;
  TlsFiles files{folder / "c", folder / "k"};
  CHECK_THROWS_AS(make_self_signed_certificate(files, ""), Error);
  CHECK_THROWS_AS(make_self_signed_certificate(files, std::string(65, 'x')),
                  Error);
  CHECK_THROWS_AS(public_key_pin(folder / "none"), Error);
  write_file_durably(folder / "text", as_bytes("not a certificate"));
  CHECK_THROWS_AS(public_key_pin(folder / "text"), Error);

  HttpServer server({1, {}, {}});
  make_self_signed_certificate(files, "a");
  make_self_signed_certificate({folder / "c2", folder / "k2"}, "b");
  // A key that belongs to another certificate.
  CHECK_THROWS_AS(server.listen({"127.0.0.1", 0,
                                 TlsFiles{files.certificate, folder / "k2"}},
                                Router()),
                  Error);
  CHECK_THROWS_AS(
      server.listen({"127.0.0.1", 0, TlsFiles{folder / "none", files.key}},
                    Router()),
      Error);
}
