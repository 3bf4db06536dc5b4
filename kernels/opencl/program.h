// The compiled kernels of a device, and the folder that keeps them: compiling
// takes seconds, and the same device comes back.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "kernels/opencl/devices.h"

namespace quorate::opencl {

// A context with the program, built. Threads may share it.
class Program {
 public:
  // cache: folder of compiled programs, made if it is missing; empty: none.
  // What it holds is checked and is never needed. Throws unsupported with the
  // first lines of the compiler's log if the source does not compile, io if the
  // device fails.
  Program(const DeviceEntry& device, const std::string& source,
          const std::string& options, const std::filesystem::path& cache);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  cl_context context() const { return context_; }
  cl_program get() const { return program_; }
  // False if it came out of the cache.
  bool was_compiled() const { return was_compiled_; }

 private:
  bool load(const DeviceEntry& device, const std::string& options,
            const std::filesystem::path& file);
  void compile(const DeviceEntry& device, const std::string& source,
               const std::string& options);
  void save(const std::filesystem::path& file) const;
  void release();

  cl_context context_ = nullptr;
  cl_program program_ = nullptr;
  bool was_compiled_ = false;
};

// $XDG_CACHE_HOME/quorate or ~/.cache/quorate; empty if neither is known.
std::filesystem::path default_cache();

// The program of our kernels for a device, built once in this process.
std::shared_ptr<Program> shared_program(const DeviceEntry& device);

}  // namespace quorate::opencl
