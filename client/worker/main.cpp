// quorate-worker: the program that computes. Whoever has work starts it; it
// never touches the network.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "client/worker/boinc/boinc_task.h"
#include "client/worker/checks/bench.h"
#include "client/worker/checks/explain.h"
#include "client/worker/checks/self_test.h"
#include "client/worker/confinement/confinement.h"
#include "client/worker/confinement/escapes.h"
#include "client/worker/serve.h"
#include "commandline/man_page.h"
#include "kernels/devices/backends.h"
#include "protocol/worker/reports.h"

namespace quorate::worker {
namespace {

struct Options {
  bool list_devices = false;
  bool self_test = false;
  bool bench = false;
  bool quick = false;
  bool serve = false;
  bool json = false;
  bool boinc = false;
  bool confinement_test = false;
  // Of --boinc: what a BoincTask is made of.
  std::string project;
  std::string project_key;
  std::string keyring;
  std::string nonce;
  ResultId result = 0;
  bool is_witness = false;
  UnitFilesToExplain explained;
  std::string against = "reference";
  std::string device = "cpu";
  std::uint32_t threads = 1;
  std::uint32_t cpu_percent = 100;
  std::uint32_t gpu_percent = 100;
  std::uint32_t memory_mb = 0;
  std::vector<fs::path> folders;
  bool require_sandbox = false;
};

int list(const Options& options) {
  protocol::DeviceList list{QUORATE_VERSION, {}, list_refused_devices()};
  for (const DeviceInfo& info : quorate::list_devices()) {
    list.devices.push_back(
        {info.name, info.description, info.model, info.is_gpu});
  }
  if (options.json) {
    say("{}\n", protocol::write(list));
    return 0;
  }
  for (const auto& device : list.devices) {
    say("{:<14} {}\n", device.name, device.description);
  }
  for (const std::string& why : list.refused) {
    say("{:<14} {}\n", "not used:", why);
  }
  return 0;
}

int self_test(const Options& options) {
  auto backend = make_backend(options.device, options.threads);
  say("device {}\n", backend->device().name);
  int failed = 0;
  for (const TestResult& result : test_device(*backend)) {
    say("{:<4} {}{}{}\n", result.passed ? "ok" : "FAIL", result.name,
        result.passed ? "" : ": ", result.found);
    if (!result.passed) ++failed;
  }
  if (failed == 0) return 0;
  say("{} tests failed: this device must not take part\n", failed);
  return 1;
}

std::vector<protocol::BenchCase> measure(Backend& backend,
                                         const Options& options) {
  SystemClock clock;
  if (!options.quick) return bench_device(backend, clock);
  require_exact(backend);
  return bench_quickly(backend, clock);
}

int bench_for_program(const Options& options) {
  protocol::BenchReport report;
  try {
    auto backend = make_backend(options.device, options.threads);
    report.cases = measure(*backend, options);
  } catch (const Error& error) {
    report.failure = error.what();
  }
  say("{}\n", protocol::write(report));
  return report.failure.empty() ? 0 : 1;
}

int bench(const Options& options) {
  if (options.json) return bench_for_program(options);
  auto backend = make_backend(options.device, options.threads);
  std::vector<protocol::BenchCase> rows = measure(*backend, options);
  say("device {}, {} threads\n", backend->device().name, options.threads);
  for (const auto& row : rows) {
    say("{:<40} {:>12.1f} {}\n", row.name, row.value, row.unit);
  }
  return 0;
}

int explain(const Options& options) {
  if (options.explained.snapshot.empty() || options.explained.shard.empty()) {
    throw Error(ErrorKind::usage,
                "--explain: name the unit's --snapshot and --shard, too");
  }
  PairBackend devices(make_backend(options.device, options.threads),
                      make_backend(options.against, options.threads));
  const Explanation found = worker::explain(options.explained, devices);
  say("{}\n", text_of(found));
  return found.difference ? 1 : 0;
}

// Replies go to what was standard output; whatever else a library prints there
// goes to standard error and does no harm.
FileDescriptor take_standard_output() {
  FileDescriptor replies(::dup(STDOUT_FILENO));
  if (!replies || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw_errno("redirect standard output");
  }
  return replies;
}

// What a project asks for beyond it fails, and the machine stays usable.
void limit_memory(std::uint32_t megabytes) {
  if (megabytes == 0) return;
  rlim_t bytes = rlim_t{megabytes} << 20;
  rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) throw_errno("limit the memory");
}

std::string expect_confined(const Options& options, const Confinement& found) {
  if (options.require_sandbox && !found.is_whole()) {
    throw Error(ErrorKind::unsupported,
                text_of(found) + "; the preference require_sandbox forbids it");
  }
  return text_of(found);
}

int test_confinement(const Options& options) {
  constexpr std::uint32_t kMemoryMb = 512;
  std::string name = (fs::temp_directory_path() / "quorate-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw_errno("make " + name);
  const std::vector<Escape> escapes =
      try_escapes(name, is_gpu(options.device), kMemoryMb);
  fs::remove_all(name);
  std::size_t refused = 0;
  for (const Escape& escape : escapes) {
    say("{:<8} {}{}{}\n", escape.is_refused ? "refused" : "FAIL", escape.name,
        escape.is_refused ? "" : ": ", escape.found);
    if (escape.is_refused) ++refused;
  }
  say("{} of {} refused, on {}\n", refused, escapes.size(), options.device);
  return refused == escapes.size() ? 0 : 1;
}

int serve(const Options& options) {
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error, reported as such
  FileDescriptor replies = take_standard_output();
  SystemClock clock;
  try {
    limit_memory(options.memory_mb);
    const ConfinementOptions walls{options.folders, is_gpu(options.device)};
    Confinement confinement;
    ServeOptions serving;
    if (!walls.folders.empty()) {
      confinement.files = confine_files(walls);
      serving.confine = [&] {
        confinement.calls = confine_calls(walls);
        return expect_confined(options, confinement);
      };
    }
    // A GPU rests by itself, between slices of a step.
    serving.cpu_percent = walls.is_gpu ? 100 : options.cpu_percent;
    WorkerServer server(
        make_backend(options.device, options.threads, options.gpu_percent),
        serving, clock, STDIN_FILENO, replies.get());
    server.run();
  } catch (const Error& error) {
    protocol::WorkerFailed failed{0, std::string(name_of(error.kind())),
                                  error.what()};
    write_all(replies.get(),
              as_bytes(protocol::write(protocol::WorkerReply(failed)) + "\n"),
              "the replies");
    return 1;
  }
  return 0;
}

int compute_for_boinc(const Options& options) {
  BoincTask task;
  task.project = parse_hex<ProjectId>(options.project, "--project");
  task.project_key = parse_hex<PublicKey>(options.project_key, "--project-key");
  task.keyring = options.keyring;
  task.nonce = parse_hex<Nonce>(options.nonce, "--nonce");
  task.result = options.result;
  task.is_witness = options.is_witness;
  return run_boinc_task(task, ".", options.device, SystemClock());
}

void describe_boinc(CLI::App& app, Options& options) {
  const std::string group = "with --boinc; the project's server sets these";
  app.add_option("--project", options.project, "the project's id")
      ->group(group);
  app.add_option("--project-key", options.project_key, "its key")->group(group);
  app.add_option("--keyring", options.keyring, "the list that names the key")
      ->group(group);
  app.add_option("--result", options.result, "number of the result")
      ->group(group);
  app.add_option("--nonce", options.nonce, "nonce to sign with the result")
      ->group(group);
  app.add_flag("--witness", options.is_witness,
               "report the signed header without the update")
      ->group(group);
}

void describe(CLI::App& app, Options& options) {
  app.footer(
      "Example: quorate-worker --self-test --device cpu\n"
      "--serve is for programs: it speaks JSON on standard input and output\n"
      "(docs/protocol.md, \"Worker\").");
  auto* mode = app.add_option_group("mode", "what to do");
  mode->add_flag("--list-devices", options.list_devices,
                 "list what this computer can compute on");
  mode->add_flag("--self-test", options.self_test,
                 "compute tasks whose answers are known");
  mode->add_flag("--bench", options.bench, "measure how fast a device is");
  app.add_flag("--quick", options.quick,
               "with --bench: the short self-test and one product, about a "
               "second");
  mode->add_flag("--serve", options.serve,
                 "compute what is asked on standard input");
  mode->add_flag("--boinc", options.boinc,
                 "compute the unit in this folder, for the BOINC client that "
                 "started the program");
  mode->add_flag("--confinement-test", options.confinement_test,
                 "try to break out of what --serve confines a worker to, on "
                 "--device, and say what was refused");
  mode->add_option("--explain", options.explained.workunit,
                   "compute this sealed unit on --device and on --against, and "
                   "say which operation of which step first differs")
      ->type_name("UNIT");
  mode->require_option(1);
  app.add_option("--snapshot", options.explained.snapshot,
                 "with --explain: the file with its base version");
  app.add_option("--shard", options.explained.shard,
                 "with --explain: the file with its samples");
  app.add_option("--against", options.against,
                 "with --explain: the other device")
      ->capture_default_str();
  app.add_flag("--json", options.json, "print JSON instead of a table");
  app.add_option("--device", options.device,
                 "device, as --list-devices names it")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads that compute")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--cpu-percent", options.cpu_percent,
                 "percentage of the time to compute")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--gpu-percent", options.gpu_percent,
                 "percentage of the time that a GPU computes")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--memory-mb", options.memory_mb,
                 "with --serve: most memory to use, in megabytes; 0: no limit")
      ->capture_default_str();
  app.add_option("--folder", options.folders,
                 "with --serve: read and write files in this folder only, and "
                 "make no call that computing does not need; may be given "
                 "several times")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory);
  app.add_flag("--require-sandbox", options.require_sandbox,
               "with --folder: do not serve if the system cannot confine it");
  describe_boinc(app, options);
}

int run(const Options& options) {
  if (options.list_devices) return list(options);
  if (options.self_test) return self_test(options);
  if (options.bench) return bench(options);
  if (options.confinement_test) return test_confinement(options);
  if (options.boinc) return compute_for_boinc(options);
  if (!options.explained.workunit.empty()) return explain(options);
  return serve(options);
}

}  // namespace
}  // namespace quorate::worker

int main(int argc, char** argv) {
  using quorate::worker::Options;
  Options options;
  CLI::App app("Computes training workunits, exactly.", "quorate-worker");
  quorate::worker::describe(app, options);
  quorate::commandline::add_man_page(app, QUORATE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    quorate::start_logging(quorate::LogLevel::warning);
    return quorate::worker::run(options);
  } catch (const quorate::Error& error) {
    quorate::say(stderr, "quorate-worker: {}\n", error.what());
    return error.kind() == quorate::ErrorKind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    quorate::say(stderr, "quorate-worker: {}\n", error.what());
    return 1;
  }
}
