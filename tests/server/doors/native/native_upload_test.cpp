#include "server/doors/native/native_upload.h"

#include <doctest/doctest.h>

#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

using Opened = std::variant<std::unique_ptr<BodySink>, Response>;

Request with(const std::string& header, const std::string& value) {
  Request request;
  request.method = Method::put;
  request.headers.emplace_back(header, value);
  return request;
}
Request range(const std::string& text) {
  return with("Content-Range", text);
}

int status(const Opened& opened) {
  const auto* response = std::get_if<Response>(&opened);
  return response == nullptr ? 200 : response->status;
}

std::string upload_offset(const Opened& opened) {
  for (const auto& [name, value] : std::get<Response>(opened).headers) {
    if (name == "Upload-Offset") return value;
  }
  return "none";
}

struct Place {
  Place() {
    result.id = 5;
    result.task = std::make_shared<const TrainingTask>(test::sample_task());
    open_results.add(result);
  }
  Opened open(const Request& request) {
    return open_native_upload(uploads, result, request);
  }
  // Writes a piece, and the connection breaks off.
  void broken_off(const std::string& content_range, const Bytes& piece) {
    Opened opened = open(range(content_range));
    std::get<std::unique_ptr<BodySink>>(opened)->write(piece);
  }

  test::TemporaryFolder folder;
  OpenResults open_results;
  ObjectStore objects{folder / "objects", folder / "tmp"};
  Uploads uploads{folder / "uploads", 0, open_results, objects};
  OpenResult result;
};

}  // namespace

// From its last byte on, which is sent again.
TEST_CASE("an upload that broke off goes on where it ended") {
  Place place;
  CHECK(place.uploads.offset(place.result) == 0);
  place.broken_off("bytes 0-99/100", Bytes(30, 1));
  CHECK(place.uploads.offset(place.result) == 29);
  place.broken_off("bytes 29-99/100", Bytes(21, 2));
  CHECK(place.uploads.offset(place.result) == 49);
  for (const char* wrong : {"bytes 30-99/100", "bytes 60-99/100"}) {
    Opened opened = place.open(range(wrong));
    CHECK(status(opened) == 409);
    CHECK(upload_offset(opened) == "49");
  }
  // From the start is always allowed: the payload may have been another.
  place.broken_off("bytes 0-99/100", Bytes(10, 3));
  CHECK(place.uploads.offset(place.result) == 9);
  place.uploads.forget(place.result.id);
  CHECK(place.uploads.offset(place.result) == 0);
}

TEST_CASE("a payload that was complete when the server died can be finished") {
  Place place;
  place.broken_off("bytes 0-99/100", Bytes(100, 1));
  CHECK(place.uploads.offset(place.result) == 99);
  CHECK(status(place.open(range("bytes 99-99/100"))) == 200);
}

TEST_CASE("ranges that make no sense are refused") {
  Place place;
  for (const char* text :
       {"", "bytes", "bytes 0-99", "bytes 0-98/100", "bytes 0-100/100",
        "bytes -99/100", "bytes 0-99/*", "bytes 100-99/100", "bytes 0-/0",
        "items 0-99/100", "bytes 0-99/100x", "bytes 0/9-9",
        "bytes 0-18446744073709551615/18446744073709551616"}) {
    CAPTURE(text);
    CHECK(status(place.open(range(text))) == 400);
  }
  CHECK(status(place.open(Request{})) == 400);
  CHECK(status(place.open(with("Content-Length", "ten"))) == 400);
}

TEST_CASE("without a range the body is the whole payload") {
  Place place;
  CHECK(status(place.open(with("Content-Length", "100"))) == 200);
}

TEST_CASE("no more is taken than an update of the task can have") {
  Place place;
  std::uint64_t most = update_bytes(*place.result.task);
  CHECK(status(place.open(with("Content-Length", std::to_string(most)))) ==
        200);
  CHECK(status(place.open(with("Content-Length", std::to_string(most + 1)))) ==
        413);
  CHECK(status(place.open(with("Content-Length", "18446744073709551615"))) ==
        413);
}

TEST_CASE("a body longer than announced is refused") {
  Place place;
  Opened opened = place.open(range("bytes 0-9/10"));
  auto& sink = std::get<std::unique_ptr<BodySink>>(opened);
  sink->write(Bytes(10, 1));
  CHECK_THROWS(sink->write(Bytes(1, 1)));
}

TEST_CASE("one upload of a result at a time") {
  Place place;
  {
    Opened first = place.open(range("bytes 0-9/10"));
    CHECK(status(place.open(range("bytes 0-9/10"))) == 503);
  }
  CHECK(status(place.open(range("bytes 0-9/10"))) == 200);
}

TEST_CASE("uploads are refused before the disk is full") {
  Place place;
  Uploads careful(place.folder / "uploads", std::uint64_t{1} << 60,
                  place.open_results, place.objects);
  CHECK(status(open_native_upload(careful, place.result,
                                  range("bytes 0-9/10"))) == 503);
}

// Each alone would leave the reserve free.
TEST_CASE("uploads under way count as if they were complete") {
  Place place;
  TrainingTask large = *place.result.task;
  large.model = parse_model("mlp:4096,4096", {28, 28, 1}, 10);
  place.result.is_of_proven = true;
  place.result.task = std::make_shared<const TrainingTask>(large);
  OpenResult other = place.result;
  other.id = 6;
  std::uint64_t bytes = update_bytes(large) - 1;
  Request whole = with("Content-Length", std::to_string(bytes));
  Uploads careful(place.folder / "uploads",
                  free_space(place.folder.path()) - bytes - bytes / 2,
                  place.open_results, place.objects);
  {
    Opened first = open_native_upload(careful, place.result, whole);
    REQUIRE(status(first) == 200);
    CHECK(status(open_native_upload(careful, other, whole)) == 503);
    CHECK(status(open_native_upload(careful, other, range("bytes 0-99/100"))) ==
          200);
  }
  CHECK(status(open_native_upload(careful, other, whole)) == 200);
}

}  // namespace quorate
