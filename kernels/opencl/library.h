// OpenCL, loaded when it is asked for: a program that runs where there is no
// OpenCL must not need it to start.
//
// The only file that includes OpenCL's headers, and those of version 1.2, which
// every driver has.
#pragma once

#include <string>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace quorate::opencl {

// The functions that are used. Each is looked up by name, once.
#define QUORATE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)               \
  X(clGetPlatformInfo)              \
  X(clGetDeviceIDs)                 \
  X(clGetDeviceInfo)                \
  X(clCreateContext)                \
  X(clReleaseContext)               \
  X(clCreateCommandQueue)           \
  X(clReleaseCommandQueue)          \
  X(clCreateProgramWithSource)      \
  X(clCreateProgramWithBinary)      \
  X(clBuildProgram)                 \
  X(clGetProgramInfo)               \
  X(clGetProgramBuildInfo)          \
  X(clReleaseProgram)               \
  X(clCreateKernel)                 \
  X(clSetKernelArg)                 \
  X(clReleaseKernel)                \
  X(clCreateBuffer)                 \
  X(clReleaseMemObject)             \
  X(clEnqueueWriteBuffer)           \
  X(clEnqueueReadBuffer)            \
  X(clEnqueueFillBuffer)            \
  X(clEnqueueNDRangeKernel)         \
  X(clFlush)                        \
  X(clFinish)

// The functions under their names. None is null in what library() returns.
struct Library {
// Pointers of OpenCL's own types, so that calls are checked.
#define QUORATE_MEMBER(name) decltype(&::name) name = nullptr;
  QUORATE_OPENCL_FUNCTIONS(QUORATE_MEMBER)
#undef QUORATE_MEMBER
};

// The library of this host, loaded by the first call; threads may call it at
// the same time. Throws unsupported, saying what is missing and which package
// has it, at every call. Stays loaded until the process ends: drivers have
// threads of their own.
const Library& library();

// "CL_OUT_OF_RESOURCES", or the number of a rarer error.
// Used in messages, never to decide.
std::string error_name(cl_int code);

// Throws io unless code is CL_SUCCESS: device and what was tried on it.
void check_call(cl_int code, const std::string& device, std::string_view what);

}  // namespace quorate::opencl
