#include "server/datasets/readers/readers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/glyphs.h"
#include "server/datasets/readers/formats.h"

namespace quorate {
namespace {

// More is no folder of data files, but one of single pictures, say.
constexpr std::size_t kMaxFiles = 1000;

struct FoundFile {
  fs::path path;
  bool is_named = false;  // by the operator, not found in a folder
  const Format* format = nullptr;
};

void add_folder(const fs::path& folder, std::vector<FoundFile>& files) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    std::error_code no_file;  // a link to nothing, say
    if (!entry.is_regular_file(no_file)) continue;
    if (files.size() == kMaxFiles) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "data set: {}: more than {} files: name the files to read",
              folder.string(), kMaxFiles));
    }
    files.push_back({entry.path(), false, recognise(entry.path())});
  }
  if (error) {
    throw Error(ErrorKind::io, fmt::format("read folder {}: {}",
                                           folder.string(), error.message()));
  }
}

// What `paths` name, in the order of the files' paths, each once.
std::vector<FoundFile> find_files(const std::vector<std::string>& paths) {
  std::vector<FoundFile> files;
  for (const std::string& text : paths) {
    fs::path path = fs::path(text).lexically_normal();
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_folder(path, files);
    } else if (fs::is_regular_file(path, error)) {
      files.push_back({path, true, recognise(path)});
    } else {
      throw Error(ErrorKind::usage,
                  fmt::format("data set: {}: no such file or folder; \"glyphs\""
                              " is built in",
                              text));
    }
  }
  auto before = [](const FoundFile& a, const FoundFile& b) {
    // The one that is named, if a folder has it too, stays.
    return std::pair(a.path, b.is_named) < std::pair(b.path, a.is_named);
  };
  auto is_same = [](const FoundFile& a, const FoundFile& b) {
    return a.path == b.path;
  };
  std::sort(files.begin(), files.end(), before);
  files.erase(std::unique(files.begin(), files.end(), is_same), files.end());
  return files;
}

std::vector<fs::path> paths_of(const std::vector<FoundFile>& files) {
  std::vector<fs::path> paths;
  for (const FoundFile& file : files) paths.push_back(file.path);
  return paths;
}

// Whether a file, found in a folder, may only describe the others.
bool gives_way(const FoundFile& file, const std::vector<FoundFile>& files) {
  if (file.is_named || file.format == nullptr || !file.format->gives_way) {
    return false;
  }
  return std::any_of(files.begin(), files.end(), [&](const FoundFile& other) {
    return other.format != file.format;
  });
}

// The one format that all recognised files have.
const Format& common_format(const std::vector<FoundFile>& files,
                            const std::string& where) {
  const Format* common = nullptr;
  for (const FoundFile& file : files) {
    if (file.format == nullptr && file.is_named) {
      throw Error(ErrorKind::usage,
                  fmt::format("data set: {}: unknown kind of file; {}",
                              file.path.string(), looked_for()));
    }
    if (file.format == nullptr || gives_way(file, files)) continue;
    if (common != nullptr && file.format != common) {
      throw Error(ErrorKind::usage,
                  fmt::format("data set: {}: files of two formats, {} and {}: "
                              "say --format, or name the files; found: {}",
                              where, common->name, file.format->name,
                              names_of(paths_of(files))));
    }
    common = file.format;
  }
  for (const FoundFile& file : files) {
    if (common != nullptr || !gives_way(file, files)) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "data set: {}: {} may just be a description of the data; if it is "
            "the data, say --format {} or name the file; found: {}",
            where, file.path.filename().string(), file.format->name,
            names_of(paths_of(files))));
  }
  if (common == nullptr) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: {}: no data; found: {}; {}", where,
                            names_of(paths_of(files)), looked_for()));
  }
  return *common;
}

// A file and its .gz beside it would count every sample twice.
void expect_no_twins(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    fs::path packed = file;
    packed += ".gz";
    if (std::binary_search(files.begin(), files.end(), packed)) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "data set: {} and {} hold the same data: name the files to use",
              file.string(), packed.string()));
    }
  }
}

// The files of `format` among those found; with --format every file that the
// operator named is one.
SourceFiles files_of(const std::vector<FoundFile>& found, const Format& format,
                     bool is_forced) {
  SourceFiles files;
  for (const FoundFile& file : found) {
    if (file.format != &format && !(is_forced && file.is_named)) continue;
    (is_test_file(file.path) ? files.test : files.train).push_back(file.path);
  }
  expect_no_twins(files.train);
  expect_no_twins(files.test);
  return files;
}

DatasetSource read_files(const SourceSpec& spec, const ReadProgress& progress) {
  std::string where;
  for (const std::string& path : spec.paths) {
    where += (where.empty() ? "" : " ") + path;
  }
  bool is_forced = !spec.format.empty();
  std::vector<FoundFile> found = find_files(spec.paths);
  const Format& format =
      is_forced ? format_named(spec.format) : common_format(found, where);
  bool is_for_csv = spec.shape || spec.max_value || !spec.label_column.empty();
  if (format.name != "csv" && is_for_csv) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: {}: --label, --shape and --max-value "
                            "are for CSV, but these files are {}",
                            where, format.name));
  }
  SourceFiles files = files_of(found, format, is_forced);
  DatasetSource source = format.read(files, spec, progress);
  if (source.train.samples() == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: {}: no training samples; looked for {} "
                            "({}); found: {}",
                            where, format.name, format.looked_for,
                            names_of(paths_of(found))));
  }
  return source;
}

}  // namespace

DatasetSource open_source(const SourceSpec& spec,
                          const ReadProgress& progress) {
  if (spec.paths.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: no source given: name \"glyphs\" or a "
                            "folder; {}",
                            looked_for()));
  }
  if (spec.paths.size() == 1 && spec.paths[0] == "glyphs") {
    return glyphs_source(spec.train_samples, spec.test_samples, spec.seed);
  }
  return read_files(spec, progress);
}

}  // namespace quorate
