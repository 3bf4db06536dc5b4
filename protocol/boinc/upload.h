// The upload handler's messages: a client asks how much of a file is there, and
// sends the rest. The head of an upload is XML, cut off where the bytes begin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "base/weak_crypto.h"
#include "protocol/boinc/signatures.h"

namespace quorate::boinc {

// Heads are under 1 kB.
inline constexpr std::size_t kMaxUploadHead = 4096;

// How many bytes of the file are there? Asked for files of 8192 bytes and more.
struct FileSizeQuestion {
  std::string name;
};

// The bytes of a file from `offset` to its end. Whether it may come at all is
// what `permission` says, over name and max_nbytes: see signatures.h.
struct FileUpload {
  std::string name;
  std::uint64_t max_nbytes = 0;
  UploadPermission permission;
  std::uint64_t nbytes = 0;    // of the whole file, at most max_nbytes
  Md5Hash md5;                 // of the whole file
  std::uint64_t offset = 0;    // at most nbytes
  std::size_t head_bytes = 0;  // of the request, before the file's bytes
};

using UploadRequest = std::variant<FileSizeQuestion, FileUpload>;

// Reads the request that `prefix` begins; nullopt if there has to be more of
// it. Throws corrupt for what is neither message, or out of bounds.
std::optional<UploadRequest> parse_upload_head(ByteView prefix);

enum class UploadStatus {
  done = 0,
  later = 1,   // the client waits, then asks for the size and goes on
  never = -1,  // it gives up the file, and reports the task as if all were well
};
struct UploadReply {
  UploadStatus status = UploadStatus::done;
  std::optional<std::uint64_t> file_size;  // the answer to the question
  std::string message;                     // for the client's log
};

std::string write(const UploadReply& reply);

}  // namespace quorate::boinc
