// The host's processor, with vector instructions chosen at run time and as many
// threads as asked for. Hosts need AVX2 and FMA at least.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"
#include "kernels/cpu/vector/instruction_set.h"

namespace quorate {

// Empty if this host has the instructions, else what it lacks, in words.
std::string missing_for(InstructionSet set);

// Aborts if this host lacks the instructions. Throws io if the system gives no
// `threads` threads.
std::unique_ptr<Backend> make_cpu_backend(InstructionSet set, unsigned threads);

}  // namespace quorate
