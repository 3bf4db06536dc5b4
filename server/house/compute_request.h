// What the server's own workers are told to compute, and what is said of what
// they computed.
#pragma once

#include "protocol/worker/messages.h"
#include "server/settings/project_folder.h"
#include "server/units/open_results.h"
#include "workunits/objects/object_store.h"

namespace quorate {

// To compute the unit with this sealed task, which is written to a file of its
// own; job is left to the caller. The objects that it names are read where they
// lie. Throws corrupt for no task, io if the file cannot be written.
protocol::ComputeRequest compute_request(const ObjectStore& objects,
                                         const ProjectKeys& keys,
                                         ByteView sealed, const Hash& workunit);

// All that a result says but its claim: for sign_claim().
ResultHeader header_of(const OpenResult& open, const std::string& device);

}  // namespace quorate
