#include "server/datasets/readers/data_file.h"

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"

namespace quorate {
namespace {

Bytes numbered(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * i >> 3);
  }
  return bytes;
}

TEST_CASE("plain and gzip files give the same bytes") {
  TemporaryFolder folder;
  Bytes bytes = numbered((3 << 20) + 5);
  for (auto write : {write_file, write_gzip}) {
    fs::path path = write(folder / "f", bytes);
    CHECK(DataFile(path, bytes.size()).rest() == bytes);
    CHECK(DataFile(path, bytes.size()).rest(bytes.size(), "data") == bytes);
    CHECK(read_head(path, 10) == Bytes(bytes.begin(), bytes.begin() + 10));

    DataFile file(path, bytes.size());
    Bytes first(100);
    file.read_exactly(first, "the first hundred");
    CHECK(file.position() == 100);
    CHECK(file.rest().size() == bytes.size() - 100);
  }
}

TEST_CASE("members of gzip that were joined are read one after another") {
  TemporaryFolder folder;
  Bytes joined = read_file(write_gzip(folder / "a", Bytes{1, 2}));
  Bytes second = read_file(write_gzip(folder / "b", Bytes{3}));
  joined.insert(joined.end(), second.begin(), second.end());
  fs::path path = write_file(folder / "ab", joined);
  CHECK(DataFile(path, 3).rest() == Bytes{1, 2, 3});
}

TEST_CASE("a bomb is inflated no further than allowed") {
  TemporaryFolder folder;
  fs::path path = write_gzip(folder / "bomb", Bytes(64 << 20));
  DataFile file(path, 1000);
  std::string text = error_of(ErrorKind::denied, [&] { (void)file.rest(); });
  CHECK(contains(text, path.string()));
  CHECK(contains(text, "more than 1000 bytes"));
  CHECK(file.position() <= 1 << 20);
}

TEST_CASE("what is missing is named") {
  TemporaryFolder folder;
  fs::path path = write_file(folder / "f", Bytes{1, 2, 3});
  Bytes four(4);
  DataFile file(path, 100);
  CHECK(contains(error_of(ErrorKind::corrupt,
                          [&] { file.read_exactly(four, "the year"); }),
                 "byte 0: expected the year, the file ends"));
  CHECK(contains(
      error_of(ErrorKind::io, [&] { DataFile(folder / "nothing", 1); }),
      "nothing"));
}

TEST_CASE("a head is what is there") {
  TemporaryFolder folder;
  CHECK(read_head(write_file(folder / "f", Bytes{1, 2}), 16) == Bytes{1, 2});
  CHECK(read_head(folder / "nothing", 16).empty());
  Bytes damaged = read_file(write_gzip(folder / "g", Bytes{1, 2}));
  damaged.resize(12);
  CHECK(read_head(write_file(folder / "g", damaged), 16).empty());
}

}  // namespace
}  // namespace quorate
