// A unit under a BOINC client: `quorate-worker --boinc` in a slot. The client
// brings the files and carries the result; seals, hashes and signatures are
// ours, as under our own client.
//
// The room client/worker/boinc is our side of BOINC's application protocol
// (shared memory, lock, exit files), without BOINC's library. It owns the
// slot's lock and the host's key file, and may include client/worker/units and
// checks.
//
// In the slot, by name: "unit" (the sealed task), "snapshot" and "shard" to
// read; "header" (the signed result header) and, unless the host is a witness,
// "update" to write. In the project's folder, kept by all tasks: the key of
// this host, and the project's that sealed the first unit.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "protocol/boinc/app_messages.h"
#include "workunits/result_header.h"
#include "workunits/workunit.h"

namespace quorate::worker {

// What the project says of the result, in the workunit's command line.
struct BoincTask {
  ProjectId project;
  PublicKey project_key;  // that signs now
  std::string keyring;    // that names it, in hexadecimal digits; "": the root
  ResultId result = 0;
  Nonce nonce;
  bool is_witness = false;  // reports the header alone
};

// The device that the client assigned. kind: as the app version's command line
// says it, "cpu", "cuda" or "opencl"; any other name is taken as it is.
std::string boinc_device(const std::string& kind,
                         const boinc::InitData& init_data);

// Computes the unit, or goes on with it, and tells the client. Returns the exit
// status for the process. Throws what UnitRunner::compute throws, and denied
// for another project key than before: then the process must end with a
// failure.
int run_boinc_task(const BoincTask& task, const fs::path& slot_folder,
                   const std::string& device_kind, const Clock& clock);

}  // namespace quorate::worker
