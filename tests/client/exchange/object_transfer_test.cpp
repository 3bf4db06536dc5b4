#include "client/exchange/object_transfer.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/client/scripted_transfer.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

struct Fixture : ScriptedProject {
  test::TemporaryFolder folder;
  std::string text = "0123456789";
  ObjectRef object{ObjectKind::shard, sha256(as_bytes(text)), 10};
  fs::path part = folder / "part";
};

HttpReply body(const HttpRequest& request, int status, std::uint64_t first,
               const std::string& text) {
  HttpReply head;
  head.status = status;
  head.first_byte = first;
  request.sink(head, as_bytes(text));
  return head;
}

HttpReply bare(int status, std::optional<std::uint64_t> offset = {}) {
  HttpReply reply;
  reply.status = status;
  reply.upload_offset = offset;
  reply.body = "{}";  // the project answers in JSON
  return reply;
}

TEST_CASE_FIXTURE(Fixture, "a download that broke off goes on") {
  transfer.answers.push_back([&](const HttpRequest& request) -> HttpReply {
    CHECK(request.from == 0);
    body(request, 200, 0, "0123");
    throw Error(ErrorKind::unavailable, "connection lost");
  });
  CHECK_THROWS_AS(download_object(api, object, part), Error);
  REQUIRE(fs::file_size(part) == 4);

  transfer.answers.push_back([&](const HttpRequest& request) {
    CHECK(request.from == 4);
    return body(request, 206, 4, "456789");
  });
  download_object(api, object, part);
  CHECK(read_text_file(part) == text);
}

TEST_CASE_FIXTURE(Fixture, "a server that ignores the range starts anew") {
  write_file_durably(part, as_bytes("0123"));
  transfer.answers.push_back(
      [&](const HttpRequest& request) { return body(request, 200, 0, text); });
  download_object(api, object, part);
  CHECK(read_text_file(part) == text);
}

TEST_CASE_FIXTURE(Fixture, "a whole part needs no request") {
  write_file_durably(part, as_bytes(text));
  download_object(api, object, part);
  CHECK(read_text_file(part) == text);
}

TEST_CASE_FIXTURE(Fixture, "wrong, missing and endless bytes are refused") {
  auto kind_of_failure = [&](const ScriptedTransfer::Answer& answer) {
    transfer.answers.push_back(answer);
    try {
      download_object(api, object, part);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::usage;
  };
  CHECK(kind_of_failure([](const HttpRequest& request) {
          return body(request, 200, 0, "012345678x");
        }) == ErrorKind::corrupt);
  CHECK_FALSE(fs::exists(part));
  CHECK(kind_of_failure([](const HttpRequest& request) {
          return body(request, 200, 0, "0123456789 and more");
        }) == ErrorKind::corrupt);
  CHECK(kind_of_failure([](const HttpRequest&) { return bare(404); }) ==
        ErrorKind::corrupt);
  CHECK(kind_of_failure([](const HttpRequest&) {
          HttpReply page = bare(404);
          page.body = "<html>log in</html>";
          return page;
        }) == ErrorKind::unavailable);
  CHECK(kind_of_failure([](const HttpRequest& request) {
          return body(request, 200, 0, "01");
        }) == ErrorKind::unavailable);
  CHECK(kind_of_failure([](const HttpRequest&) { return bare(503); }) ==
        ErrorKind::unavailable);
}

TEST_CASE_FIXTURE(Fixture, "an object larger than the disk is not begun") {
  object.size = std::uint64_t{1} << 62;
  CHECK_THROWS_WITH_AS(
      download_object(api, object, part),
      doctest::Contains(
          ("too little disk at " + folder.path().string()).c_str()),
      Error);
  CHECK(little_disk_text("/data", 6'258'688, 709) ==
        "too little disk at /data: 6 MB free, 1 MB are needed and 67 MB kept "
        "free: free some, or use --dir elsewhere");
}

TEST_CASE_FIXTURE(Fixture, "a fresh upload goes up in one piece") {
  transfer.answers.push_back([&](const HttpRequest& request) {
    CHECK(request.path == "/v1/results/7/update");
    CHECK(request.from == 0);
    CHECK(request.total == 10);
    CHECK(as_text(request.body) == text);
    return bare(200, 10);
  });
  UploadAnswer answer = upload_update(api, 7, as_bytes(text), false);
  CHECK(answer.is_stored);
  CHECK(answer.session == std::string(64, 'e'));
}

TEST_CASE_FIXTURE(Fixture, "a resumed upload asks where to go on") {
  transfer.answers.push_back([](const HttpRequest& request) {
    CHECK(request.method == HttpMethod::head);
    return bare(200, 4);
  });
  transfer.answers.push_back([](const HttpRequest& request) {
    CHECK(request.from == 4);
    CHECK(as_text(request.body) == "456789");
    return bare(200, 10);
  });
  CHECK(upload_update(api, 7, as_bytes(text), true).is_stored);

  transfer.answers.push_back([](const HttpRequest&) { return bare(200, 10); });
  CHECK(upload_update(api, 7, as_bytes(text), true).is_stored);
}

TEST_CASE_FIXTURE(Fixture,
                  "an upload that the server knows nothing of begins") {
  for (const int nothing : {404, 410}) {
    transfer.answers.push_back(
        [&](const HttpRequest&) { return bare(nothing); });
    transfer.answers.push_back([&](const HttpRequest& request) {
      CHECK(request.from == 0);
      CHECK(as_text(request.body) == text);
      return bare(200, 10);
    });
    CHECK(upload_update(api, 7, as_bytes(text), true).is_stored);
  }
}

TEST_CASE_FIXTURE(Fixture, "an upload follows the server's offset") {
  transfer.answers.push_back([](const HttpRequest&) { return bare(409, 6); });
  transfer.answers.push_back([](const HttpRequest&) { return bare(200, 6); });
  transfer.answers.push_back([](const HttpRequest& request) {
    CHECK(as_text(request.body) == "6789");
    return bare(200, 10);
  });
  CHECK(upload_update(api, 7, as_bytes(text), false).is_stored);
}

TEST_CASE_FIXTURE(Fixture, "an upload for an unknown result is not stored") {
  transfer.answers.push_back([](const HttpRequest&) { return bare(410); });
  CHECK_FALSE(upload_update(api, 7, as_bytes(text), false).is_stored);
}

TEST_CASE_FIXTURE(Fixture, "an upload that is never right ends") {
  for (int i = 0; i < 10; ++i) {
    transfer.answers.push_back([](const HttpRequest&) { return bare(409, 3); });
  }
  CHECK_THROWS_AS(upload_update(api, 7, as_bytes(text), false), Error);
}

}  // namespace
}  // namespace quorate::client
