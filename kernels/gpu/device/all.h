// Every kernel, for the compiler of a device: the one file that OpenCL and nvcc
// compile (opencl/source.cpp expands its includes into one text).
//
// The room kernels/gpu/device is written in what OpenCL C and CUDA share,
// through the words of language.h. Its files include each other and the three
// texts of kernels/ (primitives.h, elementary-inl.h, division-inl.h), and
// nothing else; only arguments.h is also C++. Comments here are part of the
// program's text: a change makes OpenCL devices compile anew, which takes some
// seconds.
#include "kernels/gpu/device/columns.h"
#include "kernels/gpu/device/elementwise.h"
#include "kernels/gpu/device/products.h"
#include "kernels/gpu/device/softmax.h"
#include "kernels/gpu/device/sums.h"
#include "kernels/gpu/device/tables.h"
#include "kernels/gpu/device/windows.h"
