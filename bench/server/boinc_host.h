// One host of the BOINC load: it says what a stock client says, in requests
// made of a recorded one, and signs what its worker would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "workunits/assignment.h"

namespace quorate::bench {

// A task as the scheduler's reply told it.
struct BoincTask {
  Assignment assignment;
  // Of the two files that it makes: name, permission and limit, as the reply
  // has them.
  std::string header_info;
  std::string update_info;  // empty: a witness
};

class BoincHost {
 public:
  // recorded: a scheduler request of a stock client that reports results
  // (tests/protocol/boinc/golden).
  BoincHost(std::string authenticator, const std::string& recorded);

  // The body of the next request. reported: of the tasks, so many are told to
  // be done, the first ones; the others to be in progress.
  std::string request(bool wants_work, std::size_t reported);
  // Takes in what was answered to it: number, key, tasks. Throws corrupt if
  // that is no scheduler's reply. Returns how many tasks came.
  std::size_t take(std::string_view reply, std::size_t reported);

  const std::vector<BoincTask>& tasks() const { return tasks_; }
  const PrivateKey& key() const { return key_; }

 private:
  PrivateKey key_ = PrivateKey::generate();
  std::string id_ = "0";
  std::uint32_t seqno_ = 0;
  std::string code_sign_key_;
  std::string before_results_;  // of the request, with {fields}
  std::string after_results_;
  std::vector<BoincTask> tasks_;
};

// The text between <name> and </name> that comes first, or "".
std::string_view element_of(std::string_view text, std::string_view name);

// The body that uploads a file; info: of a BoincTask.
std::string upload_body(const std::string& info, ByteView bytes);

}  // namespace quorate::bench
