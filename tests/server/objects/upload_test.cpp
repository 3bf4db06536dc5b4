#include "server/objects/upload.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

using Why = UploadRefusal::Why;

// Result 5 is in progress. start_again(): what another process would find.
Bytes bytes_of(const MappedFile& file) {
  return Bytes(file.bytes().begin(), file.bytes().end());
}

struct Place {
  Place() { start_again(); }

  void start_again() {
    uploads.reset();
    open_results.emplace();
    OpenResult result;
    result.id = 5;
    result.task = std::make_shared<const TrainingTask>(test::sample_task());
    open_results->add(result);
    uploads.emplace(folder / "uploads", 0, *open_results, objects);
  }
  OpenResult result() { return open_results->find(5).value(); }
  std::variant<IncomingPayload, UploadRefusal> open(std::uint64_t first,
                                                    std::uint64_t total) {
    return uploads->open(result(), first, total);
  }
  // All of `bytes` from the byte `first` on.
  IncomingPayload sent(const Bytes& bytes, std::size_t first = 0) {
    auto opened = open(first, bytes.size());
    auto& payload = std::get<IncomingPayload>(opened);
    payload.write(ByteView(bytes).subspan(first));
    return std::move(payload);
  }
  bool has_file(const char* name) {
    return fs::exists(folder / "uploads" / name);
  }

  test::TemporaryFolder folder;
  ObjectStore objects{folder / "objects", folder / "tmp"};
  std::optional<OpenResults> open_results;
  std::optional<Uploads> uploads;
};

}  // namespace

TEST_CASE("a payload comes in parts and becomes its result's") {
  Place place;
  const Bytes bytes(100, 7);
  {
    auto opened = place.open(0, 100);
    std::get<IncomingPayload>(opened).write(ByteView(bytes).first(40));
  }
  CHECK(place.uploads->offset(place.result()) == 39);
  CHECK(std::get<UploadRefusal>(place.open(40, 100)).why == Why::gap);
  IncomingPayload rest = place.sent(bytes, 39);
  CHECK(rest.is_whole());
  CHECK(place.uploads->keep(std::move(rest)) == sha256(bytes));
  CHECK(place.result().uploaded == sha256(bytes));
  CHECK(place.result().uploaded_bytes == 100);
  UploadRefusal again = std::get<UploadRefusal>(place.open(0, 100));
  CHECK(again.why == Why::is_here);
  CHECK(again.offset == 100);
}

TEST_CASE("a payload becomes an object when it is adopted, not before") {
  Place place;
  const Bytes bytes(100, 7);
  place.uploads->keep(place.sent(bytes));
  CHECK_FALSE(place.objects.contains(sha256(bytes)));
  CHECK(bytes_of(place.uploads->payload(place.result())) == bytes);
  for (int again : {1, 2}) {  // a report may come twice
    CAPTURE(again);
    place.uploads->adopt(place.result());
    CHECK(place.objects.read(sha256(bytes)) == bytes);
    CHECK(bytes_of(place.uploads->payload(place.result())) == bytes);
  }
}

TEST_CASE("a payload that nobody signed for goes with its result") {
  Place place;
  const Bytes bytes(100, 7);
  place.uploads->keep(place.sent(bytes));
  const OpenResult before = place.result();
  place.open_results->remove(5);
  CHECK(place.open_results->take_removed() == std::vector<ResultId>{5});
  CHECK(place.open_results->take_removed().empty());
  place.uploads->forget(5);
  CHECK(fs::is_empty(place.folder / "uploads"));
  try {
    place.uploads->adopt(before);
    FAIL("it is gone");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
  }
}

TEST_CASE("a payload that changed on the disk is no payload") {
  Place place;
  const Bytes bytes(100, 7);
  place.uploads->keep(place.sent(bytes));
  write_file_durably(place.folder / "uploads/5.whole", Bytes(100, 8));
  try {
    place.uploads->payload(place.result());
    FAIL("it has other bytes");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
  }
}

TEST_CASE(
    "of a payload that was kept, a restart asks for the last byte again") {
  Place place;
  const Bytes bytes(100, 7);
  place.uploads->keep(place.sent(bytes));
  place.start_again();
  CHECK(place.result().uploaded.is_zero());
  CHECK(place.uploads->offset(place.result()) == 99);
  CHECK(place.uploads->keep(place.sent(bytes, 99)) == sha256(bytes));
}

TEST_CASE("a payload that was kept durably is there after a restart") {
  Place place;
  const Bytes bytes(100, 7);
  CHECK(place.uploads->keep_durably(place.sent(bytes), md5(bytes)));
  for (bool is_object : {false, true}) {
    CAPTURE(is_object);
    if (is_object) place.uploads->adopt(place.result());
    place.start_again();
    CHECK(place.result().uploaded == sha256(bytes));
    CHECK(place.result().uploaded_bytes == 100);
    CHECK(bytes_of(place.uploads->payload(place.result())) == bytes);
  }
  place.objects.remove(sha256(bytes));
  place.start_again();
  CHECK(place.result().uploaded.is_zero());
}

TEST_CASE("what a damaged disk left of a payload's name is as good as none") {
  Place place;
  const Bytes bytes(100, 7);
  REQUIRE(place.uploads->keep_durably(place.sent(bytes), md5(bytes)));
  write_file_durably(place.folder / "uploads/5.payload", as_bytes("zz"));
  place.start_again();
  CHECK(place.result().uploaded.is_zero());
  CHECK(place.uploads->offset(place.result()) == 99);
}

TEST_CASE("bytes whose MD5 is another are thrown away") {
  Place place;
  const Bytes bytes(100, 7);
  CHECK_FALSE(place.uploads->keep_durably(place.sent(bytes), Md5Hash{}));
  CHECK(place.uploads->offset(place.result()) == 0);
  CHECK_FALSE(place.has_file("5.part"));
  CHECK(place.result().uploaded.is_zero());
  CHECK(place.uploads->keep_durably(place.sent(bytes), md5(bytes)));
}

// Both were opened before either was whole: their files are two, for the first
// was renamed.
TEST_CASE("the first payload of a result stays its payload") {
  for (bool durably : {true, false}) {
    CAPTURE(durably);
    Place place;
    const Bytes first(100, 1), second(100, 2);
    const OpenResult before = place.result();
    REQUIRE(place.uploads->keep_durably(place.sent(first), md5(first)));
    auto opened = place.uploads->open(before, 0, 100);
    auto& payload = std::get<IncomingPayload>(opened);
    payload.write(second);
    if (durably) {
      CHECK(place.uploads->keep_durably(std::move(payload), md5(second)));
    } else {
      place.uploads->keep(std::move(payload));
    }
    CHECK(place.result().uploaded == sha256(first));
    place.start_again();
    CHECK(place.result().uploaded == sha256(first));
  }
}

TEST_CASE("an upload whose result is closed meanwhile ends in an error") {
  Place place;
  const Bytes bytes(100, 7);
  IncomingPayload payload = place.sent(bytes);
  place.open_results->remove(5);
  place.uploads->forget(5);
  CHECK_THROWS_AS(place.uploads->keep_durably(std::move(payload), md5(bytes)),
                  Error);
  CHECK_FALSE(place.has_file("5.payload"));
}

TEST_CASE("nothing is written any more for a result that is closed") {
  Place place;
  auto opened = place.open(0, 100);
  auto& payload = std::get<IncomingPayload>(opened);
  payload.write(Bytes(50, 7));
  place.open_results->remove(5);
  place.uploads->forget(5);
  CHECK_THROWS_AS(payload.write(Bytes(50, 7)), Error);
}

TEST_CASE("a header is kept until its result is over") {
  Place place;
  CHECK_FALSE(place.uploads->header(5).has_value());
  const Bytes header(300, 4);
  place.uploads->keep_header(5, Bytes(301, 4));
  place.uploads->keep_header(5, header);  // its task was done again
  place.uploads->keep_header(5, header);  // the answer was lost
  place.start_again();
  CHECK(place.uploads->header(5) == header);
  place.uploads->forget(5);
  CHECK_FALSE(place.uploads->header(5).has_value());
}

TEST_CASE("what closed results left is removed, and other files with it") {
  Place place;
  place.uploads->keep_header(5, Bytes(300, 4));
  for (const char* name : {"6.part", "6.header", "6.payload", "x.part",
                           "5x.header", "5.header.77.0.tmp", "-5.part"}) {
    write_file_durably(place.folder / "uploads" / name, as_bytes("old"));
  }
  place.start_again();
  CHECK(place.has_file("5.header"));
  for (const char* name : {"6.part", "6.header", "6.payload", "x.part",
                           "5x.header", "5.header.77.0.tmp", "-5.part"}) {
    CAPTURE(name);
    CHECK_FALSE(place.has_file(name));
  }
  // Nor is anything kept for them.
  place.uploads->keep_header(6, Bytes(300, 4));
  CHECK_FALSE(place.has_file("6.header"));
}

TEST_CASE("a disk is full when no upload would be taken") {
  Place place;
  CHECK_FALSE(place.uploads->is_full(place.result()));
  Uploads careful(place.folder / "uploads", std::uint64_t{1} << 60,
                  *place.open_results, place.objects);
  CHECK(careful.is_full(place.result()));
  auto opened = careful.open(place.result(), 0, 10);
  CHECK(std::get<UploadRefusal>(opened).why == Why::no_space);
}

TEST_CASE("what is written is no longer to come") {
  UploadSpace space(1000);
  std::optional<UploadSpace::Claim> first = space.claim(100, 1150, true);
  REQUIRE(first.has_value());
  CHECK_FALSE(space.claim(51, 1150, true).has_value());
  first->written(60);
  CHECK(space.claim(50, 1090, true).has_value());
  CHECK_FALSE(space.claim(51, 1090, true).has_value());
  first->written(1000);  // more than it had
  CHECK(space.claim(90, 1090, true).has_value());
  CHECK_FALSE(space.claim(1, 999, true).has_value());
}

TEST_CASE("the last reserve is kept for hosts that are proven") {
  UploadSpace space(1000);
  std::optional<UploadSpace::Claim> anybodys = space.claim(500, 2500, false);
  CHECK(anybodys.has_value());
  CHECK_FALSE(space.claim(1, 2500, false).has_value());
  CHECK(space.claim(1000, 2500, true).has_value());
  CHECK_FALSE(space.claim(1001, 2500, true).has_value());
}

TEST_CASE("open results know which objects are needed") {
  Place place;
  auto task = place.result().task;
  CHECK(place.open_results->names(task->snapshot));
  CHECK(place.open_results->names(task->shard));
  CHECK(place.open_results->names(place.result().workunit));
  CHECK_FALSE(place.open_results->names(test::filled<Hash>(99)));
  // Two results of one unit: the objects are needed until both are over.
  OpenResult other = place.result();
  other.id = 6;
  place.open_results->add(other);
  place.open_results->add(other);  // again: no change
  place.open_results->remove(5);
  CHECK(place.open_results->names(task->shard));
  place.open_results->remove(6);
  place.open_results->remove(6);
  CHECK_FALSE(place.open_results->names(task->shard));
}

TEST_CASE("what was uploaded is remembered until the result is over") {
  Place place;
  place.open_results->set_uploaded(5, test::filled<Hash>(9), 123);
  CHECK(place.open_results->find(5)->uploaded == test::filled<Hash>(9));
  CHECK(place.uploads->offset(place.result()) == 123);
  place.open_results->remove(5);
  place.open_results->set_uploaded(5, test::filled<Hash>(9), 123);
  CHECK_FALSE(place.open_results->find(5).has_value());
}

}  // namespace quorate
