// IDX files and expectations for the tests of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "server/datasets/readers/source.h"
#include "tests/support/temporary_folder.h"

namespace quorate {

using test::TemporaryFolder;

inline void put_big_endian(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

// An IDX file of `count` images whose pixels count up from `first`.
inline Bytes idx_images(std::uint32_t count, std::uint32_t height,
                        std::uint32_t width, std::uint8_t first = 0) {
  Bytes bytes;
  for (std::uint32_t value : {2051U, count, height, width}) {
    put_big_endian(bytes, value);
  }
  for (std::uint32_t i = 0; i < count * height * width; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(first + i));
  }
  return bytes;
}

inline Bytes idx_labels(const Bytes& labels) {
  Bytes bytes;
  put_big_endian(bytes, 2049);
  put_big_endian(bytes, static_cast<std::uint32_t>(labels.size()));
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  return bytes;
}

inline fs::path write_file(const fs::path& path, ByteView bytes) {
  write_file_durably(path, bytes);
  return path;
}

inline fs::path write_gzip(const fs::path& path, ByteView bytes) {
  gzFile file = gzopen(path.c_str(), "wb9");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
          static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return path;
}

// What golden/write.py puts into its files: sample `number` at row y, column x,
// channel c, and its label.
inline Bytes golden_images(std::uint32_t first, std::uint32_t count,
                           const SampleShape& shape) {
  Bytes pixels;
  for (std::uint32_t number = first; number < first + count; ++number) {
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      for (std::uint32_t x = 0; x < shape.width; ++x) {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
          pixels.push_back(
              static_cast<std::uint8_t>(7 * number + 3 * y + 5 * x + 11 * c));
        }
      }
    }
  }
  return pixels;
}

inline Bytes golden_labels(std::uint32_t first, std::uint32_t count) {
  Bytes labels;
  for (std::uint32_t number = first; number < first + count; ++number) {
    labels.push_back(static_cast<std::uint8_t>(number * 3 % 10));
  }
  return labels;
}

inline SourceSpec golden_spec(const char* folder) {
  return {{(fs::path(QUORATE_GOLDEN) / folder).string()}};
}

// The text of the Error of this kind that `act` throws; fails without one.
inline std::string error_of(ErrorKind kind, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(name_of(error.kind()) == name_of(kind));
    return error.what();
  }
  FAIL("expected an error");
  return {};
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace quorate
