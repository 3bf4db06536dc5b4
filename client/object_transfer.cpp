#include "client/object_transfer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "client/settings.h"

namespace quorate::client {
namespace {

// A server that moves the start of an upload this often is not making sense.
constexpr int kMostUploadStarts = 5;

std::string describe(const ObjectRef& object) {
  return fmt::format("download {} {}", name_of(object.kind),
                     object.hash.hex().substr(0, 16));
}

// A part on disk: what is there is hashed, what comes is appended.
class PartFile {
 public:
  PartFile(const fs::path& path, std::uint64_t most)
      : path_(path), file_(open_file(path, O_RDWR | O_CREAT, 0600)) {
    MappedFile there(path);
    if (there.bytes().size() > most) {
      restart();
      return;
    }
    hash_.update(there.bytes());
    size_ = there.bytes().size();
    if (::lseek(file_.get(), 0, SEEK_END) < 0) {
      throw_errno("seek " + path.string());
    }
  }

  std::uint64_t size() const { return size_; }

  void append(ByteView bytes) {
    write_all(file_.get(), bytes, path_);
    hash_.update(bytes);
    size_ += bytes.size();
  }

  void restart() {
    if (::ftruncate(file_.get(), 0) != 0 ||
        ::lseek(file_.get(), 0, SEEK_SET) < 0) {
      throw_errno("truncate " + path_.string());
    }
    hash_.finish();
    size_ = 0;
  }

  Hash finish() { return hash_.finish(); }

 private:
  fs::path path_;
  FileDescriptor file_;
  Sha256 hash_;
  std::uint64_t size_ = 0;
};

void expect_room(const ObjectRef& object, const fs::path& part) {
  std::uint64_t room = free_space(part.parent_path());
  if (room < object.size || room - object.size < kDiskReserveBytes) {
    throw Error(ErrorKind::io,
                little_disk_text(part.parent_path(), room, object.size));
  }
}

// One request for what is missing.
void fetch_rest(ProjectApi& api, const ObjectRef& object, PartFile& part) {
  HttpRequest request;
  request.path = "/v1/objects/" + object.hash.hex();
  request.from = part.size();
  bool is_first_piece = true;
  request.sink = [&](const HttpReply& head, ByteView piece) {
    // A server that ignores the range, or gives another, starts from 0.
    if (is_first_piece && head.first_byte != part.size()) {
      part.restart();
      if (head.first_byte != 0) {
        throw Error(ErrorKind::unavailable,
                    describe(object) + ": the server sent another range");
      }
    }
    is_first_piece = false;
    if (piece.size() > object.size - part.size()) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: the server sends more than its {} bytes",
                              describe(object), object.size));
    }
    part.append(piece);
  };
  HttpReply reply = api.exchange(std::move(request));
  if (reply.status == 416) {
    part.restart();
    throw Error(ErrorKind::unavailable,
                describe(object) + ": the server refused to resume it");
  }
  if (reply.status == 404 || reply.status == 410) {
    throw Error(ErrorKind::corrupt,
                describe(object) + ": the server does not have it");
  }
  if (reply.status != 200 && reply.status != 206) {
    throw_refusal(reply, describe(object));
  }
  if (part.size() < object.size) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: ended after {} of {} bytes", describe(object),
                            part.size(), object.size));
  }
}

HttpRequest update_request(HttpMethod method, ResultId result) {
  HttpRequest request;
  request.method = method;
  request.path = fmt::format("/v1/results/{}/update", result);
  return request;
}

bool is_gone(const HttpReply& reply) {
  return reply.status == 404 || reply.status == 410;
}

// How much of the payload the server has; nothing if it knows of none.
std::uint64_t uploaded_size(ProjectApi& api, ResultId result) {
  HttpReply reply = api.exchange(update_request(HttpMethod::head, result));
  if (is_gone(reply)) return 0;
  if (reply.status >= 300) {
    throw_refusal(reply, fmt::format("resume the upload of result {}", result));
  }
  return reply.upload_offset.value_or(0);
}

}  // namespace

std::string little_disk_text(const fs::path& folder, std::uint64_t room,
                             std::uint64_t needed) {
  constexpr std::uint64_t kMega = 1'000'000;
  return fmt::format(
      "too little disk at {}: {} MB free, {} MB are needed and {} MB kept "
      "free: free some, or use --dir elsewhere",
      folder.string(), room / kMega, (needed + kMega - 1) / kMega,
      kDiskReserveBytes / kMega);
}

void download_object(ProjectApi& api, const ObjectRef& object,
                     const fs::path& part) {
  expect_room(object, part);
  try {
    PartFile file(part, object.size);
    if (file.size() < object.size) fetch_rest(api, object, file);
    if (Hash found = file.finish(); found != object.hash) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: its bytes have the hash {}",
                              describe(object), found.hex()));
    }
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::corrupt) fs::remove(part);
    throw;
  }
}

UploadAnswer upload_update(ProjectApi& api, ResultId result, ByteView payload,
                           bool resumes) {
  std::uint64_t from = resumes ? uploaded_size(api, result) : 0;
  for (int start = 0; start < kMostUploadStarts; ++start) {
    if (from > payload.size()) from = 0;
    if (from == payload.size()) return {true, api.last_session()};
    HttpRequest request = update_request(HttpMethod::put, result);
    request.content_type = "application/octet-stream";
    request.body = payload.subspan(from);
    request.from = from;
    request.total = payload.size();
    HttpReply reply = api.exchange(std::move(request));
    if (is_gone(reply)) return {false, ""};
    if (reply.status < 300) return {true, api.last_session()};
    if (reply.status != 409 && reply.status != 416) {
      throw_refusal(reply, fmt::format("upload result {}", result));
    }
    from = uploaded_size(api, result);  // the server is elsewhere
  }
  throw Error(ErrorKind::unavailable,
              fmt::format("upload result {}: the server moved its start {} "
                          "times",
                          result, kMostUploadStarts));
}

}  // namespace quorate::client
