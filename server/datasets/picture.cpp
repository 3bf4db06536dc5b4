#include "server/datasets/picture.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

#include <png.h>

namespace quorate {
namespace {

constexpr std::uint32_t kColumns = 10;
constexpr std::uint32_t kGap = 4;
constexpr std::uint8_t kBackground = 96;  // neither ink nor paper

// How samples become the cells of a grid.
class Grid {
 public:
  Grid(const SampleShape& shape, std::uint32_t rows)
      : shape_(shape),
        enlarge_(std::max(kGridCell / longer_side(), 1U)),
        thin_out_((longer_side() + kGridCell - 1) / kGridCell) {
    picture_.channels = shape.channels == 3 ? 3 : 1;
    picture_.width = kColumns * (width() + kGap) + kGap;
    picture_.height = rows * (height() + kGap) + kGap;
    picture_.pixels.assign(
        std::size_t{picture_.width} * picture_.height * picture_.channels,
        kBackground);
  }

  void put(std::uint32_t row, std::uint32_t column, ByteView sample) {
    for (std::uint32_t y = 0; y < height(); ++y) {
      std::size_t line = kGap + row * (height() + kGap) + y;
      std::size_t at = line * picture_.width + kGap + column * (width() + kGap);
      for (std::uint32_t x = 0; x < width(); ++x) {
        put_pixel(at + x, sample, shown(y), shown(x));
      }
    }
  }

  Picture take() { return std::move(picture_); }

 private:
  std::uint32_t longer_side() const {
    return std::max(shape_.height, shape_.width);
  }
  // Which row or column of a sample is shown at one of its cell.
  std::uint32_t shown(std::uint32_t place) const {
    return place / enlarge_ * thin_out_;
  }
  std::uint32_t cell_side(std::uint32_t side) const {
    return (side + thin_out_ - 1) / thin_out_ * enlarge_;
  }
  std::uint32_t height() const { return cell_side(shape_.height); }
  std::uint32_t width() const { return cell_side(shape_.width); }

  void put_pixel(std::size_t pixel, ByteView sample, std::uint32_t y,
                 std::uint32_t x) {
    std::size_t from = (std::size_t{y} * shape_.width + x) * shape_.channels;
    for (std::uint32_t c = 0; c < picture_.channels; ++c) {
      picture_.pixels[pixel * picture_.channels + c] = sample[from + c];
    }
  }

  SampleShape shape_;
  std::uint32_t enlarge_;
  std::uint32_t thin_out_;
  Picture picture_;
};

}  // namespace

Picture sample_grid(const DatasetSource& source) {
  std::uint32_t rows = std::min(source.classes, kGridClasses);
  Grid grid(source.shape, rows);
  std::vector<std::uint32_t> filled(rows);
  std::size_t size = source.shape.size();
  for (std::size_t i = 0; i < source.train.samples(); ++i) {
    std::uint8_t row = source.train.labels[i];
    if (row >= rows || filled[row] == kColumns) continue;
    grid.put(row, filled[row]++,
             ByteView(source.train.images).subspan(i * size, size));
  }
  return grid.take();
}

Bytes encode_png(const Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  Bytes bytes(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0,
                                picture.pixels.data(), 0, nullptr) == 0) {
    throw Error(ErrorKind::io,
                fmt::format("picture of {} x {}: {}", picture.width,
                            picture.height, image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace quorate
