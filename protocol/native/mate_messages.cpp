#include "protocol/native/mate_messages.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/text.h"

namespace quorate::protocol {
namespace {

constexpr std::size_t kTextLength = 4;  // bytes before a text

[[noreturn]] void refuse_mate(const char* what) {
  throw Error(ErrorKind::corrupt, what);
}

bool is_address_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == ':';
}

std::size_t address_bytes(const std::vector<std::string>& addresses) {
  std::size_t bytes = 0;
  for (const std::string& one : addresses) bytes += kTextLength + one.size();
  return bytes;
}

}  // namespace

bool is_mate_address(std::string_view text) {
  return !text.empty() && text.size() <= kMaxMateAddress &&
         std::all_of(text.begin(), text.end(), is_address_letter);
}

std::vector<std::string> fitting_addresses(std::vector<std::string> addresses) {
  while (addresses.size() > kMaxMateAddresses ||
         address_bytes(addresses) > kMaxMateAddressBytes) {
    addresses.pop_back();
  }
  return addresses;
}

Bytes write(const MateContact& contact) {
  ByteWriter out;
  out.put_bytes(contact.process.bytes);
  out.put(contact.port);
  out.put_text(contact.name);
  out.put(static_cast<std::uint8_t>(contact.addresses.size()));
  for (const std::string& one : contact.addresses) out.put_text(one);
  return out.take();
}

MateContact parse_mate_contact(ByteView bytes) {
  ByteReader in(bytes, "mate's contact");
  MateContact contact;
  in.get_bytes(contact.process.bytes);
  contact.port = in.get<std::uint16_t>();
  contact.name = in.get_text(kMaxMateName);
  const auto count = in.get<std::uint8_t>();
  if (contact.port == 0 || count > kMaxMateAddresses ||
      !is_plain_text(contact.name)) {
    refuse_mate("mate's contact: port, name or number of addresses");
  }
  for (int i = 0; i < count; ++i) {
    contact.addresses.push_back(in.get_text(kMaxMateAddress));
    if (!is_mate_address(contact.addresses.back())) {
      refuse_mate("mate's contact: an address is none");
    }
  }
  in.expect_end();
  return contact;
}

Bytes write(const MateRequest& request) {
  ByteWriter out;
  out.put_bytes(request.door.bytes);
  out.put_bytes(request.nonce.bytes);
  out.put_bytes(request.hash.bytes);
  out.put(request.offset);
  out.put(request.length);
  return out.take();
}

MateRequest parse_mate_request(ByteView bytes) {
  ByteReader in(bytes, "mate's request");
  MateRequest request;
  in.get_bytes(request.door.bytes);
  in.get_bytes(request.nonce.bytes);
  in.get_bytes(request.hash.bytes);
  request.offset = in.get<std::uint64_t>();
  request.length = in.get<std::uint32_t>();
  in.expect_end();
  if (request.length == 0 || request.length > kMaxMateChunk) {
    refuse_mate("mate's request: length");
  }
  return request;
}

Bytes write(const MateChunk& chunk) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(chunk.is_here ? 1 : 0));
  if (chunk.is_here) {
    out.put(chunk.total);
    out.put_bytes(chunk.bytes);
  }
  return out.take();
}

MateChunk parse_mate_chunk(ByteView bytes) {
  ByteReader in(bytes, "mate's reply");
  MateChunk chunk;
  const auto has = in.get<std::uint8_t>();
  if (has > 1) refuse_mate("mate's reply: neither has it nor has it not");
  chunk.is_here = has == 1;
  if (chunk.is_here) {
    chunk.total = in.get<std::uint64_t>();
    if (in.left() > kMaxMateChunk) refuse_mate("mate's reply: too long");
    ByteView rest = in.take(in.left());
    chunk.bytes.assign(rest.begin(), rest.end());
  }
  in.expect_end();
  return chunk;
}

}  // namespace quorate::protocol
