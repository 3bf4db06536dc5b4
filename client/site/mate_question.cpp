#include "client/site/mate_question.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::client {
namespace {

using Kind = MateAnswer::Kind;

MateAnswer no_answer(std::string why) {
  return {Kind::no_answer, {}, std::move(why)};
}

MateAnswer wrong_answer(std::string why) {
  return {Kind::wrong, {}, std::move(why)};
}

// Sends the sealed question; collects the reply, if there is one.
HttpReply send_sealed(Transfer& transfer, const Bytes& sealed,
                      const MateQuestion& question, Bytes& reply,
                      const std::stop_token& stop) {
  const std::size_t most =
      question.length + protocol::kMateChunkHead + kEncryptionBytes;
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = "/v1/mate";
  request.content_type = "application/octet-stream";
  request.body = sealed;
  request.timeout = question.timeout;
  request.sink = [&](const HttpReply&, ByteView piece) {
    if (piece.size() > most - reply.size()) {
      throw Error(ErrorKind::corrupt, "a reply that is too long");
    }
    reply.insert(reply.end(), piece.begin(), piece.end());
  };
  return transfer.send(request, stop);
}

MateAnswer judge_chunk(protocol::MateChunk chunk,
                       const MateQuestion& question) {
  if (!chunk.is_here) return {Kind::not_here, {}, ""};
  if (chunk.total != question.size) {
    return wrong_answer(fmt::format("has {} bytes for an object of {}",
                                    chunk.total, question.size));
  }
  // A longer one was cut off by the sink.
  if (chunk.bytes.empty()) return wrong_answer("sent no byte of what it has");
  return {Kind::piece, std::move(chunk.bytes), ""};
}

}  // namespace

MateAnswer ask_mate(Transfer& transfer, const SiteSecret& secret,
                    const MateQuestion& question, const std::stop_token& stop) {
  const Bytes plain = protocol::write(
      protocol::MateRequest{question.door, secret_random<FixedBytes<16>>(),
                            question.hash, question.offset, question.length});
  Bytes reply;
  try {
    const HttpReply head =
        send_sealed(transfer, secret.seal(MateMessage::request, plain),
                    question, reply, stop);
    if (head.status != 200) {
      return no_answer(
          fmt::format("answered with HTTP status {}", head.status));
    }
  } catch (const Error& e) {
    return no_answer(e.what());
  }
  auto opened = secret.open(MateMessage::reply, reply, plain);
  if (!opened) return no_answer("its answer is not sealed by this site");
  try {
    return judge_chunk(protocol::parse_mate_chunk(*opened), question);
  } catch (const Error& e) {
    return wrong_answer(e.what());
  }
}

}  // namespace quorate::client
