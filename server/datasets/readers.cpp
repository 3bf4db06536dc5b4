#include "server/datasets/readers.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/glyphs.h"
#include "server/datasets/idx.h"

namespace quorate {
namespace {

enum class Role { train_images, train_labels, test_images, test_labels };

constexpr std::array<std::string_view, 4> kRoleNames = {
    "training images", "training labels", "test images", "test labels"};

constexpr std::string_view kLookedFor =
    "looked for IDX files named like train-images-idx3-ubyte, "
    "train-labels-idx1-ubyte and, for a test part, t10k-images-idx3-ubyte, "
    "t10k-labels-idx1-ubyte (also with . for -, also .gz)";

// A file name's words: "train-images.idx3-ubyte.gz" has five.
std::vector<std::string> words_of(const std::string& file_name) {
  std::vector<std::string> words(1);
  for (char c : file_name) {
    if (c == '-' || c == '.' || c == '_') {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

// What an IDX file holds, by its name; nullopt for other files.
std::optional<Role> role_of(const fs::path& path) {
  std::vector<std::string> words = words_of(path.filename().string());
  auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  bool is_test = has("t10k") || has("test");
  if (has("images") && has("ubyte")) {
    return is_test ? Role::test_images : Role::train_images;
  }
  if (has("labels") && has("ubyte")) {
    return is_test ? Role::test_labels : Role::train_labels;
  }
  return std::nullopt;
}

// The files that `paths` name: themselves, or what their folder holds.
std::vector<fs::path> list_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& text : paths) {
    fs::path path(text);
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        if (entry.is_regular_file() && role_of(entry.path())) {
          files.push_back(entry.path());
        }
      }
    } else if (!fs::is_regular_file(path, error)) {
      throw Error(ErrorKind::usage,
                  fmt::format("data set: {}: no such file or folder; \"glyphs\""
                              " is built in",
                              text));
    } else if (!role_of(path)) {
      throw Error(ErrorKind::usage, fmt::format("data set: {}: unknown kind of "
                                                "file; {}",
                                                text, kLookedFor));
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

using FilesByRole = std::array<std::optional<fs::path>, 4>;

FilesByRole assign_roles(const std::vector<fs::path>& files) {
  FilesByRole by_role;
  for (const fs::path& file : files) {
    auto role = static_cast<std::size_t>(*role_of(file));
    if (by_role[role]) {
      throw Error(ErrorKind::usage,
                  fmt::format("data set: two files of {}: {} and {}; name the "
                              "files to use",
                              kRoleNames[role], by_role[role]->string(),
                              file.string()));
    }
    by_role[role] = file;
  }
  return by_role;
}

void expect_pair(const FilesByRole& files, Role images, Role labels,
                 bool is_required, const std::string& where) {
  auto i = static_cast<std::size_t>(images);
  auto l = static_cast<std::size_t>(labels);
  if (files[i] && files[l]) return;
  if (!files[i] && !files[l] && !is_required) return;
  std::string_view missing = kRoleNames[files[i] ? l : i];
  std::string found;
  for (const std::optional<fs::path>& file : files) {
    if (file) found += (found.empty() ? "" : ", ") + file->filename().string();
  }
  throw Error(ErrorKind::usage,
              fmt::format("data set: {}: no {}: {}; found: {}", where, missing,
                          kLookedFor, found.empty() ? "none" : found));
}

// Reads one part into `source`, whose shape it sets or must match.
SampleSet read_part(const fs::path& images_path, const fs::path& labels_path,
                    std::uint64_t max_bytes, DatasetSource& source) {
  IdxImages images = read_idx_images(images_path, max_bytes);
  SampleSet part{std::move(images.pixels),
                 read_idx_labels(labels_path, max_bytes)};
  if (part.samples() != images.count) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{} has {} images, {} has {} labels", images_path.string(),
                    images.count, labels_path.string(), part.samples()));
  }
  SampleShape shape{images.height, images.width, 1};
  if (source.shape.size() != 0 && shape != source.shape) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: images of {} x {}, the training part has "
                            "{} x {}",
                            images_path.string(), shape.height, shape.width,
                            source.shape.height, source.shape.width));
  }
  source.shape = shape;
  for (std::uint8_t label : part.labels) {
    source.classes = std::max(source.classes, std::uint32_t{label} + 1);
  }
  return part;
}

DatasetSource read_idx(const std::vector<std::string>& paths) {
  FilesByRole files = assign_roles(list_files(paths));
  std::string where = fmt::format("{}", fmt::join(paths, " "));
  expect_pair(files, Role::train_images, Role::train_labels, true, where);
  expect_pair(files, Role::test_images, Role::test_labels, false, where);

  DatasetSource source;
  source.kind = "idx";
  source.train = read_part(*files[0], *files[1], kMaxDatasetBytes, source);
  if (files[2]) {
    std::uint64_t left = kMaxDatasetBytes - source.train.images.size();
    source.test = read_part(*files[2], *files[3], left, source);
  }
  return source;
}

}  // namespace

DatasetSource open_source(const SourceSpec& spec) {
  if (spec.paths.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: no source given: name \"glyphs\" or a "
                            "folder; {}",
                            kLookedFor));
  }
  if (spec.paths.size() == 1 && spec.paths[0] == "glyphs") {
    return glyphs_source(spec.train_samples, spec.test_samples, spec.seed);
  }
  return read_idx(spec.paths);
}

}  // namespace quorate
