// Small valid values of every format, the same on every run.
#pragma once

#include <vector>

#include "base/crypto.h"
#include "workunits/ledger/ledger.h"
#include "workunits/ledger/order_log.h"
#include "workunits/model_offer.h"
#include "workunits/models/model_spec.h"
#include "workunits/receipt.h"
#include "workunits/result_header.h"
#include "workunits/sealed.h"
#include "workunits/task.h"

namespace quorate::test {

// A T all of whose bytes are `fill`.
template <class T>
T filled(std::uint8_t fill) {
  T value;
  value.bytes.fill(fill);
  return value;
}

PrivateKey sample_key(std::uint8_t fill);
// The project whose first key is sample_key(1).
ProjectId sample_project();

// 2 inputs, 3 hidden, 2 classes: 17 parameters.
ModelSpec sample_model();
// A unit of 4 steps of 2 samples.
TrainingTask sample_task();
// The same of a lenet on 28x28x1.
TrainingTask sample_image_task();
// Of a model with short blocks and running statistics, by this codec.
TrainingTask sample_codec_task(Codec codec);
// An update of it: both signs and zeros, of many magnitudes.
std::vector<float> sample_delta(const ModelSpec& model);
// A shard of 3 images of 2x2x1 in classes 0 and 1.
Bytes sample_shard();
// A shard of 5 tokens of 3 symbols.
Bytes sample_token_shard();
ResultHeader sample_header();
ResultHeader sample_diverged_header();

// Of host sample_key(2) and its part in the run of sample_ledger().
Receipt sample_receipt();

// A whole ledger: creation, three results (the second does not end a round),
// a snapshot, the end.
std::vector<LedgerEntry> sample_entries();
// The same, chained and signed with sample_key(1).
std::vector<LedgerRecord> sample_ledger();
// A ledger whose last entry, number 2, overwrites what the one before made.
std::vector<LedgerEntry> sample_overwriting();
// The last of its results was accepted without recomputation.
std::vector<LedgerEntry> sample_unverified();
// A ledger whose last entry, number 5, revokes two of its results; entry 3 says
// how its unit was decided.
std::vector<LedgerEntry> sample_revocation();
// Its two are of two hosts.
std::vector<LedgerEntry> sample_revocation_of_several();
// A ledger whose last entry, number 5, mixes the model of sample_offer() in.
std::vector<LedgerEntry> sample_peer();
// Of the project whose key is sample_key(4), once it is sealed.
ModelOffer sample_offer();
// Root key 1, which signed until 1500; key 5, revoked; key 6 signs to 9000.
Keyring sample_keyring();
OrderEntry sample_order();
// Chains and signs `entries` anew, whatever they say.
std::vector<LedgerRecord> chain(std::vector<LedgerEntry> entries);

}  // namespace quorate::test
