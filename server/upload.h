// Receives payloads of results: resumable, bounded, hashed, durable before they
// are acknowledged. What is here runs on I/O threads.
#pragma once

#include <memory>
#include <variant>

#include "server/http/router.h"
#include "server/open_results.h"
#include "server/upload_space.h"
#include "workunits/object_store.h"

namespace quorate {

class Uploads {
 public:
  // folder: for partial payloads, on the file system of the objects.
  Uploads(fs::path folder, std::uint64_t disk_reserve_bytes,
          OpenResults& open_results, ObjectStore& objects);

  // Bytes of the payload that are here already.
  std::uint64_t offset(const OpenResult& open) const;
  // Takes the next bytes of a payload. The request's Content-Range (or, without
  // one, Content-Length) must begin at offset(): 409 with Upload-Offset
  // otherwise; 413 for more than the update of its task can have; 503 when the
  // disk is nearly full, or will be when the uploads under way are complete, or
  // another upload of the same result runs.
  std::variant<std::unique_ptr<BodySink>, Response> open(
      const OpenResult& open, const Request& request);
  // Removes what is left of a result that is closed.
  void forget(ResultId result);

 private:
  fs::path part(ResultId result) const;
  // Removes what results left that are no longer in progress.
  void drop_closed();

  fs::path folder_;
  UploadSpace space_;
  OpenResults& open_results_;
  ObjectStore& objects_;
};

}  // namespace quorate
