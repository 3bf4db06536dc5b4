// What hosts of one site say to each other, before it is encrypted:
// docs/protocol.md, "Mates". Integers are little-endian, a text is its length
// (u32) and its bytes:
//   contact  process 16, port u16, name text, count u8, addresses text x count
//   request  door 16, nonce 16, hash 32, offset u64, length u32
//   reply    has u8, then unless it is 0: total u64, bytes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"

namespace quorate::protocol {

// Drawn when a host's agent starts: a new one for each process.
struct ProcessId : FixedBytes<16> {};

inline constexpr std::size_t kMaxMateName = 40;
inline constexpr std::size_t kMaxMateAddresses = 4;
inline constexpr std::size_t kMaxMateAddress = 64;
// Of all addresses, each with its length, so that a contact stays small.
inline constexpr std::size_t kMaxMateAddressBytes = 160;
inline constexpr std::uint32_t kMaxMateChunk = 1 << 20;

// Where a host is reached by its mates.
struct MateContact {
  ProcessId process;
  std::uint16_t port = 0;
  std::string name;  // of the host, for people
  std::vector<std::string> addresses;

  bool operator==(const MateContact&) const = default;
};

struct MateRequest {
  ProcessId door;  // who is asked
  FixedBytes<16> nonce;
  Hash hash;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  // from 1 to kMaxMateChunk

  bool operator==(const MateRequest&) const = default;
};
inline constexpr std::size_t kMateRequestBytes = 16 + 16 + 32 + 8 + 4;

// The bytes of an object from the offset on.
struct MateChunk {
  bool is_here = false;  // else the mate has no such object
  std::uint64_t total = 0;
  Bytes bytes;
};
inline constexpr std::size_t kMateChunkHead = 1 + 8;

// An IPv4 or IPv6 address, or a name: of letters, digits, ".", "-" and ":".
bool is_mate_address(std::string_view text);

// What fits into a contact of such addresses, the first ones.
std::vector<std::string> fitting_addresses(std::vector<std::string> addresses);

Bytes write(const MateContact&);
Bytes write(const MateRequest&);
Bytes write(const MateChunk&);

// These throw corrupt, also for what is beyond the bounds above.
MateContact parse_mate_contact(ByteView);
MateRequest parse_mate_request(ByteView);
MateChunk parse_mate_chunk(ByteView);

}  // namespace quorate::protocol
