#include "validator/replay.h"

#include <limits>
#include <memory>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

// Reads every object that an entry names.
class ObjectCheck {
 public:
  explicit ObjectCheck(const LedgerSources& sources) : sources_(sources) {}

  void operator()(const RunCreated& run) {
    run_ = run;
    read_checked(sources_.objects, run.initial, "initial snapshot");
    for (const Hash& shard : run.shards)
      read_checked(sources_.objects, shard, "shard");
  }
  void operator()(const ResultAssimilated& entry) {
    open_task(sources_, run_, entry);
    if (!read_update(sources_, entry)) ++updates_removed_;
  }
  void operator()(const SnapshotPublished& entry) {
    read_checked(sources_.objects, entry.parameters, "snapshot");
    read_checked(sources_.objects, entry.published, "published model");
    if (!entry.rule_state.is_zero()) {
      read_checked(sources_.objects, entry.rule_state, "state of the rule");
    }
  }
  void operator()(const Revoked& entry) {
    read_checked(sources_.objects, entry.parameters, "rebuilt snapshot");
  }
  void operator()(const PeerMixed& entry) {
    open_peer_model(sources_, run_.model, entry);
  }
  void operator()(const RunEnded& entry) {
    read_checked(sources_.objects, entry.parameters, "final snapshot");
    read_checked(sources_.objects, entry.published, "final published model");
  }

  std::uint64_t updates_removed() const { return updates_removed_; }

 private:
  const LedgerSources& sources_;
  RunCreated run_;
  std::uint64_t updates_removed_ = 0;
};

struct Revocation {
  std::uint64_t entry = 0;
  std::vector<ResultId> results;
};

// What has to be known of the whole ledger before it is replayed.
struct Survey {
  LedgerReport report;
  LastUses last_uses;
  std::vector<Revocation> revocations;
  std::set<ResultId> revoked;
};

Survey survey_of(const LedgerSources& sources) {
  Survey survey;
  survey.report = walk(sources, kAll, [&](const LedgerEntry& entry) {
    note_uses(survey.last_uses, entry);
    if (const auto* revoked = std::get_if<Revoked>(&entry.body)) {
      survey.revocations.push_back({entry.seq, revoked->results});
      survey.revoked.insert(revoked->results.begin(), revoked->results.end());
    }
  });
  return survey;
}

LedgerReport show(const LedgerSources& sources, Timeline& timeline,
                  std::uint64_t entries) {
  return walk(sources, entries,
              [&](const LedgerEntry& entry) { timeline.show(entry); });
}

void finish(ReplayReport& report, Timeline& timeline) {
  report.left_out = timeline.left_out();
  if (timeline.model() == nullptr) return;
  report.parameters = timeline.parameters_hash();
  report.published = timeline.published_hash();
  report.model = timeline.take_model();
}

ReplayReport replay_without_some(const LedgerSources& sources,
                                 const ReplayOptions& options,
                                 const Survey& survey) {
  std::set<ResultId> missing = options.without_results;
  TimelineOptions what;
  what.is_left_out = [&](const ResultAssimilated& entry) {
    if (survey.revoked.count(entry.result) != 0) return true;
    missing.erase(entry.result);
    return options.without_results.count(entry.result) != 0 ||
           options.without_hosts.count(entry.host) != 0;
  };
  what.is_lived = false;
  what.max_memory_bytes = options.max_memory_bytes;
  what.past_folder = options.past_folder;
  Timeline timeline(sources, what, survey.last_uses);
  ReplayReport report;
  report.ledger = show(sources, timeline, survey.report.entries);
  if (report.ledger.ok() && !missing.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("replay without result {}: it is not in the model",
                            *missing.begin()));
  }
  finish(report, timeline);
  return report;
}

ReplayReport replay_as_lived(const LedgerSources& sources,
                             const ReplayOptions& options,
                             const Survey& survey) {
  std::set<ResultId> revoked;
  TimelineOptions what;
  what.is_left_out = [&](const ResultAssimilated& entry) {
    return revoked.count(entry.result) != 0;
  };
  if (options.see) {
    what.see = [&](const ResultAtHand& result) {
      options.see(result, survey.revoked.count(result.entry.result) != 0);
    };
  }
  what.max_memory_bytes = options.max_memory_bytes;
  what.past_folder = options.past_folder;
  ReplayReport report;
  std::unique_ptr<Timeline> timeline;
  // From the beginning, or a revocation, up to the next, or the end.
  for (std::size_t i = 0;; ++i) {
    const bool is_last = i == survey.revocations.size();
    auto next = std::make_unique<Timeline>(sources, what, survey.last_uses);
    if (timeline) next->take_lived_versions(*timeline);
    timeline = std::move(next);
    report.ledger =
        show(sources, *timeline,
             is_last ? survey.report.entries : survey.revocations[i].entry);
    if (is_last || !report.ledger.ok()) break;
    what.compare_from = survey.revocations[i].entry;
    revoked.insert(survey.revocations[i].results.begin(),
                   survey.revocations[i].results.end());
  }
  finish(report, *timeline);
  return report;
}

}  // namespace

LedgerReport verify_ledger(const LedgerSources& sources) {
  ObjectCheck objects(sources);
  LedgerReport report = walk(sources, kAll, [&](const LedgerEntry& entry) {
    std::visit(objects, entry.body);
  });
  report.updates_removed = objects.updates_removed();
  return report;
}

ReplayReport replay(const LedgerSources& sources,
                    const ReplayOptions& options) {
  const Survey survey = survey_of(sources);
  if (!survey.report.ok()) return {survey.report, 0, {}, {}, {}};
  // A run that goes on has more records by now: their bases are not known.
  return options.without_hosts.empty() && options.without_results.empty()
             ? replay_as_lived(sources, options, survey)
             : replay_without_some(sources, options, survey);
}

}  // namespace quorate
