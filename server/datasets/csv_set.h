// A data set of CSV files, plain or gzip: a sample is a line of integers from 0
// to 255, one of them its label, the others its pixels, row by row, the
// channels of a pixel side by side.
#pragma once

#include "server/datasets/source.h"

namespace quorate {

bool is_csv_name(const std::string& plain_name);

// The shape that "28x28x1" or "28x28" stands for; throws usage.
SampleShape parse_sample_shape(const std::string& text);

// A first line whose label is no integer is a header. Without spec.shape, a
// square number of values is a square, any other a single row; `guess` of the
// set says which. Throws corrupt, naming file, line and column, usage if
// the label's column or the shape do not fit the file, denied beyond what fits.
DatasetSource read_csv_set(const SourceFiles& files, const SourceSpec& spec,
                           const ReadProgress& progress);

}  // namespace quorate
