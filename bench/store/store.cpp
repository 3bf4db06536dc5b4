// What a store takes for the life of workunits: a JSON object of processor
// microseconds for each operation, and of bytes for each row.
// Usage: bench-store memory|forgetting|PATH HOSTS UNITS, where PATH is a new
// SQLite store, or :memory:.
#include "server/store/store.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>

#include "tests/support/samples.h"

namespace {

using namespace quorate;

// As many changes as the server commits together when it is busy.
constexpr std::size_t kBatch = 100;
// Of a network of a few layers.
constexpr std::size_t kSealedBytes = 600;
constexpr std::size_t kHeaderBytes = 350;

// Processor time of this process.
double microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

struct Life {
  Life(const std::string& which, std::size_t host_count)
      : path(which), store(open(which)), hosts(host_count) {}

  static std::unique_ptr<Store> open(const std::string& which) {
    if (which == "memory") return open_memory_store();
    if (which == "forgetting") {
      return open_memory_store(
          {.closed_units = 1000, .ledger_records = 1000, .events = 1000});
    }
    return open_sqlite_store(which);
  }

  // Of its file, or allocated.
  double bytes() const {
    if (fs::exists(path)) return static_cast<double>(fs::file_size(path));
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  }

  template <class Change>
  void timed(double& spent, Change change) {
    const double begin = microseconds();
    store->begin();
    change();
    store->commit();
    spent += microseconds() - begin;
  }

  template <class Key>
  Key random_key() {
    Key made;
    for (std::uint8_t& byte : made.bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    return made;
  }

  void add_hosts() {
    const double before = bytes();
    double spent = 0;
    for (std::size_t done = 0; done < hosts; done += kBatch) {
      std::vector<Host> batch(std::min(kBatch, hosts - done));
      for (Host& host : batch) {
        host.user_id = kHouseUser;
        host.key = random_key<PublicKey>();
        host.name = "a host's name";
        host.door = kNativeDoor;
        host.device = "opencl:0 some graphics card";
        host.platform = "linux-x86_64, 8 cores, 15 GiB";
      }
      timed(spent, [&] {
        for (const Host& host : batch) store->insert_host(host);
      });
    }
    row("insert a host", spent, hosts);
    row("bytes of a host", bytes() - before, hosts);
  }

  void add_run() {
    store->begin();
    Run row;
    row.model = test::sample_model();
    run = store->insert_run(row, {});
    std::vector<LedgerEntry> first = test::sample_entries();
    first.resize(1);
    store->append_ledger(run, first.front(), test::chain(first).front());
    store->commit();
  }

  // A unit that waits for two hosts at random.
  void make(std::vector<Workunit>& units, std::vector<Result>& results) {
    std::uniform_int_distribution<HostId> any(1, static_cast<HostId>(hosts));
    for (Workunit& unit : units) {
      unit.run = run;
      unit.object = random_key<Hash>();
      unit.target_results = 2;
      unit.samples = 64;
    }
    results.assign(2 * units.size(), {});
    for (Result& result : results) {
      result.run = run;
      result.host = any(random);
      result.user = kHouseUser;
      result.nonce = random_key<Nonce>();
      result.server_state = ServerState::in_progress;
    }
  }

  void insert(std::vector<Workunit>& units, std::vector<Result>& results) {
    std::vector<SealedTask> tasks;
    const std::vector<WorkunitId> ids = store->insert_workunits(units);
    for (std::size_t i = 0; i < units.size(); ++i) {
      units[i].id = ids[i];
      results[2 * i].workunit = results[2 * i + 1].workunit = ids[i];
      tasks.push_back({ids[i], Bytes(kSealedBytes, 1)});
    }
    store->insert_sealed_tasks(tasks);
    const std::vector<ResultId> made = store->insert_results(results);
    for (std::size_t i = 0; i < made.size(); ++i) results[i].id = made[i];
  }

  void decide(std::vector<Workunit>& units, std::vector<Result>& results) {
    for (Result& result : results) {
      result.server_state = ServerState::over;
      result.outcome = ResultOutcome::success;
      result.validate_state = ValidateState::valid;
      result.header.bytes.assign(kHeaderBytes, 1);
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
      units[i].state = WorkunitState::assimilated;
      units[i].canonical_result = results[2 * i].id;
    }
    store->update_results(results);
    store->update_workunits(units);
  }

  std::vector<std::pair<LedgerEntry, LedgerRecord>> records(
      const std::vector<Workunit>& units) {
    std::vector<std::pair<LedgerEntry, LedgerRecord>> made;
    for (const Workunit& unit : units) {
      LedgerEntry entry = test::sample_entries().at(1);
      entry.seq = ++seq;
      std::get<ResultAssimilated>(entry.body).result = unit.canonical_result;
      made.emplace_back(entry, make_record(entry, test::sample_project(), key));
    }
    return made;
  }

  void work(std::size_t count) {
    add_run();
    double inserted = 0, appended = 0, decided = 0, asked = 0;
    const double before = bytes();
    for (std::size_t done = 0; done < count; done += kBatch) {
      std::vector<Workunit> units(kBatch);
      std::vector<Result> results;
      make(units, results);
      timed(inserted, [&] { insert(units, results); });
      timed(decided, [&] { decide(units, results); });
      const auto ledger = records(units);
      timed(appended, [&] {
        for (const auto& [entry, record] : ledger) {
          store->append_ledger(run, entry, record);
        }
      });
      timed(asked, [&] {
        for (const Result& result : results) store->result(result.id);
      });
    }
    row("insert a unit, its task, two results", inserted, count);
    row("all three to over", decided, count);
    row("append a ledger record", appended, count);
    row("look up two results", asked, count);
    row("bytes of a unit and its record", bytes() - before, count);
  }

  void row(const std::string& name, double all, std::size_t count) {
    const double each = all / static_cast<double>(count);
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", name, each);
  }

  std::string path;
  std::unique_ptr<Store> store;
  std::size_t hosts;
  RunKey run = 0;
  std::uint64_t seq = 0;
  std::mt19937_64 random{1};
  PrivateKey key = test::sample_key(1);
  std::string out;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Life life(argv[1], std::strtoull(argv[2], nullptr, 10));
  life.add_hosts();
  life.work(std::strtoull(argv[3], nullptr, 10));
  fmt::print("{{{}}}\n", life.out);
}
