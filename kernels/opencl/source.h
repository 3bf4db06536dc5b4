// The text of the kernels as OpenCL compilers get it: one piece, includes and
// all. It is part of this program.
#pragma once

#include <string>

namespace quorate::opencl {

const std::string& kernel_source();

}  // namespace quorate::opencl
