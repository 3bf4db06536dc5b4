// The host's processor, with vector instructions chosen at run time and as many
// threads as asked for. Hosts need AVX2 and FMA at least.
//
// The room kernels/cpu owns a thread pool, its threads' scratch memory, and the
// objects that run each family of operations (Convolver, Attention, Normalizer,
// Reducer, Pooler, Elements). They turn an operation into tasks; the loops
// themselves are in kernels/cpu/vector, compiled once per instruction set. May
// include kernels/, reference/ and cpu/vector/.
//
// An operation is done when its call returns: nothing here runs later.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"
#include "kernels/cpu/vector/instruction_set.h"

namespace quorate {

// Empty if this host has the instructions, else what it lacks, in words.
// Asks the compiler's cpuid code, not Highway's library, which would be one
// more file that every volunteer downloads.
std::string missing_for(InstructionSet set);

// Aborts if this host lacks the instructions. Throws io if the system gives no
// `threads` threads.
// threads: at least 1, the calling thread included; the results do not depend
// on it. Takes 1 MiB of scratch per thread at once, more as operations need it,
// and keeps it.
std::unique_ptr<Backend> make_cpu_backend(InstructionSet set, unsigned threads);

}  // namespace quorate
