// The bytes that hosts and accounts sign, and the signed result header as it
// is sent. A signed message is a domain, a zero byte, the project id, then the
// fields; texts carry their length (docs/protocol.md, "Signatures").
#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "protocol/native/messages.h"
#include "protocol/text.h"

namespace quorate::protocol {
namespace {

ByteWriter start_message(std::string_view domain, const ProjectId& project) {
  ByteWriter out;
  out.put_bytes(as_bytes(domain));
  out.put(std::uint8_t{0});
  out.put_bytes(project.view());
  return out;
}

}  // namespace

// Names are signed as write() sends them: plain.

Bytes account_message(const ProjectId& project, const AccountRequest& request) {
  ByteWriter out = start_message("quorate account v1", project);
  out.put_bytes(request.account.view());
  out.put_text(plain_text(request.name, kMaxName));
  return out.take();
}

Bytes deletion_message(const ProjectId& project, const PublicKey& account,
                       std::string_view token) {
  ByteWriter out = start_message("quorate account deletion v1", project);
  out.put_bytes(account.view());
  out.put_text(token);
  return out.take();
}

Bytes host_message(const ProjectId& project, const HostRequest& request) {
  ByteWriter out = start_message("quorate host v1", project);
  out.put_bytes(request.account.view());
  out.put_bytes(request.host.view());
  out.put_text(plain_text(request.name, kMaxName));
  out.put_text(plain_text(request.platform, kMaxPlatform));
  return out.take();
}

Bytes session_message(const ProjectId& project, const SessionRequest& request) {
  ByteWriter out = start_message("quorate session v1", project);
  out.put_bytes(request.host.view());
  out.put_text(request.challenge);
  return out.take();
}

Bytes write_signed_header(const SignedHeader& header) {
  Bytes out = header.bytes;
  out.insert(out.end(), header.signature.bytes.begin(),
             header.signature.bytes.end());
  return out;
}

SignedHeader parse_signed_header(ByteView bytes) {
  SignedHeader header;
  const std::size_t tail = header.signature.bytes.size();
  if (bytes.size() <= tail || bytes.size() > kMaxSignedHeader) {
    throw Error(ErrorKind::corrupt,
                fmt::format("signed result header: expected {} to {} bytes, "
                            "found {}",
                            tail + 1, kMaxSignedHeader, bytes.size()));
  }
  ByteView body = bytes.first(bytes.size() - tail);
  header.bytes.assign(body.begin(), body.end());
  ByteReader(bytes.last(tail), "signature").get_bytes(header.signature.bytes);
  return header;
}

}  // namespace quorate::protocol
