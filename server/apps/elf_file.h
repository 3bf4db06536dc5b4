// What an ELF file says of itself: whether it is a program, for which
// processor, and which libraries it needs. System V ABI, chapters 4 and 5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace quorate::boinc {

struct ElfFile {
  std::uint16_t machine = 0;        // EM_X86_64, ...
  bool is_program = false;          // else a library
  std::string soname;               // of a library, if it says one
  std::vector<std::string> needed;  // sonames
};

// Of 64 bits, little-endian. bytes: the whole file, of any origin: every offset
// is checked. Throws corrupt, beginning with `what`, for anything else.
ElfFile read_elf(ByteView bytes, const std::string& what);

}  // namespace quorate::boinc
