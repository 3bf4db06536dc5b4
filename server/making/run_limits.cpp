#include "server/making/run_limits.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/making/work_generator.h"
#include "server/settings/duration.h"

namespace quorate {

double estimated_seconds(double operations, double speed_flops, Seconds most) {
  const double speed = speed_flops > 0 ? speed_flops : kUnknownSpeed;
  return std::min(operations / speed, most.count());
}

double price_per_hour(const ServerSettings& settings,
                      const std::string& device) {
  const bool is_cpu = device.empty() || device.starts_with("cpu");
  return is_cpu ? settings.price_cpu : settings.price_gpu;
}

std::string reason_to_end(const RunUntil& until, const RunUsage& used,
                          const Evaluation* last) {
  if (until.accuracy > 0 && last != nullptr &&
      last->accuracy >= until.accuracy) {
    return fmt::format(
        "version {} has the accuracy {:.4g}; it was to be {:.6g}",
        last->version, last->accuracy, until.accuracy);
  }
  if (until.seconds > 0 && used.seconds_at_work >= until.seconds) {
    return fmt::format("it has been at work for {}",
                       duration_text(Seconds(until.seconds)));
  }
  if (until.cost > 0 && used.cost >= until.cost) {
    return fmt::format("hosts' time has cost {:.6g}; it was to be {:.6g}",
                       used.cost, until.cost);
  }
  return "";
}

std::string text_of(const RunUntil& until) {
  std::string text;
  auto add = [&](const std::string& condition) {
    text += (text.empty() ? "" : " ") + condition;
  };
  if (until.accuracy > 0) add(fmt::format("accuracy={:.6g}", until.accuracy));
  if (until.seconds > 0) {
    add("time=" + duration_text(Seconds(until.seconds)));
  }
  if (until.cost > 0) add(fmt::format("cost={:.6g}", until.cost));
  return text;
}

}  // namespace quorate
