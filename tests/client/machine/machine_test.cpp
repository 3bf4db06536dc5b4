#include "client/machine/machine.h"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

// A folder that looks like the root of a machine.
struct FakeRoot {
  test::TemporaryFolder folder;
  Machine machine{folder.path()};

  fs::path put(const std::string& path, const std::string& text) {
    fs::path file = folder.path() / path;
    fs::create_directories(file.parent_path());
    write_file_durably(file, as_bytes(text));
    return file;
  }
  void put_supply(const std::string& name, const std::string& file,
                  const std::string& text) {
    put("sys/class/power_supply/" + name + "/" + file, text + "\n");
  }
  // A terminal that was last read from at this time.
  void put_terminal(const std::string& path, std::int64_t unix_seconds) {
    timespec times[2] = {{unix_seconds, 0}, {unix_seconds + 999, 0}};
    REQUIRE(::utimensat(AT_FDCWD, put("dev/" + path, "").c_str(), times, 0) ==
            0);
  }
};

TEST_CASE_FIXTURE(FakeRoot, "a machine without anything is seen as such") {
  CHECK_FALSE(machine.is_on_battery());
  CHECK_FALSE(machine.since_typed(0));
  CHECK_FALSE(machine.cpu());
  CHECK_FALSE(machine.cpu_of(1));
}

TEST_CASE_FIXTURE(FakeRoot, "battery") {
  put_supply("BAT0", "type", "Battery");
  put_supply("BAT0", "status", "Charging");
  CHECK_FALSE(machine.is_on_battery());
  put_supply("BAT0", "status", "Discharging");
  CHECK(machine.is_on_battery());
  put_supply("AC", "type", "Mains");
  put_supply("AC", "online", "0");
  CHECK(machine.is_on_battery());
  put_supply("AC", "online", "1");
  CHECK_FALSE(machine.is_on_battery());
}

TEST_CASE_FIXTURE(FakeRoot, "the battery of a mouse is not the machine's") {
  put_supply("hid-1", "type", "Battery");
  put_supply("hid-1", "scope", "Device");
  put_supply("hid-1", "status", "Discharging");
  CHECK_FALSE(machine.is_on_battery());
}

TEST_CASE_FIXTURE(FakeRoot, "the hottest part that computes counts") {
  const std::string chips = "sys/class/hwmon/hwmon";
  CHECK_FALSE(machine.celsius());
  put(chips + "0/name", "nvme\n");
  put(chips + "0/temp1_input", "99000\n");
  CHECK_FALSE(machine.celsius());
  put(chips + "1/name", "coretemp\n");
  put(chips + "1/temp1_input", "61000\n");
  put(chips + "1/temp2_input", "-128000\n");  // not connected
  put(chips + "1/temp3_input", "255000\n");
  put(chips + "1/temp4_input", "hot\n");
  put(chips + "1/temp1_max", "100000\n");
  CHECK(machine.celsius() == 61.0);
  put(chips + "2/name", "amdgpu\n");
  put(chips + "2/temp2_input", "72500\n");
  CHECK(machine.celsius() == 72.5);
}

TEST_CASE_FIXTURE(FakeRoot, "waiting for memory") {
  CHECK_FALSE(machine.memory_stall());
  put("proc/pressure/memory",
      "some avg10=12.34 avg60=1.00 avg300=0.00 total=5\n"
      "full avg10=2.00 avg60=0.00 avg300=0.00 total=1\n");
  CHECK(machine.memory_stall() == 12.34);
  for (const char* text : {"", "some", "some avg60=1", "full avg10=1",
                           "some avg10=", "some avg10=-1"}) {
    put("proc/pressure/memory", text);
    CHECK_FALSE(machine.memory_stall());
  }
}

TEST_CASE_FIXTURE(FakeRoot, "the terminal that was used last counts") {
  put_terminal("tty1", 1000);
  put_terminal("pts/0", 1500);
  put_terminal("pts/ptmx", 1900);  // no terminal
  put_terminal("tty", 1900);       // nor these
  put_terminal("ttyS0", 1900);
  CHECK(machine.since_typed(1'560'000) == Seconds(60));
  CHECK(machine.since_typed(1'000'000) ==
        Seconds(0));  // the clock was set back
}

TEST_CASE_FIXTURE(FakeRoot, "processors and processes") {
  put("proc/stat", "cpu  10 20 30 400 50 6 7 8 90 100\ncpu0 1 1 1 1\n");
  REQUIRE(machine.cpu());
  CHECK(machine.cpu()->all == 531);
  CHECK(machine.cpu()->busy == 81);
  put("proc/42/stat",
      "42 (a b) (c) S 1 42 42 0 -1 4194304 1 2 3 4 70 30 5 6 20 0 1 0 9\n");
  CHECK(machine.cpu_of(42) == 100);
}

TEST_CASE_FIXTURE(FakeRoot, "what reads otherwise is not seen") {
  for (const char* text : {"", "cpu", "cpu 1 2 3", "cpu a b c d e f g h",
                           "disk 1 2 3 4 5 6 7 8"}) {
    put("proc/stat", text);
    CHECK_FALSE(machine.cpu());
  }
  for (const char* text : {"", "42", "42 (x", "42 (x) S 1 2"}) {
    put("proc/42/stat", text);
    CHECK_FALSE(machine.cpu_of(42));
  }
}

TEST_CASE("this machine is seen") {
  Machine machine;
  REQUIRE(machine.cpu());
  CHECK(machine.cpu()->busy <= machine.cpu()->all);
  CHECK(machine.cpu_of(::getpid()));
}

TEST_CASE("what others use is the load without ours") {
  LoadMeter meter;
  meter.add({1000, 5000}, {{1, 10}, {2, 500}});
  CHECK_FALSE(meter.others_percent());
  // Of 400 ticks 300 were busy, 200 of them ours.
  meter.add({1300, 5400}, {{1, 30}, {2, 680}});
  REQUIRE(meter.others_percent());
  CHECK(*meter.others_percent() == doctest::Approx(25));
  // One process is new: what it used before is not ours to subtract.
  meter.add({1700, 5800}, {{1, 30}, {3, 900}});
  CHECK(*meter.others_percent() == doctest::Approx(25 + 0.2 * 75));
  // No time has passed: nothing is learnt.
  meter.add({1700, 5800}, {{1, 30}});
  CHECK(*meter.others_percent() == doctest::Approx(40));
}

}  // namespace
}  // namespace quorate::client
