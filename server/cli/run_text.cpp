#include "server/cli/run_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace quorate {
namespace {

using nlohmann::json;

std::string standstill(const json& run) {
  if (run.value("state", "") == "paused") {
    std::string reason = run.value("reason", "");
    return "paused: " + (reason.empty() ? "by the operator" : reason);
  }
  if (run.value("state", "") == "finished") return run.value("reason", "");
  return run.value("waits", "");
}

std::string unverified_text(const json& run) {
  const json& count = run.value("unverified", json(0));
  if (count == 0) return "";
  std::string ids;
  for (const json& id : run.at("unverified_results")) {
    ids += (ids.empty() ? "" : ", ") + id.dump();
  }
  return fmt::format(
      "not verified: {} of its results {} accepted without recomputation: "
      "{}{}; "
      "`quorate result revoke ID` takes one out",
      count.dump(), count == 1 ? "was" : "were", ids,
      count > run.at("unverified_results").size() ? ", ..." : "");
}

// Settings are binary32: so many digits tell them apart as people wrote them.
std::string number(const json& value) {
  return fmt::format("{:.6g}", value.get<double>());
}

std::string optimizer_text(const json& settings) {
  std::string text = fmt::format("{}, lr {} ({}), weight decay {}",
                                 settings.at("optimizer").get<std::string>(),
                                 number(settings.at("learning_rate")),
                                 settings.at("lr_schedule").get<std::string>(),
                                 number(settings.at("weight_decay")));
  if (settings.at("optimizer") == "sgd") {
    text += ", momentum " + number(settings.at("momentum"));
  } else {
    text += fmt::format(
        ", betas {} {}, epsilon {}", number(settings.at("beta1")),
        number(settings.at("beta2")), number(settings.at("epsilon")));
  }
  if (settings.at("clip_norm") != 0) {
    text += ", norm clipped at " + number(settings.at("clip_norm"));
  }
  return text;
}

// A count of which 0 stands for something else.
std::string count_or(const json& value, const char* zero) {
  return value == 0 ? zero : value.dump();
}

std::string passes_text(const json& settings) {
  const json& each = settings.at("micro_batch");
  return each == 0 ? "" : fmt::format(" in parts of {}", each.dump());
}

// What it takes of hosts' time, and when that is enough.
std::string sharing_text(const json& run) {
  constexpr double kHour = 3600;
  const json& part = run.at("hosts_part");
  const std::string lately = part.is_null()
                                 ? "nothing sent lately"
                                 : fmt::format("{:.1f} % of hosts' time lately",
                                               100 * part.get<double>());
  return fmt::format(
      "hosts:     share {}, {}; {:.2f} hours in all, cost {}\n"
      "ends:      {}{:.2f} hours at work\n",
      number(run.at("share")), lately,
      run.at("host_seconds").get<double>() / kHour, number(run.at("cost")),
      run.contains("until") ? fmt::format("at {}, or with its samples; ",
                                          run.at("until").get<std::string>())
                            : "with its samples; ",
      run.at("seconds_at_work").get<double>() / kHour);
}

std::string barrier_text(const json& settings) {
  return settings.value("epoch_barrier", false) ? ", a barrier after each" : "";
}

std::string assimilators_text(const json& settings) {
  if (!settings.contains("assimilators")) return "";
  const json& count = settings.at("assimilators");
  return fmt::format(", {} assimilators, {} consistency", count.dump(),
                     settings.at("consistency").get<std::string>());
}

}  // namespace

std::string run_details(const json& run) {
  const json& settings = run.at("settings");
  std::string rule = settings.at("rule_settings").get<std::string>();
  return fmt::format(
      "data:      quorum {}, {} epochs{}, batch {}{}, local steps {}, "
      "seed {}\n"
      "optimiser: {}\n"
      "rule:      {} {}, round units {}, round share {}\n"
      "updates:   codec {}{}\n"
      "{}"
      "samples:   {:.2f} % in the model, {:.2f} % handed out\n",
      run.at("quorum").dump(), run.at("epochs").dump(), barrier_text(settings),
      settings.at("batch").dump(), passes_text(settings),
      count_or(settings.at("local_steps"), "auto"), settings.at("seed").dump(),
      optimizer_text(settings), run.at("rule").get<std::string>(),
      rule.empty() ? "with its defaults" : rule,
      count_or(settings.at("round_units"), "auto"),
      number(settings.at("round_share")),
      settings.at("codec").get<std::string>(), assimilators_text(settings),
      sharing_text(run), 100 * run.at("done").get<double>(),
      100 * run.at("progress").get<double>());
}

std::string standstills(const json& runs) {
  std::string text;
  for (const json& run : runs) {
    for (const std::string& said : {standstill(run), unverified_text(run)}) {
      if (said.empty()) continue;
      text += fmt::format("{}: {}\n", run.at("run").get<std::string>(), said);
    }
  }
  return text;
}

}  // namespace quorate
