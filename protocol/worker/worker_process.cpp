#include "protocol/worker/worker_process.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "protocol/text.h"

namespace quorate::protocol {
namespace {

constexpr const char* kProgram = "quorate-worker";

std::vector<std::string> command_of(const WorkerOptions& options) {
  std::vector<std::string> command = {
      options.program, "--serve",
      "--device",      options.device,
      "--threads",     std::to_string(options.threads),
      "--cpu-percent", std::to_string(options.cpu_percent),
      "--memory-mb",   std::to_string(options.memory_mb),
      "--gpu-percent", std::to_string(options.gpu_percent)};
  for (const fs::path& folder : options.folders) {
    command.insert(command.end(), {"--folder", folder.string()});
  }
  if (options.must_be_confined) command.emplace_back("--require-sandbox");
  return command;
}

// The driver of a GPU may compile its kernels at the first start.
Seconds start_timeout(const WorkerOptions& options) {
  return Seconds(is_gpu_name(options.device) ? 300 : 30);
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Where the worker may be, in the order in which it is looked for.
std::vector<fs::path> candidates() {
  std::vector<fs::path> out;
  std::error_code failed;
  fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    fs::path folder = self.parent_path();
    out.push_back(folder / kProgram);
    out.push_back(folder.parent_path() / "libexec/quorate" / kProgram);
  }
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "" : path;
  while (!left.empty()) {
    std::string_view folder = left.substr(0, left.find(':'));
    if (!folder.empty()) out.push_back(fs::path(folder) / kProgram);
    left.remove_prefix(std::min(left.size(), folder.size() + 1));
  }
  return out;
}

// The end of what it said, for people: the last lines as one.
std::string last_lines(std::string_view words) {
  constexpr std::size_t kMost = 500;
  if (words.size() > kMost) words.remove_prefix(words.size() - kMost);
  while (words.ends_with('\n')) words.remove_suffix(1);
  std::string line(words);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return plain_text(line, kMost);
}

}  // namespace

bool is_gpu_name(std::string_view device) {
  std::string_view family = device.substr(0, device.find(':'));
  return family == "cuda" || family == "opencl";
}

Error hang_of(const WorkerOptions& options) {
  return Error(ErrorKind::unavailable,
               fmt::format("{}: said nothing for {} s in the middle of a job: "
                           "it hangs and is restarted",
                           options.program, options.silence.count()));
}

WorkerProcess::WorkerProcess(const WorkerOptions& options,
                             const std::stop_token& stop)
    : process_(std::make_unique<ChildProcess>(command_of(options),
                                              options.niceness)) {
  std::optional<WorkerReply> first = first_reply(start_timeout(options), stop);
  if (!first) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: no answer within {} s of its start",
                            options.program, start_timeout(options).count()));
  }
  if (const auto* failed = std::get_if<WorkerFailed>(&*first)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} --device {}: {}", options.program,
                            options.device, failed->why));
  }
  const auto* ready = std::get_if<WorkerReady>(&*first);
  if (ready == nullptr) {
    throw Error(ErrorKind::corrupt,
                options.program + ": its first message is not \"ready\"");
  }
  ready_ = *ready;
}

std::optional<WorkerReply> WorkerProcess::first_reply(
    Seconds timeout, const std::stop_token& stop) {
  constexpr Seconds kSlice{0.1};
  SystemClock clock;
  Instant deadline = clock.now() + timeout;
  while (clock.now() < deadline) {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("worker process {}: no longer wanted", pid()));
    }
    if (std::optional<WorkerReply> reply = receive(kSlice)) return reply;
  }
  return std::nullopt;
}

void WorkerProcess::send(const WorkerRequest& request) {
  process_->send_line(write(request));
}

std::optional<WorkerReply> WorkerProcess::receive(Seconds timeout) {
  std::string line;
  switch (process_->read_line(line, timeout)) {
    case ChildProcess::Read::timeout:
      return std::nullopt;
    case ChildProcess::Read::closed:
      throw_end();
    case ChildProcess::Read::line:
      break;
  }
  return parse_worker_reply(line);
}

void WorkerProcess::throw_end() {
  const ChildProcess::End end = process_->end();
  has_aborted_ = end.is_own_doing;
  const std::string words = last_lines(process_->last_words());
  throw Error(ErrorKind::unavailable,
              fmt::format("worker process {} has ended: {}{}{}", pid(), end.how,
                          words.empty() ? "" : ": ", words));
}

std::string find_worker_program() {
  std::string looked;
  for (const fs::path& path : candidates()) {
    if (is_program(path)) return path.string();
    looked += (looked.empty() ? "" : ", ") + path.string();
  }
  throw Error(ErrorKind::io, fmt::format("find {}: not found; looked for {}",
                                         kProgram, looked));
}

}  // namespace quorate::protocol
