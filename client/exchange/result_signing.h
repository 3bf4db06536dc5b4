// From a computed update on disk to the header that the host signs.
#pragma once

#include "base/file.h"
#include "client/exchange/session.h"
#include "workunits/result_header.h"
#include "workunits/workunit.h"

namespace quorate::client {

// A seam for test programs that play a dishonest host. The shipped program has
// none. Used by one thread, but for before_giving().
class ResultTamper {
 public:
  virtual ~ResultTamper() = default;
  // May change the claim and the update's file; what it leaves is signed.
  virtual void before_signing(ResultId result, Claim& claim,
                              const fs::path& update) = 0;
  // May change the file that is uploaded.
  virtual void after_signing(ResultId result, const fs::path& update) = 0;
  // The file that a mate of the site gets when it asks for this one. Any
  // thread.
  virtual fs::path before_giving(const fs::path& object) { return object; }
};

// What is signed, beside the claim.
struct SigningTask {
  ResultId result = 0;
  Nonce nonce;
  Hash workunit;
  std::string device;
  std::uint32_t arithmetic = 0;
  fs::path update;  // the payload's file; none if the unit diverged
};

// Makes the update durable, proves that this host held it and signs the header.
// Throws io.
SignedHeader sign_result(const SigningTask& task, Claim claim,
                         const Identity& identity, ResultTamper* tamper);

}  // namespace quorate::client
