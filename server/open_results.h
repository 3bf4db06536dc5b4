// The results in progress as the web front sees them: enough to take an upload
// and to screen a report without waiting for the writer's thread. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/crypto.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate {

struct OpenResult {
  ResultId id = 0;
  HostId host = 0;
  PublicKey host_key;
  Nonce nonce;
  Hash workunit;
  std::shared_ptr<const TrainingTask> task;
  // Payload received whole; zero until then.
  Hash uploaded;
  std::uint64_t uploaded_bytes = 0;
};

class OpenResults {
 public:
  void add(OpenResult result);
  void remove(ResultId id);
  std::optional<OpenResult> find(ResultId id) const;
  // Whether a result in progress needs this object: its sealed workunit, its
  // snapshot or its shard.
  bool names(const Hash& object) const;
  void set_uploaded(ResultId id, const Hash& update, std::uint64_t size);

 private:
  void count_objects(const OpenResult& result, int by);

  mutable std::mutex mutex_;
  std::map<ResultId, OpenResult> results_;
  std::unordered_map<Hash, int> uses_;
};

}  // namespace quorate
