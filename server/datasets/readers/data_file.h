// A file of samples from outside, plain or gzip, read once from front to back.
// Memory grows with what the file really holds, never with what it declares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file.h"

struct gzFile_s;

namespace quorate {

// How far a file is read: bytes as they lie on the disk.
using ReadProgress = std::function<void(
    const std::string& file, std::uint64_t bytes_done, std::uint64_t bytes)>;

class DataFile {
 public:
  // max_bytes: of data, once inflated. Throws io if the file cannot be opened.
  DataFile(const fs::path& path, std::uint64_t max_bytes,
           ReadProgress progress = {});

  const std::string& name() const { return name_; }
  // Bytes of data read so far.
  std::uint64_t position() const { return at_; }

  // Throws corrupt, naming the file.
  [[noreturn]] void fail(const std::string& why) const;

  // Up to out.size() bytes; fewer only at the end of the data. Throws io, and
  // corrupt for damaged gzip, and denied beyond max_bytes.
  std::size_t read(std::span<std::uint8_t> out);
  // Exactly out.size() bytes; throws corrupt, naming `field`, if the file ends.
  void read_exactly(std::span<std::uint8_t> out, std::string_view field);
  // What is left: exactly `size` bytes, else corrupt, naming `field`.
  Bytes rest(std::uint64_t size, std::string_view field);
  // What is left, whatever its size; appended to `bytes`.
  Bytes rest();
  void append_rest(Bytes& bytes);

 private:
  struct Closer {
    void operator()(gzFile_s* stream) const;
  };

  std::string name_;
  std::uint64_t size_ = 0;  // on the disk
  std::uint64_t max_bytes_ = 0;
  ReadProgress progress_;
  std::unique_ptr<gzFile_s, Closer> stream_;
  std::uint64_t at_ = 0;
};

// The first bytes of a file's data, at most `size`; none if it cannot be read
// (whoever reads it whole says why).
Bytes read_head(const fs::path& path, std::size_t size);

}  // namespace quorate
