// The vector instructions that the CPU's kernels are compiled for; which of
// them run is chosen when the program runs.
//
// The room kernels/cpu/vector holds single-threaded loops over host pointers,
// as tables of functions, one table per instruction set (Highway's
// foreach_target). It owns no memory and no thread and may include kernels/ and
// kernels/reference.
#pragma once

namespace quorate {

enum class InstructionSet { avx2, avx512 };

}  // namespace quorate
