// Results of a run under which house workers aborted, one after another and no
// verdict between. A model may pass every check and yet end each program that
// computes it: its volunteers are spared it then. Two in a row may be a device
// that was lost under both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quorate {

class HouseAborts {
 public:
  // why: how the worker ended, and its last words.
  void add(std::uint64_t unit_index, const std::string& why);
  // Why the run has to pause, and what its operator can do; nullopt: it goes
  // on.
  std::optional<std::string> advice(const std::string& run) const;

 private:
  std::uint32_t in_a_row_ = 0;
  std::string last_;
};

}  // namespace quorate
