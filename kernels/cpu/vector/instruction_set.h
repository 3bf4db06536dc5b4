// The vector instructions that the CPU's kernels are compiled for; which of
// them run is chosen when the program runs.
#pragma once

namespace quorate {

enum class InstructionSet { avx2, avx512 };

}  // namespace quorate
