// What a load found out: how many requests a second, how long each took, and
// how much of the processor the server spent on one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate::bench {

double seconds_now();

class Tally {
 public:
  // pid: of the server; 0: its processor time is not counted.
  explicit Tally(int pid) : pid_(pid) {}

  // Time counts between begin() and end(), which may come again.
  void begin();
  void end();
  double began() const { return began_; }
  double seconds() const { return seconds_; }

  void add_delay(double seconds) { delays_.push_back(seconds); }
  void add_done() { ++done_; }

  // One line of JSON. Throws std::out_of_range if nothing was done.
  void print(const std::string& mode);

 private:
  int pid_;
  std::vector<double> delays_;
  std::uint64_t done_ = 0;
  double began_ = 0;
  double used_before_ = 0;
  double seconds_ = 0;
  double used_ = 0;  // processor seconds of the server
};

}  // namespace quorate::bench
