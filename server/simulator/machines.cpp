#include "server/simulator/machines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workunits/objects/update.h"

namespace quorate {
namespace {

using Phase = MachineTask::Phase;

// Headers and replies; what an exchange costs beside the objects.
constexpr std::uint64_t kExchangeBytes = 1000;
// How long a native client lets the server wait for work to send it.
constexpr Seconds kWait{25};
constexpr Seconds kHour{3600};

bool is_in_time(Phase phase) {
  return phase != Phase::ready;
}

}  // namespace

Machines::Machines(const Scenario& scenario, SimulatedProject& project,
                   Gradients& gradients, HostReports& reports,
                   EventQueue& events, Counters& counters)
    : scenario_(scenario),
      project_(project),
      gradients_(gradients),
      reports_(reports),
      events_(events),
      counters_(counters) {
  for (const HostClass& kind : scenario.hosts) {
    for (std::uint32_t i = 0; i < kind.count; ++i) {
      const auto number = static_cast<std::uint32_t>(machines_.size());
      machines_.emplace_back(kind, scenario.seed, number);
      plan(number, EventKind::join, kind.joins_over * i / kind.count);
    }
  }
}

void Machines::plan(std::uint32_t number, EventKind kind, Seconds at,
                    ResultId result) {
  PlannedEvent event;
  event.at = at;
  event.kind = kind;
  event.host = number;
  event.stay = machines_[number].stay;
  event.result = result;
  events_.add(event);
}

void Machines::happen(const PlannedEvent& event) {
  const std::uint32_t number = event.host;
  if (event.stay != machines_[number].stay) return;
  switch (event.kind) {
    case EventKind::join:
      return join(number, event.at);
    case EventKind::leave:
      return leave(number, event.at);
    case EventKind::come_back:
      return come(number, event.at);
    case EventKind::ask:
      return ask(number, event.at);
    case EventKind::heartbeat:
      return heartbeat(number, event.at);
    case EventKind::downloaded:
      return downloaded(number, event.result, event.at);
    case EventKind::computed:
      return computed(number, event.result, event.at);
    case EventKind::lost:
      return lose(number, event.at);
    case EventKind::uploaded:
      return uploaded(number, event.result, event.at);
  }
}

void Machines::join(std::uint32_t number, Seconds now) {
  register_host(machines_[number], number);
  come(number, now);
}

// A machine in the place of a lost one is another host of the same user.
void Machines::register_host(Machine& machine, std::uint32_t number) {
  const HostClass& kind = *machine.kind;
  const std::uint32_t user = number / kind.hosts_per_user;
  if (accounts_.size() <= user) accounts_.resize(user + 1);
  ProjectState& state = project_.state();
  auto fresh_key = [&] {
    Bytes seed(32);
    for (std::uint8_t& byte : seed) {
      byte = static_cast<std::uint8_t>(machine.draws.word());
    }
    return seed;
  };
  Host host;
  const Bytes seed = fresh_key();
  if (scenario_.has_gradients) {
    machine.key = std::make_unique<PrivateKey>(PrivateKey::from_seed(seed));
    host.key = machine.key->public_key();
  } else {
    std::copy(seed.begin(), seed.end(), host.key.bytes.begin());
  }
  host.name = kind.name;
  host.has_chosen_name = true;
  host.door = kind.is_boinc ? kBoincDoor : kNativeDoor;
  host.platform = "simulated";
  if (accounts_[user].is_zero()) {
    const Bytes account = fresh_key();
    std::copy(account.begin(), account.end(), accounts_[user].bytes.begin());
  }
  project_.job([&] {
    const Millis time = state.clock.unix_ms();
    state.hosts.register_user(accounts_[user], kind.name, time);
    machine.host = state.hosts.register_host(host, accounts_[user], time).id;
  });
}

void Machines::come(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  if (machine.host == 0) register_host(machine, number);
  ++machine.stay;
  machine.is_there = true;
  machine.came = now;
  ++there_;
  if (machine.kind->on != Seconds(0)) {
    plan(number, EventKind::leave,
         now + machine.draws.exponential(machine.kind->on));
  }
  resume(number, now);
  if (!machine.kind->is_boinc) heartbeat(number, now);
  if (machine.wanted() > 0) ask(number, now);
}

// What was under way goes on where it was.
void Machines::resume(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  machine.down_free = machine.up_free = now;
  for (MachineTask& task : machine.tasks) {
    if (!is_in_time(task.phase)) continue;
    task.until += now;
    const EventKind kind =
        task.phase == Phase::downloading ? EventKind::downloaded
        : task.phase == Phase::uploading ? EventKind::uploaded
        : task.is_fatal                  ? EventKind::lost
                                         : EventKind::computed;
    plan(number, kind, task.until, task.result);
  }
  start_ready(number, now);
}

// Whatever was planned for it has no meaning any more.
void Machines::go(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  ++machine.stay;
  ++machine.question;
  machine.is_there = machine.is_asking = false;
  --there_;
  was_there(machine, now);
}

void Machines::was_there(Machine& machine, Seconds now) {
  const Seconds time = now - machine.came;
  machine.came = now;
  machine.present += time;
  counters_.present += time;
  counters_.cost += machine.kind->price_per_hour * time / kHour;
}

void Machines::leave(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  go(number, now);
  if (machine.kind->keeps_work) {
    for (MachineTask& task : machine.tasks) task.until -= now;
  } else {
    drop_all(machine);
  }
  plan(number, EventKind::come_back,
       now + machine.draws.exponential(machine.kind->off));
}

void Machines::lose(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  ++counters_.machines_lost;
  go(number, now);
  const Seconds known = machine.kind->replaced_when_missed
                            ? machine.missed(now) + scenario_.tick
                            : now;
  drop_all(machine);
  machine.shards.clear();
  machine.snapshots = {};
  machine.host = 0;
  plan(number, EventKind::come_back, known + machine.kind->replaced_after);
}

WorkWish Machines::request_of(const Machine& machine) const {
  WorkWish request;
  request.device = "cpu";
  request.speed_flops = machine.speed_flops;
  for (const MachineTask& task : machine.tasks) {
    request.holding.push_back(task.result);
  }
  request.shards = machine.shards;
  return request;
}

void Machines::ask(std::uint32_t number, Seconds now,
                   std::optional<ResultId> given_up) {
  Machine& machine = machines_[number];
  if (machine.is_asking && !given_up) return;
  machine.is_heard(now);
  ++counters_.requests;
  ++machine.question;
  machine.is_asking = true;
  WorkWish request = request_of(machine);
  request.want = machine.wanted();
  if (!machine.kind->is_boinc) request.wait = kWait;
  project_.job([&] {
    if (given_up) {
      project_.daemons().transitioner.on_failed(machine.host, *given_up,
                                                "the simulated host gave up");
    }
    project_.daemons().scheduler.request_work(
        machine.host, request,
        [this, number, question = machine.question](WorkAnswer reply) {
          answers_.push_back({number, question, std::move(reply)});
        });
  });
}

void Machines::heartbeat(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  plan(number, EventKind::heartbeat, now + scenario_.server.heartbeat);
  if (machine.tasks.empty()) return;  // who waits for work is heard of
  machine.is_heard(now);
  ++counters_.requests;
  const WorkWish request = request_of(machine);
  project_.job([&] {
    project_.daemons().scheduler.heartbeat(
        machine.host, request,
        [this, number, stay = machine.stay](WorkAnswer reply) {
          for (ResultId result : reply.cancel) {
            if (stay == machines_[number].stay) drop(machines_[number], result);
          }
        });
  });
  start_ready(number, now);
  if (machine.wanted() > 0) ask(number, now);
}

void Machines::take_answers(Seconds now) {
  while (!answers_.empty()) {
    for (const Answered& answered : std::exchange(answers_, {})) {
      take_answer(answered, now);
    }
  }
}

void Machines::take_answer(const Answered& answered, Seconds now) {
  const std::uint32_t number = answered.machine;
  Machine& machine = machines_[number];
  // It has left, or asked again: what it was sent is sent again when it asks.
  if (answered.question != machine.question) return;
  machine.is_asking = false;
  for (ResultId result : answered.reply.cancel) drop(machine, result);
  for (const Assignment& assignment : answered.reply.assignments) {
    accept(number, assignment, now);
  }
  start_ready(number, now);
  if (machine.wanted() == 0) return;
  const bool is_empty = answered.reply.assignments.empty();
  Seconds pause = answered.reply.retry_after;
  if (machine.kind->is_boinc && is_empty) {
    pause = std::max(pause, scenario_.server.boinc_contact);
  }
  plan(number, EventKind::ask, now + pause);
}

void Machines::accept(std::uint32_t number, const Assignment& assignment,
                      Seconds now) {
  Machine& machine = machines_[number];
  if (machine.find(assignment.result) != nullptr) return;  // sent again
  const auto open = project_.state().open_results.find(assignment.result);
  if (!open) return;  // closed meanwhile
  ++counters_.assignments;
  MachineTask task;
  task.result = assignment.result;
  task.workunit = open->workunit;
  const LiveUnit& live =
      *project_.state().feeder.find_by_result(assignment.result);
  task.operations = live.unit.operations;
  task.run = live.unit.run;
  if (assignment.upload) {
    task.upload_bytes = bytes_of_update(task.run, *open->task);
  }
  task.given = now;
  task.lease = assignment.lease;
  task.deadline = assignment.deadline;
  task.missed = now + std::min(task.lease, task.deadline);
  machine.tasks.push_back(task);
  load(number, machine.tasks.back(), assignment, now);
}

std::uint64_t Machines::bytes_of_update(RunKey run, const TrainingTask& task) {
  std::uint64_t& bytes = update_bytes_[run];
  if (bytes == 0) bytes = update_bytes(task);
  return bytes;
}

Seconds Machines::computing(RunKey run) const {
  const auto found = computing_.find(run);
  return found == computing_.end() ? Seconds(0) : found->second;
}

// As client/units/snapshot_maker and client/exchange/object_cache do it.
// Returns what comes over the link.
std::uint64_t Machines::load_snapshot(Machine& machine,
                                      const Assignment& assignment,
                                      const ObjectRef& snapshot) {
  if (machine.has_snapshot(snapshot.hash) && !machine.kind->is_boinc) return 0;
  const auto way = shortest_way(
      assignment, [&](const Hash& hash) { return machine.has_snapshot(hash); });
  machine.snapshots = {snapshot.hash, machine.snapshots[0]};
  if (way.empty() || machine.kind->is_boinc) return snapshot.size;
  std::uint64_t bytes = 0;
  for (const SnapshotStep& step : way) bytes += step.delta.size;
  return bytes;
}

void Machines::load(std::uint32_t number, MachineTask& task,
                    const Assignment& assignment, Seconds now) {
  Machine& machine = machines_[number];
  std::uint64_t bytes = kExchangeBytes;
  for (const ObjectRef& object : assignment.objects) {
    const bool is_shard = object.kind == ObjectKind::shard;
    if (is_shard && machine.has_shard(object.hash)) continue;
    if (is_shard) machine.shards.push_back(object.hash);
    const bool is_snapshot = object.kind == ObjectKind::snapshot;
    bytes +=
        is_snapshot ? load_snapshot(machine, assignment, object) : object.size;
  }
  counters_.bytes_down += bytes;
  task.until = std::max(now, machine.down_free) + machine.kind->latency +
               Seconds(static_cast<double>(bytes) / machine.down_rate);
  machine.down_free = task.until;
  plan(number, EventKind::downloaded, task.until, task.result);
  // Before it can be due; which of two hosts' units is computed first matters
  // to this machine alone.
  gradients_.begin(task.workunit,
                   task.until + Seconds(task.operations / machine.speed_flops));
}

void Machines::downloaded(std::uint32_t number, ResultId result, Seconds now) {
  MachineTask* task = machines_[number].find(result);
  if (task == nullptr) return;  // cancelled
  task->phase = Phase::ready;
  start_ready(number, now);
}

void Machines::start_ready(std::uint32_t number, Seconds now) {
  Machine& machine = machines_[number];
  for (MachineTask& task : machine.tasks) {
    if (task.phase != Phase::ready) continue;
    if (machine.computing() >= machine.kind->workers) return;
    compute(number, task, now);
  }
}

void Machines::compute(std::uint32_t number, MachineTask& task, Seconds now) {
  Machine& machine = machines_[number];
  const HostClass& kind = *machine.kind;
  const double noise = kind.unit_sigma == 0
                           ? 1
                           : std::exp(kind.unit_sigma * machine.draws.normal());
  Seconds time{task.operations / machine.speed_flops * noise};
  task.phase = Phase::computing;
  task.is_fatal = machine.draws.happens(kind.preempted);
  if (task.is_fatal) time *= machine.draws.uniform();
  task.until = now + time;
  counters_.computing += time;
  machine.computing_time += time;
  computing_[task.run] += time;
  plan(number, task.is_fatal ? EventKind::lost : EventKind::computed,
       task.until, task.result);
}

void Machines::computed(std::uint32_t number, ResultId result, Seconds now) {
  Machine& machine = machines_[number];
  MachineTask* task = machine.find(result);
  if (task == nullptr) return;  // cancelled
  if (machine.draws.happens(machine.kind->fails)) {
    drop(machine, result);
    start_ready(number, now);
    return ask(number, now, result);
  }
  task->phase = Phase::uploading;
  const std::uint64_t bytes = kExchangeBytes + task->upload_bytes;
  counters_.bytes_up += bytes;
  task->until = std::max(now, machine.up_free) + machine.kind->latency +
                Seconds(static_cast<double>(bytes) / machine.up_rate);
  machine.up_free = task->until;
  plan(number, EventKind::uploaded, task->until, result);
  start_ready(number, now);
  // The next unit at hand is being computed now: another is wanted.
  if (!machine.kind->is_boinc && machine.wanted() > 0) ask(number, now);
}

void Machines::uploaded(std::uint32_t number, ResultId result, Seconds now) {
  Machine& machine = machines_[number];
  MachineTask* task = machine.find(result);
  if (task == nullptr) return;  // cancelled
  if (waits_for_turn(number, *task, now)) return;
  const HostClass& kind = *machine.kind;
  const Falsehood falsehood =
      machine.draws.happens(kind.falsifies) ? kind.falsehood : Falsehood::none;
  ++counters_.reports;
  // A BOINC client reports with its next question.
  if (!kind.is_boinc) ++counters_.requests;
  const bool is_accepted = reports_.report(
      machine.host, result, machine.key.get(), falsehood, machine.draws.word());
  if (!is_accepted) ++counters_.refused;
  gradients_.end(task->workunit);
  std::erase_if(machine.tasks,
                [&](const MachineTask& one) { return one.result == result; });
  if (machine.wanted() > 0) ask(number, now);
}

// The server takes some time for each report, in the order in which they come.
bool Machines::waits_for_turn(std::uint32_t number, MachineTask& task,
                              Seconds now) {
  if (scenario_.report_time == Seconds(0) || task.has_turn) return false;
  task.has_turn = true;
  server_free_ = std::max(now, server_free_) + scenario_.report_time;
  task.until = server_free_;
  plan(number, EventKind::uploaded, task.until, task.result);
  return true;
}

void Machines::drop(Machine& machine, ResultId result) {
  MachineTask* task = machine.find(result);
  if (task == nullptr) return;
  ++counters_.given_up;
  gradients_.end(task->workunit);
  std::erase_if(machine.tasks,
                [&](const MachineTask& one) { return one.result == result; });
}

void Machines::drop_all(Machine& machine) {
  while (!machine.tasks.empty()) drop(machine, machine.tasks.back().result);
}

void Machines::look(Seconds now) {
  for (Machine& machine : machines_) {
    if (machine.is_there) was_there(machine, now);
  }
}

std::map<std::string, double> Machines::busy() const {
  struct Times {
    Seconds computing{0};
    Seconds workers{0};
  };
  std::map<std::string, Times> kinds;
  for (const Machine& machine : machines_) {
    Times& times = kinds[machine.kind->name];
    times.computing += machine.computing_time;
    times.workers += machine.present * machine.kind->workers;
  }
  std::map<std::string, double> shares;
  for (const auto& [kind, times] : kinds) {
    shares[kind] =
        times.workers == Seconds(0) ? 0 : times.computing / times.workers;
  }
  return shares;
}

}  // namespace quorate
