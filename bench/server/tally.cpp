#include "bench/server/tally.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"

namespace quorate::bench {
namespace {

// Of the server, which is proc(5)'s /proc/PID/stat, fields 14 and 15.
double processor_seconds(int pid) {
  if (pid == 0) return 0;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  std::getline(file, stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

double seconds_now() {
  return SystemClock().now().time_since_epoch().count();
}

void Tally::begin() {
  used_before_ = processor_seconds(pid_);
  began_ = seconds_now();
}

void Tally::end() {
  seconds_ += seconds_now() - began_;
  used_ += processor_seconds(pid_) - used_before_;
}

void Tally::print(const std::string& mode) {
  std::sort(delays_.begin(), delays_.end());
  auto quantile = [this](double q) {
    constexpr double kMillis = 1000;
    auto last = static_cast<double>(delays_.size()) - 1;
    return kMillis * delays_.at(static_cast<std::size_t>(q * last));
  };
  std::puts(fmt::format("{{\"mode\":\"{}\",\"done\":{},\"seconds\":{:.3f},"
                        "\"per_second\":{:.0f},\"p50_ms\":{:.2f},"
                        "\"p99_ms\":{:.2f},\"server_ms\":{:.3f}}}",
                        mode, done_, seconds_,
                        static_cast<double>(done_) / seconds_, quantile(0.5),
                        quantile(0.99),
                        1000 * used_ / static_cast<double>(done_))
                .c_str());
}

}  // namespace quorate::bench
