// The results in progress as the web front sees them: enough to take an upload
// and to screen a report without waiting for the writer's thread. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/crypto.h"
#include "workunits/result_header.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate {

struct OpenResult {
  ResultId id = 0;
  HostId host = 0;
  PublicKey host_key;
  Nonce nonce;
  Hash workunit;
  bool is_witness = false;
  std::shared_ptr<const TrainingTask> task;
  std::vector<Hash> deltas = {};  // by which its host may make its snapshot
  bool is_of_proven = false;      // its host was proven when it was sent
  // Payload received whole; zero until then.
  Hash uploaded;
  std::uint64_t uploaded_bytes = 0;
};

// A reported witness whose proof waits for the payload.
struct WaitingWitness {
  ResultId id = 0;
  ResultHeader header;
};

class OpenResults {
 public:
  // The writer's thread adds and removes; doors on any thread look. Every
  // answer is a copy: by the time it is used, the result may be closed, so the
  // writer checks again.
  void add(OpenResult result);
  void remove(ResultId id);
  // What was removed since the last call: nothing is needed any more of what
  // was uploaded for it.
  std::vector<ResultId> take_removed();
  std::optional<OpenResult> find(ResultId id) const;
  // Whether a result in progress needs this object: its sealed workunit, its
  // snapshot, what leads there, or its shard.
  bool names(const Hash& object) const;
  // Puts a result on hold whose run is not loaded: nothing can be accepted for
  // it until the server starts with that run, and nothing of it may be lost
  // until then. find() does not know it.
  void hold(ResultId id, HostId host);
  // Strangers are not told: they would know how far a partner is.
  bool is_on_hold(ResultId id, HostId host) const;
  // Neither open nor on hold.
  bool is_closed(ResultId id) const;
  // Its host signs with another key than when it was sent.
  void set_host_key(ResultId id, const PublicKey& key);
  // The first payload of a result stays its payload.
  void set_uploaded(ResultId id, const Hash& update, std::uint64_t size);
  // The payloads that were received.
  std::vector<Hash> uploaded() const;

  // Witnesses of a unit, by its sealed task.
  void add_witness(const Hash& workunit, WaitingWitness witness);
  std::vector<WaitingWitness> witnesses(const Hash& workunit) const;
  void forget_witnesses(const Hash& workunit);

 private:
  void count_objects(const OpenResult& result, int by);

  mutable std::mutex mutex_;
  std::map<ResultId, OpenResult> results_;
  std::vector<ResultId> removed_;
  struct Held {
    HostId host = 0;
    Hash payload;  // zero: none yet
  };
  std::map<ResultId, Held> on_hold_;
  std::unordered_map<Hash, int> uses_;
  std::unordered_map<Hash, std::vector<WaitingWitness>> witnesses_;
};

}  // namespace quorate
