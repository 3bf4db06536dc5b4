// The table of the file formats that a data set may come in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/datasets/readers/source.h"

namespace quorate {

// One format of files. A row of the table in formats.cpp is all that a new one
// needs beside its reader.
struct Format {
  std::string_view name;
  std::string_view looked_for;      // names of its files, for people
  bool (*has_mark)(ByteView head);  // null: its files begin with no mark
  bool (*is_named_so)(const std::string& plain_name);
  DatasetSource (*read)(const SourceFiles&, const SourceSpec&,
                        const ReadProgress&);
  // Such files also lie beside data of other formats, to describe them: in one
  // folder with those they are passed over.
  bool gives_way = false;
};

// The names that SourceSpec::format may have.
std::vector<std::string> format_names();
// Throws usage, with the names that there are.
const Format& format_named(const std::string& name);
// The format of a file, null if it has none of ours. A mark tells more than a
// name does.
const Format* recognise(const fs::path& path);
// "looked for idx (train-images-idx3-ubyte, ...); ...": the end of an error.
std::string looked_for();

}  // namespace quorate
