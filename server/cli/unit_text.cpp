#include "server/cli/unit_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/cli/support/table.h"

namespace quorate {
namespace {

using nlohmann::json;

// Enough of a hash to tell it from others.
constexpr std::size_t kShortHash = 12;

std::string text(const json& value) {
  return cell("", value);
}

std::string line(const std::string& head, const std::string& what) {
  return fmt::format("  {:<8}{}\n", head, what);
}

std::string task_text(const json& unit) {
  const json& task = unit["task"];
  std::string where =
      fmt::format("base version {}, round {}", text(unit["base_version"]),
                  text(unit["round"]));
  if (task.is_null()) return where + "; its sealed task is damaged or missing";
  if (!task["replica"].is_null()) {
    where += ", replica " + text(task["replica"]);
  }
  return fmt::format(
      "{} steps of {} samples: {} to {} of shard {}, epoch {}; {}; codec {}",
      text(task["steps"]), text(task["batch"]), text(task["first_sample"]),
      text(task["last_sample"]), text(task["shard_index"]),
      task["epoch"].get<std::int64_t>() + 1, where, text(task["codec"]));
}

std::string quorum_text(const json& quorum) {
  std::string who = fmt::format(
      "{} of {} users agree{}", text(quorum["reached"]), text(quorum["needed"]),
      quorum["needs_anchor"].get<bool>()
          ? ", one of whom must be a proven host or a house worker"
          : "");
  std::string names;
  for (const json& one : quorum["vouchers"]) {
    names += fmt::format("{}result {} ({})", names.empty() ? "" : ", ",
                         text(one["result"]), text(one["as"]));
  }
  if (!names.empty()) who += ": " + names;
  if (quorum["claims"].get<int>() > 1) {
    who +=
        fmt::format("; {} different claims were made", text(quorum["claims"]));
  }
  return who;
}

std::string ledger_text(const json& ledger) {
  if (ledger.is_null()) return "not in the model";
  return fmt::format("entry {}: version {} to {}, {} versions old, rule {}: {}",
                     text(ledger["entry"]), text(ledger["version_before"]),
                     text(ledger["version_after"]), text(ledger["staleness"]),
                     text(ledger["rule"]),
                     coefficients_text(ledger["coefficients"]));
}

std::string difference_text(const json& one) {
  const std::string who =
      fmt::format("results {} and {}", text(one["result"]), text(one["other"]));
  if (one["first_step"].is_null()) {
    return fmt::format("{} have the same states; the {} differs", who,
                       text(one["part"]));
  }
  return fmt::format(
      "{} part between steps {} and {}: digest {} is the first "
      "that differs",
      who, text(one["first_step"]), text(one["last_step"]),
      text(one["digest"]));
}

// Claims shortened, and "7 attic" for a host.
json result_rows(const json& unit) {
  json rows = unit["results"];
  for (json& row : rows) {
    if (row.contains("claim")) {
      row["claim"] = row["claim"].get<std::string>().substr(0, kShortHash);
    }
    row["mark"] = row["canonical"].get<bool>() ? "*" : "";
    row["host"] = row["as"].is_null()
                      ? json(nullptr)
                      : json(fmt::format("{} {}", text(row["host"]),
                                         text(row["host_name"])));
  }
  return rows;
}

std::string digests_text(const json& unit) {
  std::string lines;
  for (const json& row : unit["results"]) {
    if (!row.contains("digests") || row["digests"].empty()) continue;
    std::string digests;
    for (const json& digest : row["digests"]) {
      digests += " " + digest.get<std::string>().substr(0, kShortHash);
    }
    lines += fmt::format("  result {}:{}\n", text(row["id"]), digests);
  }
  return lines.empty()
             ? ""
             : "\nState digests, every " +
                   text(unit["task"].is_null() ? json(nullptr)
                                               : unit["task"]["digest_every"]) +
                   " steps (--json has them whole)\n" + lines;
}

const std::vector<Column> kResultColumns = {
    {"", "mark"},           {"ID", "id"},
    {"HOST", "host"},       {"USER", "user"},
    {"AS", "as"},           {"DOOR", "door"},
    {"DEVICE", "device"},   {"STATE", "server_state"},
    {"OUTCOME", "outcome"}, {"VALIDATE", "validate_state"},
    {"SAMPLES", "samples"}, {"LOSS", "loss"},
    {"CLAIM", "claim"},     {"REASON", "reason"}};

}  // namespace

std::string coefficients_text(const json& coefficients) {
  std::string list;
  for (const auto& [name, value] : coefficients.items()) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, text(value));
  }
  return list.empty() ? "-" : list;
}

std::string unit_text(const json& unit) {
  std::string out =
      fmt::format("Workunit {}: unit {} of run {}\n", text(unit["id"]),
                  text(unit["unit_index"]), text(unit["run"]));
  out += line(
      "state",
      fmt::format("{}: {}{}", text(unit["state"]), text(unit["why"]),
                  unit["late"].get<bool>() ? "; too late for the model" : ""));
  out += line("next", text(unit["next"]));
  out += line("task", task_text(unit));
  out += line("quorum", quorum_text(unit["quorum"]));
  out += line("check", text(unit["why_check"]));
  out += line("ledger", ledger_text(unit["ledger"]));
  out += "\n" + table(result_rows(unit), kResultColumns);
  for (const json& one : unit["differences"]) {
    out += "\nDifferent: " + difference_text(one);
  }
  if (!unit["differences"].empty()) out += "\n";
  out += digests_text(unit);
  out += "\n" + table(unit["timeline"], {{"TIME", "time"}, {"WHAT", "what"}});
  return out;
}

}  // namespace quorate
