// What devices are like that ask for work, for units that take all of them as
// long. Pure.
#pragma once

#include <deque>

#include "workunits/host.h"

namespace quorate {

class UsualSpeed {
 public:
  // A host asked that says it does so many operations a second; 0: unknown.
  // A host counts once, with what it said last; it then is the newest.
  void note(HostId host, double flops);

  // The median of the last 63 hosts, whatever how often each of them asked: one
  // that lies moves it by a place at the most. 0: nobody has asked.
  double flops() const { return median_; }

 private:
  struct Asked {
    HostId host = 0;
    double flops = 0;
  };

  std::deque<Asked> last_;  // the newest at the end
  double median_ = 0;
};

}  // namespace quorate
