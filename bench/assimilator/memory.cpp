// What taking in results costs in memory: reads, merges and publishes as the
// server does, with files in a folder; a JSON object of bytes, each the most at
// any time. And in time: `seconds` that a result takes by the parts that a
// scenario of the simulator has for an assimilator.
// Usage: bench-assimilator-memory RULE CODEC RESULTS ELEMENTS FOLDER, where so
// many results make two versions of a network with about ELEMENTS parameters.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "validator/model_state.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/objects/object_store.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace {

using namespace quorate;

struct Memory {
  std::uint64_t own = 0;     // that the kernel could only swap
  std::uint64_t mapped = 0;  // of files, that it can take away
};

Memory memory_now() {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  std::ifstream("/proc/self/statm") >> all >> resident >> shared;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {(resident - shared) * page, shared * page};
}

// The most since it was made, beyond what there was before.
class Peak {
 public:
  Peak() : before_(memory_now()) {
    watch_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        look();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
  }

  Memory stop() {
    watch_.request_stop();
    watch_.join();
    return {peak_.own - before_.own, peak_.mapped - before_.mapped};
  }

 private:
  void look() {
    const Memory now = memory_now();
    peak_.own = std::max(peak_.own, now.own);
    peak_.mapped = std::max(peak_.mapped, now.mapped);
  }

  Memory before_;
  Memory peak_;
  std::jthread watch_;
};

// Adds to `total` how long `what` takes.
template <class F>
void timed(double& total, F what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  total +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
}

// Of all results.
struct Times {
  double prepare = 0;  // files of the result
  double read = 0;     // a copy of the model
  double step = 0;
  double write = 0;  // the version as an object
};

struct Project {
  Project(const char* rule_name, const char* codec, std::size_t results,
          std::uint32_t elements, const fs::path& folder)
      : rule(make_update_rule(rule_name, "")),
        objects(folder / "objects", folder / "temporary"),
        updates(results) {
    task.model = {"mlp", {784, elements / 795, 10}};
    task.codec = codec_called(codec).value();
    std::vector<float> values(parameter_count(task.model));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 1021) * 1e-4F;
    }
    snapshot = objects.put(parameter_parts(task.model, values));
    for (Hash& update : updates) {
      ++task.unit_seed;
      values[0] += 1.0F;  // no two files are the same
      update = objects.put(encode_update(task, values));
    }
  }

  ModelState load() const {
    return ModelState(read_parameters(
        task.model, objects.map_checked(snapshot).bytes(), "snapshot"));
  }

  void take(ModelState& model, std::uint64_t unit, const Hash& update,
            bool closes) {
    ResultAssimilated entry;
    entry.version_before = model.version();
    entry.version_after = model.version() + (closes ? 1 : 0);
    entry.base_version = model.version();
    entry.unit_index = unit;
    entry.rule = rule->name();
    entry.coefficients = rule->coefficients({.version = model.version(),
                                             .base_version = model.version(),
                                             .state = &model.rule_state()});
    ParameterValues base;
    ParameterValues delta;
    timed(times.prepare, [&] {
      if (!rule->in_rounds()) {
        base =
            map_parameters(task.model, objects.map_checked(snapshot), "base");
      }
      delta = map_update(task, objects.map_checked(update), "update");
    });
    timed(times.step,
          [&] { model.apply(entry, *rule, base.all(), std::move(delta)); });
  }

  void time_copy(const ModelState& model) {
    std::vector<float> copy;
    timed(times.read, [&] { copy = model.parameters(); });
    timed(times.write,
          [&] { objects.put_own(parameter_parts(task.model, copy)); });
  }

  void publish(const ModelState& model) {
    objects.put_own(parameter_parts(task.model, model.parameters()));
    objects.put(parameter_parts(task.model, model.published()));
    if (model.rule_state().empty()) return;
    objects.put(rule_state_parts(model.rule_state()));
  }

  Times times;
  std::unique_ptr<UpdateRule> rule;
  ObjectStore objects;
  TrainingTask task;
  Hash snapshot;
  std::vector<Hash> updates;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  Project project(
      argv[1], argv[2], std::strtoull(argv[3], nullptr, 10),
      static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10)), argv[5]);
  ::malloc_trim(0);
  Peak peak;
  ModelState model = project.load();
  for (int version = 0; version < 2; ++version) {
    for (std::size_t i = 0; i < project.updates.size(); ++i) {
      const bool closes =
          !project.rule->in_rounds() || i + 1 == project.updates.size();
      project.take(model, i, project.updates[i], closes);
    }
    project.publish(model);
  }
  const Memory most = peak.stop();
  project.time_copy(model);
  const auto results = 2.0 * static_cast<double>(project.updates.size());
  fmt::print(R"({{"model": {}, "own": {}, "mapped": {}, "seconds": )"
             R"({{"prepare": {}, "read": {}, "step": {}, "write": {}}}}})"
             "\n",
             model.parameters().size() * sizeof(float), most.own, most.mapped,
             project.times.prepare / results, project.times.read,
             project.times.step / results, project.times.write);
}
