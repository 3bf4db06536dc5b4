// The first thing that is asked of a project: who are you?
#pragma once

#include <stop_token>

#include "protocol/native/messages.h"
#include "protocol/transfer/curl_transfer.h"

namespace quorate {

// The sealed project statement, unchecked. Throws what send() throws, and what
// throw_refusal() does.
Bytes fetch_statement(Transfer& transfer, const std::stop_token& stop = {});

// Reads a sealed project statement. Throws corrupt unless it is sealed by the
// key that it names. Whoever wrote it may have made that key: compare
// keys.project with one that is known from elsewhere. Whether it is an old one
// is for the reader to say.
protocol::ProjectStatement open_statement(ByteView sealed);

// Why it may not be gone by at this time, empty if it may: it ran out, or its
// key's time is over. Pure.
std::string against_clock(const protocol::ProjectStatement& statement,
                          Millis unix_ms);

// How to reach the server that the statement is of: its pinned key if it has
// one.
CurlOptions curl_options(const std::string& url,
                         const protocol::ProjectStatement& statement);

}  // namespace quorate
