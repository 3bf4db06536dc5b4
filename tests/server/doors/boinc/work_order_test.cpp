#include "server/doors/boinc/scheduling/work_order.h"

#include <doctest/doctest.h>

namespace quorate::boinc {
namespace {

SchedulerRequest request_of(std::uint32_t ncpus) {
  SchedulerRequest request;
  request.platforms = {"x86_64-pc-linux-gnu"};
  request.host.ncpus = ncpus;
  request.host.cpu_flops = 4e9;
  request.cpu.seconds = 1;
  return request;
}

Coproc gpu(const std::string& type, bool cuda, bool opencl) {
  Coproc coproc;
  coproc.type = type;
  coproc.count = 1;
  coproc.has_cuda = cuda;
  coproc.has_opencl = opencl;
  coproc.peak_flops = 1e13;
  coproc.wish.instances = 1;
  return coproc;
}

}  // namespace

TEST_CASE("a client gets what it computes at a time, and as much again") {
  SchedulerRequest request = request_of(2);
  REQUIRE(order_work(request).size() == 1);
  DeviceOrder order = order_work(request).front();
  CHECK(order.kind == DeviceKind::cpu);
  CHECK(order.plan_class.empty());
  CHECK(order.coproc_type.empty());
  CHECK(order.want == 4);
  CHECK(order.ncpus == 1);
  CHECK(order.claimed_flops == 4e9);

  request.in_progress = {{"r1", ""}, {"r2", ""}, {"r3", "cuda"}};
  CHECK(order_work(request).front().want == 2);
  request.in_progress = {{"r1", ""}, {"r2", ""}, {"r4", ""}, {"r5", ""}};
  CHECK(order_work(request).empty());
  // Days of work are no reason to send more.
  request.cpu.seconds = 1e6;
  CHECK(order_work(request).empty());
}

TEST_CASE("a machine with many CPUs computes few units with several each") {
  DeviceOrder order = order_work(request_of(64)).front();
  CHECK(order.want == 8);
  CHECK(order.ncpus == 16);
  CHECK(order.claimed_flops == 16 * 4e9);
  // Five CPUs: four tasks of one.
  CHECK(order_work(request_of(5)).front().ncpus == 1);
  CHECK(order_work(request_of(0)).front().want == 2);
}

TEST_CASE("a CPU that was not measured claims no speed") {
  SchedulerRequest request = request_of(1);
  request.host.cpu_flops = 1e9;
  CHECK(order_work(request).front().claimed_flops == 0);
}

TEST_CASE("nothing is sent that was not asked for") {
  SchedulerRequest request = request_of(2);
  request.wants_no_work = true;
  CHECK(order_work(request).empty());
  request.wants_no_work = false;
  request.cpu = {};
  CHECK(order_work(request).empty());
  request.coprocs = {gpu("NVIDIA", true, true)};
  request.coprocs[0].wish = {};
  CHECK(order_work(request).empty());
}

TEST_CASE("each kind of GPU has its plan class and its own tasks") {
  SchedulerRequest request = request_of(8);
  request.coprocs = {gpu("NVIDIA", true, true), gpu("ATI", false, true),
                     gpu("intel_gpu", false, true), gpu("FPGAX", true, true),
                     gpu("ATI", false, false)};
  request.coprocs[0].count = 2;
  request.in_progress = {{"r1", "cuda"}};
  std::vector<DeviceOrder> orders = order_work(request);
  REQUIRE(orders.size() == 4);
  CHECK(orders[1].kind == DeviceKind::cuda);
  CHECK(orders[1].plan_class == "cuda");
  CHECK(orders[1].coproc_type == "NVIDIA");
  CHECK(orders[1].want == 3);
  CHECK(orders[1].ncpus == 0.5);
  CHECK(orders[1].claimed_flops == 1e12);
  CHECK(orders[2].kind == DeviceKind::opencl);
  CHECK(orders[2].plan_class == "opencl_amd");  // "ati" would demand CAL
  CHECK(orders[2].want == 2);
  CHECK(orders[3].plan_class == "opencl_intel");

  request.coprocs = {gpu("NVIDIA", false, true)};
  CHECK(order_work(request)[1].plan_class == "opencl_nvidia");
}

TEST_CASE("a number of GPUs that nobody has brings no flood") {
  SchedulerRequest request = request_of(1);
  request.coprocs = {gpu("NVIDIA", true, true)};
  request.coprocs[0].count = 1000000;
  CHECK(order_work(request)[1].want == 32);
}

}  // namespace quorate::boinc
