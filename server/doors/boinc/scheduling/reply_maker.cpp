#include "server/doors/boinc/scheduling/reply_maker.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/apps/app_records.h"
#include "server/doors/boinc/accounts/urls.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/update.h"

namespace quorate::boinc {
namespace {

// A client kills a task that takes so much longer than estimated.
constexpr double kBoundFactor = 100;
constexpr double kDiskForPrograms = 256e6;
constexpr std::uint64_t kMaxHeaderBytes = 8191;

double memory_bound(const TrainingTask& task) {
  // Parameters, gradients, state and activations: a generous guess, which only
  // keeps the unit from machines that are far too small.
  constexpr double kBase = 128e6;
  constexpr double kCopies = 8;
  return kBase + kCopies * sizeof(float) *
                     static_cast<double>(parameter_count(task.model));
}

// As the worker looks for it.
std::string open_name(ObjectKind kind) {
  return kind == ObjectKind::workunit ? "unit" : std::string(name_of(kind));
}

// Results of one reply share snapshots and shards.
void add_once(std::vector<InputFile>& files, InputFile file) {
  const bool is_there = std::any_of(
      files.begin(), files.end(),
      [&](const InputFile& other) { return other.name == file.name; });
  if (!is_there) files.push_back(std::move(file));
}

// The command line that docs/protocol.md, "The task's side", tells.
std::string command_line(const Assignment& sent, const ProjectKeys& keys) {
  return fmt::format(
      "--boinc --project {} --project-key {}{} --result {} "
      "--nonce {}{}",
      keys.id.hex(), keys.project.public_key().hex(),
      keys.ring.number == 0 ? "" : " --keyring " + to_hex(keys.ring.sealed),
      sent.result, sent.nonce.hex(), sent.upload ? "" : " --witness");
}

DeviceUse use_of(const Shipment& shipment) {
  DeviceUse use;
  use.kind = shipment.order.kind;
  use.ncpus = shipment.order.ncpus;
  use.flops = shipment.flops;
  use.coproc_type = shipment.order.coproc_type;
  use.coproc_count = use.coproc_type.empty() ? 0 : 1;
  return use;
}

void add_version(SchedulerReply& reply, AppRecords records) {
  reply.app_versions.push_back(std::move(records.version));
  for (InputFile& file : records.files) {
    add_once(reply.input_files, std::move(file));
  }
}

}  // namespace

ReplyMaker::ReplyMaker(const ProjectState& state, const UploadKey& upload_key)
    : state_(state), upload_key_(upload_key), md5s_(state.objects) {}

void ReplyMaker::add(SchedulerReply& reply, const Shipment& shipment,
                     const AppVersions& versions, const std::string& master,
                     double client_clock) {
  if (shipment.results.empty()) return;
  if (reply.apps.empty()) {
    reply.apps.push_back({kAppName, kFriendlyAppName});
  }
  add_version(reply, app_records(versions, *shipment.version, kAppName,
                                 download_url(master, ""), use_of(shipment)));
  for (const SentResult& sent : shipment.results) {
    add_result(reply, shipment, sent, master, client_clock);
  }
}

void ReplyMaker::add_result(SchedulerReply& reply, const Shipment& shipment,
                            const SentResult& sent, const std::string& master,
                            double client_clock) {
  const Assignment& assignment = sent.assignment;
  std::optional<OpenResult> open = state_.open_results.find(assignment.result);
  if (!open) return;
  const TrainingTask& task = *open->task;
  const double operations = training_operations(task.model) *
                            static_cast<double>(task.range.samples());
  WorkunitRecord unit;
  unit.name = result_name(assignment.result);
  unit.app_name = kAppName;
  unit.version = shipment.version->version;
  unit.fpops_estimate = operations;
  unit.fpops_bound = kBoundFactor * operations;
  unit.memory_bound_bytes = memory_bound(task);
  unit.disk_bound_bytes = kDiskForPrograms;
  unit.command_line = command_line(assignment, state_.keys);
  for (const ObjectRef& object : assignment.objects) {
    InputFile file = input_file(object, sent, master);
    unit.disk_bound_bytes += 2 * static_cast<double>(file.nbytes);
    unit.files.push_back({file.name, open_name(object.kind)});
    add_once(reply.input_files, std::move(file));
  }
  ResultRecord result;
  result.name = result_name(assignment.result);
  result.workunit = unit.name;
  result.platform = shipment.version->platform;
  result.version = shipment.version->version;
  result.plan_class = shipment.order.plan_class;
  // Clients compute first what is due first, and give up what was not begun.
  result.report_deadline = client_clock + assignment.deadline.count();
  auto add_output = [&](const std::string& name, const char* open_name,
                        std::uint64_t max_bytes) {
    reply.output_files.push_back(output_file(name, max_bytes, master));
    FileRef file{name, open_name};
    file.is_optional = true;  // a unit that diverged has no update
    result.files.push_back(std::move(file));
    unit.disk_bound_bytes += 2 * static_cast<double>(max_bytes);
  };
  add_output(output_name(upload_key_, {assignment.result, OutputKind::header}),
             "header", kMaxHeaderBytes);
  if (assignment.upload) {
    add_output(
        output_name(upload_key_, {assignment.result, OutputKind::update}),
        "update", update_bytes(task));
  }
  reply.workunits.push_back(std::move(unit));
  reply.results.push_back(std::move(result));
}

InputFile ReplyMaker::input_file(const ObjectRef& object,
                                 const SentResult& sent,
                                 const std::string& master) {
  InputFile file;
  file.name = object_name(object.kind, object.hash);
  file.urls = {download_url(master, file.name)};
  file.nbytes = object.size;
  file.md5 = object.kind == ObjectKind::workunit ? sent.unit_md5
                                                 : md5s_.of(object.hash);
  // Several units have the same; whoever has it gets them.
  file.is_sticky = object.kind == ObjectKind::shard;
  return file;
}

OutputFile ReplyMaker::output_file(const std::string& name,
                                   std::uint64_t max_bytes,
                                   const std::string& master) const {
  OutputFile file;
  file.name = name;
  file.urls = {upload_url(master)};
  file.max_nbytes = max_bytes;
  file.permission = permit_upload(upload_key_, name, max_bytes);
  return file;
}

}  // namespace quorate::boinc
