#include "client/machine/device_speeds.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::int64_t kDay = 86'400'000;
const MeasuredWith kGpu{"cuda:0", "RTX, CUDA 13.0", 0};
const MeasuredWith kCpu{"cpu", "AVX2 instructions", 8};

DeviceSpeeds sample() {
  DeviceSpeeds speeds("0.1.0");
  speeds.add({kGpu, 900.5, "", kNow});
  speeds.add({kCpu, 100, "", kNow});
  return speeds;
}

}  // namespace

TEST_CASE("a measurement is found for the same device, driver and threads") {
  DeviceSpeeds speeds = sample();
  REQUIRE(speeds.find(kGpu, kNow + 400 * kDay) != nullptr);
  CHECK(speeds.find(kGpu, kNow)->gflops == 900.5);
  CHECK(speeds.find(kCpu, kNow)->gflops == 100);
  CHECK(speeds.find({"cuda:0", "RTX, CUDA 13.1", 0}, kNow) == nullptr);
  CHECK(speeds.find({"cuda:1", "RTX, CUDA 13.0", 0}, kNow) == nullptr);
  CHECK(speeds.find({"cpu", "AVX2 instructions", 4}, kNow) == nullptr);
}

TEST_CASE("a newer measurement takes the place of the older one") {
  DeviceSpeeds speeds = sample();
  MeasuredWith updated{"cuda:0", "RTX, CUDA 13.1", 0};
  speeds.add({updated, 950, "", kNow});
  CHECK(speeds.all().size() == 2);
  CHECK(speeds.find(kGpu, kNow) == nullptr);
  CHECK(speeds.find(updated, kNow)->gflops == 950);
}

TEST_CASE("a failure is believed for a day") {
  DeviceSpeeds speeds = sample();
  speeds.add({kGpu, 0, "it ended without an answer", kNow});
  REQUIRE(speeds.find(kGpu, kNow + kDay) != nullptr);
  CHECK(speeds.find(kGpu, kNow + kDay)->failure ==
        "it ended without an answer");
  CHECK(speeds.find(kGpu, kNow + kDay + 1) == nullptr);
  CHECK(speeds.find(kGpu, kNow - kDay - 1) == nullptr);  // the clock was wrong
}

TEST_CASE("more devices than a computer has are not kept") {
  DeviceSpeeds speeds("0.1.0");
  for (int i = 0; i < 100; ++i) {
    speeds.add({{"opencl:" + std::to_string(i), "", 0}, 1, "", kNow});
  }
  CHECK(speeds.all().size() == 64);
  CHECK(speeds.all().back().with.device == "opencl:99");
}

TEST_CASE("what is kept is read as it was written") {
  test::TemporaryFolder folder;
  fs::path file = folder / "devices.json";
  CHECK(load_speeds(file, "0.1.0").all().empty());
  save_speeds(file, sample());
  CHECK(load_speeds(file, "0.1.0").all() == sample().all());
  CHECK(load_speeds(file, "0.2.0").all().empty());  // other kernels
  CHECK(load_speeds(file, "0.2.0").program() == "0.2.0");
}

TEST_CASE("a damaged file is as good as none") {
  test::TemporaryFolder folder;
  fs::path file = folder / "devices.json";
  std::string text = write_speeds(sample());
  // The last byte is the end of the line.
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(parse_speeds(text.substr(0, size)), Error);
  }
  write_file_durably(file, as_bytes(text.substr(0, 40)));
  CHECK(load_speeds(file, "0.1.0").all().empty());
  write_file_durably(file, as_bytes(std::string(300 << 10, ' ')));
  CHECK(load_speeds(file, "0.1.0").all().empty());
  fs::remove(file);
  fs::create_directory(file);
  CHECK(load_speeds(file, "0.1.0").all().empty());
}

TEST_CASE("measurements that are none are refused") {
  std::string text = write_speeds(sample());
  auto with = [&](const std::string& found, const std::string& other) {
    std::string changed = text;
    std::size_t at = changed.find(found);
    REQUIRE(at != std::string::npos);
    return changed.replace(at, found.size(), other);
  };
  for (const std::string& bad :
       {with("900.5", "-1"), with("900.5", "1e999"), with("900.5", "\"fast\""),
        with("\"version\": 1", "\"version\": 2"), with("gflops", "speed"),
        with("\"threads\": 8", "\"threads\": 5000000000"),
        with("RTX", std::string(2000, 'x')), std::string("[]"),
        std::string("{\"version\":1,\"program\":\"\",\"measured\":{}}"),
        std::string(100, '[')}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_speeds(bad), Error);
  }
}

}  // namespace quorate::client
