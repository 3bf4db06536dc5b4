#include "protocol/transfer/download.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/transfer/part_file.h"
#include "protocol/transfer/refusal.h"

namespace quorate {
namespace {

// One request for what is missing.
void fetch_rest(const std::function<HttpReply(HttpRequest)>& exchange,
                const Download& wanted, PartFile& part) {
  HttpRequest request;
  request.path = wanted.path;
  request.from = part.size();
  bool is_first_piece = true;
  request.sink = [&](const HttpReply& head, ByteView piece) {
    // A server that ignores the range, or gives another, starts from 0.
    if (is_first_piece && head.first_byte != part.size()) {
      part.restart();
      if (head.first_byte != 0) {
        throw Error(ErrorKind::unavailable,
                    wanted.what + ": the server sent another range");
      }
    }
    is_first_piece = false;
    if (piece.size() > wanted.size - part.size()) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: the server sends more than its {} bytes",
                              wanted.what, wanted.size));
    }
    part.append(piece);
  };
  HttpReply reply = exchange(std::move(request));
  if (reply.status == 416) {
    part.restart();
    throw Error(ErrorKind::unavailable,
                wanted.what + ": the server refused to resume it");
  }
  if (reply.status == 404 || reply.status == 410) {
    throw Error(ErrorKind::corrupt,
                wanted.what + ": the server does not have it");
  }
  if (reply.status != 200 && reply.status != 206) {
    throw_refusal(reply, wanted.what);
  }
  if (part.size() < wanted.size) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: ended after {} of {} bytes", wanted.what,
                            part.size(), wanted.size));
  }
}

}  // namespace

void download(const std::function<HttpReply(HttpRequest)>& exchange,
              const Download& wanted, const fs::path& part) {
  try {
    PartFile file(part, wanted.size);
    if (file.size() < wanted.size) fetch_rest(exchange, wanted, file);
    if (Hash found = file.finish(); found != wanted.hash) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: its bytes have the hash {}", wanted.what,
                              found.hex()));
    }
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::corrupt) fs::remove(part);
    throw;
  }
}

}  // namespace quorate
