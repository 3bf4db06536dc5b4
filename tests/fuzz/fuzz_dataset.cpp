// Feeds the reader of one data file format with whatever libFuzzer thinks of,
// as a file in memory. It may refuse the bytes; what it takes must make a set
// of samples whose parts fit together.
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "server/datasets/formats.h"
#include "server/datasets/idx.h"

namespace {

using quorate::DatasetSource;
using quorate::ErrorKind;
using quorate::SampleSet;

constexpr std::uint64_t kMaxBytes = 1 << 20;

void expect_whole(const SampleSet& part, const DatasetSource& source) {
  quorate::check(part.images.size() == part.samples() * source.shape.size(),
                 "as many pixels as the samples have");
  for (std::uint8_t label : part.labels) {
    quorate::check(label < source.classes, "labels are below the classes");
  }
}

// IDX needs two files, which are read one by one here.
void read_idx(const quorate::fs::path& path) {
  if (quorate::idx_kind(quorate::read_head(path, 4)) ==
      quorate::IdxKind::labels) {
    (void)quorate::read_idx_labels(path, kMaxBytes);
  } else {
    (void)quorate::read_idx_images(path, kMaxBytes);
  }
}

void read(const quorate::fs::path& path) {
  const std::string format = QUORATE_FUZZ_FORMAT;
  if (format == "idx") return read_idx(path);
  DatasetSource source =
      quorate::format_named(format).read({{path}, {}}, {}, {});
  expect_whole(source.train, source);
  expect_whole(source.test, source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  quorate::FileDescriptor file(::memfd_create("sample", MFD_CLOEXEC));
  quorate::fs::path path = "/proc/self/fd/" + std::to_string(file.get());
  quorate::write_all(file.get(), {data, size}, path);
  try {
    read(path);
  } catch (const quorate::Error& error) {
    quorate::check(
        error.kind() == ErrorKind::corrupt || error.kind() == ErrorKind::denied,
        "outside bytes are corrupt, too many, or fine");
  }
  return 0;
}
