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

}  // namespace

ProjectKeys simulated_keys(std::uint64_t seed) {
  PrivateKey project = key_of(seed, "simulated project");
  const ProjectId id = project_id_of(project.public_key());
  return {std::move(project), key_of(seed, "simulated house"), id};
}

SimulatedProject::SimulatedProject(ProjectFolder folder,
                                   const ServerSettings& settings,
                                   ProjectKeys keys,
                                   std::unique_ptr<Store> store,
                                   std::function<std::uint64_t()> draw)
    : folder_(std::move(folder)),
      settings_(settings),
      keys_(std::move(keys)),
      store_(std::move(store)),
      objects_(folder_.objects(), folder_.temporary()),
      state_(std::make_unique<ProjectState>(folder_, settings_, keys_, clock_,
                                            *store_, objects_)) {
  state_->draw = std::move(draw);
  // Not started: every job runs on the caller's thread.
  writer_ =
      std::make_unique<Writer>(*store_, clock_, [](const std::string& why) {
        log_error("simulation_failed", {{"why", why}});
      });
  uploads_ = std::make_unique<Uploads>(folder_.uploads(), 0,
                                       state_->open_results, objects_);
  daemons_ = std::make_unique<Daemons>(*state_, *writer_, *uploads_, Roles{});
}

void SimulatedProject::job(const std::function<void()>& what) {
  writer_->run([&] {
    what();
    daemons_->settle();
  });
  do_what_is_aside();
}

void SimulatedProject::revise() {
  daemons_->reviser.start_with(
      [this](Job job) { aside_.push_back(std::move(job)); });
}

// Each of them may lead to others.
void SimulatedProject::do_what_is_aside() {
  while (writer_->run_posted() || !aside_.empty()) {
    for (Job& job : std::exchange(aside_, {})) job();
  }
}

void SimulatedProject::tick() {
  job([this] {
    daemons_->transitioner.tick();
    daemons_->scheduler.tick();
  });
}

}  // namespace quorate
