#include "tests/support/formats.h"

#include <numeric>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/ledger/ledger.h"
#include "workunits/ledger/order_log.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/shard.h"
#include "workunits/objects/snapshot_delta.h"
#include "workunits/objects/token_shard.h"
#include "workunits/objects/update.h"

namespace quorate::test {
namespace {

Bytes sample_parameters() {
  std::vector<float> values(parameter_count(sample_model()));
  std::iota(values.begin(), values.end(), -8.0F);
  return write_parameters(sample_model(), values, {{"run", "first"}});
}

Bytes sample_sealed() {
  return seal(encode(sample_task()), SealKind::workunit, sample_project(),
              sample_key(1));
}

Bytes bytes_of(std::string_view text) {
  ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

Format update_format(Codec codec) {
  const std::string name = fmt::format("update_{}", name_of(codec));
  const TrainingTask task = sample_codec_task(codec);
  return {name, name + ".safetensors",
          encode_update(task, sample_delta(task.model)),
          [task](ByteView bytes) {
            const auto values = decode_update(task, bytes, "update sample");
            check(all_finite(values), "an update's values are finite");
          }};
}

Format delta_format() {
  const ModelSpec model = sample_codec_task(Codec::int4).model;
  std::vector<float> before(parameter_count(model), 0.25F);
  return {"snapshot_delta", "snapshot_delta.safetensors",
          encode_snapshot_delta({model, Codec::int4, 7}, before,
                                sample_delta(model)),
          [model, before](ByteView bytes) mutable {
            apply_snapshot_delta(model, bytes, before, "delta sample");
          }};
}

Format ledger_format(const LedgerRecord& record) {
  return {"ledger_" + record.kind, "ledger_" + record.kind + ".json",
          bytes_of(record.line),
          [](ByteView bytes) { parse_entry(as_text(bytes)); }};
}

}  // namespace

std::vector<Format> formats() {
  auto read_header = [](ByteView bytes) { decode_result_header(bytes); };
  auto read_task = [](ByteView bytes) { decode_task(bytes); };
  std::vector<Format> all{
      {"task", "task.json", encode(sample_task()), read_task},
      {"task_lenet", "task_lenet.json", encode(sample_image_task()), read_task},
      {"sealed", "task.sealed", sample_sealed(),
       [](ByteView bytes) {
         open_sealed(bytes, SealKind::workunit, sample_project(),
                     sample_key(1).public_key(), "sealed sample");
       }},
      {"receipt", "receipt.sealed",
       seal_receipt(sample_receipt(), sample_key(1)),
       [](ByteView bytes) { open_receipt(bytes, "receipt sample"); }},
      {"keyring", "keyring.sealed", sample_keyring().sealed,
       [](ByteView bytes) { open_keyring(bytes, "keyring sample"); }},
      {"offer", "offer.sealed", seal_offer(sample_offer(), sample_key(4)),
       [](ByteView bytes) { open_offer(bytes, "offer sample"); }},
      {"header", "header.bin", encode(sample_header()), read_header},
      {"header_diverged", "header_diverged.bin",
       encode(sample_diverged_header()), read_header},
      {"parameters", "parameters.safetensors", sample_parameters(),
       [](ByteView bytes) {
         read_parameters(sample_model(), bytes, "parameters sample");
       }},
      {"shard", "shard.safetensors", sample_shard(),
       [](ByteView bytes) { read_shard(bytes, 2, "shard sample"); }},
      {"token_shard", "token_shard.safetensors", sample_token_shard(),
       [](ByteView bytes) { read_token_shard(bytes, 3, "shard sample"); }},
  };
  for (std::string_view name : codec_names()) {
    all.push_back(update_format(codec_called(name).value()));
  }
  all.push_back(delta_format());
  std::vector<LedgerRecord> ledger = sample_ledger();
  for (std::size_t seq : {0U, 1U, 4U, 5U}) {  // one of each kind
    all.push_back(ledger_format(ledger.at(seq)));
  }
  LedgerRecord with_basis = chain(sample_revocation()).at(3);
  with_basis.kind += "_basis";
  all.push_back(ledger_format(with_basis));
  LedgerRecord overwrites = chain(sample_overwriting()).at(2);
  overwrites.kind += "_overwrites";
  all.push_back(ledger_format(overwrites));
  LedgerRecord unverified = chain(sample_unverified()).at(3);
  unverified.kind += "_unverified";
  all.push_back(ledger_format(unverified));
  all.push_back(ledger_format(chain(sample_revocation()).at(5)));
  LedgerRecord of_several = chain(sample_revocation_of_several()).at(5);
  of_several.kind += "_of_several";
  all.push_back(ledger_format(of_several));
  all.push_back(ledger_format(chain(sample_peer()).at(5)));
  all.push_back({"order", "order.json",
                 bytes_of(make_order_record(sample_order(), sample_project(),
                                            sample_key(1))
                              .line),
                 [](ByteView bytes) { parse_order(as_text(bytes)); }});
  return all;
}

}  // namespace quorate::test
