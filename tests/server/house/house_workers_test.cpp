// What a house worker does with units, and without any; the worker computes
// nothing (tests/client/fake_worker.cpp).
#include "server/house/house_workers.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

// One worker on one of the fake's devices, and what it asks and tells.
class Scene {
 public:
  explicit Scene(const std::string& device) {
    options_.program = QUORATE_FAKE_WORKER;
    options_.device = device;
    workers_.emplace(1, options_, callbacks());
  }
  ~Scene() { stop(); }

  void stop() { workers_.reset(); }

  // Gives it a unit, and waits until it has told what became of it.
  void compute(ResultId result) {
    write_file_durably(folder_ / "unit", as_bytes("a unit"));
    HouseUnit unit;
    unit.result = result;
    unit.request.job = static_cast<std::uint64_t>(result);
    unit.request.workunit = folder_ / "unit";
    unit.request.update = folder_ / "update";
    std::unique_lock lock(mutex_);
    const std::size_t told = told_.size();
    next_ = unit;
    changed_.wait(lock, [&] { return told_.size() > told; });
  }
  // Waits until it has asked so often that nothing is left to be told of what
  // it was given before.
  void let_ask(int times) {
    std::unique_lock lock(mutex_);
    const int until = asked_ + times;
    changed_.wait(lock, [&] { return asked_ >= until; });
  }
  std::vector<std::string> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  HouseCallbacks callbacks() {
    HouseCallbacks callbacks;
    callbacks.next_unit = [this] {
      std::lock_guard lock(mutex_);
      ++asked_;
      changed_.notify_all();
      return std::exchange(next_, std::nullopt);
    };
    callbacks.computed = [this](const HouseUnit& unit,
                                const protocol::ComputeDone& done,
                                const std::string& device) {
      tell(std::to_string(unit.result) + " computed on " + device + ", " +
           std::to_string(done.claim.samples) + " samples");
    };
    callbacks.failed = [this](const HouseUnit& unit,
                              const HouseFailure& failure) {
      tell(std::to_string(unit.result) +
           (failure.has_aborted ? " aborted: " : " failed: ") + failure.why);
    };
    return callbacks;
  }
  void tell(const std::string& what) {
    std::lock_guard lock(mutex_);
    told_.push_back(what);
    changed_.notify_all();
  }

  test::TemporaryFolder folder_;
  protocol::WorkerOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<HouseUnit> next_;
  int asked_ = 0;
  std::vector<std::string> told_;
  std::optional<HouseWorkers> workers_;
};

}  // namespace

TEST_CASE("a house worker computes what it is given, and else nothing") {
  Scene scene("cpu");
  scene.let_ask(3);
  CHECK(scene.told().empty());
  scene.compute(7);
  scene.let_ask(2);
  scene.compute(9);
  scene.stop();
  CHECK(scene.told() ==
        std::vector<std::string>{"7 computed on cpu, 8 samples",
                                 "9 computed on cpu, 8 samples"});
}

TEST_CASE("a house worker that cannot compute a unit says why") {
  Scene refusing("refusing");
  refusing.compute(7);
  refusing.stop();
  CHECK(refusing.told() ==
        std::vector<std::string>{"7 failed: the fake worker refuses"});
  Scene crashing("crashing");
  crashing.compute(8);
  crashing.stop();
  REQUIRE(crashing.told().size() == 1);
  CHECK(crashing.told()[0].starts_with("8 aborted: "));
  CHECK(crashing.told()[0].ends_with("exit status 1: the fake worker crashes"));
}

}  // namespace quorate
