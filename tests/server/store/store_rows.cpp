#include "tests/server/store/store_rows.h"

#include <tuple>

#include "tests/support/samples.h"

namespace quorate::test {

namespace {

// Needs all 64 bits: beyond what a signed column holds as a number.
std::uint64_t large(std::uint8_t n, std::uint8_t field) {
  return (0x8000ULL << 48) + 1000ULL * n + field;
}

std::uint32_t small(std::uint8_t n, std::uint8_t field) {
  return 0xf0000000U + 1000U * n + field;
}

// Text with everything that a careless statement would stumble over.
std::string text(std::uint8_t n, const char* field) {
  return std::string(field) + " '\"\xc3\xa9" + '\0' + ";-- " +
         std::to_string(n);
}

std::tuple<const Bytes&, const Signature&> parts(const SignedHeader& header) {
  const auto& [bytes, signature] = header;
  return {bytes, signature};
}

}  // namespace

void append_records(Store& store, RunKey run,
                    std::span<const LedgerRecord> records) {
  for (const LedgerRecord& record : records) {
    store.append_ledger(run, parse_entry(record.line), record);
  }
}

User sample_user(std::uint8_t n) {
  return {.key = filled<PublicKey>(n),
          .name = text(n, "user"),
          .credit = 0.1 * n,
          .created = 1'700'000'000'000 + n,
          .recent = {0.7 * n, 600 + n},
          .ban_reason = text(n, "ban"),
          .has_given_name = n % 2 == 1,
          .deleted = 1400 + n};
}

Host sample_host(std::uint8_t n, UserId user) {
  return {.user_id = user,
          .key = filled<PublicKey>(n),
          .name = text(n, "host"),
          .has_chosen_name = n % 2 == 1,
          .door = text(n, "door"),
          .device = text(n, "device"),
          .platform = text(n, "platform"),
          .speed_flops = 1e12 / n,
          .valid = large(n, 1),
          .invalid = large(n, 2),
          .errors = large(n, 3),
          .credit = 0.3 * n,
          .created = 100 + n,
          .last_seen = 200 + n,
          .mark = n % 2 == 0 ? HostMark::banned : HostMark::watched,
          .mark_reason = text(n, "mark"),
          .false_results = large(n, 4),
          .recent = {0.9 * n, 700 + n}};
}

Run sample_run(std::uint8_t n) {
  Run run;
  run.id = filled<RunId>(n);
  run.name = text(n, "run");
  run.state = n % 2 == 0 ? RunState::finished : RunState::stopped;
  run.state_reason = text(n, "reason");
  run.model = sample_model();
  run.model.widths.push_back(n);
  run.dataset = text(n, "dataset");
  run.seed = large(n, 1);
  run.batch = small(n, 2);
  run.micro_batch = small(n, 8);
  run.local_steps = small(n, 3);
  run.epochs = small(n, 4);
  run.optimizer = {0.1F * n, 0.9F / n, 1e-4F * n, OptimizerKind::adamw,
                   0.8F / n, 0.7F / n, 1e-8F * n, 0.5F * n};
  run.lr_schedule = text(n, "schedule");
  run.codec = Codec::ternary;
  run.rule = text(n, "rule");
  run.rule_settings = text(n, "settings");
  run.quorum = small(n, 5);
  run.round_units = small(n, 6);
  run.round_share = 0.7 / n;
  run.epoch_barrier = n % 2 == 1;
  run.share = 2.5 * n;
  run.until = {0.9 / n, 3600.0 * n, 20.5 * n};
  run.assimilators = small(n, 9);
  run.consistency = Consistency::eventual;
  run.created = 300 + n;
  run.ended = 400 + n;
  run.updates_removed = 500 + n;
  return run;
}

RunCursor sample_cursor(std::uint8_t n) {
  return {.next_unit = large(n, 1),
          .epoch = small(n, 2),
          .steps_before = large(n, 5),
          .round = large(n, 6),
          .round_made = small(n, 7),
          .round_units = small(n, 8),
          .used = {10.5 * n, 1e6 * n, 0.25 * n}};
}

ShardProgress sample_progress(std::uint8_t n, RunKey run) {
  return {.run = run, .place = small(n, 1), .epoch = 5, .steps = small(n, 2)};
}

Workunit sample_workunit(std::uint8_t n, RunKey run) {
  return {.run = run,
          .unit_index = large(n, 1),
          .object = filled<Hash>(n),
          .snapshot = filled<Hash>(static_cast<std::uint8_t>(n + 100)),
          .shard = filled<Hash>(static_cast<std::uint8_t>(n + 200)),
          .base_version = large(n, 2),
          .round = large(n, 3),
          .epoch = small(n, 4),
          .samples = 1000U + n,
          .operations = 1e15 / n,
          .min_quorum = small(n, 5),
          .target_results = small(n, 6),
          .max_error_results = small(n, 7),
          .max_total_results = small(n, 8),
          .created = 500 + n,
          .check = n % 2 == 0 ? UnitCheck::spot : UnitCheck::sound,
          .is_late = n % 2 == 1,
          .judged = 1100 + n,
          .closed = 1200 + n,
          .checked = 1300 + n};
}

Result sample_result(std::uint8_t n, const Workunit& workunit) {
  Result result;
  result.workunit = workunit.id;
  result.run = workunit.run;
  result.server_state = ServerState::over;
  result.outcome =
      n % 2 == 0 ? ResultOutcome::success : ResultOutcome::validate_error;
  result.validate_state =
      n % 2 == 0 ? ValidateState::inconclusive : ValidateState::too_late;
  result.nonce = filled<Nonce>(n);
  result.is_witness = n % 2 == 0;
  result.was_anchor = n % 2 != 0;
  result.update = filled<Hash>(static_cast<std::uint8_t>(n + 50));
  result.claim = filled<Hash>(static_cast<std::uint8_t>(n + 60));
  result.computed =
      n % 2 == 0 ? ComputeOutcome::diverged : ComputeOutcome::success;
  result.header = {Bytes(3U * n, n), filled<Signature>(n)};
  result.credit = 0.9 / n;
  result.reason = text(n, "reason");
  result.sent = 600 + n;
  result.received = 700 + n;
  return result;
}

Evaluation sample_evaluation(std::uint8_t n, RunKey run) {
  return {.run = run,
          .version = n,
          .published = filled<Hash>(n),
          .time = 800 + n,
          .samples = large(n, 1),
          .loss = 2.3 / n,
          .accuracy = 0.1 * n};
}

Event sample_event(std::uint8_t n) {
  return {.time = 900 + n, .kind = text(n, "kind"), .text = text(n, "text")};
}

bool same(const User& a, const User& b) {
  auto fields = [](const User& row) {
    const auto& [id, key, name, credit, created, recent, ban, given, deleted] =
        row;
    return std::tie(id, key, name, credit, created, recent, ban, given,
                    deleted);
  };
  return fields(a) == fields(b);
}

bool same(const Host& a, const Host& b) {
  auto fields = [](const Host& row) {
    const auto& [id, user, key, name, has_chosen_name, door, device, platform,
                 speed, valid, invalid, errors, credit, created, seen, mark,
                 why, falses, recent] = row;
    return std::tie(id, user, key, name, has_chosen_name, door, device,
                    platform, speed, valid, invalid, errors, credit, created,
                    seen, mark, why, falses, recent);
  };
  return fields(a) == fields(b);
}

bool same(const DeviceRecord& a, const DeviceRecord& b) {
  auto fields = [](const DeviceRecord& row) {
    const auto& [host, device, arithmetic, validated] = row;
    return std::tie(host, device, arithmetic, validated);
  };
  return fields(a) == fields(b);
}

bool same(const HostShare& a, const HostShare& b) {
  auto fields = [](const HostShare& row) {
    const auto& [run, results, first, last] = row;
    return std::tie(run, results, first, last);
  };
  return fields(a) == fields(b);
}

bool same(const BoincHost& a, const BoincHost& b) {
  auto fields = [](const BoincHost& row) {
    const auto& [host, cpid, seqno] = row;
    return std::tie(host, cpid, seqno);
  };
  return fields(a) == fields(b);
}

bool same(const Run& a, const Run& b) {
  auto fields = [](const Run& row) {
    const auto& [key, id, name, state, reason, model, dataset, seed, batch,
                 micro, steps, epochs, optimizer, schedule, codec, rule,
                 settings, quorum, units, round_share, barrier, share, until,
                 assimilators, consistency, created, ended, removed] = row;
    return std::tie(key, id, name, state, reason, model, dataset, seed, batch,
                    micro, steps, epochs, optimizer, schedule, codec, rule,
                    settings, quorum, units, round_share, barrier, share,
                    until.accuracy, until.seconds, until.cost, assimilators,
                    consistency, created, ended, removed);
  };
  return fields(a) == fields(b);
}

bool same(const RunCursor& a, const RunCursor& b) {
  auto fields = [](const RunCursor& row) {
    const auto& [next, epoch, before, round, made, units, used] = row;
    return std::tie(next, epoch, before, round, made, units,
                    used.seconds_at_work, used.host_seconds, used.cost);
  };
  return fields(a) == fields(b);
}

bool same(const ShardProgress& a, const ShardProgress& b) {
  auto fields = [](const ShardProgress& row) {
    const auto& [run, place, epoch, steps] = row;
    return std::tie(run, place, epoch, steps);
  };
  return fields(a) == fields(b);
}

bool same(const RunTotals& a, const RunTotals& b) {
  auto fields = [](const RunTotals& row) {
    const auto& [assimilated, rejected, valid, made, closed, samples, revoked] =
        row;
    return std::tie(assimilated, rejected, valid, made, closed, samples,
                    revoked);
  };
  return fields(a) == fields(b);
}

bool same(const Workunit& a, const Workunit& b) {
  auto fields = [](const Workunit& row) {
    const auto& [id, run, index, object, snapshot, shard, version, round, epoch,
                 samples, operations, quorum, target, errors, total, state,
                 canonical, created, check, late, unverified, judged, closed,
                 checked] = row;
    return std::tie(id, run, index, object, snapshot, shard, version, round,
                    epoch, samples, operations, quorum, target, errors, total,
                    state, canonical, created, check, late, unverified, judged,
                    closed, checked);
  };
  return fields(a) == fields(b);
}

bool same(const Result& a, const Result& b) {
  auto fields = [](const Result& row) {
    const auto& [id, workunit, run, server, outcome, validate, host, user,
                 nonce, witness, anchor, update, claim, computed, header,
                 credit, reason, sent, received] = row;
    return std::tuple_cat(
        std::tie(id, workunit, run, server, outcome, validate, host, user,
                 nonce, witness, anchor, update, claim, computed, credit,
                 reason, sent, received),
        parts(header));
  };
  return fields(a) == fields(b);
}

bool same(const LedgerRecord& a, const LedgerRecord& b) {
  auto fields = [](const LedgerRecord& row) {
    const auto& [seq, kind, line, hash, signature] = row;
    return std::tie(seq, kind, line, hash, signature);
  };
  return fields(a) == fields(b);
}

bool same(const Evaluation& a, const Evaluation& b) {
  auto fields = [](const Evaluation& row) {
    const auto& [run, version, published, time, samples, loss, accuracy] = row;
    return std::tie(run, version, published, time, samples, loss, accuracy);
  };
  return fields(a) == fields(b);
}

bool same(const Event& a, const Event& b) {
  auto fields = [](const Event& row) {
    const auto& [id, time, kind, run, host, text] = row;
    return std::tie(id, time, kind, run, host, text);
  };
  return fields(a) == fields(b);
}

RunKey add_run(Store& store, std::uint8_t n) {
  return store.insert_run(sample_run(n), sample_cursor(n));
}

HostId add_host(Store& store, std::uint8_t n) {
  return store.insert_host(sample_host(n, kHouseUser));
}

Workunit add_workunit(Store& store, std::uint8_t n, RunKey run,
                      WorkunitState state) {
  Workunit unit = sample_workunit(n, run);
  unit.state = state;
  unit.id = store.insert_workunits({&unit, 1}).at(0);
  return unit;
}

Result add_result(Store& store, Result result) {
  result.id = store.insert_results({&result, 1}).at(0);
  return result;
}

}  // namespace quorate::test
