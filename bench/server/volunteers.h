// The hosts of the load: real keys, real sessions, real signatures; results
// that every host makes up in the same way, so that each quorum agrees.
#pragma once

#include <string>
#include <vector>

#include "base/crypto.h"
#include "bench/server/http_client.h"
#include "protocol/native/messages.h"
#include "workunits/models/model_spec.h"

namespace quorate::bench {

struct Volunteer {
  HostId id = 0;
  PrivateKey account = PrivateKey::generate();
  PrivateKey host = PrivateKey::generate();
  std::string token;
  std::vector<ResultId> holding;
};

// Reads the project's statement. Throws corrupt if it is none.
protocol::ProjectStatement fetch_statement(HttpClient& http,
                                           std::size_t connection);
ProjectId fetch_project(HttpClient& http, std::size_t connection);

// Registers a user and one host, both of this name, and opens its session.
// Throws denied, with the server's words, if it refuses.
Volunteer enrol(HttpClient& http, std::size_t connection,
                const ProjectId& project, const std::string& name = "load");

// The update that everybody uploads: zeros.
Bytes zero_update(const ModelSpec& model);

// The signed report on it for a unit of one step and `samples` samples.
Bytes signed_report(const Assignment& assignment, const PrivateKey& host,
                    const ProjectId& project, ByteView update,
                    std::uint64_t samples);

}  // namespace quorate::bench
