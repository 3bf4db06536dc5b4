// The text of the kernels as OpenCL compilers get it: one piece, includes and
// all. It is part of this program.
//
// Embedded at build time and expanded on first use: about 70 KB, the same text
// that nvcc compiles. Safe from several threads; lives as long as the program.
//
// Rejected: a folder of kernel files beside the program, which an update could
// leave in another version; and SPIR-V, which drivers of OpenCL 1.2 need not
// take.
#pragma once

#include <string>

namespace quorate::opencl {

const std::string& kernel_source();

}  // namespace quorate::opencl
