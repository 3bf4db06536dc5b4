#include "server/datasets/readers/cifar.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr SampleShape kShape = {32, 32, 3};
constexpr std::uint32_t kClasses = 10;
constexpr std::size_t kPlane = 32 * 32;
constexpr std::size_t kRecord = 1 + 3 * kPlane;

// Appends the pixels of three planes: R, G, B of one pixel after another.
void append_pixels(ByteView planes, Bytes& images) {
  for (std::size_t i = 0; i < kPlane; ++i) {
    images.push_back(planes[i]);
    images.push_back(planes[kPlane + i]);
    images.push_back(planes[2 * kPlane + i]);
  }
}

void append_file(const fs::path& path, std::uint64_t max_bytes,
                 const ReadProgress& progress, SampleSet& part) {
  DataFile file(path, max_bytes, progress);
  std::array<std::uint8_t, kRecord> record{};
  std::size_t number = 0;
  while (std::size_t got = file.read(record)) {
    if (got != kRecord) {
      file.fail(
          fmt::format("record {}: expected {} bytes, the file ends after "
                      "{}",
                      number, kRecord, got));
    }
    if (record[0] >= kClasses) {
      file.fail(fmt::format("record {}: label {}, expected one below {}",
                            number, record[0], kClasses));
    }
    part.labels.push_back(record[0]);
    append_pixels(ByteView(record).subspan(1), part.images);
    ++number;
  }
  if (number == 0) {
    file.fail(fmt::format("expected records of {} bytes, the file is empty",
                          kRecord));
  }
}

}  // namespace

bool is_cifar_name(const std::string& name) {
  return name.ends_with(".bin") &&
         (name.starts_with("data_batch") || name.starts_with("test_batch"));
}

DatasetSource read_cifar_set(const SourceFiles& files, const SourceSpec&,
                             const ReadProgress& progress) {
  DatasetSource source;
  source.kind = "cifar";
  source.shape = kShape;
  source.classes = kClasses;
  for (const fs::path& file : files.train) {
    append_file(file, room_left(source), progress, source.train);
  }
  for (const fs::path& file : files.test) {
    append_file(file, room_left(source), progress, source.test);
  }
  return source;
}

}  // namespace quorate
