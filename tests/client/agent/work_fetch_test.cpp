#include "client/agent/work_fetch.h"

#include <doctest/doctest.h>

namespace quorate::client {
namespace {

Task task(const char* device, TaskState state = TaskState::ready) {
  Task task;
  task.device = device;
  task.state = state;
  return task;
}

const std::vector<DeviceWorkers> kGpuAndCpu{{"cuda:0", 1, true, 9e12},
                                            {"cpu", 1, true, 2e11}};

// "cuda:0 2" or "enough".
std::string wish(const std::vector<DeviceWorkers>& devices,
                 const std::vector<Task>& tasks, bool once = false) {
  std::optional<WorkWish> wish = work_wanted(devices, tasks, once);
  return wish ? wish->device + " " + std::to_string(wish->results) : "enough";
}

}  // namespace

TEST_CASE("every worker gets a result, then the next one, the best first") {
  CHECK(wish(kGpuAndCpu, {}) == "cuda:0 1");
  CHECK(work_wanted(kGpuAndCpu, {}, false)->speed_flops == 9e12);
  CHECK(wish(kGpuAndCpu, {task("cuda:0")}) == "cpu 1");
  CHECK(wish(kGpuAndCpu, {task("cuda:0"), task("cpu")}) == "cuda:0 1");
  CHECK(wish(kGpuAndCpu, {task("cuda:0"), task("cuda:0")}) == "cpu 1");
  CHECK(wish(kGpuAndCpu, {task("cuda:0"), task("cuda:0"), task("cpu")}) ==
        "cpu 1");
  CHECK(wish(kGpuAndCpu, {task("cuda:0"), task("cuda:0"), task("cpu"),
                          task("cpu")}) == "enough");
}

TEST_CASE("a device with nothing to do goes before another's next result") {
  const auto asked = [](std::vector<Task> tasks) {
    return *work_wanted(kGpuAndCpu, tasks, false);
  };
  const WorkWish gpu = asked({});
  const WorkWish cpu = asked({task("cuda:0")});
  const WorkWish next_of_gpu = asked({task("cuda:0"), task("cpu")});
  CHECK(next_of_gpu.device == "cuda:0");
  CHECK(goes_before(cpu, next_of_gpu));
  CHECK_FALSE(goes_before(next_of_gpu, cpu));
  // Neither displaces the other, or they would do so for ever.
  CHECK_FALSE(goes_before(cpu, gpu));
  CHECK_FALSE(goes_before(gpu, cpu));
  // Its own question is the one that waits.
  CHECK_FALSE(goes_before(gpu, next_of_gpu));
}

TEST_CASE("several workers on a device need as much more") {
  std::vector<DeviceWorkers> devices{{"cuda:0", 1, true}, {"cpu", 3, true}};
  CHECK(wish(devices, {task("cuda:0")}) == "cpu 3");
  CHECK(wish(devices, {task("cuda:0"), task("cpu"), task("cpu")}) == "cpu 1");
  CHECK(wish(devices, {task("cuda:0"), task("cuda:0"), task("cpu"), task("cpu"),
                       task("cpu")}) == "cpu 3");
  CHECK(wish(devices, {task("cuda:0"), task("cpu"), task("cpu"), task("cpu"),
                       task("cpu")}) == "cuda:0 1");
  CHECK(wish({{"cpu", 65, true}}, {}) == "cpu 64");  // not more at once
}

TEST_CASE("what is computed does not count, until too much of it waits") {
  std::vector<DeviceWorkers> one{{"cpu", 1, true}};
  std::vector<Task> tasks{task("cpu"), task("cpu", TaskState::uploading),
                          task("cpu", TaskState::reported)};
  CHECK(wish(one, tasks) == "cpu 1");
  tasks.assign(16, task("cpu", TaskState::uploading));
  CHECK(wish(one, tasks) == "enough");
  tasks.assign(255, task("cpu", TaskState::reported));
  CHECK(wish(one, tasks) == "cpu 1");
  tasks.assign(256, task("cpu", TaskState::reported));
  CHECK(wish(one, tasks) == "enough");
}

TEST_CASE("results of nobody's device are anybody's") {
  std::vector<Task> tasks{task(""), task("opencl:7"), task("")};
  CHECK(wish(kGpuAndCpu, tasks) == "cuda:0 1");
  tasks.push_back(task(""));
  CHECK(wish(kGpuAndCpu, tasks) == "enough");
}

TEST_CASE("nothing is asked for a device that is not ready") {
  CHECK(wish({}, {}) == "enough");
  CHECK(wish({{"cuda:0", 1, false}}, {}) == "enough");
  CHECK(wish({{"cuda:0", 1, false}, {"cpu", 1, true}}, {}) == "cpu 1");
}

TEST_CASE("once: one result in all") {
  CHECK(wish(kGpuAndCpu, {}, true) == "cuda:0 1");
  CHECK(wish(kGpuAndCpu, {task("cpu")}, true) == "enough");
  CHECK(wish(kGpuAndCpu, {task("cpu", TaskState::uploading)}, true) ==
        "enough");
}

}  // namespace quorate::client
