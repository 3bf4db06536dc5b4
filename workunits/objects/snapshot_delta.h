// How one snapshot of a run leads to the next, in the fewest bytes: the codes
// of a rounded change, which the server applies to what it trains as well as
// every host to what it has, so that both have the same bits. What rounding
// left out is the server's to add to the next change. The bytes are an update's
// (workunits/objects/update) but for running statistics, which are the next
// snapshot's own. Specified in docs/numerics.md, section 14.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "workunits/codec.h"
#include "workunits/models/model_spec.h"

namespace quorate {

// What a change is written by.
struct SnapshotCoding {
  const ModelSpec& model;
  Codec codec = Codec::int8;  // not fp32
  std::uint64_t version = 0;  // that the change leads to: its random numbers'
};

// Bytes of every delta of a model by a codec.
std::uint64_t snapshot_delta_bytes(const ModelSpec& model, Codec codec);

// from, to: parameter_count() values. What is not finite in `to` counts as the
// greatest finite change, or value of a running statistic. The bytes are the
// same with any number of threads.
Bytes encode_snapshot_delta(const SnapshotCoding& coding,
                            std::span<const float> from,
                            std::span<const float> to, std::size_t threads = 1);

// Makes the next snapshot of `values`, parameter_count() of them. Throws
// corrupt, naming `what`, for bytes that no delta of such a model has; `values`
// are unchanged then.
void apply_snapshot_delta(const ModelSpec& model, ByteView delta,
                          std::span<float> values, const std::string& what,
                          std::size_t threads = 1);

// The same of a file, which costs no memory.
void apply_snapshot_delta(const ModelSpec& model, MappedFile delta,
                          std::span<float> values, const std::string& what);

}  // namespace quorate
