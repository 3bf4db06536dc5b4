#include "server/datasets/picture.h"

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"

#include <png.h>

namespace quorate {
namespace {

// What another program sees in a PNG file.
Picture decode_png(const Bytes& bytes, std::uint32_t channels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_memory(&image, bytes.data(),
                                           bytes.size()) != 0);
  CHECK(image.format == (channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY));
  Picture picture{image.width, image.height, channels,
                  Bytes(PNG_IMAGE_SIZE(image))};
  REQUIRE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0,
                                nullptr) != 0);
  return picture;
}

std::uint8_t at(const Picture& picture, std::uint32_t y, std::uint32_t x,
                std::uint32_t c = 0) {
  REQUIRE(y < picture.height);
  REQUIRE(x < picture.width);
  return picture
      .pixels[(std::size_t{y} * picture.width + x) * picture.channels + c];
}

DatasetSource source_of(const SampleShape& shape, const Bytes& labels) {
  DatasetSource source;
  source.shape = shape;
  source.train.labels = labels;
  source.train.images =
      golden_images(0, static_cast<std::uint32_t>(labels.size()), shape);
  source.classes = 3;
  return source;
}

constexpr std::uint32_t kGap = 4;
constexpr std::uint8_t kBackground = 96;

TEST_CASE("what is encoded is what others decode") {
  for (std::uint32_t channels : {1U, 3U}) {
    Picture picture{5, 2, channels, Bytes(10 * channels)};
    for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
      picture.pixels[i] = static_cast<std::uint8_t>(25 * i);
    }
    Picture decoded = decode_png(encode_png(picture), channels);
    CHECK(decoded.width == 5);
    CHECK(decoded.height == 2);
    CHECK(decoded.pixels == picture.pixels);
  }
}

TEST_CASE("a row has the first samples of its class") {
  // Samples of 32 x 32 are shown twice as large.
  DatasetSource source = source_of({32, 32, 3}, {2, 0, 2});
  Picture picture = sample_grid(source);
  constexpr std::uint32_t kCell = 64;
  CHECK(picture.channels == 3);
  CHECK(picture.width == 10 * (kCell + kGap) + kGap);
  CHECK(picture.height == 3 * (kCell + kGap) + kGap);
  auto shown = [&](std::uint32_t row, std::uint32_t column, std::uint32_t y,
                   std::uint32_t x, std::uint32_t c) {
    return at(picture, kGap + row * (kCell + kGap) + 2 * y + 1,
              kGap + column * (kCell + kGap) + 2 * x + 1, c);
  };
  for (std::uint32_t c = 0; c < 3; ++c) {
    CHECK(shown(2, 0, 1, 2, c) == 3 * 1 + 5 * 2 + 11 * c);
    CHECK(shown(0, 0, 1, 2, c) == 7 + 3 * 1 + 5 * 2 + 11 * c);
    CHECK(shown(2, 1, 1, 2, c) == 14 + 3 * 1 + 5 * 2 + 11 * c);
    CHECK(shown(0, 1, 1, 2, c) == kBackground);
    CHECK(shown(1, 0, 0, 0, c) == kBackground);  // no sample of class 1
  }
}

TEST_CASE("large samples are thinned out, colours that are none are grey") {
  Picture picture = sample_grid(source_of({100, 300, 4}, {0}));
  CHECK(picture.channels == 1);  // 300 / 64: every fifth pixel
  CHECK(picture.width == 10 * (60 + kGap) + kGap);
  CHECK(picture.height == 3 * (20 + kGap) + kGap);
  CHECK(at(picture, kGap + 2, kGap + 3) == 3 * 10 + 5 * 15);
}

TEST_CASE("a grid has no more rows and columns than a screen") {
  DatasetSource source = source_of({8, 8, 1}, Bytes(50, 1));
  source.classes = 256;
  source.train.labels[0] = 255;
  Picture picture = sample_grid(source);
  CHECK(picture.height == kGridClasses * (kGridCell + kGap) + kGap);
  CHECK(picture.width == 10 * (kGridCell + kGap) + kGap);
}

}  // namespace
}  // namespace quorate
