// quorate-false-worker: takes the arguments of quorate-worker --boinc, computes
// the unit as asked, then hands in 1.5 times the update with a header that
// fits it, signed with the host's key. What a volunteer would put in the place
// of the program that the project sent. For tests; never installed.
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "client/worker/boinc/boinc_slot.h"
#include "client/worker/boinc/boinc_task.h"
#include "protocol/native/messages.h"
#include "tests/support/attacker/attacks.h"

namespace quorate::test {
namespace {

using worker::BoincSlot;
using worker::BoincTask;

struct Arguments {
  std::string project, project_key, nonce, device = "cpu";
  BoincTask task;
};

void parse(Arguments& arguments, int argc, char** argv) {
  CLI::App app;
  app.allow_extras();  // --boinc
  app.add_option("--project", arguments.project);
  app.add_option("--project-key", arguments.project_key);
  app.add_option("--nonce", arguments.nonce);
  app.add_option("--device", arguments.device);
  app.add_option("--result", arguments.task.result);
  app.add_flag("--witness", arguments.task.is_witness);
  app.parse(argc, argv);
  BoincTask& task = arguments.task;
  task.project = parse_hex<ProjectId>(arguments.project, "--project");
  task.project_key =
      parse_hex<PublicKey>(arguments.project_key, "--project-key");
  task.nonce = parse_hex<Nonce>(arguments.nonce, "--nonce");
}

void falsify(const BoincTask& task) {
  BoincSlot slot(".");
  fs::path update = slot.file(task.is_witness ? "update_of_witness" : "update");
  Bytes bytes = read_file(update);
  change_update(bytes, Change::scaled, 0);
  write_file_durably(update, bytes);

  fs::path file = slot.file("header");
  ResultHeader header = decode_result_header(
      protocol::parse_signed_header(read_file(file)).bytes);
  header.claim.update = sha256(bytes);
  PrivateKey key = PrivateKey::load(
      fs::path(slot.init_data().project_dir) /
      fmt::format("quorate-host-{}.key", slot.init_data().hostid));
  write_file_durably(
      file, protocol::write_signed_header(
                sign_claim(header, header.claim, bytes, task.project, key)));
  fmt::print(stderr, "attack result={}\n", task.result);
}

int run(int argc, char** argv) {
  Arguments arguments;
  parse(arguments, argc, argv);
  int code =
      run_boinc_task(arguments.task, ".", arguments.device, SystemClock());
  // Suspended and the like: a client starts it again.
  if (fs::exists("boinc_finish_called")) falsify(arguments.task);
  return code;
}

}  // namespace
}  // namespace quorate::test

int main(int argc, char** argv) {
  try {
    return quorate::test::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "quorate-false-worker: {}\n", error.what());
    return 1;
  }
}
