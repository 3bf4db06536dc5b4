// One line of JSON, keys sorted, no white space: what is read is written anew
// and compared, as of ledger entries.
#include "workunits/model_offer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate model offer v1";
constexpr JsonLimits kLimits{kMaxOfferBytes, 26};
constexpr std::size_t kMaxName = 256;

std::string text_of(const ModelOffer& offer) {
  json all{{"format", kFormat},
           {"key", offer.keys.current().key.hex()},
           {"run", offer.run.hex()},
           {"name", offer.name},
           {"model", json::parse(to_json(offer.model))},
           {"arithmetic", offer.arithmetic},
           {"version", offer.version},
           {"parameters", offer.parameters.hex()},
           {"entry", offer.entry},
           {"record", offer.record.hex()}};
  if (offer.keys.number != 0) all["keyring"] = to_hex(offer.keys.sealed);
  return dump_json(all);
}

ModelOffer read_offer(ByteView payload, std::string_view what) {
  const std::string_view text = as_text(payload);
  const json parsed = parse_json(text, kLimits, what);
  const JsonFields fields(parsed, what);
  if (fields.text("format", 64) != kFormat) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected format \"{}\"", what, kFormat));
  }
  ModelOffer offer;
  offer.keys = read_keys(fields, what);
  offer.run = fields.fixed_bytes<RunId>("run");
  offer.name = fields.text("name", kMaxName);
  offer.model = model_from_json(dump_json(fields.at("model")));
  offer.arithmetic = fields.integer32("arithmetic");
  offer.version = fields.integer("version");
  offer.parameters = fields.fixed_bytes<Hash>("parameters");
  offer.entry = fields.integer("entry");
  offer.record = fields.fixed_bytes<Hash>("record");
  if (text_of(offer) != text) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: is not written as we write offers", what));
  }
  return offer;
}

}  // namespace

Bytes seal_offer(const ModelOffer& offer, const PrivateKey& key) {
  check(offer.keys.current().key == key.public_key(),
        "the project's last key seals offers");
  return seal(as_bytes(text_of(offer)), SealKind::model_offer,
              offer.keys.project, key);
}

ModelOffer open_offer(ByteView sealed, std::string_view what) {
  if (sealed.size() <= kSealBytes ||
      sealed.size() > kMaxOfferBytes + kSealBytes) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: its {} bytes are not an offer", what, sealed.size()));
  }
  ModelOffer offer = read_offer(sealed.first(sealed.size() - kSealBytes), what);
  open_sealed(sealed, SealKind::model_offer, offer.keys.project,
              offer.keys.current().key, what);
  return offer;
}

}  // namespace quorate
