// Work as a BOINC client wants it told: app version, files, workunit, result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/boinc/scheduler_reply.h"
#include "protocol/boinc/signatures.h"
#include "server/apps/app_versions.h"
#include "server/doors/boinc/files/names.h"
#include "server/doors/boinc/files/object_md5.h"
#include "server/doors/boinc/scheduling/work_order.h"
#include "server/state/project_state.h"
#include "workunits/assignment.h"

namespace quorate::boinc {

inline constexpr const char* kAppName = "quorate";
// What a task is, as volunteers read it; whose it is stands beside it.
inline constexpr const char* kFriendlyAppName = "Network training";

// A result that goes to a client, with what only the writer's thread knows.
struct SentResult {
  Assignment assignment;
  Md5Hash unit_md5;  // of the sealed task
};

// The work for one kind of processor.
struct Shipment {
  DeviceOrder order;
  double flops = 0;  // of one task
  const PublishedVersion* version = nullptr;
  std::vector<SentResult> results;
};

// May be used by any thread.
// Used by the reply thread. Knows how our files, limits and command lines look
// to a BOINC client; decides nothing.
class ReplyMaker {
 public:
  ReplyMaker(const ProjectState& state, const UploadKey& upload_key);

  // Adds it to the reply. master: the project's URL; client_clock: its time,
  // seconds since 1970. Reads objects that nobody asked for before. Leaves out
  // a result that is over by now.
  void add(SchedulerReply& reply, const Shipment& shipment,
           const AppVersions& versions, const std::string& master,
           double client_clock);

 private:
  void add_result(SchedulerReply& reply, const Shipment& shipment,
                  const SentResult& sent, const std::string& master,
                  double client_clock);
  // Throws corrupt if the object is missing: its MD5 has to be found.
  InputFile input_file(const ObjectRef& object, const SentResult& sent,
                       const std::string& master);
  OutputFile output_file(const std::string& name, std::uint64_t max_bytes,
                         const std::string& master) const;

  const ProjectState& state_;
  UploadKey upload_key_;
  ObjectMd5s md5s_;
};

}  // namespace quorate::boinc
