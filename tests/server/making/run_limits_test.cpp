#include "server/making/run_limits.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

Evaluation evaluated(double accuracy) {
  Evaluation evaluation;
  evaluation.version = 12;
  evaluation.accuracy = accuracy;
  return evaluation;
}

}  // namespace

TEST_CASE("the first condition that holds ends a run, and says so") {
  const Evaluation good = evaluated(0.91);
  const Evaluation bad = evaluated(0.89);
  const RunUntil until{0.9, 3600, 20};
  CHECK(reason_to_end(until, {3599, 0, 19.9}, &bad).empty());
  CHECK(reason_to_end(until, {3599, 0, 19.9}, nullptr).empty());
  CHECK(reason_to_end(until, {}, &good) ==
        "version 12 has the accuracy 0.91; it was to be 0.9");
  CHECK(reason_to_end(until, {3600, 0, 0}, &bad) ==
        "it has been at work for 1h");
  CHECK(reason_to_end(until, {0, 1e9, 20}, nullptr) ==
        "hosts' time has cost 20; it was to be 20");
  CHECK(reason_to_end({}, {1e9, 1e9, 1e9}, &good).empty());
}

TEST_CASE("conditions are told as they are typed") {
  CHECK(text_of(RunUntil{0.9, 21'600, 20}) == "accuracy=0.9 time=6h cost=20");
  CHECK(text_of(RunUntil{0, 90, 0}) == "time=1.5min");
  CHECK(text_of(RunUntil{}).empty());
}

TEST_CASE("hosts' time is estimated, whatever a host says of itself") {
  CHECK(estimated_seconds(1e12, 1e10, Seconds(1200)) == 100);
  CHECK(estimated_seconds(1e12, 0, Seconds(1200)) == 200);  // one slow core
  CHECK(estimated_seconds(1e12, 1, Seconds(1200)) == 1200);
}

TEST_CASE("a processor and a graphics card have their prices") {
  ServerSettings settings;
  settings.price_cpu = 0.02;
  settings.price_gpu = 0.6;
  for (const char* cpu : {"", "cpu", "cpu:avx512", "cpu: AMD EPYC"}) {
    CHECK(price_per_hour(settings, cpu) == 0.02);
  }
  for (const char* gpu : {"cuda:0", "opencl: Radeon"}) {
    CHECK(price_per_hour(settings, gpu) == 0.6);
  }
}

}  // namespace quorate
