// A worker for tests of the agent. What it does hangs on --device:
//   cpu          computes at once: the update is "update of HASH"
//   careful      as cpu, but fails jobs whose shard is not what its name says
//   silent       takes a job and says nothing more, the first time; then as cpu
//   late         as cpu, but says once more that the job before it failed
//   slow         never ends by itself; stops when told to
//   tiring       computes result 1 as cpu, the others as slow
//   diverging    claims that the unit diverged
//   crashing     ends under every job, saying so on standard error
//   picky        ends so under result 1, the others as cpu
//   fragile      ends so the first time; then as cpu
//   refusing     fails every job
//   unsupported  does not serve
#include <cstring>
#include <iostream>
#include <string>

#include <unistd.h>

#include "base/arithmetic.h"
#include "base/file.h"
#include "protocol/worker/messages.h"

namespace {

using namespace quorate;
using namespace quorate::protocol;

constexpr std::uint32_t kSteps = 4;

void say(const WorkerReply& reply) {
  std::cout << write(reply) << std::endl;
}

ComputeDone done(const ComputeRequest& request, const std::string& device) {
  ComputeDone result;
  result.job = request.job;
  result.steps = kSteps;
  result.seconds = 0.5;
  result.claim.samples = 8;
  if (device == "diverging") {
    result.claim.outcome = ComputeOutcome::diverged;
    result.claim.diverged_step = 1;
    return result;
  }
  Hash unit = sha256(read_file(request.workunit));
  std::string update = "update of " + unit.hex();
  write_file_durably(request.update, as_bytes(update));
  result.claim.update = sha256(as_bytes(update));
  result.claim.digests = {unit};
  return result;
}

bool crash() {
  std::cerr << "the fake worker\ncrashes" << std::endl;
  return false;
}

// Returns false when the process has to end.
bool compute(const ComputeRequest& request, const std::string& device) {
  say(WorkerProgress{request.job, 1, kSteps});
  const bool is_first =
      fs::path(request.update).parent_path().filename() == "1";
  if (device == "crashing" || (device == "picky" && is_first)) return crash();
  if (device == "fragile" && !fs::exists(request.checkpoint)) {
    write_file_durably(request.checkpoint, as_bytes("was here"));
    return crash();
  }
  fs::path shard = request.shard;
  if (device == "careful" &&
      sha256(read_file(shard)).hex() != shard.stem().string()) {
    say(WorkerFailed{request.job, "corrupt", "the shard has changed"});
    return true;
  }
  if (device == "silent" && !fs::exists(request.checkpoint)) {
    write_file_durably(request.checkpoint, as_bytes("was here"));
    while (true) ::pause();
  }
  if (device == "refusing") {
    say(WorkerFailed{request.job, "corrupt", "the fake worker refuses"});
    return true;
  }
  if (device == "late") {
    say(WorkerFailed{request.job - 1, "corrupt", "a job of the past"});
  }
  if (device != "slow" && (device != "tiring" || is_first)) {
    say(done(request, device));
    return true;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    if (std::holds_alternative<StopRequest>(parse_worker_request(line))) {
      write_file_durably(request.checkpoint, as_bytes("checkpoint"));
      say(WorkerStopped{request.job});
      return true;
    }
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::string device;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--device") == 0) device = argv[i + 1];
  }
  if (device == "unsupported") {
    say(WorkerFailed{0, "unsupported", "no such device"});
    return 0;
  }
  say(WorkerReady{device, kArithmeticVersion});
  std::string line;
  while (std::getline(std::cin, line)) {
    WorkerRequest request = parse_worker_request(line);
    const auto* job = std::get_if<ComputeRequest>(&request);
    if (job != nullptr && !compute(*job, device)) return 1;
  }
  return 0;
}
