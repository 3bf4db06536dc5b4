#include "server/datasets/readers/source.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kNamed = 8;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string plain_name(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), lower);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

bool has_word(const std::string& plain_name, std::string_view word) {
  std::string_view left = plain_name;
  for (;;) {
    std::size_t end = left.find_first_of("-._");
    if (left.substr(0, end) == word) return true;
    if (end == left.npos) return false;
    left.remove_prefix(end + 1);
  }
}

bool is_test_file(const fs::path& path) {
  std::string name = plain_name(path);
  return has_word(name, "test") || has_word(name, "t10k");
}

std::string names_of(const std::vector<fs::path>& files) {
  if (files.empty()) return "none";
  std::string names;
  for (std::size_t i = 0; i < std::min(files.size(), kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + files[i].filename().string();
  }
  if (files.size() > kNamed) {
    names += fmt::format(" and {} more", files.size() - kNamed);
  }
  return names;
}

std::uint64_t room_left(const DatasetSource& source) {
  return kMaxDatasetBytes - std::min(bytes_of(source), kMaxDatasetBytes);
}

void expect_room(const DatasetSource& source, std::uint64_t bytes,
                 const std::string& file) {
  if (bytes > room_left(source)) {
    expect_dataset_fits(kMaxDatasetBytes - room_left(source) + bytes, file);
  }
}

void take_shape(DatasetSource& source, const SampleShape& shape,
                const std::string& file) {
  if (!is_sample_shape(shape)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: samples of {}: expected sides of 1 to {}, 1 "
                            "to {} channels and no more than {} values",
                            file, text_of(shape), kMaxSide, kMaxChannels,
                            kMaxSampleValues));
  }
  if (source.shape.size() != 0 && shape != source.shape) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: samples of {}, but the earlier ones have {}",
                            file, text_of(shape), text_of(source.shape)));
  }
  source.shape = shape;
}

void count_classes(DatasetSource& source) {
  source.classes = 0;
  for (const SampleSet* part : {&source.train, &source.test}) {
    for (std::uint8_t label : part->labels) {
      source.classes = std::max(source.classes, std::uint32_t{label} + 1);
    }
  }
}

}  // namespace quorate
