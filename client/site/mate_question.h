// One question to a mate, and what its answer shows.
#pragma once

#include <stop_token>
#include <string>

#include "base/clock.h"
#include "client/site/site_secret.h"
#include "protocol/native/mate_messages.h"
#include "protocol/transfer/transfer.h"

namespace quorate::client {

// A piece of an object of `size` bytes.
struct MateQuestion {
  protocol::ProcessId door;
  Hash hash;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // below size
  std::uint32_t length = 0;
  Seconds timeout{0};
};

struct MateAnswer {
  enum class Kind {
    piece,      // `bytes`, at least one and no more than were asked for
    not_here,   // the mate has no such object
    no_answer,  // none at all, or from somebody else
    wrong,      // the mate itself answers what cannot be
  };
  Kind kind = Kind::no_answer;
  Bytes bytes;
  std::string why;  // no_answer, wrong
};

// Takes at most question.timeout, and holds no more than was asked for. Only
// who has the secret can bring about another kind than no_answer.
MateAnswer ask_mate(Transfer& transfer, const SiteSecret& secret,
                    const MateQuestion& question, const std::stop_token& stop);

}  // namespace quorate::client
