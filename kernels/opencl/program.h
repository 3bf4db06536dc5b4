// The compiled kernels of a device, and the folder that keeps them: compiling
// takes seconds, and the same device comes back.
//
// A file of the cache is named by the SHA-256 of device, driver, options and
// source, so a new driver or a new kernel compiles anew and old files are never
// wrong; nobody removes them. Its content begins with its own hash: one that a
// crash left half-written is compiled again, with a warning in the log.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "kernels/opencl/devices.h"

namespace quorate::opencl {

// A context with the program, built. Threads may share it.
// Owns both objects of OpenCL. Building takes seconds and blocks the caller.
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

  // Both live as long as this object; a queue or kernel made of them keeps them
  // alive by OpenCL's own counting.
  cl_context context() const { return context_; }
  cl_program get() const { return program_; }
  // False if it came out of the cache.
  bool was_compiled() const { return was_compiled_; }

 private:
  // Fills program_ from the file; false, and nothing is kept, if it is missing
  // or of no use.
  bool load(const DeviceEntry& device, const std::string& options,
            const std::filesystem::path& file);
  // Fills program_ from the source, or throws.
  void compile(const DeviceEntry& device, const std::string& source,
               const std::string& options);
  // Writes the file durably. A failure is logged and costs the next start time.
  void save(const std::filesystem::path& file) const;
  // Gives both objects back; they may be null.
  void release();

  cl_context context_ = nullptr;
  cl_program program_ = nullptr;
  bool was_compiled_ = false;
};

// $XDG_CACHE_HOME/quorate or ~/.cache/quorate; empty if neither is known.
// Reads the environment at every call.
std::filesystem::path default_cache();

// The program of our kernels for a device, built once in this process and kept
// until it ends, even when no backend uses it. Safe from several threads: a
// second one waits for the first. Throws as Program does, and then the next
// call tries again.
std::shared_ptr<Program> shared_program(const DeviceEntry& device);

}  // namespace quorate::opencl
