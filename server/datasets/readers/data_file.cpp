#include "server/datasets/readers/data_file.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr unsigned kBuffer = 1 << 17;

// zlib's "<fd:3>: incorrect data check" without its name for the file.
std::string_view reason_of(std::string_view text) {
  std::size_t at = text.find(": ");
  return at == text.npos ? text : text.substr(at + 2);
}

}  // namespace

void DataFile::Closer::operator()(gzFile_s* stream) const {
  gzclose(stream);
}

DataFile::DataFile(const fs::path& path, std::uint64_t max_bytes,
                   ReadProgress progress)
    : name_(path.string()),
      max_bytes_(max_bytes),
      progress_(std::move(progress)) {
  FileDescriptor file = open_file(path, O_RDONLY);
  std::error_code error;
  size_ = fs::file_size(path, error);
  if (error) size_ = 0;
  stream_.reset(gzdopen(file.get(), "rb"));
  if (!stream_) {
    throw Error(ErrorKind::io, name_ + ": not enough memory to read it");
  }
  file.release();  // gzclose closes it
  gzbuffer(stream_.get(), kBuffer);
}

void DataFile::fail(const std::string& why) const {
  throw Error(ErrorKind::corrupt, fmt::format("{}: {}", name_, why));
}

std::size_t DataFile::read(std::span<std::uint8_t> out) {
  int got =
      gzread(stream_.get(), out.data(), static_cast<unsigned>(out.size()));
  int code = Z_OK;
  const char* text = gzerror(stream_.get(), &code);
  if (code == Z_ERRNO) throw_errno("read " + name_);
  if (code == Z_BUF_ERROR) {
    fail(fmt::format("after byte {}: the compressed data end early",
                     at_ + static_cast<std::size_t>(std::max(got, 0))));
  }
  if (got < 0) {
    fail(fmt::format("after byte {}: damaged compressed data: {}", at_,
                     reason_of(text)));
  }
  at_ += static_cast<std::size_t>(got);
  if (at_ > max_bytes_) {
    throw Error(ErrorKind::denied,
                fmt::format("{}: more than {} bytes of data, the most that "
                            "fits: use a part of it",
                            name_, max_bytes_));
  }
  if (progress_) {
    auto done = static_cast<std::uint64_t>(gzoffset(stream_.get()));
    progress_(name_, std::min(done, size_), size_);
  }
  return static_cast<std::size_t>(got);
}

void DataFile::read_exactly(std::span<std::uint8_t> out,
                            std::string_view field) {
  std::uint64_t place = at_;
  if (read(out) != out.size()) {
    fail(fmt::format("byte {}: expected {}, the file ends", place, field));
  }
}

Bytes DataFile::rest(std::uint64_t size, std::string_view field) {
  Bytes bytes;
  while (bytes.size() < size) {
    std::size_t had = bytes.size();
    bytes.resize(had + std::min<std::uint64_t>(kChunk, size - had));
    std::size_t got = read(std::span(bytes).subspan(had));
    bytes.resize(had + got);
    if (got == 0) {
      fail(fmt::format("expected {} bytes of {}, the file ends after {}", size,
                       field, had));
    }
  }
  // Asking beyond the end also makes zlib compare the checksum.
  std::uint8_t extra = 0;
  if (read({&extra, 1}) != 0) {
    fail(
        fmt::format("byte {}: expected the end after {} bytes of {}, found "
                    "more",
                    at_ - 1, size, field));
  }
  return bytes;
}

Bytes DataFile::rest() {
  Bytes bytes;
  append_rest(bytes);
  return bytes;
}

void DataFile::append_rest(Bytes& bytes) {
  for (;;) {
    std::size_t had = bytes.size();
    bytes.resize(had + kChunk);
    std::size_t got = read(std::span(bytes).subspan(had));
    bytes.resize(had + got);
    if (got == 0) return;
  }
}

Bytes read_head(const fs::path& path, std::size_t size) {
  Bytes head(size);
  try {
    DataFile file(path, size);
    head.resize(file.read(head));
  } catch (const Error&) {
    head.clear();
  }
  return head;
}

}  // namespace quorate
