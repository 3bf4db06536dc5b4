#include "server/doors/boinc/scheduling/work_order.h"

#include <algorithm>

#include "server/apps/app_records.h"

namespace quorate::boinc {
namespace {

// Tasks of one unit each: a machine with many CPUs computes a few of them with
// several threads each rather than many units at a time, which would be stale.
constexpr std::uint32_t kMostCpuTasks = 4;
constexpr std::uint32_t kMostGpus = 16;
// What a client says when it has not measured its CPU.
constexpr double kUnmeasuredFlops = 1e9;
// Of a GPU's peak, what training gets out of it.
constexpr double kGpuShare = 0.1;
// A GPU's task needs some of a CPU to feed it.
constexpr double kCpusOfGpuTask = 0.5;

std::uint32_t wanted(const SchedulerRequest& request, std::uint32_t tasks,
                     const std::string& plan_class) {
  auto held = static_cast<std::uint32_t>(
      std::count_if(request.in_progress.begin(), request.in_progress.end(),
                    [&](const HeldResult& result) {
                      return result.plan_class == plan_class;
                    }));
  const std::uint32_t most = 2 * tasks;
  return held < most ? most - held : 0;
}

DeviceOrder cpu_order(const SchedulerRequest& request) {
  const std::uint32_t ncpus = std::max(1U, request.host.ncpus);
  const std::uint32_t tasks = std::min(ncpus, kMostCpuTasks);
  DeviceOrder order;
  order.ncpus = ncpus / tasks;
  order.model = request.host.cpu_model;
  if (request.host.cpu_flops != kUnmeasuredFlops) {
    order.claimed_flops = request.host.cpu_flops * order.ncpus;
  }
  order.want = wanted(request, tasks, order.plan_class);
  return order;
}

// Without CUDA or OpenCL nothing of ours runs on it.
bool is_served(const Coproc& coproc) {
  const bool is_known = coproc.type == "NVIDIA" || coproc.type == "ATI" ||
                        coproc.type == "intel_gpu";
  return is_known && (coproc.has_cuda || coproc.has_opencl);
}

DeviceOrder gpu_order(const SchedulerRequest& request, const Coproc& coproc) {
  DeviceOrder order;
  order.kind = coproc.type == "NVIDIA" && coproc.has_cuda ? DeviceKind::cuda
                                                          : DeviceKind::opencl;
  order.plan_class = boinc::plan_class(order.kind, coproc.type);
  order.coproc_type = coproc.type;
  order.ncpus = kCpusOfGpuTask;
  order.model = coproc.model;
  order.claimed_flops = coproc.peak_flops * kGpuShare;
  order.want = wanted(request, std::clamp(coproc.count, 1U, kMostGpus),
                      order.plan_class);
  return order;
}

}  // namespace

std::vector<DeviceOrder> order_work(const SchedulerRequest& request) {
  std::vector<DeviceOrder> orders;
  if (request.wants_no_work) return orders;
  if (request.cpu.is_any()) orders.push_back(cpu_order(request));
  for (const Coproc& coproc : request.coprocs) {
    if (!coproc.wish.is_any() || !is_served(coproc)) continue;
    DeviceOrder order = gpu_order(request, coproc);
    // Users may declare more of a type.
    const bool is_there = std::any_of(
        orders.begin(), orders.end(), [&](const DeviceOrder& other) {
          return other.plan_class == order.plan_class;
        });
    if (!is_there) orders.push_back(std::move(order));
  }
  std::erase_if(orders,
                [](const DeviceOrder& order) { return order.want == 0; });
  return orders;
}

}  // namespace quorate::boinc
