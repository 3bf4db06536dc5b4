// What the steps of a task do (task.h says when). Each is thin: it hands the
// long part to a lane or a worker and says what follows.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"
#include "client/agent/agent.h"
#include "client/units/assigned_unit.h"
#include "client/units/replica_maker.h"
#include "client/units/snapshot_maker.h"
#include "client/units/unit_time.h"
#include "workunits/models/model_spec.h"

namespace quorate::client {
namespace {

// A worker that ends under a task this often is killed by the task; objects
// that are wrong this often will not become right.
constexpr std::uint32_t kMostLosses = 3;
// Of workers that end by themselves: a lost GPU is no fault of the task, but
// not twice.
constexpr std::uint32_t kMostAborts = 2;

struct Download {
  ProjectApi& api;
  ObjectCache& cache;
  DiskRoom& disk;
  std::set<Hash> needed;     // objects, by all tasks
  bool is_doubtful = false;  // hash what is there already
  Mates* mates = nullptr;
  std::uint64_t memory = 0;  // bytes to make a snapshot in; 0: any
  double speed_flops = 0;    // of its device; 0: unknown
  Seconds longest{0};        // that it may take; 0: any
};

void fetch_object(const Download& how, const ObjectRef& object) {
  if (how.is_doubtful) how.cache.drop_if_changed(object);
  if (!how.cache.contains(object)) {
    download_object(how.api, object, how.cache.part(object));
    how.cache.adopt(object);
  }
  how.cache.touch(object);
}

// Makes the snapshot from what is here or at a mate, if there is memory and
// disk for it. missing: bytes of the unit's objects.
void make_without_download(const Download& how, const Assignment& assignment,
                           const TrainingTask& work, std::uint64_t missing) {
  const std::uint64_t snapshot =
      object_of(assignment, ObjectKind::snapshot).size;
  // It has three models in memory, one of them perhaps twice.
  const std::uint64_t needed = 4 * sizeof(float) * parameter_count(work.model);
  if (how.mates != nullptr && (how.memory == 0 || needed <= how.memory) &&
      how.disk.has_room(missing + snapshot)) {
    make_replica(*how.mates, how.cache, assignment, work, {how.api.stop()});
  }
  std::uint64_t deltas = 0;  // that may be fetched beside it
  for (const SnapshotStep& step : assignment.deltas) {
    deltas += std::min(step.delta.size, snapshot);
  }
  if (!how.disk.has_room(missing + deltas)) return;
  make_snapshot(how.api, how.cache, assignment, work.model, how.memory);
}

// What the unit needs and nothing else: it comes first, and says how large the
// others can be.
void fetch_objects(const Download& how, const Assignment& assignment,
                   const Project& project, Millis unix_ms) {
  const ObjectRef& unit = object_of(assignment, ObjectKind::workunit);
  expect_size(unit, kMaxUnitBytes);
  // It is small, and read here.
  fetch_object({how.api, how.cache, how.disk, {}, true}, unit);
  const TrainingTask work =
      open_unit(assignment, how.cache, project, unix_ms).task;
  expect_short_enough(assignment.result, estimated_time(work, how.speed_flops),
                      how.longest);
  for (ObjectKind kind : {ObjectKind::snapshot, ObjectKind::shard}) {
    expect_size(object_of(assignment, kind), most_bytes(work, kind));
  }
  const UnitBytes bytes = bytes_of_unit(assignment, work, how.cache);
  how.disk.claim(assignment.result, bytes, how.needed);
  make_without_download(how, assignment, work, bytes.missing);
  for (ObjectKind kind : {ObjectKind::snapshot, ObjectKind::shard}) {
    fetch_object(how, object_of(assignment, kind));
  }
}

// Of a member of a site, for its replica's next step.
void keep_update(const ObjectCache& cache, const SignedHeader& header,
                 const fs::path& file) {
  const Hash hash = decode_result_header(header.bytes).claim.update;
  if (!hash.is_zero()) cache.add({ObjectKind::update, hash, 0}, file);
}

Mates* mates_of(const AgentParts& parts) {
  return parts.site ? &parts.site->mates : nullptr;
}

}  // namespace

fs::path Agent::result_folder(ResultId result) const {
  return parts_.folder / "results" / std::to_string(result);
}

Task* Agent::find(ResultId result) {
  auto found =
      std::find_if(state_.tasks.begin(), state_.tasks.end(),
                   [result](const Task& task) { return task.id() == result; });
  return found == state_.tasks.end() ? nullptr : &*found;
}

void Agent::give_up(Task& task, const std::string& why) {
  log_warning("result_failed", {{"result", task.id()}, {"why", why}});
  task.failure = why;
  failure_ = why;
  // A machine that fails at everything must not use up the project's work.
  rest_until_ =
      parts_.clock.now() + retry_delay(++failures_in_a_row_, seed_ + 2);
  unneeded_.push_back(task.id());
  enter(task, TaskState::failed);
}

void Agent::leave_disk(ResultId result) {
  disk_.release(result);
  fs::remove_all(result_folder(result));
}

void Agent::retry(Task& task, const Error& error, Seconds asked_delay) {
  ++task.attempts;
  Seconds pause =
      retry_delay(task.attempts, seed_ + static_cast<std::uint64_t>(task.id()));
  task.retry_at = parts_.clock.now() + std::max(pause, asked_delay);
  if (error.kind() == ErrorKind::io) task.obstacle = error.what();
  // A server that is away or busy, or a full disk, goes on being so: said once.
  bool may_last =
      error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::io;
  bool is_known = may_last && task.attempts > 1;
  log(is_known ? LogLevel::debug : LogLevel::warning, "result_delayed",
      {{"result", task.id()},
       {"state", name_of(task.state)},
       {"why", error.what()}});
}

template <class T, class Job, class Done>
void Agent::run_step(Lane& lane, Task& task, Job job, Done done) {
  task.is_busy = true;
  lane.run<T>(std::move(job), [this, id = task.id(),
                               done = std::move(done)](Outcome<T> outcome) {
    Task* found = find(id);
    check(found != nullptr, "a busy task is not removed");
    found->is_busy = false;
    if (outcome.value) {
      done(*found, *outcome.value);
      return;
    }
    // The one place where a failed step of a task is judged.
    const Error& error = *outcome.error;
    bool may_pass = error.kind() == ErrorKind::unavailable ||
                    error.kind() == ErrorKind::io ||
                    (error.kind() != ErrorKind::unsupported &&
                     found->attempts + 1 < kMostLosses);
    if (may_pass) {
      retry(*found, error, outcome.asked_delay);
    } else {
      give_up(*found, error.what());
    }
  });
}

void Agent::advance(Task& task) {
  Situation situation;
  // Nobody would take what is computed while the project refuses us.
  situation.is_paused = is_paused_ || parts_.clock.now() < refused_until_;
  situation.is_worker_free = computer_->is_free_for(task);
  situation.now = parts_.clock.now();
  situation.unix_ms = parts_.clock.unix_ms();
  perform(next(task, situation), task);
}

void Agent::perform(Step step, Task& task) {
  switch (step) {
    case Step::wait:
      return;
    case Step::fetch:
      return fetch(task);
    case Step::start:
      return start(task);
    case Step::stop:
      return stop(task);
    case Step::sign:
      return sign(task);
    case Step::upload:
      return upload(task);
    case Step::report:
      return report(task);
    case Step::remove:
      return forget(task);
  }
}

void Agent::fetch(Task& task) {
  if (awaits_keys()) return;
  run_step<bool>(
      download_lane_, task,
      [&cache = cache_, &disk = disk_, needed = needed_objects(),
       &project = parts_.project, &clock = parts_.clock,
       assignment = task.assignment, is_doubtful = task.was_doubted,
       mates = mates_of(parts_),
       memory = std::uint64_t{orders_.memory_mb} << 20,
       speed = computer_->speed_of(task.device),
       longest = orders_.longest_unit](ProjectApi& api) {
        fetch_objects({api, cache, disk, needed, is_doubtful, mates, memory,
                       speed, longest},
                      assignment, project, clock.unix_ms());
        return true;
      },
      [](Task& fetched, bool) { enter(fetched, TaskState::ready); });
}

protocol::ComputeRequest Agent::compute_request(
    const Assignment& assignment, const PublicKey& sealed_with) const {
  fs::path folder = result_folder(assignment.result);
  fs::create_directories(folder);
  remove_unfinished(folder);
  auto path = [&](ObjectKind kind) {
    return cache_.path(object_of(assignment, kind)).string();
  };
  protocol::ComputeRequest request;
  request.project = parts_.project.id;
  request.project_key = sealed_with;
  request.workunit = path(ObjectKind::workunit);
  request.snapshot = path(ObjectKind::snapshot);
  request.shard = path(ObjectKind::shard);
  request.update = (folder / "update").string();
  request.checkpoint = (folder / "checkpoint").string();
  request.keep_free = kDiskReserveBytes;
  return request;
}

void Agent::start(Task& task) {
  try {
    const AssignedUnit unit = open_unit(task.assignment, cache_, parts_.project,
                                        parts_.clock.unix_ms());
    const TrainingTask& work = unit.task;
    computer_->start(task, compute_request(task.assignment, unit.sealed_with),
                     training_operations(work.model) * work.range.batch);
    task.most_time =
        most_time(estimated_time(work, computer_->speed_of(task.device)),
                  orders_.longest_unit);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::io) throw;
    on_refused(task, std::string(name_of(e.kind())), e.what());
    return;
  }
  task.state = TaskState::computing;  // attempts count on: see Lost
  task.is_stopping = false;
  task.started = parts_.clock.now();
  log_info("computing", {{"result", task.id()}, {"device", task.device}});
}

void Agent::stop(Task& task) {
  task.is_stopping = true;
  computer_->stop(task.id());
}

void Agent::on_compute_news(ResultId result, const ComputeNews& news) {
  Task* task = find(result);
  check(task != nullptr, "a computing task is not removed");
  if (const auto* stepped = std::get_if<Stepped>(&news)) {
    task->step = stepped->step;
    task->steps = stepped->steps;
  } else if (const auto* computed = std::get_if<Computed>(&news)) {
    on_computed(*task, *computed);
  } else if (std::holds_alternative<Stopped>(news)) {
    on_stopped(*task);
  } else if (const auto* refused = std::get_if<Refused>(&news)) {
    on_refused(*task, refused->kind, refused->kind + ": " + refused->why);
  } else if (const auto* lost = std::get_if<Lost>(&news)) {
    on_lost(*task, *lost);
  }
}

void Agent::on_stopped(Task& task) {
  const bool took_too_long = is_overdue(task, parts_.clock.now());
  task.computed += parts_.clock.now() - task.started;
  task.state = TaskState::ready;
  if (!took_too_long || task.is_cancelled) return;
  computer_->forget_speed(task.device);
  give_up(task,
          fmt::format("{}: took more than the {:.0f} minutes that it may take "
                      "by the speed of this device and the preference "
                      "unit_hours",
                      name_of(ErrorKind::unsupported),
                      task.most_time / Seconds(60)));
}

void Agent::on_lost(Task& task, const Lost& lost) {
  task.computed += parts_.clock.now() - task.started;
  task.state = TaskState::ready;
  if (lost.has_aborted) ++task.aborts;
  if (task.aborts >= kMostAborts) {
    give_up(task, fmt::format("{}: {} workers failed at it, the last one: {}",
                              name_of(ErrorKind::unsupported), kMostAborts,
                              lost.why));
  } else if (task.attempts + 1 >= kMostLosses) {
    give_up(task, lost.why);
  } else {
    retry(task, Error(ErrorKind::unavailable, lost.why), Seconds(0));
  }
}

// A file of the cache may have changed on disk: before the project is told
// that the unit cannot be computed, what has changed is fetched once more.
void Agent::on_refused(Task& task, const std::string& kind,
                       const std::string& why) {
  bool may_be_damage =
      kind == name_of(ErrorKind::corrupt) || kind == name_of(ErrorKind::io);
  if (!may_be_damage || task.was_doubted) {
    give_up(task, why);
    return;
  }
  log_warning("objects_doubted", {{"result", task.id()}, {"why", why}});
  task.was_doubted = true;
  enter(task, TaskState::needs_files);
}

void Agent::on_computed(Task& task, const Computed& computed) {
  failures_in_a_row_ = 0;
  task.claim = computed.claim;
  task.computed_on = computed.by.device;
  task.arithmetic = computed.by.arithmetic;
  task.step = task.steps;
  disk_.release(task.id());
  enter(task, TaskState::computed);
  log_info("computed", {{"result", task.id()}});
}

void Agent::sign(Task& task) {
  fs::path folder = result_folder(task.id());
  SigningTask signing;
  signing.result = task.id();
  signing.nonce = task.assignment.nonce;
  signing.workunit = object_of(task.assignment, ObjectKind::workunit).hash;
  signing.device = task.computed_on;
  signing.arithmetic = task.arithmetic;
  signing.update = folder / "update";
  run_step<bool>(
      upload_lane_, task,
      [signing, folder, claim = task.claim, &identity = parts_.identity,
       tamper = parts_.tamper](ProjectApi&) {
        SignedHeader header = sign_result(signing, claim, identity, tamper);
        write_file_durably(folder / "header",
                           protocol::write_signed_header(header), 0600);
        return true;
      },
      [](Task& done, bool) {
        bool sends_payload =
            done.assignment.upload && !done.claim.update.is_zero();
        enter(done,
              sends_payload ? TaskState::uploading : TaskState::reporting);
      });
}

void Agent::upload(Task& task) {
  bool resumes = task.may_resume || task.attempts > 0;
  run_step<UploadAnswer>(
      upload_lane_, task,
      [id = task.id(), resumes,
       file = result_folder(task.id()) / "update"](ProjectApi& api) {
        MappedFile payload(file);
        return upload_update(api, id, payload.bytes(), resumes);
      },
      [](Task& done, const UploadAnswer& answer) {
        done.upload_session = answer.session;
        enter(done,
              answer.is_stored ? TaskState::reporting : TaskState::closed);
      });
}

void Agent::report(Task& task) {
  run_step<ReportAnswer>(
      upload_lane_, task,
      [id = task.id(), session = task.upload_session,
       folder = result_folder(task.id()), &cache = cache_,
       is_kept = parts_.site.has_value()](ProjectApi& api) {
        SignedHeader header =
            protocol::parse_signed_header(read_file(folder / "header"));
        // Now: the next unit may be here before the answer is.
        if (is_kept) keep_update(cache, header, folder / "update");
        return api.report(id, header, session);
      },
      [this](Task& done, const ReportAnswer& answer) {
        on_report(done, answer);
      });
}

void Agent::on_report(Task& task, const ReportAnswer& answer) {
  using Kind = ReportAnswer::Kind;
  if (answer.kind == Kind::upload_first) {
    task.may_resume = true;
    enter(task, TaskState::uploading);
    return;
  }
  Counters& counters = state_.counters;
  ++counters.reported;
  if (answer.kind == Kind::accepted) {
    ++counters.accepted;
    has_reported_ = true;
    task.reported = parts_.clock.unix_ms();
    enter(task, TaskState::reported);
    unneeded_.push_back(task.id());
    log_info("result_reported", {{"result", task.id()}});
    return;
  }
  if (answer.kind == Kind::rejected) ++counters.rejected;
  failure_ = "the project did not take it: " + answer.reason;
  log_warning("result_dropped",
              {{"result", task.id()}, {"why", answer.reason}});
  enter(task, TaskState::closed);
}

void Agent::prune_cache(std::uint64_t limit_bytes) {
  cache_.prune(needed_objects(), limit_bytes,
               parts_.site ? Keeps::for_site : Keeps::for_one);
}

void Agent::forget(Task& task) {
  leave_disk(task.id());
  state_.tasks.erase(state_.tasks.begin() + (&task - state_.tasks.data()));
  prune_cache(orders_.cache_bytes);
}

std::set<Hash> Agent::needed_objects() const {
  std::set<Hash> needed;
  for (const Task& task : state_.tasks) {
    if (!is_uncomputed(task)) continue;
    for (const ObjectRef& object : task.assignment.objects) {
      needed.insert(object.hash);
    }
    for (const SnapshotStep& step : task.assignment.deltas) {
      needed.insert({step.from, step.delta.hash});
    }
    if (const auto& exchange = task.assignment.exchange) {
      needed.insert({exchange->from, exchange->update, exchange->met});
    }
  }
  return needed;
}

}  // namespace quorate::client
