// One message of each kind with every field set, and its bytes on the wire.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "protocol/native/messages.h"
#include "protocol/worker/messages.h"
#include "tests/support/samples.h"

namespace quorate::protocol {

using test::filled;

inline std::string repeated(std::string_view digits, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += digits;
  return out;
}
inline std::string hex32(std::string_view digits) {
  return repeated(digits, 32);
}
inline std::string hex64(std::string_view digits) {
  return repeated(digits, 64);
}

inline WorkRequest sample_work_request() {
  return {2,
          Seconds(12.5),
          "cpu:avx512",
          1.5e10,
          {{7, 3, 20}},
          {{8, "disk"}},
          {filled<Hash>(0x55), filled<Hash>(0x66)},
          SiteMember{filled<Hash>(0x77), "sealed"}};
}

inline WorkReply sample_work_reply() {
  Assignment assignment;
  assignment.result = 9;
  assignment.nonce = filled<Nonce>(0x11);
  assignment.objects = {{ObjectKind::workunit, filled<Hash>(0x22), 400},
                        {ObjectKind::snapshot, filled<Hash>(0x33), 1000000},
                        {ObjectKind::shard, filled<Hash>(0x44), 8000000}};
  assignment.deltas = {
      {filled<Hash>(0x88), {ObjectKind::delta, filled<Hash>(0x99), 130000}}};
  assignment.exchange = {filled<Hash>(0xaa), filled<Hash>(0xbb),
                         filled<Hash>(0xcc)};
  assignment.lease = Seconds(120);
  return {{assignment}, {4, 5}, {6}, Seconds(0.5), {"one", "two"}};
}

inline Claim sample_claim() {
  Claim claim;
  claim.update = filled<Hash>(0x55);
  claim.digests = {filled<Hash>(0x66), filled<Hash>(0x77)};
  claim.samples = 1280;
  claim.loss_bits = 0x40135d8e;
  return claim;
}

inline ComputeRequest sample_compute_request() {
  return {3,         filled<ProjectId>(0x01), filled<PublicKey>(0x02),
          "/o/unit", "/o/snapshot",           "/o/shard",
          "/r/out",  "/r/checkpoint"};
}

// A message, and what reads it and writes it again.
struct Sample {
  std::string name;
  std::string bytes;
  std::function<std::string(const std::string&)> rewrite;
};

std::vector<Sample> native_samples();
std::vector<Sample> worker_samples();

}  // namespace quorate::protocol
