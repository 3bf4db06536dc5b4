// Receives what results bring: payloads, resumable, bounded and hashed; and, of
// hosts behind a stock BOINC client, the signed headers. One for both doors.
// May be used from several threads.
//
// A whole payload becomes an object only once a report that its host signed was
// screened and found good, and goes when its result is closed: who never signs
// fills no disk. Of result N there may be:
//   N.part     the bytes of its payload that have come so far
//   N.whole    all of them
//   N.payload  64 hexadecimal digits: their SHA-256
//   N.header   its signed header
// The last two come from BOINC clients only, who never send a file again once
// they were told that it is here. A native client asks again after a restart.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "base/weak_crypto.h"
#include "server/objects/upload_space.h"
#include "server/units/open_results.h"
#include "workunits/objects/object_store.h"

namespace quorate {

// Why an upload cannot begin or go on as the client wants.
struct UploadRefusal {
  enum class Why {
    is_here,    // the payload is whole
    too_large,  // for an update of its task
    no_space,
    busy,  // another upload of the same result runs
    gap,   // it has to go on at `offset`
  };
  Why why;
  std::string message;
  std::uint64_t offset = 0;  // bytes that are here
};

// A payload while it comes: nobody else may write to it. What has been written
// stays when it is destroyed, and another upload goes on from there.
class IncomingPayload {
 public:
  // Throws corrupt for more than was announced, unavailable if the result was
  // closed meanwhile, io.
  void write(ByteView bytes);
  std::uint64_t offset() const { return at_; }
  std::uint64_t size() const { return total_; }
  bool is_whole() const { return at_ == total_; }

 private:
  friend class Uploads;
  IncomingPayload(FileDescriptor file, fs::path path, std::uint64_t first,
                  std::uint64_t total, UploadSpace::Claim claim,
                  ResultId result)
      : file_(std::move(file)),
        path_(std::move(path)),
        at_(first),
        total_(total),
        claim_(std::move(claim)),
        result_(result) {}

  FileDescriptor file_;  // locked while it is open
  fs::path path_;
  std::uint64_t at_;
  std::uint64_t total_;
  UploadSpace::Claim claim_;
  ResultId result_;
};

class Uploads {
 public:
  // folder: on the file system of the objects.
  Uploads(fs::path folder, std::uint64_t disk_reserve_bytes,
          OpenResults& open_results, ObjectStore& objects);

  // Bytes of the payload that are here already.
  std::uint64_t offset(const OpenResult& open) const;
  // Whether any upload for it would be refused for want of space now.
  bool is_full(const OpenResult& open);
  // Whether an upload was refused for want of space since the last call.
  bool take_refusal() { return space_.take_refusal(); }
  // Begins to take the bytes of a payload of `total` bytes from the byte
  // `first` on, which must be 0 or offset().
  std::variant<IncomingPayload, UploadRefusal> open(const OpenResult& open,
                                                    std::uint64_t first,
                                                    std::uint64_t total);

  // These two make a whole payload its result's, unless it has one or is over.
  // They throw unavailable if it was closed meanwhile.

  // The payload's hash.
  Hash keep(IncomingPayload payload);
  // Durable on return. False if its MD5 is another: then the bytes are gone.
  bool keep_durably(IncomingPayload payload, const Md5Hash& md5);

  // The payload of a result that has one, hashed again; here or an object
  // already. Throws corrupt if it is missing or changed on the disk.
  MappedFile payload(const OpenResult& open) const;
  // Makes it an object; durable with the next commit. To be called before that
  // commit names it. Throws unavailable if it went with its result.
  void adopt(const OpenResult& open);

  // Durable on return; in the place of one that is here (whose task was done
  // again, with another key). Like keep_durably(): of one result by one thread
  // only. Nothing is kept of a result that is over.
  void keep_header(ResultId result, ByteView header);
  std::optional<Bytes> header(ResultId result) const;

  // Removes what is left of a result that is closed; of one whose files came
  // from a BOINC client, not before that is durable.
  void forget(ResultId result);
  // The results that have files here.
  std::set<ResultId> results() const;

 private:
  fs::path file_of(ResultId result, const char* what) const;
  MappedFile map(const IncomingPayload& payload) const;
  // Unless the result has a payload or is over: then this one is gone.
  void take_whole(const IncomingPayload& payload, const Hash& hash,
                  const std::function<void()>& before_it_counts);
  // Removes what results left that are closed, and what nobody knows.
  void drop_closed();
  // The payloads of results in progress, as the last process knew them.
  void restore_payloads();

  fs::path folder_;
  UploadSpace space_;
  OpenResults& open_results_;
  ObjectStore& objects_;
  // Held while a whole payload gets its name or loses it.
  std::mutex mutex_;
};

}  // namespace quorate
