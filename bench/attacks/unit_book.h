// The units that the hosts of the bench have seen, with what they are computed
// from. Its hosts share this machine, so the honest result of a unit, a pure
// function of its sealed bytes, is computed once for all of them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/crypto.h"
#include "kernels/backend.h"
#include "tests/support/attacker/false_work.h"
#include "workunits/sealed.h"

namespace quorate::bench {

struct Unit {
  Hash hash;
  Bytes sealed;
  std::shared_ptr<const std::vector<float>> base;
  std::shared_ptr<const Bytes> shard;
  test::Work work;  // views into the two
  TrainingResult honest;
};

class UnitBook {
 public:
  UnitBook(const ProjectId& project, const PublicKey& key);

  // Downloaded bytes with this hash. Throws corrupt if they have another.
  void add_object(const Hash& hash, Bytes bytes);
  bool has_object(const Hash& hash) const { return objects_.contains(hash); }

  // The unit with this sealed task, once all of its objects are here. Throws
  // corrupt if the seal is not the project's.
  std::shared_ptr<const Unit> unit(const Hash& workunit);

  Backend& backend() { return *backend_; }

 private:
  void forget_old();

  ProjectId project_;
  PublicKey key_;
  std::unique_ptr<Backend> backend_;
  std::map<Hash, std::shared_ptr<const Bytes>> objects_;
  std::map<Hash, std::shared_ptr<const std::vector<float>>> parameters_;
  std::deque<Hash> order_;  // of the objects, oldest first; no shards
  std::map<Hash, std::shared_ptr<const Unit>> units_;
  std::deque<Hash> unit_order_;
};

}  // namespace quorate::bench
