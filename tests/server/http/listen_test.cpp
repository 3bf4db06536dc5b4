// Where a server listens: ports, addresses, unix-domain sockets.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;
using namespace quorate::test;

namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\n\r\n";

Router says(std::string what) {
  Router router;
  router.add(Method::get, "/", [what](Request& request, Responder responder) {
    responder.send(text(what + " " + request.remote_address));
  });
  return router;
}

std::string failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a port that is taken is said to be") {
  TestServer first(says("first"), {}, 2);
  HttpServer second({2, {}, {}});
  std::string text = failure([&] {
    second.listen({"127.0.0.1", first.port(), {}}, says("x"));
  });
  CHECK(text.find("127.0.0.1:" + std::to_string(first.port())) !=
        std::string::npos);
  CHECK(text.find("choose another port") != std::string::npos);
}

TEST_CASE("a port is free again after the server") {
  std::uint16_t port = 0;
  {
    TestServer first(says("first"));
    port = first.port();
    CHECK(RawHttp(port).exchange(kGet).status == 200);
  }
  HttpServer second({1, {}, {}});
  CHECK(second.listen({"127.0.0.1", port, {}}, says("second")) == port);
  second.start();
  CHECK(RawHttp(port).exchange(kGet).body == "second 127.0.0.1");
}

TEST_CASE("addresses that are none of ours are refused") {
  HttpServer server({1, {}, {}});
  CHECK(failure([&] {
          server.listen({"192.0.2.1", 0, {}}, says("x"));
        }).find("an address of this machine") != std::string::npos);
  CHECK(failure([&] {
          server.listen({"not an address", 0, {}}, says("x"));
        }).find("not an address") != std::string::npos);
}

TEST_CASE("a server listens in several places, each with its own routes") {
  TemporaryFolder folder;
  HttpServer server({2, {}, {}});
  std::uint16_t port = server.listen({}, says("world"));
  server.listen_unix(folder / "admin.sock", says("admin"));
  server.start();
  std::string path = (folder / "admin.sock").string();

  CHECK(RawHttp(port).exchange(kGet).body == "world 127.0.0.1");
  CHECK(RawHttp(path).exchange(kGet).body == "admin unix");

  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  SUBCASE("a second server finds it in use") {
    HttpServer second({1, {}, {}});
    CHECK(failure([&] {
            second.listen_unix(path, says("x"));
          }).find("another server") != std::string::npos);
    CHECK(RawHttp(path).exchange(kGet).status == 200);
  }
  SUBCASE("stopping removes it") {
    server.stop();
    CHECK_FALSE(fs::exists(path));
  }
}

TEST_CASE("the socket file of a server that died is replaced") {
  TemporaryFolder folder;
  fs::path path = folder / "admin.sock";
  {
    // Given a socket that nobody listens on any more
    FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof address) == 0);
  }
  HttpServer server({1, {}, {}});
  server.listen_unix(path, says("new"));
  server.start();
  CHECK(RawHttp(path.string()).exchange(kGet).body == "new unix");
}

TEST_CASE("a file that is no socket is not replaced") {
  TemporaryFolder folder;
  write_file_durably(folder / "admin.sock", as_bytes("precious"));
  HttpServer server({1, {}, {}});
  CHECK_THROWS_AS(server.listen_unix(folder / "admin.sock", says("x")), Error);
  CHECK(read_text_file(folder / "admin.sock") == "precious");
}

TEST_CASE("the path of a socket may be longer than the system's limit") {
  TemporaryFolder folder;
  fs::path deep = folder.path() / std::string(120, 'd');
  fs::create_directory(deep);
  HttpServer server({1, {}, {}});
  server.listen_unix(deep / "admin.sock", says("deep"));
  server.start();
  CHECK(fs::is_socket(deep / "admin.sock"));
  // A client has the same limit: it comes by a shorter way.
  fs::create_directory_symlink(deep, folder / "short");
  CHECK(RawHttp((folder / "short").string() + "/admin.sock")
            .exchange(kGet)
            .body == "deep unix");
}
