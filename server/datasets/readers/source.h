// What the readers of all formats share: what the operator asked for, the files
// of one source, and how they become one set.
//
// The room server/datasets/readers turns files that anybody may have made into
// a DatasetSource; a reader is one function and a row of the table in
// formats.cpp. It owns nothing and may include server/datasets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/datasets/dataset.h"
#include "server/datasets/readers/data_file.h"

namespace quorate {

struct SourceSpec {
  // {"glyphs"}: the built-in set. Else folders, or the files themselves.
  std::vector<std::string> paths;
  // Of glyphs only.
  std::uint32_t train_samples = 60000;
  std::uint32_t test_samples = 10000;
  std::uint64_t seed = 0;
  // Empty: recognised from the files.
  std::string format{};
  // Of CSV only: the label's column (its number from 1, "last", or its name in
  // the header line; empty: the first), what the values of a line are, and
  // which of 1 to 255 is white (not given: guessed from the largest).
  std::string label_column{};
  std::optional<SampleShape> shape{};
  std::optional<std::uint32_t> max_value{};
};

// Files of one format, each part in the order of its names.
struct SourceFiles {
  std::vector<fs::path> train;
  std::vector<fs::path> test;
};

// A file's name in lower case, without ".gz".
std::string plain_name(const fs::path& path);
// Its words: "train-images.idx3-ubyte" has four.
bool has_word(const std::string& plain_name, std::string_view word);
// Whether a file holds the test part: its name has the word test or t10k.
bool is_test_file(const fs::path& path);

// "a, b, c"; no more than eight of them are named.
std::string names_of(const std::vector<fs::path>& files);

// Bytes of samples that `source` may still take.
std::uint64_t room_left(const DatasetSource& source);
// Throws denied, naming the file, if it may not take `bytes` more.
void expect_room(const DatasetSource& source, std::uint64_t bytes,
                 const std::string& file);
// Makes `shape` that of the set. Throws corrupt, naming the file, if the set
// has another already, or samples cannot have it.
void take_shape(DatasetSource& source, const SampleShape& shape,
                const std::string& file);
// The number of classes from the largest label that occurs.
void count_classes(DatasetSource& source);

}  // namespace quorate
