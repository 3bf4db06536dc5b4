// Moving objects: downloads that resume and are hashed on their way, uploads
// that go on where the server has them.
#pragma once

#include "base/file.h"
#include "client/exchange/project_api.h"
#include "workunits/assignment.h"

namespace quorate::client {

// Downloads an object to `part`, going on from what is already there. On
// return the file has exactly the object's bytes. Throws unavailable (the part
// stays), corrupt when the server has not got it or sent other bytes (the part
// is removed), io (also when the disk would be full: then before it begins).
void download_object(ProjectApi& api, const ObjectRef& object,
                     const fs::path& part);

// Throws io if the disk of `part` has no room for the object and what is to be
// left free.
void expect_room(const ObjectRef& object, const fs::path& part);

// What is said when `room` bytes of a disk are too few for `needed` more.
std::string little_disk_text(const fs::path& folder, std::uint64_t room,
                             std::uint64_t needed);

struct UploadAnswer {
  bool is_stored = false;  // else the project knows no such result
  std::string session;     // the token under which it is complete
};

// Uploads the payload of a result. resumes: an earlier attempt may have left a
// part of it on the server. Throws unavailable and what throw_refusal throws.
UploadAnswer upload_update(ProjectApi& api, ResultId result, ByteView payload,
                           bool resumes);

}  // namespace quorate::client
