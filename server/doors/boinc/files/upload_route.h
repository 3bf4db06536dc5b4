// POST /boinc/file_upload_handler: where BOINC clients send what their tasks
// made. docs/protocol.md, "Uploads". Checked in this order, each a reason never
// to take the file: the head's form and bounds, the file's name, the
// permission, that its result is in progress.
//
// Every answer has the HTTP status 200, for clients take others for a bad day
// of the network. So a file that is refused is read to its end and dropped, up
// to a bound.
//
// What is answered when the MD5 is wrong: bytes that came in more than one
// request are thrown away, and the client is told to come later; it then asks
// for the size, hears 0 and sends the file anew (a client 7.20.5 does). Bytes
// that came in one request are what the client has, and would be again: it is
// told never, so that a bad disk cannot keep it busy until its deadline.
#pragma once

#include "protocol/boinc/upload.h"
#include "server/http/router.h"
#include "server/objects/upload.h"
#include "server/writer/job_thread.h"

namespace quorate::boinc {

class UploadRoute {
 public:
  UploadRoute(Uploads& uploads, const OpenResults& open_results,
              const UploadKey& key)
      : uploads_(uploads), open_results_(open_results), key_(key) {}

  void add_routes(Router& router);

 private:
  class Sink;

  Uploads& uploads_;
  const OpenResults& open_results_;
  const UploadKey key_;
  // Hashes files and waits for the disk, so that no I/O thread does; and one
  // after the other, as Uploads wants it.
  JobThread storing_;  // last: its jobs use the others
};

}  // namespace quorate::boinc
