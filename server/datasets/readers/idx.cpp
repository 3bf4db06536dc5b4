#include "server/datasets/readers/idx.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/manifest.h"

namespace quorate {
namespace {

constexpr std::uint32_t kImagesMagic = 2051;
constexpr std::uint32_t kLabelsMagic = 2049;
constexpr std::uint64_t kHeaderBytes = 16;

std::uint32_t big_endian(ByteView raw) {
  return std::uint32_t{raw[0]} << 24 | std::uint32_t{raw[1]} << 16 |
         std::uint32_t{raw[2]} << 8 | raw[3];
}

std::uint32_t read_integer(DataFile& file, std::string_view field) {
  std::array<std::uint8_t, 4> raw{};
  file.read_exactly(raw, field);
  return big_endian(raw);
}

void expect_magic(DataFile& file, std::uint32_t expected,
                  std::string_view kind) {
  std::uint32_t magic = read_integer(file, "the magic number");
  if (magic == expected) return;
  file.fail(
      fmt::format("byte 0: expected the magic number {} of IDX {}, found "
                  "{}{}",
                  expected, kind, magic,
                  magic == kImagesMagic   ? " (images)"
                  : magic == kLabelsMagic ? " (labels)"
                                          : ""));
}

std::uint32_t read_side(DataFile& file, std::string_view field) {
  std::uint32_t side = read_integer(file, field);
  if (side == 0 || side > kMaxSide) {
    file.fail(
        fmt::format("{}: expected 1 to {}, found {}", field, kMaxSide, side));
  }
  return side;
}

void expect_within(const DataFile& file, std::uint64_t size,
                   std::uint64_t max_bytes) {
  if (size > max_bytes) {
    file.fail(fmt::format("declares {} bytes of data, allowed are {}", size,
                          max_bytes));
  }
}

}  // namespace

std::optional<IdxKind> idx_kind(ByteView head) {
  if (head.size() < 4) return std::nullopt;
  switch (big_endian(head)) {
    case kImagesMagic:
      return IdxKind::images;
    case kLabelsMagic:
      return IdxKind::labels;
    default:
      return std::nullopt;
  }
}

IdxImages read_idx_images(const fs::path& path, std::uint64_t max_bytes,
                          const ReadProgress& progress) {
  DataFile file(path, kHeaderBytes + max_bytes, progress);
  expect_magic(file, kImagesMagic, "images");
  IdxImages images;
  images.count = read_integer(file, "the number of images");
  images.height = read_side(file, "image height");
  images.width = read_side(file, "image width");
  // At most 2^32 * 2^14 * 2^14: fits in 64 bits.
  std::uint64_t size =
      std::uint64_t{images.count} * images.height * images.width;
  expect_within(file, size, max_bytes);
  images.pixels = file.rest(size, "pixels");
  return images;
}

Bytes read_idx_labels(const fs::path& path, std::uint64_t max_bytes,
                      const ReadProgress& progress) {
  DataFile file(path, kHeaderBytes + max_bytes, progress);
  expect_magic(file, kLabelsMagic, "labels");
  std::uint64_t count = read_integer(file, "the number of labels");
  expect_within(file, count, max_bytes);
  return file.rest(count, "labels");
}

}  // namespace quorate
