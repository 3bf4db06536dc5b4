#include "client/permission/governor.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

struct Fixture {
  test::TemporaryFolder root;
  test::TemporaryFolder machine;
  DataFolder folder{root.path()};
  ManualClock clock;
  Network network;

  Governor governor(const RunSettings& settings = {}) {
    return Governor(folder, settings, Machine(machine.path()), clock, network);
  }
  void set_pref(const char* key, const char* value) {
    Prefs prefs = load_prefs(folder.prefs_file());
    set(prefs, pref_info(key), value);
    save_prefs(folder.prefs_file(), prefs);
  }
};

TEST_CASE_FIXTURE(Fixture, "changed preferences are followed within seconds") {
  Governor governor = this->governor();
  CHECK(governor.orders({}).cpu_percent == 100);
  set_pref("cpu_percent", "50");
  set_pref("gpu_percent", "60");
  set_pref("cores", "3");
  set_pref("cache_mb", "20");
  set_pref("disk_mb", "64");
  set_pref("unit_hours", "2");
  set_pref("require_sandbox", "yes");
  set_pref("down_kbps", "30");
  set_pref("up_kbps", "8");
  clock.advance(Seconds(2));
  Orders orders = governor.orders({});
  CHECK(orders.cpu_percent == 50);
  CHECK(orders.gpu_percent == 60);
  CHECK(orders.threads == 3);
  CHECK(orders.cache_bytes == 20U << 20);
  CHECK(orders.disk_bytes == 64U << 20);
  CHECK(orders.longest_unit == Seconds(7200));
  CHECK(orders.requires_sandbox);
  CHECK(network.down_limit == 30'000);
  CHECK(network.up_limit == 8'000);
}

TEST_CASE_FIXTURE(Fixture, "the command line has the last word") {
  set_pref("cpu_percent", "50");
  set_pref("cores", "8");
  RunSettings settings;
  settings.tasks = 2;
  CHECK(governor(settings).orders({}).threads == 4);
  settings.threads = 1;
  settings.cpu_percent = 70;
  settings.gpu_percent = 30;
  Orders orders = governor(settings).orders({});
  CHECK(orders.threads == 1);
  CHECK(orders.cpu_percent == 70);
  CHECK(orders.gpu_percent == 30);
}

TEST_CASE("cores and memory are shared by the workers, a core for each GPU") {
  Prefs prefs;
  prefs.cores = 8;
  prefs.memory_mb = 4000;
  RunSettings settings;
  settings.devices = {"cuda:0", "opencl:1", "cpu"};
  CHECK(workers_of(settings) == settings.devices);
  CHECK(orders_of(prefs, settings).threads == 6);
  settings.tasks = 2;  // of the CPU
  CHECK(workers_of(settings).size() == 4);
  CHECK(orders_of(prefs, settings).threads == 3);
  CHECK(orders_of(prefs, settings).memory_mb == 1000);
  settings.threads = 7;
  CHECK(orders_of(prefs, settings).threads == 7);
  settings = {};
  settings.devices = {"cuda:0", "cuda:0", "cuda"};
  prefs.cores = 1;
  CHECK(workers_of(settings).size() == 3);
  CHECK(orders_of(prefs, settings).threads == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "a damaged file stops a start, but no running agent") {
  set_pref("cpu_percent", "50");
  Governor running = governor();
  CHECK(running.orders({}).trouble.empty());
  write_file_durably(folder.prefs_file(), as_bytes("{\"cores\":\"many\"}"));
  clock.advance(Seconds(2));
  Orders orders = running.orders({});
  CHECK(orders.cpu_percent == 50);
  CHECK(orders.trouble.find("preference cores") != std::string::npos);
  CHECK_THROWS_AS(governor(), Error);

  fs::remove(folder.prefs_file());
  clock.advance(Seconds(2));
  CHECK(running.orders({}).trouble.empty());
  CHECK(running.orders({}).cpu_percent == 100);
}

TEST_CASE_FIXTURE(Fixture, "a pause is followed at once and ends by itself") {
  Governor governor = this->governor();
  std::int64_t now = clock.unix_ms();
  folder.set_pause(Pause{now, now + 60'000});
  CHECK(governor.orders({}).permission.rest == Rest::paused);
  clock.advance(Seconds(61));
  CHECK(governor.orders({}).permission.is_granted());
}

TEST_CASE_FIXTURE(Fixture, "the machine is looked at again and again") {
  Governor governor = this->governor();
  CHECK(governor.orders({}).permission.is_granted());
  fs::path battery = machine.path() / "sys/class/power_supply/BAT0";
  fs::create_directories(battery);
  write_file_durably(battery / "type", as_bytes("Battery\n"));
  write_file_durably(battery / "status", as_bytes("Discharging\n"));
  clock.advance(Seconds(3));
  CHECK(governor.orders({}).permission.rest == Rest::battery);
}

}  // namespace
}  // namespace quorate::client
