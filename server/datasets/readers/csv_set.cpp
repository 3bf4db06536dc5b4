#include "server/datasets/readers/csv_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/readers/csv.h"

namespace quorate {
namespace {

// A value has up to three digits and a comma; then there is a header line.
constexpr std::uint64_t kMaxFileBytes = 4 * kMaxDatasetBytes + (4 << 20);
constexpr std::size_t kShown = 40;  // characters of a wrong field in an error

template <class T>
std::optional<T> integer(std::string_view text) {
  T value{};
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// The columns of a file.
struct Layout {
  std::size_t count = 0;
  std::size_t label = 0;
  bool has_header = false;
};

[[noreturn]] void refuse_label(const std::string& file,
                               const std::string& column,
                               const std::string& why) {
  throw Error(ErrorKind::usage,
              fmt::format("data set: {}: --label {}: {}", file, column, why));
}

// first: the fields of the first line.
Layout layout_of(std::span<const std::string_view> first,
                 const std::string& column, const std::string& file) {
  Layout layout{first.size(), 0, false};
  if (column == "last") {
    layout.label = layout.count - 1;
  } else if (auto number = integer<std::uint32_t>(column)) {
    if (*number < 1 || *number > layout.count) {
      refuse_label(file, column,
                   fmt::format("the first line has {} columns", layout.count));
    }
    layout.label = *number - 1;
  } else if (!column.empty()) {
    auto found = std::find(first.begin(), first.end(), column);
    if (found == first.end()) {
      refuse_label(
          file, column,
          fmt::format("the first line has no column of this name; a column can "
                      "also be given by its number, from 1, or as \"last\""));
    }
    layout.label = static_cast<std::size_t>(found - first.begin());
    layout.has_header = true;
  }
  if (!integer<std::int64_t>(first[layout.label])) layout.has_header = true;
  return layout;
}

SampleShape guessed_shape(std::uint32_t values) {
  auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(values)));
  if (side * side == values) return {side, side, 1};
  return {1, values, 1};
}

// What the values of a line are: as the operator says, else guessed.
SampleShape shape_of(const Layout& layout, const SourceSpec& spec,
                     const std::string& file) {
  std::size_t values = layout.count - 1;
  if (!spec.shape) return guessed_shape(static_cast<std::uint32_t>(values));
  if (spec.shape->size() != values) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: {}: --shape {}x{}x{}: {} values, a line "
                            "has {} beside its label",
                            file, spec.shape->height, spec.shape->width,
                            spec.shape->channels, spec.shape->size(), values));
  }
  return *spec.shape;
}

// What was taken for granted of a file's columns; empty if all of it was said.
std::string layout_guess(const Layout& layout, const SampleShape& shape,
                         const SourceSpec& spec) {
  std::string guess;
  if (spec.label_column.empty()) {
    guess = fmt::format("{}, label in column {} (--label)",
                        layout.has_header ? "a header line" : "no header line",
                        layout.label + 1);
  }
  if (!spec.shape) {
    guess += fmt::format("{}the {} values of a line are {}x{}x{} (--shape)",
                         guess.empty() ? "" : ", ", layout.count - 1,
                         shape.height, shape.width, shape.channels);
  }
  return guess;
}

std::uint8_t byte_of(const CsvReader& csv, std::size_t column) {
  std::string_view field = csv.fields()[column];
  if (auto value = integer<std::uint8_t>(field)) return *value;
  csv.fail(column, fmt::format("expected an integer from 0 to 255, found "
                               "\"{}\"{}",
                               field.substr(0, kShown),
                               field.size() > kShown ? "..." : ""));
}

void append_sample(const CsvReader& csv, const Layout& layout,
                   SampleSet& part) {
  std::size_t found = csv.fields().size();
  if (found != layout.count) {
    csv.fail(std::min(found, layout.count),
             fmt::format("expected {} columns, found {}", layout.count, found));
  }
  for (std::size_t column = 0; column < layout.count; ++column) {
    (column == layout.label ? part.labels : part.images)
        .push_back(byte_of(csv, column));
  }
}

void append_file(const fs::path& path, const SourceSpec& spec,
                 const ReadProgress& progress, DatasetSource& source,
                 SampleSet& part) {
  DataFile file(path, kMaxFileBytes, progress);
  CsvReader csv(file);
  if (!csv.next()) file.fail("expected samples, the file is empty");
  Layout layout = layout_of(csv.fields(), spec.label_column, file.name());
  if (layout.count < 2) csv.fail(0, "expected a label and values, found one");
  SampleShape shape = shape_of(layout, spec, file.name());
  take_shape(source, shape, file.name());
  if (source.guess.empty()) source.guess = layout_guess(layout, shape, spec);
  if (layout.has_header && !csv.next()) {
    file.fail("expected samples below the header line, found none");
  }
  do {
    expect_room(source, shape.size(), file.name());
    append_sample(csv, layout, part);
  } while (csv.next());
}

std::uint8_t largest_value(const DatasetSource& source) {
  std::uint8_t largest = 0;
  for (const SampleSet* part : {&source.train, &source.test}) {
    for (std::uint8_t value : part->images) largest = std::max(largest, value);
  }
  return largest;
}

void stretch(Bytes& values, std::uint32_t white) {
  for (std::uint8_t& value : values) {
    value = static_cast<std::uint8_t>((value * 255 + white / 2) / white);
  }
}

// Makes the values what pixels are, 0 to 255.
void stretch_values(DatasetSource& source, const SourceSpec& spec) {
  std::uint8_t largest = largest_value(source);
  std::uint32_t white = spec.max_value.value_or(guessed_white(largest));
  if (largest > white) {
    throw Error(ErrorKind::usage,
                fmt::format("data set: --max-value {}: some values are as "
                            "large as {}: say --max-value {}",
                            white, largest, largest));
  }
  if (white == 255) return;
  stretch(source.train.images, white);
  stretch(source.test.images, white);
  if (spec.max_value) return;
  source.guess += fmt::format(
      "{}no value is above {}, so 0 to {} became 0 to 255 (--max-value)",
      source.guess.empty() ? "" : ", ", largest, largest);
}

// A column that is the same everywhere tells nothing.
void expect_labels_differ(const DatasetSource& source, const SourceSpec& spec) {
  std::optional<std::uint8_t> only;
  std::size_t count = 0;
  for (const SampleSet* part : {&source.train, &source.test}) {
    for (std::uint8_t label : part->labels) {
      if (only.value_or(label) != label) return;
      only = label;
      ++count;
    }
  }
  if (count < 2) return;
  throw Error(ErrorKind::usage,
              fmt::format("data set: every label is {}: wrong column? Try "
                          "--label {}",
                          *only, spec.label_column == "last" ? "1" : "last"));
}

}  // namespace

std::uint32_t guessed_white(std::uint8_t largest) {
  return largest == 0 || largest >= 128 ? 255 : largest;
}

bool is_csv_name(const std::string& plain_name) {
  return plain_name.ends_with(".csv");
}

SampleShape parse_sample_shape(const std::string& text) {
  std::vector<std::uint32_t> sides;
  std::string_view left = text;
  for (std::size_t end = 0; end != left.npos;) {
    end = left.find('x');
    sides.push_back(integer<std::uint32_t>(left.substr(0, end)).value_or(0));
    if (end != left.npos) left.remove_prefix(end + 1);
  }
  if (sides.size() == 2) sides.push_back(1);
  SampleShape shape;
  if (sides.size() == 3) shape = {sides[0], sides[1], sides[2]};
  if (!is_sample_shape(shape)) {
    throw Error(ErrorKind::usage,
                fmt::format("--shape {}: expected height x width x channels, "
                            "for example 28x28x1",
                            text));
  }
  return shape;
}

DatasetSource read_csv_set(const SourceFiles& files, const SourceSpec& spec,
                           const ReadProgress& progress) {
  DatasetSource source;
  source.kind = "csv";
  for (const fs::path& file : files.train) {
    append_file(file, spec, progress, source, source.train);
  }
  for (const fs::path& file : files.test) {
    append_file(file, spec, progress, source, source.test);
  }
  expect_labels_differ(source, spec);
  stretch_values(source, spec);
  count_classes(source);
  return source;
}

}  // namespace quorate
