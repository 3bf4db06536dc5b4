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
  return run.value("waits", "");
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

}  // namespace

std::string run_details(const json& run) {
  const json& settings = run.at("settings");
  std::string rule = settings.at("rule_settings").get<std::string>();
  return fmt::format(
      "data:      quorum {}, {} epochs, batch {}{}, local steps {}, "
      "seed {}\n"
      "optimiser: {}\n"
      "rule:      {} {}, round units {}, round share {}\n"
      "updates:   codec {}\n"
      "samples:   {:.2f} % in the model, {:.2f} % handed out\n",
      run.at("quorum").dump(), run.at("epochs").dump(),
      settings.at("batch").dump(), passes_text(settings),
      count_or(settings.at("local_steps"), "auto"), settings.at("seed").dump(),
      optimizer_text(settings), run.at("rule").get<std::string>(),
      rule.empty() ? "with its defaults" : rule,
      count_or(settings.at("round_units"), "auto"),
      number(settings.at("round_share")),
      settings.at("codec").get<std::string>(),
      100 * run.at("done").get<double>(),
      100 * run.at("progress").get<double>());
}

std::string standstills(const json& runs) {
  std::string text;
  for (const json& run : runs) {
    std::string why = standstill(run);
    if (why.empty()) continue;
    text += fmt::format("{}: {}\n", run.at("run").get<std::string>(), why);
  }
  return text;
}

}  // namespace quorate
