#include "server/orders/runs/run_sharing.h"

#include "server/making/run_limits.h"
#include "server/settings/duration.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr double kLeastShare = 0.001;
constexpr double kMostShare = 1000;
constexpr double kMostCost = 1e12;
constexpr const char* kConditions =
    "--until: expected accuracy=0.9 (from 0 to 1), time=6h, cost=20, or none "
    "instead of a value";

double share_in(const RunArguments& arguments, double otherwise) {
  const double share = arguments.number("share", otherwise, 0, kMostShare);
  if (share > 0 && share < kLeastShare) {
    arguments.refuse(
        fmt::format("--share: expected 0 or a number from {} to {}, found {}",
                    kLeastShare, kMostShare, share));
  }
  return share;
}

[[noreturn]] void refuse(const RunArguments& arguments, const std::string& name,
                         const json& value) {
  arguments.refuse(
      fmt::format("{}, found {}={}", kConditions, name,
                  value.is_string() ? value.get<std::string>() : value.dump()));
}

double number_in(const RunArguments& arguments, const std::string& name,
                 const json& value, double most) {
  if (value == "none") return 0;
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!(number > 0 && number <= most)) refuse(arguments, name, value);
  return number;
}

double seconds_in(const RunArguments& arguments, const json& value) {
  if (!value.is_string()) {
    return number_in(arguments, "time", value, kMostSeconds);
  }
  if (value == "none") return 0;
  const auto time = parse_duration(value.get<std::string>());
  if (!time || time->count() <= 0) refuse(arguments, "time", value);
  return time->count();
}

RunUntil until_in(const RunArguments& arguments, RunUntil until) {
  if (!arguments.has("until")) return until;
  const json& conditions = arguments.value("until");
  if (!conditions.is_object()) arguments.refuse(kConditions);
  for (const auto& [name, value] : conditions.items()) {
    if (name == "accuracy") {
      until.accuracy = number_in(arguments, name, value, 1);
    } else if (name == "time") {
      until.seconds = seconds_in(arguments, value);
    } else if (name == "cost") {
      until.cost = number_in(arguments, name, value, kMostCost);
    } else {
      refuse(arguments, name, value);
    }
  }
  return until;
}

void expect_reachable(const RunArguments& arguments, const ProjectState& state,
                      const RunUntil& until) {
  const ServerSettings& settings = state.settings;
  const bool is_evaluated = state.has_referee() && state.roles.evaluator;
  if (until.accuracy > 0 && !is_evaluated) {
    arguments.refuse(
        "--until accuracy: nobody evaluates versions here: set house_workers "
        "in quorate.toml to 1 or more, and serve with the role evaluator");
  }
  if (until.cost > 0 && settings.price_cpu == 0 && settings.price_gpu == 0) {
    arguments.refuse(
        "--until cost: hosts' time costs nothing here: set price_cpu or "
        "price_gpu in quorate.toml, of an hour");
  }
}

}  // namespace

void set_sharing(const RunArguments& arguments, const ProjectState& state,
                 Run& run) {
  run.share = share_in(arguments, run.share);
  run.until = until_in(arguments, run.until);
  if (arguments.has("until")) expect_reachable(arguments, state, run.until);
  if (!arguments.has("epoch_barrier")) return;
  const json& barrier = arguments.value("epoch_barrier");
  if (!barrier.is_boolean()) {
    arguments.refuse("--epoch-barrier: expected true or false, found " +
                     barrier.dump());
  }
  run.epoch_barrier = barrier.get<bool>();
}

bool is_of_sharing_alone(const RunArguments& arguments) {
  return arguments.has_only({"run", "share", "until", "epoch_barrier"});
}

std::string sharing_text(const Run& run) {
  const std::string until = text_of(run.until);
  return fmt::format("share {}{}{}", run.share,
                     run.epoch_barrier ? ", a barrier after each epoch" : "",
                     until.empty() ? "" : ", until " + until);
}

}  // namespace quorate
