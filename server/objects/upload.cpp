#include "server/objects/upload.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

using Why = UploadRefusal::Why;

constexpr const char* kPart = ".part";
constexpr const char* kWhole = ".whole";
constexpr const char* kPayload = ".payload";
constexpr const char* kHeader = ".header";

// Whose file this is.
std::optional<ResultId> result_of(const fs::path& path) {
  std::string text = path.stem().string();
  ResultId id = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return id;
}

// What a damaged disk left of it is as good as none.
std::optional<Hash> hash_in(const fs::path& path) {
  try {
    return parse_hex<Hash>(read_text_file(path), path.string());
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

// False once an upload that ended in the meantime has made the file a whole
// payload, which must not be changed, or the result was closed.
bool is_file_at(const fs::path& path, int fd) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

Error closed_meanwhile(ResultId result) {
  return Error(
      ErrorKind::unavailable,
      fmt::format("upload for result {}: the result has been closed meanwhile",
                  result));
}

}  // namespace

void IncomingPayload::write(ByteView bytes) {
  if (bytes.size() > total_ - at_) {
    throw Error(ErrorKind::corrupt,
                fmt::format("upload for result {}: more than the {} bytes "
                            "that were announced",
                            result_, total_));
  }
  // Bytes of a file without a name would be in nobody's books.
  if (!is_file_at(path_, file_.get())) throw closed_meanwhile(result_);
  write_all(file_.get(), bytes, path_);
  at_ += bytes.size();
  claim_.written(bytes.size());
}

Uploads::Uploads(fs::path folder, std::uint64_t disk_reserve_bytes,
                 OpenResults& open_results, ObjectStore& objects)
    : folder_(std::move(folder)),
      space_(disk_reserve_bytes),
      open_results_(open_results),
      objects_(objects) {
  fs::create_directories(folder_);
  drop_closed();
  restore_payloads();
}

void Uploads::drop_closed() {
  for (const fs::path& path : files_in(folder_)) {
    auto id = result_of(path);
    if (!id || open_results_.is_closed(*id)) fs::remove(path);
  }
}

void Uploads::restore_payloads() {
  for (const fs::path& path : files_in(folder_)) {
    if (path.extension() != kPayload) continue;
    const ResultId id = result_of(path).value();
    const fs::path whole = file_of(id, kWhole);
    std::optional<Hash> hash = hash_in(path);
    if (!hash) continue;
    if (fs::exists(whole)) {
      open_results_.set_uploaded(id, *hash, fs::file_size(whole));
    } else if (objects_.renew(*hash)) {
      open_results_.set_uploaded(id, *hash, objects_.size_of(*hash));
    }
  }
  // Of the others nobody knows the hash: their last byte is asked for again.
  for (const fs::path& path : files_in(folder_)) {
    if (path.extension() != kWhole) continue;
    const ResultId id = result_of(path).value();
    const auto open = open_results_.find(id);
    if (open && open->uploaded.is_zero()) fs::rename(path, file_of(id, kPart));
  }
}

fs::path Uploads::file_of(ResultId result, const char* what) const {
  return folder_ / (std::to_string(result) + what);
}

std::uint64_t Uploads::offset(const OpenResult& open) const {
  if (!open.uploaded.is_zero()) return open.uploaded_bytes;
  std::error_code missing;
  std::uintmax_t size = fs::file_size(file_of(open.id, kPart), missing);
  // Its last byte is asked for again: a payload that was complete when the
  // server died is then finished like any other.
  return missing || size == 0 ? 0 : size - 1;
}

bool Uploads::is_full(const OpenResult& open) {
  return !space_.claim(0, free_space(folder_), open.is_of_proven);
}

std::variant<IncomingPayload, UploadRefusal> Uploads::open(
    const OpenResult& open, std::uint64_t first, std::uint64_t total) {
  std::string what = fmt::format("upload for result {}", open.id);
  if (!open.uploaded.is_zero()) {
    // One payload a result: else a host could fill the disk with them.
    return UploadRefusal{Why::is_here,
                         what + ": the payload is here: send the header",
                         open.uploaded_bytes};
  }
  std::uint64_t most = update_bytes(*open.task);
  if (total > most) {
    return UploadRefusal{
        Why::too_large,
        fmt::format("{}: {} bytes, but an update of this task has at most {}",
                    what, total, most)};
  }
  check(first <= total, "an upload begins within its payload");
  auto claim =
      space_.claim(total - first, free_space(folder_), open.is_of_proven);
  if (!claim) {
    return UploadRefusal{Why::no_space,
                         what + ": the project's disk is nearly full"};
  }
  fs::path path = file_of(open.id, kPart);
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT, 0644);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return UploadRefusal{Why::busy, what + ": another one is in progress"};
  }
  if (!is_file_at(path, file.get())) {
    return UploadRefusal{Why::busy, what + ": another one has just ended"};
  }
  if (first == 0) {
    if (::ftruncate(file.get(), 0) != 0) throw_errno(what);
  } else if (std::uint64_t have = offset(open); have != first) {
    return UploadRefusal{
        Why::gap,
        fmt::format("{}: {} bytes are here: continue from there", what, have),
        have};
  }
  if (::lseek(file.get(), static_cast<off_t>(first), SEEK_SET) < 0) {
    throw_errno(what);
  }
  return IncomingPayload(std::move(file), path, first, total, std::move(*claim),
                         open.id);
}

MappedFile Uploads::map(const IncomingPayload& payload) const {
  if (!is_file_at(payload.path_, payload.file_.get())) {
    throw closed_meanwhile(payload.result_);
  }
  return MappedFile(payload.path_);
}

void Uploads::take_whole(const IncomingPayload& payload, const Hash& hash,
                         const std::function<void()>& before_it_counts) {
  std::lock_guard lock(mutex_);
  map(payload);  // it may have been closed while it was hashed
  std::optional<OpenResult> open = open_results_.find(payload.result_);
  if (!open || !open->uploaded.is_zero()) {
    fs::remove(payload.path_);
    return;
  }
  fs::rename(payload.path_, file_of(payload.result_, kWhole));
  before_it_counts();
  open_results_.set_uploaded(payload.result_, hash, payload.total_);
}

Hash Uploads::keep(IncomingPayload payload) {
  Hash hash = sha256(map(payload).bytes());
  take_whole(payload, hash, [] {});
  return hash;
}

bool Uploads::keep_durably(IncomingPayload payload, const Md5Hash& expected) {
  MappedFile file = map(payload);
  if (md5(file.bytes()) != expected) {
    fs::remove(payload.path_);
    return false;
  }
  Hash hash = sha256(file.bytes());
  if (::fsync(payload.file_.get()) != 0) throw_errno(payload.path_.string());
  take_whole(payload, hash, [&] {
    write_file_durably(file_of(payload.result_, kPayload),
                       as_bytes(hash.hex()));
  });
  return true;
}

MappedFile Uploads::payload(const OpenResult& open) const {
  const fs::path whole = file_of(open.id, kWhole);
  if (!fs::exists(whole)) return objects_.map_checked(open.uploaded);
  MappedFile file(whole);
  if (sha256(file.bytes()) != open.uploaded) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("upload for result {}: {} changed on disk: expected the "
                    "SHA-256 {}",
                    open.id, whole.string(), open.uploaded.hex()));
  }
  return file;
}

void Uploads::adopt(const OpenResult& open) {
  std::lock_guard lock(mutex_);
  const fs::path whole = file_of(open.id, kWhole);
  if (fs::exists(whole)) {
    objects_.adopt(whole, open.uploaded);
  } else if (!objects_.renew(open.uploaded)) {
    throw closed_meanwhile(open.id);
  }
}

void Uploads::keep_header(ResultId result, ByteView bytes) {
  if (!open_results_.find(result)) return;
  write_file_durably(file_of(result, kHeader), bytes);
}

std::optional<Bytes> Uploads::header(ResultId result) const {
  fs::path path = file_of(result, kHeader);
  if (!fs::exists(path)) return std::nullopt;
  return read_file(path);
}

void Uploads::forget(ResultId result) {
  std::lock_guard lock(mutex_);
  std::error_code ignored;
  for (const char* what : {kPart, kWhole, kPayload, kHeader}) {
    fs::remove(file_of(result, what), ignored);
  }
}

std::set<ResultId> Uploads::results() const {
  std::set<ResultId> results;
  for (const fs::path& path : files_in(folder_)) {
    if (auto id = result_of(path)) results.insert(*id);
  }
  return results;
}

}  // namespace quorate
