// A data set of CSV files, plain or gzip: a sample is a line of integers from 0
// to 255, one of them its label, the others its pixels, row by row, the
// channels of a pixel side by side.
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

bool is_csv_name(const std::string& plain_name);

// The shape that "28x28x1" or "28x28" stands for; throws usage.
SampleShape parse_sample_shape(const std::string& text);

// The value that shall become 255 in a set whose largest is this, if the
// operator does not say: pixels need not be bright, but nobody stores 8 bits to
// use less than 7. 255: values stay as they are.
std::uint32_t guessed_white(std::uint8_t largest);

// A first line whose label is no integer is a header. Without spec.shape, a
// square number of values is a square, any other a single row. Values are
// stretched so that spec.max_value, or guessed_white(), becomes 255. `guess` of
// the set says what was taken for granted. Throws corrupt, naming file, line
// and column, usage if the label's column, the shape or the largest value do
// not fit the files or all labels are equal, denied beyond what fits.
DatasetSource read_csv_set(const SourceFiles& files, const SourceSpec& spec,
                           const ReadProgress& progress);

}  // namespace quorate
