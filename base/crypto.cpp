#include "base/crypto.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"
#include "base/file.h"

namespace quorate {
namespace {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, ContextDeleter>;

// OpenSSL fails here for want of memory only.
void require(bool done, const char* what) {
  if (!done) throw Error(ErrorKind::io, std::string("OpenSSL: ") + what);
}

DigestContext new_context() {
  DigestContext context(EVP_MD_CTX_new());
  require(context != nullptr, "EVP_MD_CTX_new");
  return context;
}

// Looked up once, which otherwise every digest does.
const EVP_MD* sha256_algorithm() {
  static EVP_MD* const kFetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(kFetched != nullptr, "SHA-256");
  return kFetched;
}

// Points of order 1, 2, 4 and 8, by their y (RFC 8032, section 5.1): a key like
// that "verifies" signatures that nobody made. The last three are y = p - 1,
// p and p + 1, the others y = 0, 1 and the two of order 8.
constexpr std::string_view kSmallOrderKeys[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};

bool has_small_order(const PublicKey& key) {
  PublicKey y = key;
  y.bytes[31] &= 0x7f;  // the sign of x
  std::string hex = y.hex();
  return std::find(std::begin(kSmallOrderKeys), std::end(kSmallOrderKeys),
                   hex) != std::end(kSmallOrderKeys);
}

constexpr std::size_t kNonceBytes = sizeof(CipherNonce);
constexpr std::size_t kTagBytes = kEncryptionBytes - kNonceBytes;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const {
    EVP_CIPHER_CTX_free(context);
  }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

int cipher_size(ByteView bytes) {
  check(bytes.size() <= std::numeric_limits<int>::max(),
        "encrypted texts are small");
  return static_cast<int>(bytes.size());
}

// A context for either direction, to which the bound bytes are known.
CipherContext begin_cipher(const FixedBytes<32>& key, ByteView nonce,
                           ByteView bound, bool encrypts) {
  CipherContext context(EVP_CIPHER_CTX_new());
  int ignored = 0;
  require(context &&
              EVP_CipherInit_ex(context.get(), EVP_chacha20_poly1305(), nullptr,
                                key.bytes.data(), nonce.data(),
                                encrypts ? 1 : 0) == 1 &&
              EVP_CipherUpdate(context.get(), nullptr, &ignored, bound.data(),
                               cipher_size(bound)) == 1,
          "ChaCha20-Poly1305 init");
  return context;
}

}  // namespace

Hash slow_hash(ByteView secret, ByteView salt) {
  constexpr std::uint64_t kCost = 1 << 14;
  constexpr std::uint64_t kBlocks = 8;
  constexpr std::uint64_t kLanes = 1;
  constexpr std::uint64_t kMostMemory = 64 << 20;
  Hash hash;
  const auto* text = reinterpret_cast<const char*>(secret.data());
  require(EVP_PBE_scrypt(text, secret.size(), salt.data(), salt.size(), kCost,
                         kBlocks, kLanes, kMostMemory, hash.bytes.data(),
                         hash.bytes.size()) == 1,
          "EVP_PBE_scrypt");
  return hash;
}

struct Sha256::Context {
  DigestContext digest = new_context();
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  require(EVP_DigestInit_ex(context_->digest.get(), sha256_algorithm(),
                            nullptr) == 1,
          "SHA-256 init");
}

Sha256::~Sha256() = default;

void Sha256::update(ByteView bytes) {
  require(
      EVP_DigestUpdate(context_->digest.get(), bytes.data(), bytes.size()) == 1,
      "SHA-256 update");
}

Hash Sha256::finish() {
  Hash hash;
  require(EVP_DigestFinal_ex(context_->digest.get(), hash.bytes.data(),
                             nullptr) == 1,
          "SHA-256 final");
  require(EVP_DigestInit_ex(context_->digest.get(), sha256_algorithm(),
                            nullptr) == 1,
          "SHA-256 init");
  return hash;
}

// In one call: for a short text, preparing a context takes longer than hashing.
Hash sha256(ByteView bytes) {
  Hash hash;
  require(EVP_Digest(bytes.data(), bytes.size(), hash.bytes.data(), nullptr,
                     sha256_algorithm(), nullptr) == 1,
          "SHA-256");
  return hash;
}

FixedBytes<32> hmac_sha256(const FixedBytes<32>& key, ByteView message) {
  FixedBytes<32> mac;
  require(HMAC(EVP_sha256(), key.bytes.data(),
               static_cast<int>(key.bytes.size()), message.data(),
               message.size(), mac.bytes.data(), nullptr) != nullptr,
          "HMAC-SHA-256");
  return mac;
}

bool is_equal_secret(const FixedBytes<32>& a, const FixedBytes<32>& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

Bytes encrypt(const FixedBytes<32>& key, const CipherNonce& nonce,
              ByteView bound, ByteView plain) {
  CipherContext context = begin_cipher(key, nonce.bytes, bound, true);
  Bytes out(kNonceBytes + plain.size() + kTagBytes);
  std::copy(nonce.bytes.begin(), nonce.bytes.end(), out.begin());
  std::uint8_t* text = out.data() + kNonceBytes;
  std::uint8_t* tag = text + plain.size();
  int ignored = 0;
  require(EVP_CipherUpdate(context.get(), text, &ignored, plain.data(),
                           cipher_size(plain)) == 1 &&
              EVP_CipherFinal_ex(context.get(), tag, &ignored) == 1 &&
              EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG,
                                  kTagBytes, tag) == 1,
          "ChaCha20-Poly1305 encrypt");
  return out;
}

Bytes encrypt(const FixedBytes<32>& key, ByteView bound, ByteView plain) {
  return encrypt(key, secret_random<CipherNonce>(), bound, plain);
}

std::optional<Bytes> decrypt(const FixedBytes<32>& key, ByteView bound,
                             ByteView encrypted) {
  if (encrypted.size() < kEncryptionBytes) return std::nullopt;
  ByteView nonce = encrypted.first(kNonceBytes);
  ByteView inner = encrypted.subspan(
      kNonceBytes, encrypted.size() - kNonceBytes - kTagBytes);
  std::array<std::uint8_t, kTagBytes> tag{};
  std::copy(encrypted.end() - kTagBytes, encrypted.end(), tag.begin());
  CipherContext context = begin_cipher(key, nonce, bound, false);
  // One byte more: OpenSSL takes no null pointer for an empty text.
  Bytes out(inner.size() + 1);
  int ignored = 0;
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes,
                              tag.data()) == 1 &&
              EVP_CipherUpdate(context.get(), out.data(), &ignored,
                               inner.data(), cipher_size(inner)) == 1,
          "ChaCha20-Poly1305 decrypt");
  out.resize(inner.size());
  std::uint8_t nothing = 0;
  if (EVP_CipherFinal_ex(context.get(), &nothing, &ignored) != 1) {
    return std::nullopt;
  }
  return out;
}

FixedBytes<32> derive_key(ByteView secret, const FixedBytes<32>& salt,
                          ByteView purpose) {
  FixedBytes<32> extracted = hmac_sha256(salt, secret);
  Bytes block(purpose.begin(), purpose.end());
  block.push_back(1);
  return hmac_sha256(extracted, block);
}

PrivateKey PrivateKey::generate() {
  std::array<std::uint8_t, 32> seed{};
  fill_secret_random(seed);
  return from_seed(seed);
}

PrivateKey PrivateKey::from_seed(ByteView seed) {
  PrivateKey key;
  if (seed.size() != key.seed_.size()) {
    throw Error(ErrorKind::corrupt, "private key: expected 32 bytes, found " +
                                        std::to_string(seed.size()));
  }
  std::copy(seed.begin(), seed.end(), key.seed_.begin());
  Key pkey(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(),
                                        seed.size()));
  std::size_t size = key.public_key_.bytes.size();
  require(pkey && EVP_PKEY_get_raw_public_key(
                      pkey.get(), key.public_key_.bytes.data(), &size) == 1,
          "Ed25519 public key");
  key.pkey_ = std::move(pkey);
  return key;
}

PrivateKey PrivateKey::load(const std::string& path) {
  std::string text = read_secret_file(path, 1024);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.pop_back();
  }
  std::array<std::uint8_t, 32> seed{};
  from_hex(text, seed, "private key " + path);
  return from_seed(seed);
}

void PrivateKey::save(const std::string& path) const {
  write_secret_file(path, to_hex(seed_) + "\n");
}

PrivateKey PrivateKey::derive(std::string_view purpose) const {
  return from_seed(
      hmac_sha256(FixedBytes<32>{seed_}, as_bytes(purpose)).view());
}

Signature PrivateKey::sign(ByteView message) const {
  DigestContext context = new_context();
  Signature signature;
  std::size_t size = signature.bytes.size();
  require(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                             static_cast<EVP_PKEY*>(pkey_.get())) == 1 &&
              EVP_DigestSign(context.get(), signature.bytes.data(), &size,
                             message.data(), message.size()) == 1,
          "Ed25519 sign");
  return signature;
}

bool verify(const PublicKey& key, ByteView message,
            const Signature& signature) {
  if (has_small_order(key)) return false;
  Key pkey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                       key.bytes.data(), key.bytes.size()));
  if (!pkey) return false;
  DigestContext context = new_context();
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr,
                              pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.bytes.data(),
                          signature.bytes.size(), message.data(),
                          message.size()) == 1;
}

void fill_secret_random(std::span<std::uint8_t> out) {
  // A draw costs the same for 8 bytes as for many: small ones are drawn ahead.
  // What is taken is not kept.
  thread_local std::array<std::uint8_t, 512> drawn;
  thread_local std::size_t left = 0;
  const auto draw = [](std::span<std::uint8_t> room) {
    require(RAND_bytes(room.data(), static_cast<int>(room.size())) == 1,
            "RAND_bytes");
  };
  if (out.size() > drawn.size() / 8) return draw(out);
  if (left < out.size()) {
    draw(drawn);
    left = drawn.size();
  }
  left -= out.size();
  const std::span taken = std::span(drawn).subspan(left, out.size());
  std::copy(taken.begin(), taken.end(), out.begin());
  OPENSSL_cleanse(taken.data(), taken.size());
}

std::uint64_t secret_random_u64() {
  std::uint64_t value = 0;
  fill_secret_random({reinterpret_cast<std::uint8_t*>(&value), sizeof value});
  return value;
}

}  // namespace quorate
