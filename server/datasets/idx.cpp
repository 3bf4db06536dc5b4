#include "server/datasets/idx.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint32_t kImagesMagic = 2051;
constexpr std::uint32_t kLabelsMagic = 2049;
constexpr std::uint32_t kMaxSide = 1 << 14;
constexpr std::size_t kChunk = 1 << 20;

// The bytes of a file, decompressed if it is gzip.
class GzipFile {
 public:
  explicit GzipFile(const fs::path& path) : name_(path.string()) {
    FileDescriptor file = open_file(path, O_RDONLY);
    stream_ = gzdopen(file.get(), "rb");
    if (stream_ == nullptr) {
      throw Error(ErrorKind::io, name_ + ": not enough memory to read it");
    }
    file.release();  // gzclose closes it
    gzbuffer(stream_, 1 << 17);
  }
  ~GzipFile() { gzclose(stream_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::corrupt, fmt::format("{}: {}", name_, why));
  }

  // Up to out.size() bytes; fewer only at the end of the data.
  std::size_t read(std::span<std::uint8_t> out) {
    int got = gzread(stream_, out.data(), static_cast<unsigned>(out.size()));
    int code = Z_OK;
    const char* text = gzerror(stream_, &code);
    if (code == Z_ERRNO) throw_errno("read " + name_);
    if (code == Z_BUF_ERROR) {
      fail(fmt::format("after byte {}: the compressed data end early",
                       at_ + static_cast<std::size_t>(std::max(got, 0))));
    }
    if (got < 0) {
      std::string_view reason(text);  // "<fd:3>: incorrect data check"
      if (std::size_t at = reason.find(": "); at != reason.npos) {
        reason.remove_prefix(at + 2);
      }
      fail(fmt::format("after byte {}: damaged compressed data: {}", at_,
                       reason));
    }
    at_ += static_cast<std::size_t>(got);
    return static_cast<std::size_t>(got);
  }

  std::uint32_t big_endian(std::string_view field) {
    std::array<std::uint8_t, 4> raw{};
    std::size_t place = at_;
    if (read(raw) != raw.size()) {
      fail(fmt::format("byte {}: expected {}, the file ends", place, field));
    }
    return std::uint32_t{raw[0]} << 24 | std::uint32_t{raw[1]} << 16 |
           std::uint32_t{raw[2]} << 8 | raw[3];
  }

  // Everything that is left: exactly `size` bytes.
  Bytes rest(std::uint64_t size, std::string_view field) {
    Bytes bytes;
    while (bytes.size() < size) {
      std::size_t had = bytes.size();
      bytes.resize(had + std::min<std::uint64_t>(kChunk, size - had));
      std::size_t got = read(std::span(bytes).subspan(had));
      bytes.resize(had + got);
      if (got == 0) {
        fail(fmt::format("expected {} bytes of {}, the file ends after {}",
                         size, field, had));
      }
    }
    // Asking beyond the end also makes zlib compare the checksum.
    std::uint8_t extra = 0;
    if (read({&extra, 1}) != 0) {
      fail(
          fmt::format("byte {}: expected the end after {} bytes of {}, found "
                      "more",
                      at_ - 1, size, field));
    }
    return bytes;
  }

 private:
  std::string name_;
  gzFile stream_ = nullptr;
  std::uint64_t at_ = 0;  // decompressed bytes read
};

void expect_magic(GzipFile& file, std::uint32_t expected,
                  std::string_view kind) {
  std::uint32_t magic = file.big_endian("the magic number");
  if (magic == expected) return;
  file.fail(
      fmt::format("byte 0: expected the magic number {} of IDX {}, found "
                  "{}{}",
                  expected, kind, magic,
                  magic == kImagesMagic   ? " (images)"
                  : magic == kLabelsMagic ? " (labels)"
                                          : ""));
}

std::uint32_t read_side(GzipFile& file, std::string_view field) {
  std::uint32_t side = file.big_endian(field);
  if (side == 0 || side > kMaxSide) {
    file.fail(
        fmt::format("{}: expected 1 to {}, found {}", field, kMaxSide, side));
  }
  return side;
}

void expect_within(const GzipFile& file, std::uint64_t size,
                   std::uint64_t max_bytes) {
  if (size > max_bytes) {
    file.fail(fmt::format("declares {} bytes of data, allowed are {}", size,
                          max_bytes));
  }
}

}  // namespace

IdxImages read_idx_images(const fs::path& path, std::uint64_t max_bytes) {
  GzipFile file(path);
  expect_magic(file, kImagesMagic, "images");
  IdxImages images;
  images.count = file.big_endian("the number of images");
  images.height = read_side(file, "image height");
  images.width = read_side(file, "image width");
  // At most 2^32 * 2^14 * 2^14: fits in 64 bits.
  std::uint64_t size =
      std::uint64_t{images.count} * images.height * images.width;
  expect_within(file, size, max_bytes);
  images.pixels = file.rest(size, "pixels");
  return images;
}

Bytes read_idx_labels(const fs::path& path, std::uint64_t max_bytes) {
  GzipFile file(path);
  expect_magic(file, kLabelsMagic, "labels");
  std::uint64_t count = file.big_endian("the number of labels");
  expect_within(file, count, max_bytes);
  return file.rest(count, "labels");
}

}  // namespace quorate
