// Names that go through a BOINC client: of files, results, workunits.
#pragma once

#include <string_view>

namespace quorate::boinc {

// True for 1 to 255 letters, digits, "_", ".", "-" and "+" without ".." in
// them. Clients take a little more; they give all files of a project one flat
// folder, and what a name stands for can never change.
bool is_file_name(std::string_view text);

}  // namespace quorate::boinc
