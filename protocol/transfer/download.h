// Downloads that resume and are hashed on their way.
#pragma once

#include <functional>
#include <string>

#include "base/crypto.h"
#include "base/file.h"
#include "protocol/transfer/transfer.h"

namespace quorate {

struct Download {
  std::string path;  // of the request
  Hash hash;
  std::uint64_t size = 0;
  std::string what;  // for messages: "download shard 00ff"
};

// exchange: sends one request, with what the server wants to know of us.
// Downloads to `part`, going on from what is already there. On return the file
// has exactly the bytes that the hash says. Throws unavailable (the part
// stays), corrupt when the server has not got it or sent other bytes (the part
// is removed), io, and what throw_refusal() does.
void download(const std::function<HttpReply(HttpRequest)>& exchange,
              const Download& wanted, const fs::path& part);

}  // namespace quorate
