// One line of JSON, keys sorted, no white space: what is read is written anew
// and compared, as of ledger entries.
#include "workunits/keyring.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate keyring v1";
constexpr JsonLimits kLimits{kMaxKeyringBytes, 3};

std::string text_of(const Keyring& ring) {
  json keys = json::array();
  for (const SigningKey& one : ring.keys) {
    keys.push_back({{"key", one.key.hex()},
                    {"from", one.from},
                    {"until", one.until},
                    {"revoked", one.is_revoked}});
  }
  return dump_json({{"format", kFormat},
                    {"root", ring.root.hex()},
                    {"number", ring.number},
                    {"keys", std::move(keys)}});
}

[[noreturn]] void refuse(std::string_view what, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("{}: {}", what, why));
}

SigningKey read_key(const json& item, const std::string& what) {
  const JsonFields fields(item, what);
  SigningKey one;
  one.key = fields.fixed_bytes<PublicKey>("key");
  one.from = static_cast<Millis>(fields.integer("from"));
  one.until = static_cast<Millis>(fields.integer("until"));
  const json& revoked = fields.at("revoked");
  if (!revoked.is_boolean()) {
    refuse(fields.label("revoked"), "expected true or false");
  }
  one.is_revoked = revoked.get<bool>();
  return one;
}

// What would make two readers, or a reader and the project, disagree.
void expect_sound(const Keyring& ring, std::string_view what) {
  for (std::size_t i = 0; i < ring.keys.size(); ++i) {
    const SigningKey& one = ring.keys[i];
    if (ring.find(one.key) != &one) {
      refuse(what, fmt::format("key {} is there twice", i));
    }
    if (one.until != 0 && one.until < one.from) {
      refuse(what, fmt::format("key {} ends before it begins", i));
    }
  }
  if (ring.current().is_revoked) refuse(what, "the key that signs is revoked");
}

Keyring read_keyring(std::string_view text, std::string_view what) {
  const json parsed = parse_json(text, kLimits, what);
  const JsonFields fields(parsed, what);
  if (fields.text("format", 64) != kFormat) {
    refuse(what, fmt::format("expected format \"{}\"", kFormat));
  }
  Keyring ring;
  ring.root = fields.fixed_bytes<PublicKey>("root");
  ring.project = project_id_of(ring.root);
  ring.number = fields.integer("number", 1);
  const json& keys = fields.array("keys");
  if (keys.empty() || keys.size() > kMostSigningKeys) {
    refuse(fields.label("keys"), fmt::format("expected 1 to {} keys, found {}",
                                             kMostSigningKeys, keys.size()));
  }
  for (const json& item : keys) {
    ring.keys.push_back(read_key(
        item, fmt::format("{}[{}]", fields.label("keys"), ring.keys.size())));
  }
  expect_sound(ring, what);
  if (text_of(ring) != text)
    refuse(what, "is not written as we write keyrings");
  return ring;
}

}  // namespace

const SigningKey* Keyring::find(const PublicKey& key) const {
  const auto found =
      std::find_if(keys.begin(), keys.end(),
                   [&](const SigningKey& one) { return one.key == key; });
  return found == keys.end() ? nullptr : &*found;
}

Keyring keyring_of(const ProjectId& project, const PublicKey& only) {
  Keyring ring;
  ring.project = project;
  ring.root = only;
  ring.keys = {{only, 0, 0, false}};
  return ring;
}

Keyring keyring_of(const PublicKey& only) {
  return keyring_of(project_id_of(only), only);
}

Keyring seal_keyring(Keyring ring, const PrivateKey& root) {
  ring.root = root.public_key();
  ring.project = project_id_of(ring.root);
  ring.sealed =
      seal(as_bytes(text_of(ring)), SealKind::keyring, ring.project, root);
  return ring;
}

Keyring open_keyring(ByteView sealed, std::string_view what) {
  if (sealed.size() <= kSealBytes ||
      sealed.size() > kMaxKeyringBytes + kSealBytes) {
    refuse(what, fmt::format("its {} bytes are not a keyring", sealed.size()));
  }
  Keyring ring =
      read_keyring(as_text(sealed.first(sealed.size() - kSealBytes)), what);
  open_sealed(sealed, SealKind::keyring, ring.project, ring.root, what);
  ring.sealed.assign(sealed.begin(), sealed.end());
  return ring;
}

Keyring keyring_named(const PublicKey& key, std::string_view list,
                      std::string_view what) {
  if (list.empty()) return keyring_of(key);
  if (list.size() > kMaxKeyringHex) refuse(what, "its keyring is too long");
  Bytes sealed(list.size() / 2);
  from_hex(list, sealed, what);
  Keyring ring = open_keyring(sealed, fmt::format("{}: keyring", what));
  if (ring.current().key != key) {
    refuse(what, fmt::format("its key is not the one that its keyring names "
                             "last, {}",
                             ring.current().key.hex()));
  }
  return ring;
}

Keyring read_keys(const JsonFields& fields, std::string_view what) {
  const bool has_list = fields.has("keyring");
  return keyring_named(fields.fixed_bytes<PublicKey>("key"),
                       has_list ? fields.text("keyring", kMaxKeyringHex) : "",
                       what);
}

bool speaks(const SigningKey& key, Millis unix_ms) {
  return !key.is_revoked && (key.until == 0 || unix_ms < key.until);
}

const SigningKey& sealer_of(ByteView sealed, const Keyring& ring,
                            std::string_view what) {
  for (auto one = ring.keys.rbegin(); one != ring.keys.rend(); ++one) {
    if (names_key(sealed, one->key)) return *one;
  }
  refuse(what, fmt::format("none of the {} of project {} sealed it: it is "
                           "damaged, or of another project",
                           ring.keys.size() == 1
                               ? std::string("one key")
                               : fmt::format("{} keys", ring.keys.size()),
                           fingerprint(ring.project)));
}

ByteView open_sealed(ByteView sealed, SealKind kind, const Keyring& ring,
                     std::string_view what) {
  // With one key the error says more about what is wrong.
  const PublicKey& key = ring.keys.size() == 1
                             ? ring.current().key
                             : sealer_of(sealed, ring, what).key;
  return open_sealed(sealed, kind, ring.project, key, what);
}

const SigningKey* signer_of(ByteView payload, SealKind kind,
                            const Keyring& ring, const Signature& signature) {
  for (auto one = ring.keys.rbegin(); one != ring.keys.rend(); ++one) {
    if (verify_detached(payload, kind, ring.project, one->key, signature)) {
      return &*one;
    }
  }
  return nullptr;
}

}  // namespace quorate
