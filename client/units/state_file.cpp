#include "client/units/state_file.h"

#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/log.h"

namespace quorate::client {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxStateBytes = 16 << 20;
constexpr std::size_t kMaxName = 32;

// What is true again after a restart.
TaskState kept_state(const Task& task) {
  switch (task.state) {
    case TaskState::ready:
    case TaskState::computing:
    case TaskState::computed:
      return TaskState::needs_files;
    case TaskState::reporting:  // within the session of the upload, or none
      return task.upload_session.empty() ? TaskState::reporting
                                         : TaskState::uploading;
    default:
      return task.state;
  }
}

TaskState parse_task_state(const std::string& name) {
  constexpr std::array kKept{TaskState::needs_files, TaskState::uploading,
                             TaskState::reporting,   TaskState::reported,
                             TaskState::failed,      TaskState::closed};
  for (TaskState state : kKept) {
    if (name == name_of(state)) return state;
  }
  throw Error(ErrorKind::corrupt, "no state of a task: " + name);
}

ObjectKind parse_object_kind(const std::string& name) {
  constexpr std::array kKinds{ObjectKind::workunit, ObjectKind::snapshot,
                              ObjectKind::shard, ObjectKind::update,
                              ObjectKind::program};
  for (ObjectKind kind : kKinds) {
    if (name == name_of(kind)) return kind;
  }
  throw Error(ErrorKind::corrupt, "no kind of object: " + name);
}

Json to_json(const Task& task) {
  Json objects = Json::array();
  for (const ObjectRef& object : task.assignment.objects) {
    objects.push_back({{"kind", name_of(object.kind)},
                       {"hash", object.hash.hex()},
                       {"size", object.size}});
  }
  Json deltas = Json::array();
  for (const SnapshotStep& step : task.assignment.deltas) {
    deltas.push_back({{"from", step.from.hex()},
                      {"hash", step.delta.hash.hex()},
                      {"size", step.delta.size}});
  }
  Json json = {{"result", task.id()},
               {"state", name_of(kept_state(task))},
               {"nonce", task.assignment.nonce.hex()},
               {"lease", task.assignment.lease.count()},
               {"upload", task.assignment.upload ? 1 : 0},
               {"objects", std::move(objects)},
               {"deltas", std::move(deltas)},
               {"failure", task.failure},
               {"reported", task.reported}};
  if (const auto& exchange = task.assignment.exchange) {
    json["exchange"] = {{"from", exchange->from.hex()},
                        {"update", exchange->update.hex()},
                        {"met", exchange->met.hex()}};
  }
  return json;
}

ObjectRef read_object(const nlohmann::json& json) {
  JsonFields fields(json, "object");
  return {parse_object_kind(fields.text("kind", kMaxName)),
          fields.fixed_bytes<Hash>("hash"), fields.integer("size")};
}

SnapshotStep read_delta(const nlohmann::json& json) {
  JsonFields fields(json, "delta");
  return {fields.fixed_bytes<Hash>("from"),
          {ObjectKind::delta, fields.fixed_bytes<Hash>("hash"),
           fields.integer("size")}};
}

Task read_task(const nlohmann::json& json) {
  JsonFields fields(json, "task");
  Task task;
  task.assignment.result =
      static_cast<ResultId>(fields.integer("result", 1, INT64_MAX));
  task.assignment.nonce = fields.fixed_bytes<Nonce>("nonce");
  task.assignment.lease = Seconds(fields.number("lease"));
  if (fields.has("upload")) {
    task.assignment.upload = fields.integer("upload", 0, 1) == 1;
  }
  for (const nlohmann::json& object : fields.array("objects")) {
    task.assignment.objects.push_back(read_object(object));
  }
  if (fields.has("deltas")) {
    for (const nlohmann::json& delta : fields.array("deltas")) {
      task.assignment.deltas.push_back(read_delta(delta));
    }
  }
  if (fields.has("exchange")) {
    JsonFields exchange(fields.at("exchange"), "exchange");
    task.assignment.exchange = {exchange.fixed_bytes<Hash>("from"),
                                exchange.fixed_bytes<Hash>("update"),
                                exchange.fixed_bytes<Hash>("met")};
  }
  task.state = parse_task_state(fields.text("state", kMaxName));
  task.failure = fields.text("failure", kMaxStateBytes);
  task.reported = static_cast<Millis>(fields.integer("reported"));
  task.may_resume = true;
  return task;
}

Json to_json(const Counters& counters) {
  return {{"reported", counters.reported},
          {"accepted", counters.accepted},
          {"rejected", counters.rejected},
          {"cancelled", counters.cancelled},
          {"failed", counters.failed}};
}

Counters read_counters(const nlohmann::json& json) {
  JsonFields fields(json, "counters");
  return {fields.integer("reported"), fields.integer("accepted"),
          fields.integer("rejected"), fields.integer("cancelled"),
          fields.integer("failed")};
}

}  // namespace

std::string write_state(const AgentState& state) {
  Json tasks = Json::array();
  for (const Task& task : state.tasks) tasks.push_back(to_json(task));
  return Json{{"version", kVersion},
              {"counters", to_json(state.counters)},
              {"tasks", std::move(tasks)}}
      .dump(1, ' ', false, Json::error_handler_t::replace);
}

AgentState parse_state(const std::string& text) {
  nlohmann::json json = parse_json(text, {kMaxStateBytes, 8}, "state");
  JsonFields fields(json, "state");
  fields.integer("version", kVersion, kVersion);
  AgentState state;
  state.counters = read_counters(fields.at("counters"));
  for (const nlohmann::json& task : fields.array("tasks")) {
    try {
      state.tasks.push_back(read_task(task));
    } catch (const Error& e) {
      log_warning("task_damaged", {{"why", e.what()}});
    }
  }
  return state;
}

AgentState StateFile::load() {
  if (!fs::exists(file_)) return {};
  std::string text = read_text_file(file_);
  try {
    AgentState state = parse_state(text);
    saved_ = std::move(text);
    return state;
  } catch (const Error& e) {
    log_warning("state_damaged", {{"file", file_.string()}, {"why", e.what()}});
    fs::rename(file_, file_.string() + ".damaged");
    return {};
  }
}

void StateFile::save(const AgentState& state) {
  std::string text = write_state(state);
  if (text == saved_) return;
  write_file_durably(file_, as_bytes(text), 0600);
  saved_ = std::move(text);
}

namespace {

// Whole or not at all for who reads meanwhile, but without waiting for the
// disk.
void replace_file(const fs::path& file, const std::string& text) {
  fs::path fresh = file.string() + ".new";
  FileDescriptor out = open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(out.get(), as_bytes(text), fresh);
  fs::rename(fresh, file);
}

}  // namespace

void write_standing(const fs::path& file,
                    const protocol::StandingReply& reply) {
  replace_file(file, protocol::write(reply));
}

Standing read_standing(const fs::path& file) {
  try {
    Standing standing;
    standing.reply = protocol::parse_standing_reply(read_file(file, 1 << 20));
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    standing.asked = std::int64_t{status.st_mtim.tv_sec} * 1000;
    return standing;
  } catch (const Error&) {
    return {};
  }
}

void write_activity(const fs::path& file, const Activity& activity) {
  Json tasks = Json::array();
  for (const TaskActivity& task : activity.tasks) {
    tasks.push_back({{"result", task.result},
                     {"state", task.state},
                     {"step", task.step},
                     {"steps", task.steps},
                     {"busy", task.is_busy},
                     {"device", task.device}});
  }
  Json json{{"pid", activity.pid},
            {"devices", activity.devices},
            {"confinement", activity.confinement},
            {"trouble", activity.trouble},
            {"away", activity.is_away},
            {"refused", activity.is_refused},
            {"no_work", activity.no_work},
            {"rest", activity.rest},
            {"why", activity.why},
            {"threads", activity.threads},
            {"cpu_percent", activity.cpu_percent},
            {"gpu_percent", activity.gpu_percent},
            {"received", activity.received},
            {"sent", activity.sent},
            {"tasks", std::move(tasks)}};
  if (activity.site) {
    json["site"] = Json::parse(site_activity_json(*activity.site));
  }
  replace_file(file, json.dump(1, ' ', false, Json::error_handler_t::replace));
}

Activity read_activity(const fs::path& file) {
  try {
    Json json = Json::parse(read_text_file(file));
    Activity activity;
    json.at("pid").get_to(activity.pid);
    json.at("devices").get_to(activity.devices);
    activity.confinement = json.value("confinement", "");
    json.at("trouble").get_to(activity.trouble);
    json.at("away").get_to(activity.is_away);
    activity.is_refused = json.value("refused", false);
    json.at("no_work").get_to(activity.no_work);
    json.at("rest").get_to(activity.rest);
    json.at("why").get_to(activity.why);
    json.at("threads").get_to(activity.threads);
    json.at("cpu_percent").get_to(activity.cpu_percent);
    json.at("gpu_percent").get_to(activity.gpu_percent);
    json.at("received").get_to(activity.received);
    json.at("sent").get_to(activity.sent);
    for (const Json& task : json.at("tasks")) {
      activity.tasks.push_back(
          {task.at("result").get<ResultId>(),
           task.at("state").get<std::string>(),
           task.at("step").get<std::uint32_t>(),
           task.at("steps").get<std::uint32_t>(), task.at("busy").get<bool>(),
           /*is_kept=*/false, task.at("device").get<std::string>()});
    }
    if (json.contains("site")) {
      activity.site = parse_site_activity(json.at("site").dump());
    }
    return activity;
  } catch (const Error&) {
    return {};  // no agent has run here
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace quorate::client
