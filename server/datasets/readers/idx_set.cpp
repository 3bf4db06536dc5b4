#include "server/datasets/readers/idx_set.h"

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/readers/idx.h"

namespace quorate {
namespace {

struct PartFiles {
  std::vector<fs::path> images;
  std::vector<fs::path> labels;
};

IdxKind kind_of(const fs::path& path) {
  if (auto kind = idx_kind(read_head(path, 4))) return *kind;
  return has_word(plain_name(path), "labels") ? IdxKind::labels
                                              : IdxKind::images;
}

PartFiles sort_out(const std::vector<fs::path>& files) {
  PartFiles part;
  for (const fs::path& file : files) {
    (kind_of(file) == IdxKind::images ? part.images : part.labels)
        .push_back(file);
  }
  return part;
}

void expect_one(const std::vector<fs::path>& files, const std::string& what,
                const SourceFiles& all) {
  if (files.size() == 1) return;
  if (files.empty()) {
    std::vector<fs::path> found = all.train;
    found.insert(found.end(), all.test.begin(), all.test.end());
    throw Error(ErrorKind::usage,
                fmt::format("data set: no {} among the IDX files; found: {}",
                            what, names_of(found)));
  }
  throw Error(ErrorKind::usage,
              fmt::format("data set: two files of {}: {} and {}; name the "
                          "files to use",
                          what, files[0].string(), files[1].string()));
}

// Reads one part into `source`, whose shape it sets or must match.
SampleSet read_part(const fs::path& images_path, const fs::path& labels_path,
                    const ReadProgress& progress, DatasetSource& source) {
  std::uint64_t room = room_left(source);
  IdxImages images = read_idx_images(images_path, room, progress);
  SampleSet part{std::move(images.pixels),
                 read_idx_labels(labels_path, room, progress)};
  if (part.samples() != images.count) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{} has {} images, {} has {} labels", images_path.string(),
                    images.count, labels_path.string(), part.samples()));
  }
  take_shape(source, {images.height, images.width, 1}, images_path.string());
  return part;
}

}  // namespace

bool is_idx_name(const std::string& name) {
  return has_word(name, "ubyte") &&
         (has_word(name, "images") || has_word(name, "labels"));
}

DatasetSource read_idx_set(const SourceFiles& files, const SourceSpec&,
                           const ReadProgress& progress) {
  PartFiles train = sort_out(files.train);
  PartFiles test = sort_out(files.test);
  expect_one(train.images, "training images", files);
  expect_one(train.labels, "training labels", files);
  if (!files.test.empty()) {
    expect_one(test.images, "test images", files);
    expect_one(test.labels, "test labels", files);
  }
  DatasetSource source;
  source.kind = "idx";
  source.train = read_part(train.images[0], train.labels[0], progress, source);
  if (!files.test.empty()) {
    source.test = read_part(test.images[0], test.labels[0], progress, source);
  }
  count_classes(source);
  return source;
}

}  // namespace quorate
