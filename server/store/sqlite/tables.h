// The columns of each row type, listed once: statements, binding and reading
// all follow from columns(). The SQL side of the same is schema.cpp. Longer
// than other headers, to be read beside it.
//
// Units: moments are milliseconds since 1970 (Millis), credit is in
// cobblestones, sizes are in bytes. States and kinds are stored as the numbers
// of their enumerators, which therefore never change; schema.cpp checks those
// that its SQL names. Members that a comment below calls a key are the table's
// primary key.
#pragma once

#include <string_view>

#include "server/store/store.h"
#include "workunits/ledger/ledger.h"
#include "workunits/workunit.h"

namespace quorate {

// The id of another row; 0, for none, is stored as NULL, so that the foreign
// key is checked for the others only. Borrows the member that it wraps.
// Without it a row that refers to nothing would be refused, as no row has id 0.
template <class Id>
struct Reference {
  Id& id;
};
template <class Id>
Reference(Id&) -> Reference<Id>;

// A record of the ledger with what its row is found by.
struct LedgerRow {
  RunKey run = 0;
  LedgerRecord record;
  ResultId result = 0;  // the assimilated result, if it is about one
};

// Table<Row> is what rows.h has to know of a type:
// - kName, the SQL table;
// - columns(row, column), which calls column(name, member) for all but the
//   row's own id, in any order that stays; Row may be const, for binding;
// - id(row) where there is one;
// - kFixed, columns that never change: an update that named them would write
//   their indexes anew and look up what they refer to.
//
// A new member of a row type is one line here and one step in schema.cpp.
template <class Row>
struct Table;

// Whether an update leaves the column out.
// Compared by name, when a statement's text is made: once per type.
template <class Row>
constexpr bool is_fixed(std::string_view column) {
  if constexpr (requires { Table<Row>::kFixed; }) {
    for (std::string_view fixed : Table<Row>::kFixed) {
      if (fixed == column) return true;
    }
  }
  return false;
}

// recent: BOINC's average credit, as a rate and its moment.
// A key that nobody has stands for a user who came by the BOINC door.
template <>
struct Table<User> {
  static constexpr std::string_view kName = "users";
  static UserId& id(User& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("public_key", row.key);
    column("name", row.name);
    column("credit", row.credit);
    column("created", row.created);
    column("recent_credit", row.recent.per_day);
    column("recent_credit_at", row.recent.at);
    column("ban_reason", row.ban_reason);
    column("has_given_name", row.has_given_name);
    column("deleted", row.deleted);
  }
};

// A host's key may change: a BOINC volunteer resets the project.
// door: kNativeDoor, kBoincDoor or kHouseDoor. false_results counts towards a
// ban (validator/trust).
template <>
struct Table<Host> {
  static constexpr std::string_view kName = "hosts";
  static HostId& id(Host& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("user", row.user_id);
    column("public_key", row.key);
    column("name", row.name);
    column("door", row.door);
    column("device", row.device);
    column("platform", row.platform);
    column("speed_flops", row.speed_flops);
    column("valid", row.valid);
    column("invalid", row.invalid);
    column("errors", row.errors);
    column("credit", row.credit);
    column("created", row.created);
    column("last_seen", row.last_seen);
    column("mark", row.mark);
    column("mark_reason", row.mark_reason);
    column("false_results", row.false_results);
    column("recent_credit", row.recent.per_day);
    column("recent_credit_at", row.recent.at);
    column("has_chosen_name", row.has_chosen_name);
  }
};

// Key: host, device, arithmetic. A row is never removed; trust that is lost is
// a row with 0.
// `device` is the device's text as its host reports it, driver included.
template <>
struct Table<DeviceRecord> {
  static constexpr std::string_view kName = "device_records";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("host", row.host);
    column("device", row.device);
    column("arithmetic", row.arithmetic);
    column("validated", row.validated);
  }
};

// Key: user. No authenticator: it is made of the row and a secret of the
// server, so the file alone lets nobody in.
// `email` is unique unless it is empty; `password` is a slow hash.
template <>
struct Table<BoincAccount> {
  static constexpr std::string_view kName = "boinc_accounts";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("user", row.user);
    column("email", row.email);
    column("salt", row.salt);
    column("password", row.password);
  }
};

// Key: host, which came by the BOINC door.
// rpc_seqno tells a copied client folder from the original.
template <>
struct Table<BoincHost> {
  static constexpr std::string_view kName = "boinc_hosts";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("host", row.host);
    column("cpid", row.cpid);
    column("rpc_seqno", row.rpc_seqno);
  }
};

// What was mixed in last is known here, so that a restart does not take it
// again.
// `every` is in seconds, `weight` a share from 0 to 1.
template <>
struct Table<Peer> {
  static constexpr std::string_view kName = "peers";
  static PeerId& id(Peer& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("url", row.url);
    column("fingerprint", row.fingerprint);
    column("peer_run", row.peer_run);
    column("every", row.every);
    column("weight", row.weight);
    column("mixed", row.mixed);
    column("last_version", row.last_version);
    column("last_parameters", row.last_parameters);
    column("last_time", row.last_time);
  }
};

// Key: fingerprint.
// A project's fingerprint is the start of the hash of its key.
template <>
struct Table<AllowedPeer> {
  static constexpr std::string_view kName = "allowed_peers";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("fingerprint", row.fingerprint);
    column("name", row.name);
    column("since", row.since);
  }
};

// Read only: triggers on ledger and results write it. Its key has the host
// besides, which is no member of the row.
template <>
struct Table<HostShare> {
  static constexpr std::string_view kName = "host_shares";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("results", row.results);
    column("first_version", row.first_version);
    column("last_version", row.last_version);
  }
};

// `model` is JSON; the update rule's settings are the operator's text.
// `run_id` is the random id that is in every task and ledger; `id`, the row's
// number, is this store's own.
// `ended` and `updates_removed` are 0 until that happens. A run's row is never
// removed.
template <>
struct Table<Run> {
  static constexpr std::string_view kName = "runs";
  static RunKey& id(Run& row) { return row.key; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run_id", row.id);
    column("name", row.name);
    column("state", row.state);
    column("state_reason", row.state_reason);
    column("model", row.model);
    column("dataset", row.dataset);
    column("seed", row.seed);
    column("batch", row.batch);
    column("micro_batch", row.micro_batch);
    column("local_steps", row.local_steps);
    column("epochs", row.epochs);
    column("learning_rate", row.optimizer.learning_rate);
    column("momentum", row.optimizer.momentum);
    column("weight_decay", row.optimizer.weight_decay);
    column("optimizer", row.optimizer.kind);
    column("beta1", row.optimizer.beta1);
    column("beta2", row.optimizer.beta2);
    column("epsilon", row.optimizer.epsilon);
    column("clip_norm", row.optimizer.clip_norm);
    column("lr_schedule", row.lr_schedule);
    column("codec", row.codec);
    column("rule", row.rule);
    column("rule_settings", row.rule_settings);
    column("quorum", row.quorum);
    column("round_units", row.round_units);
    column("round_share", row.round_share);
    column("epoch_barrier", row.epoch_barrier);
    column("share", row.share);
    column("until_accuracy", row.until.accuracy);
    column("until_seconds", row.until.seconds);
    column("until_cost", row.until.cost);
    column("assimilators", row.assimilators);
    column("consistency", row.consistency);
    column("created", row.created);
    column("ended", row.ended);
    column("updates_removed", row.updates_removed);
  }
};

// Further columns of the run's row, written apart from it: they change with
// every unit, the settings seldom.
// `round_units` is 0 until the round has begun; `next_unit` is the next unit's
// index.
template <>
struct Table<RunCursor> {
  static constexpr std::string_view kName = "runs";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("cursor_next_unit", row.next_unit);
    column("cursor_epoch", row.epoch);
    column("cursor_steps_before", row.steps_before);
    column("cursor_round", row.round);
    column("cursor_round_made", row.round_made);
    column("cursor_round_units", row.round_units);
    column("used_seconds_at_work", row.used.seconds_at_work);
    column("used_host_seconds", row.used.host_seconds);
    column("used_cost", row.used.cost);
  }
};

// Key: run and place. A later epoch takes the place over.
// `place` is that in the epoch's order, not the shard's index: the order
// follows from the run's seed.
template <>
struct Table<ShardProgress> {
  static constexpr std::string_view kName = "shard_progress";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("place", row.place);
    column("epoch", row.epoch);
    column("steps", row.steps);
  }
};

// `object` finds the sealed task. check_state and state have partial indexes:
// few rows are live or to be checked.
// operations: counted from the model, for lengths and credit; base_version: of
// the model that the unit starts from.
// unit_index counts within its run; id over all. canonical_result is NULL until
// the verdict.
template <>
struct Table<Workunit> {
  static constexpr std::string_view kName = "workunits";
  static constexpr std::string_view kFixed[] = {"run", "object"};
  static WorkunitId& id(Workunit& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("unit_index", row.unit_index);
    column("object", row.object);
    column("snapshot", row.snapshot);
    column("shard", row.shard);
    column("base_version", row.base_version);
    column("round", row.round);
    column("epoch", row.epoch);
    column("samples", row.samples);
    column("operations", row.operations);
    column("min_quorum", row.min_quorum);
    column("target_results", row.target_results);
    column("max_error_results", row.max_error_results);
    column("max_total_results", row.max_total_results);
    column("state", row.state);
    column("canonical_result", Reference{row.canonical_result});
    column("created", row.created);
    column("check_state", row.check);
    column("is_late", row.is_late);
    column("is_unverified", row.is_unverified);
    column("judged", row.judged);
    column("closed", row.closed);
    column("checked", row.checked);
  }
};

// Key: workunit. About a kilobyte each; rows are never removed.
template <>
struct Table<SealedTask> {
  static constexpr std::string_view kName = "sealed_tasks";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("workunit", row.workunit);
    column("bytes", row.bytes);
  }
};

// header and its signature are what the host signed, byte for byte: an audit
// checks them years later.
// host and user are NULL until it is sent; claim_hash and update_hash are zeros
// until it is reported. A witness (is_witness) has no update of its own.
template <>
struct Table<Result> {
  static constexpr std::string_view kName = "results";
  static constexpr std::string_view kFixed[] = {"workunit", "run"};
  static ResultId& id(Result& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("workunit", row.workunit);
    column("run", row.run);
    column("server_state", row.server_state);
    column("outcome", row.outcome);
    column("validate_state", row.validate_state);
    column("host", Reference{row.host});
    column("user", Reference{row.user});
    column("nonce", row.nonce);
    column("is_witness", row.is_witness);
    column("was_anchor", row.was_anchor);
    column("update_hash", row.update);
    column("claim_hash", row.claim);
    column("computed", row.computed);
    column("header", row.header.bytes);
    column("header_signature", row.header.signature);
    column("credit", row.credit);
    column("reason", row.reason);
    column("sent", row.sent);
    column("received", row.received);
  }
};

// Key: run and seq. `result` is unique over all runs.
// `line` is the entry's canonical text, over which hash and signature were
// made: it is stored as it is and never written anew.
template <>
struct Table<LedgerRow> {
  static constexpr std::string_view kName = "ledger";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("seq", row.record.seq);
    column("kind", row.record.kind);
    column("line", row.record.line);
    column("hash", row.record.hash);
    column("signature", row.record.signature);
    column("result", Reference{row.result});
  }
};

// Key: run and version. A loss that is not a number is stored as NULL.
// accuracy is a share; samples are those that were in the model then.
template <>
struct Table<Evaluation> {
  static constexpr std::string_view kName = "evaluations";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("run", row.run);
    column("version", row.version);
    column("published", row.published);
    column("time", row.time);
    column("samples", row.samples);
    column("loss", row.loss);
    column("accuracy", row.accuracy);
  }
};

// Key: seq. `line` is the entry's text, over which hash and signature were
// made.
template <>
struct Table<OrderRecord> {
  static constexpr std::string_view kName = "orders";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("seq", row.seq);
    column("line", row.line);
    column("hash", row.hash);
    column("signature", row.signature);
  }
};

// For people; nothing is decided by what stands here.
// run and host are NULL where the event has none.
template <>
struct Table<Event> {
  static constexpr std::string_view kName = "events";
  static std::int64_t& id(Event& row) { return row.id; }
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("time", row.time);
    column("kind", row.kind);
    column("run", Reference{row.run});
    column("host", Reference{row.host});
    column("text", row.text);
  }
};

// Read only: triggers write it. Key: run.
// samples counts those of units in the model: a revoked unit's are taken off.
template <>
struct Table<RunTotals> {
  static constexpr std::string_view kName = "run_totals";
  template <class Row, class Column>
  static void columns(Row& row, Column&& column) {
    column("results_assimilated", row.results_assimilated);
    column("results_rejected", row.results_rejected);
    column("results_valid", row.results_valid);
    column("units_made", row.units_made);
    column("units_closed", row.units_closed);
    column("samples", row.samples);
    column("results_revoked", row.results_revoked);
  }
};

}  // namespace quorate
