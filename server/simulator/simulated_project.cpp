#include "server/simulator/simulated_project.h"

#include <utility>

#include "base/log.h"

namespace quorate {
namespace {

PrivateKey key_of(std::uint64_t seed, std::string_view what) {
  Bytes text(as_bytes(what).begin(), as_bytes(what).end());
  for (int shift = 0; shift < 64; shift += 8) {
    text.push_back(static_cast<std::uint8_t>(seed >> shift));
  }
  return PrivateKey::from_seed(sha256(text).view());
}

// However full the disk is: a simulation gives the same anywhere.
ServerSettings on_any_disk(ServerSettings settings) {
  settings.disk_reserve_mb = 0;
  return settings;
}

}  // namespace

ProjectKeys simulated_keys(std::uint64_t seed) {
  return keys_of(key_of(seed, "simulated project"),
                 key_of(seed, "simulated house"));
}

SimulatedProject::SimulatedProject(ProjectFolder folder,
                                   const ServerSettings& settings,
                                   ProjectKeys keys,
                                   std::unique_ptr<Store> store,
                                   std::function<std::uint64_t()> draw)
    : folder_(std::move(folder)),
      settings_(on_any_disk(settings)),
      keys_(std::move(keys)),
      core_({folder_, settings_, keys_, clock_}, std::move(store), Roles{},
            false, [](const std::string& why) {
              log_error("simulation_failed", {{"why", why}});
            }) {
  state().draw = std::move(draw);
}

void SimulatedProject::job(const std::function<void()>& what) {
  core_.job(what);
  do_what_is_aside();
}

void SimulatedProject::revise() {
  daemons().reviser.start_with(
      [this](Job job) { aside_.push_back(std::move(job)); });
}

// Each of them may lead to others.
void SimulatedProject::do_what_is_aside() {
  while (core_.writer().run_posted() || !aside_.empty()) {
    for (Job& job : std::exchange(aside_, {})) job();
  }
}

void SimulatedProject::tick() {
  core_.tick();
  do_what_is_aside();
}

}  // namespace quorate
