// What devices are like that ask for work, for units that take all of them as
// long. Pure.
#pragma once

#include <deque>

#include "workunits/host.h"

namespace quorate {

class UsualSpeed {
 public:
  // A host asked for a device that does so many operations a second; 0:
  // unknown. The host then is the newest. A host with several devices asks for
  // one at a time, and does not say which: its last 8 questions count.
  void note(HostId host, double flops);

  // The median of the last 63 hosts, whatever how often each of them asked: one
  // that lies moves it by a place at the most. Of a host with several devices
  // the slowest counts: were it the last that asked, each would be the usual
  // one in its turn, and all would get equal units. 0: nobody has asked.
  double flops() const { return median_; }
  // Of their fastest device. One that lies decides it: see next_unit() for what
  // that can do. 0: nobody has asked.
  double fastest() const { return fastest_; }

 private:
  struct Asked {
    HostId host = 0;
    std::deque<double> flops;  // the newest at the end
  };

  std::deque<Asked> last_;  // the newest at the end
  double median_ = 0;
  double fastest_ = 0;
};

}  // namespace quorate
