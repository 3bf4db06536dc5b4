#include "workunits/sealed.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/domain_hash.h"

namespace quorate {
namespace {

constexpr std::string_view kMagic = "QRTSEAL1";

// Which of a project's keys made a seal.
struct KeyId : FixedBytes<8> {};

KeyId key_id_of(const PublicKey& key) {
  Hash hash = sha256(key.view());
  KeyId id;
  std::copy_n(hash.bytes.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

// What is signed.
Hash seal_digest(ByteView payload, SealKind kind, const ProjectId& project,
                 const PublicKey& key) {
  ByteWriter kind_bytes;
  kind_bytes.put(static_cast<std::uint32_t>(kind));
  return domain_hash("quorate seal v1",
                     {kind_bytes.take(), project.view(), key_id_of(key).view(),
                      sha256(payload).view()});
}

[[noreturn]] void reject(std::string_view what, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("{}: {}", what, why));
}

}  // namespace

ProjectId project_id_of(const PublicKey& first_key) {
  ProjectId id;
  id.bytes = domain_hash("quorate project v1", {first_key.view()}).bytes;
  return id;
}

std::string fingerprint(const ProjectId& id) {
  return id.hex().substr(0, 32);
}

Bytes seal(ByteView payload, SealKind kind, const ProjectId& project,
           const PrivateKey& key) {
  check(payload.size() <= UINT32_MAX, "a sealed payload is below 4 GiB");
  ByteWriter out;
  out.put_bytes(payload);
  out.put_bytes(sign_detached(payload, kind, project, key).view());
  out.put_bytes(key_id_of(key.public_key()).view());
  out.put(static_cast<std::uint32_t>(kind));
  out.put(static_cast<std::uint32_t>(payload.size()));
  out.put_bytes(as_bytes(kMagic));
  return out.take();
}

ByteView open_sealed(ByteView sealed, SealKind kind, const ProjectId& project,
                     const PublicKey& key, std::string_view what) {
  if (sealed.size() < kSealBytes) {
    reject(what, fmt::format("{} bytes, a seal alone has {}", sealed.size(),
                             kSealBytes));
  }
  ByteView payload = sealed.first(sealed.size() - kSealBytes);
  ByteReader reader(sealed.last(kSealBytes), what);
  Signature signature;
  KeyId key_id;
  reader.get_bytes(signature.bytes);
  reader.get_bytes(key_id.bytes);
  auto found_kind = reader.get<std::uint32_t>();
  auto size = reader.get<std::uint32_t>();
  if (as_text(reader.take(kMagic.size())) != kMagic) {
    reject(what, "does not end in a seal");
  }
  if (size != payload.size()) {
    reject(what,
           fmt::format("sealed were {} bytes, found {}", size, payload.size()));
  }
  if (found_kind != static_cast<std::uint32_t>(kind)) {
    reject(what, fmt::format("expected a seal of kind {}, found {}",
                             static_cast<std::uint32_t>(kind), found_kind));
  }
  if (key_id != key_id_of(key)) {
    reject(what, fmt::format("sealed with key {}, expected {}", key_id.hex(),
                             key_id_of(key).hex()));
  }
  if (!verify_detached(payload, kind, project, key, signature)) {
    reject(what, "the seal does not fit: changed, or of another project");
  }
  return payload;
}

bool names_key(ByteView sealed, const PublicKey& key) {
  if (sealed.size() < kSealBytes) return false;
  const ByteView seal_bytes = sealed.last(kSealBytes);
  const KeyId id = key_id_of(key);
  return std::equal(id.bytes.begin(), id.bytes.end(),
                    seal_bytes.begin() + sizeof(Signature::bytes));
}

Signature sign_detached(ByteView payload, SealKind kind,
                        const ProjectId& project, const PrivateKey& key) {
  return key.sign(seal_digest(payload, kind, project, key.public_key()).view());
}

bool verify_detached(ByteView payload, SealKind kind, const ProjectId& project,
                     const PublicKey& key, const Signature& signature) {
  return verify(key, seal_digest(payload, kind, project, key).view(),
                signature);
}

}  // namespace quorate
