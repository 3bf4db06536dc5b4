#include "server/upload.h"

#include <charconv>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validator/screening.h"

namespace quorate {
namespace {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t total = 0;  // bytes of the whole payload
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "bytes 0-99/100". Without it, the body is the whole payload.
std::optional<Range> requested_range(const Request& request) {
  std::string_view text = request.header("content-range");
  if (text.empty()) {
    auto length = parse_number(request.header("content-length"));
    if (!length) return std::nullopt;
    return Range{0, *length};
  }
  constexpr std::string_view kUnit = "bytes ";
  std::size_t dash = text.find('-');
  std::size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos ||
      slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  auto first = parse_number(text.substr(kUnit.size(), dash - kUnit.size()));
  auto last = parse_number(text.substr(dash + 1, slash - dash - 1));
  auto total = parse_number(text.substr(slash + 1));
  // It goes to the end: a payload is sent in one piece from where it broke off.
  if (!first || !last || !total || *total == 0 || *last != *total - 1 ||
      *first > *last) {
    return std::nullopt;
  }
  return Range{*first, *total};
}

Response offset_response(int status, std::uint64_t offset,
                         const std::string& message) {
  Response response = error_response(status, ErrorKind::denied, message);
  response.headers.emplace_back("Upload-Offset", std::to_string(offset));
  return response;
}

// False once an upload that ended in the meantime has moved the file into the
// objects, where it must not be changed.
bool is_file_at(const fs::path& path, int fd) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

class UpdateSink final : public BodySink {
 public:
  UpdateSink(FileDescriptor file, fs::path path, std::uint64_t first,
             std::uint64_t total, UploadSpace::Claim claim, ResultId result,
             OpenResults& open_results, ObjectStore& objects)
      : file_(std::move(file)),
        path_(std::move(path)),
        at_(first),
        total_(total),
        claim_(std::move(claim)),
        result_(result),
        open_results_(open_results),
        objects_(objects) {}

  void write(ByteView bytes) override {
    if (bytes.size() > total_ - at_) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("upload for result {}: more than the {} bytes "
                              "that were announced",
                              result_, total_));
    }
    write_all(file_.get(), bytes, path_);
    at_ += bytes.size();
    claim_.written(bytes.size());
  }

  void finish(Request&, Responder responder) override {
    if (at_ != total_) {
      responder.send(offset_response(
          400, at_,
          fmt::format("upload for result {}: {} of {} bytes came: go on from "
                      "there",
                      result_, at_, total_)));
      return;
    }
    Hash hash = sha256(MappedFile(path_).bytes());
    objects_.adopt(path_, hash);
    open_results_.set_uploaded(result_, hash, total_);
    responder.send(
        json_response(200, fmt::format("{{\"sha256\":\"{}\"}}", hash.hex())));
  }

 private:
  FileDescriptor file_;  // locked while it is open
  fs::path path_;
  std::uint64_t at_;
  std::uint64_t total_;
  UploadSpace::Claim claim_;
  ResultId result_;
  OpenResults& open_results_;
  ObjectStore& objects_;
};

}  // namespace

Uploads::Uploads(fs::path folder, std::uint64_t disk_reserve_bytes,
                 OpenResults& open_results, ObjectStore& objects)
    : folder_(std::move(folder)),
      space_(disk_reserve_bytes),
      open_results_(open_results),
      objects_(objects) {
  fs::create_directories(folder_);
  drop_closed();
}

void Uploads::drop_closed() {
  std::vector<fs::path> closed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    auto id = parse_number(entry.path().stem().string());
    if (!id || !open_results_.find(static_cast<ResultId>(*id))) {
      closed.push_back(entry.path());
    }
  }
  for (const fs::path& path : closed) fs::remove(path);
}

fs::path Uploads::part(ResultId result) const {
  return folder_ / (std::to_string(result) + ".part");
}

std::uint64_t Uploads::offset(const OpenResult& open) const {
  if (!open.uploaded.is_zero()) return open.uploaded_bytes;
  std::error_code missing;
  std::uintmax_t size = fs::file_size(part(open.id), missing);
  // Its last byte is asked for again: a payload that was complete when the
  // server died is then finished like any other.
  return missing || size == 0 ? 0 : size - 1;
}

std::variant<std::unique_ptr<BodySink>, Response> Uploads::open(
    const OpenResult& open, const Request& request) {
  std::string what = fmt::format("upload for result {}", open.id);
  std::optional<Range> range = requested_range(request);
  if (!range) {
    return error_response(400, ErrorKind::corrupt,
                          what +
                              ": expected Content-Range: bytes A-B/TOTAL "
                              "with B = TOTAL - 1");
  }
  if (!open.uploaded.is_zero()) {
    // One payload a result: else a host could fill the disk with them.
    return offset_response(409, open.uploaded_bytes,
                           what + ": the payload is here: send the header");
  }
  std::uint64_t most = max_update_bytes(open.task->model);
  if (range->total > most) {
    return error_response(413, ErrorKind::denied,
                          fmt::format("{}: {} bytes, an update of this task "
                                      "has at most {}",
                                      what, range->total, most));
  }
  auto claim = space_.claim(range->total - range->first, free_space(folder_));
  if (!claim) {
    return error_response(ErrorKind::unavailable,
                          what + ": the project's disk is nearly full",
                          Seconds(60));
  }
  fs::path path = part(open.id);
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT, 0644);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return error_response(ErrorKind::unavailable,
                          what + ": another one is in progress", Seconds(1));
  }
  if (!is_file_at(path, file.get())) {
    return error_response(ErrorKind::unavailable,
                          what + ": another one has just ended", Seconds(1));
  }
  if (range->first == 0) {
    if (::ftruncate(file.get(), 0) != 0) throw_errno(what);
  } else if (std::uint64_t have = offset(open); have != range->first) {
    return offset_response(
        409, have,
        fmt::format("{}: {} bytes are here: go on from there", what, have));
  }
  if (::lseek(file.get(), static_cast<off_t>(range->first), SEEK_SET) < 0) {
    throw_errno(what);
  }
  return std::make_unique<UpdateSink>(std::move(file), path, range->first,
                                      range->total, std::move(*claim), open.id,
                                      open_results_, objects_);
}

void Uploads::forget(ResultId result) {
  std::error_code ignored;
  fs::remove(part(result), ignored);
}

}  // namespace quorate
