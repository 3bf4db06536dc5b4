// Which versions of a model were overwritten by assimilators that share it
// without transactions: ResultAssimilated::read_version. An update is in a
// version if the chain of versions read, from that one back, leads through its
// own; so one that was overwritten may come back with the next that read it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workunits/ledger/ledger.h"

namespace quorate {

class Overwrites {
 public:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // included

    bool operator==(const Range&) const = default;
  };

  void take_in(const ResultAssimilated& entry);
  // The result that made this version was revoked: it overwrites nothing.
  void take_out(std::uint64_t version) { read_.erase(version); }

  // The versions up to this one whose updates it does not contain, last first.
  std::vector<Range> in(std::uint64_t version) const;
  // How many these are; each is one result.
  std::uint64_t count(std::uint64_t version) const;

 private:
  // By version, the one that it was made of, if that is not the one before.
  std::map<std::uint64_t, std::uint64_t> read_;
};

}  // namespace quorate
