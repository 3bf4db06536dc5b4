// `quorate-client run`: one agent after the other, each for the project that is
// attached then.
#include <algorithm>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "client/agent/agent.h"
#include "client/commands/commands.h"
#include "client/commands/leaving.h"
#include "client/control/control_door.h"
#include "client/folder/attach.h"
#include "client/folder/choose_project.h"
#include "client/folder/data_folder.h"
#include "client/folder/log_file.h"
#include "client/machine/find_devices.h"
#include "client/machine/host_info.h"
#include "client/permission/governor.h"
#include "client/status/status_text.h"
#include "protocol/transfer/statement.h"

namespace quorate::client {
namespace {

constexpr Seconds kBetweenLooks{1};  // for a project to be attached

// folder: of the project that they compute for.
std::vector<protocol::WorkerOptions> worker_options(const RunSettings& settings,
                                                    const Orders& orders,
                                                    const fs::path& folder) {
  std::vector<protocol::WorkerOptions> workers;
  for (const std::string& device : workers_of(settings)) {
    protocol::WorkerOptions options;
    options.program = protocol::find_worker_program();
    options.device = device;
    options.threads = orders.threads;
    options.cpu_percent = orders.cpu_percent;
    options.gpu_percent = orders.gpu_percent;
    options.memory_mb = orders.memory_mb;
    options.folders = {folder};
    options.must_be_confined = orders.requires_sandbox;
    options.niceness = kWorkerNiceness;
    workers.push_back(options);
  }
  return workers;
}

// The settings with names of devices in the place of "auto".
RunSettings with_devices(RunSettings settings, const DataFolder& folder,
                         const Clock& clock) {
  const std::string automatic = RunSettings{}.devices.front();
  auto named =
      std::count(settings.devices.begin(), settings.devices.end(), automatic);
  if (named == 0) return settings;
  if (settings.devices.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--device: \"{}\" does not go with other devices: "
                            "give it alone, or name devices only",
                            automatic));
  }
  std::uint32_t cores = load_prefs(folder.prefs_file()).cores;
  settings.devices =
      find_devices({protocol::find_worker_program(), folder.speeds_file(),
                    cores == 0 ? physical_cores() : cores, kDevicePatience,
                    clock, should_leave()});
  return settings;
}

void warn_of_new_computer(const DataFolder& folder) {
  if (!folder.has_host_key()) {
    log_warning("new_computer", {{"why",
                                  "host.key is missing: this computer "
                                  "joins as a new one"}});
  }
}

// The site that this host is a member of, if it is one of any: its door is open
// as long as this lives.
class Site {
 public:
  Site(const DataFolder& folder, AgentParts& parts, ResultTamper* tamper) {
    const std::optional<SiteSettings> settings = read_site(folder);
    if (!settings) return;
    try {
      open(*settings, parts, tamper);
    } catch (const Error& error) {  // another program has the port
      if (error.kind() != ErrorKind::io) throw;
      log_warning("site_not_joined", {{"why", error.what()}});
    }
  }

 private:
  void open(const SiteSettings& settings, AgentParts& parts,
            ResultTamper* tamper) {
    door_.emplace(settings, [objects = parts.folder / "objects",
                             tamper](const Hash& hash) {
      std::optional<fs::path> file = ObjectCache(objects).snapshot(hash);
      if (file && tamper != nullptr) file = tamper->before_giving(*file);
      return file;
    });
    mates_.emplace(settings.secret, door_->contact(), parts.clock);
    parts.site.emplace(SiteParts{*door_, *mates_});
    log_info("site",
             {{"id", settings.secret.id().hex()}, {"port", door_->port()}});
  }

  std::optional<SiteDoor> door_;
  std::optional<Mates> mates_;
};

class Runner {
 public:
  Runner(const DataFolder& folder, const RunOptions& options,
         ResultTamper* tamper)
      : folder_(folder), options_(options), tamper_(tamper) {}

  void run();

 private:
  // The one to compute for; nullopt: none is attached, and that is no error.
  std::optional<Project> next_project();
  void finish_detaching() const;
  void compute_for(Project project);
  AgentParts parts_for(const Project& project, const Identity& identity,
                       Governor& governor, const RunSettings& settings);
  // True if the agent is to be followed by another one of the same project.
  bool run_agent(const AgentParts& parts, Project& project);

  const DataFolder& folder_;
  const RunOptions& options_;
  ResultTamper* tamper_;
  SystemClock clock_;
  Network network_;
  std::uint64_t reported_ = 0;
  std::vector<Task> left_;  // unfinished, of the last agent
};

// What `detach` asked for while nobody was there to do it, or to its end.
void Runner::finish_detaching() const {
  for (const Project& project : folder_.projects()) {
    if (!folder_.is_to_detach(project.id)) continue;
    folder_.remove_project(project);
    log_info("detached", {{"url", project.url}});
  }
}

std::optional<Project> Runner::next_project() {
  finish_detaching();
  std::vector<Project> attached = folder_.projects();
  if (!options_.waits) {
    return choose_project(attached, options_.project, "--project FINGERPRINT");
  }
  if (attached.empty()) return std::nullopt;
  if (options_.project.empty() && attached.size() > 1) {
    log_warning("several_projects",
                {{"computes_for", attached.front().url},
                 {"why",
                  "several are attached: choose one with --project, or detach "
                  "the others"}});
    attached.erase(attached.begin() + 1, attached.end());
  }
  return choose_project(attached, options_.project, "--project FINGERPRINT");
}

void Runner::run() {
  bool was_told = false;
  bool has_computed = false;
  while (!should_leave()) {
    // Without --wait, a project that was detached meanwhile was the only work.
    if (has_computed && !options_.waits) break;
    std::optional<Project> project = next_project();
    if (!project) {
      if (!was_told) {
        log_info("waiting", {{"why",
                              "no project is attached: attach one with "
                              "quorate-client attach URL"}});
      }
      if (!was_told) folder_.set_waiting(::getpid());
      was_told = true;
      std::this_thread::sleep_for(kBetweenLooks);
      continue;
    }
    folder_.set_waiting(0);
    was_told = false;
    compute_for(std::move(*project));
    has_computed = true;
    if (options_.settings.once) break;
  }
  folder_.set_waiting(0);
  log_info("left", {{"reported", reported_}});
  // The terminal may be gone: SIGHUP.
  say(stderr, "{}\n", farewell_text(reported_, left_));
}

AgentParts Runner::parts_for(const Project& project, const Identity& identity,
                             Governor& governor, const RunSettings& settings) {
  AgentParts parts{project,
                   identity,
                   folder_.project_folder(project.id),
                   [&governor](const std::vector<int>& workers) {
                     return governor.orders(workers);
                   },
                   [this, &project] {
                     CurlOptions options = curl_options(project);
                     options.network = &network_;
                     return make_curl_transfer(options);
                   },
                   worker_options(settings, governor.orders({}),
                                  folder_.project_folder(project.id)),
                   settings.once,
                   clock_,
                   &network_,
                   tamper_,
                   {},
                   folder_.root()};
  parts.fetch_statement = [this, &project](const std::stop_token& stop) {
    // It proves itself, and may name the server's new certificate.
    CurlOptions options{project.url, TlsTrust::unchecked, ""};
    options.network = &network_;
    return fetch_statement(*make_curl_transfer(options), stop);
  };
  return parts;
}

void Runner::compute_for(Project project) {
  const Identity identity = identity_of(folder_, project);
  const RunSettings settings = with_devices(options_.settings, folder_, clock_);
  Governor governor(folder_, settings, Machine(), clock_, network_);
  AgentParts parts = parts_for(project, identity, governor, settings);
  log_info("started", {{"project", project.statement.name},
                       {"url", project.url},
                       {"devices", devices_text(workers_of(settings))}});
  Site site(folder_, parts, tamper_);
  while (run_agent(parts, project)) {
  }
}

bool Runner::run_agent(const AgentParts& parts, Project& project) {
  std::optional<Project> renewed;
  try {
    Agent agent(parts);
    const std::uint64_t before = agent.state().counters.reported;
    agent.run(
        [&] { return should_leave() || folder_.is_to_detach(project.id); });
    reported_ += agent.state().counters.reported - before;
    left_ = agent.state().tasks;
    renewed = agent.renewed();
  } catch (const std::exception&) {
    std::error_code unknown;
    if (fs::exists(parts.folder, unknown) || unknown) throw;
    throw Error(ErrorKind::io,
                fmt::format("the data folder {} is gone: attach again",
                            parts.folder.string()));
  }
  if (folder_.is_to_detach(project.id)) {
    left_.clear();
    finish_detaching();
    return false;
  }
  if (!renewed || should_leave()) return false;
  project = std::move(*renewed);  // no agent is there to read it
  return true;
}

}  // namespace

void run_agent(const fs::path& dir, const RunOptions& options,
               ResultTamper* tamper) {
  const DataFolder folder =
      options.waits ? DataFolder(dir) : DataFolder::open(dir);
  FileLock lock = folder.lock();
  if (!options.waits) {
    choose_project(folder.projects(), options.project, "--project FINGERPRINT");
  }
  start_logging(LogLevel::info,
                RotatingLog{log_file(folder.root()).string(), kLogBytes});
  catch_signals();
  std::optional<ControlDoor> door;
  if (!options.control.empty()) {
    door.emplace(ControlOptions{options.control,
                                {fs::read_symlink("/proc/self/exe").string(),
                                 "--dir", folder.root().string()}});
  }
  if (!options.waits) warn_of_new_computer(folder);
  Runner(folder, options, tamper).run();
}

}  // namespace quorate::client
