#include "base/weak_crypto.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/error.h"
#include "base/file.h"

namespace quorate {
namespace {

constexpr int kBits = 1024;
constexpr int kBytes = kBits / 8;
constexpr std::size_t kMaxPem = 8192;

template <auto free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, Deleter<free>>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Number = Owned<BIGNUM, BN_free>;
using Stream = Owned<BIO, BIO_free_all>;

// OpenSSL fails here for want of memory only.
void require(bool done, const char* what) {
  if (!done) throw Error(ErrorKind::io, std::string("OpenSSL: ") + what);
}

FixedBytes<kBytes> number_in(const EVP_PKEY* key, const char* name) {
  BIGNUM* raw = nullptr;
  require(EVP_PKEY_get_bn_param(key, name, &raw) == 1, "RSA key's numbers");
  Number number(raw);
  FixedBytes<kBytes> out;
  require(BN_bn2binpad(raw, out.bytes.data(), kBytes) == kBytes,
          "RSA key's size");
  return out;
}

Number number_of(const FixedBytes<kBytes>& bytes) {
  Number number(BN_bin2bn(bytes.bytes.data(), kBytes, nullptr));
  require(number != nullptr, "BN_bin2bn");
  return number;
}

// Null for numbers that are no key.
Key openssl_form(const RsaPublicKey& key) {
  Number n = number_of(key.modulus);
  Number e = number_of(key.exponent);
  Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  require(builder &&
              OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N,
                                     n.get()) == 1 &&
              OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E,
                                     e.get()) == 1,
          "OSSL_PARAM_BLD");
  Owned<OSSL_PARAM, OSSL_PARAM_free> parameters(
      OSSL_PARAM_BLD_to_param(builder.get()));
  KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  require(parameters && context, "EVP_PKEY_CTX_new");
  EVP_PKEY* made = nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY,
                        parameters.get()) != 1) {
    return nullptr;
  }
  return Key(made);
}

// No signature digest is set: the text is padded as it is.
bool set_padding(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1;
}

int no_password(char*, int, int, void*) {
  return 0;
}

}  // namespace

struct Md5::Context {
  Owned<EVP_MD_CTX, EVP_MD_CTX_free> digest{EVP_MD_CTX_new()};
};

Md5::Md5() : context_(std::make_unique<Context>()) {
  require(context_->digest && EVP_DigestInit_ex(context_->digest.get(),
                                                EVP_md5(), nullptr) == 1,
          "MD5 init");
}

Md5::~Md5() = default;

void Md5::update(ByteView bytes) {
  require(
      EVP_DigestUpdate(context_->digest.get(), bytes.data(), bytes.size()) == 1,
      "MD5 update");
}

Md5Hash Md5::finish() {
  Md5Hash hash;
  require(
      EVP_DigestFinal_ex(context_->digest.get(), hash.bytes.data(), nullptr) ==
              1 &&
          EVP_DigestInit_ex(context_->digest.get(), EVP_md5(), nullptr) == 1,
      "MD5 final");
  return hash;
}

FixedBytes<20> hmac_sha1(ByteView key, ByteView message) {
  FixedBytes<20> mac;
  require(
      HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), message.data(),
           message.size(), mac.bytes.data(), nullptr) != nullptr,
      "HMAC-SHA-1");
  return mac;
}

Md5Hash md5(ByteView bytes) {
  Md5 digest;
  digest.update(bytes);
  return digest.finish();
}

RsaPrivateKey::RsaPrivateKey(std::shared_ptr<void> pkey)
    : pkey_(std::move(pkey)) {
  const auto* key = static_cast<const EVP_PKEY*>(pkey_.get());
  public_key_.modulus = number_in(key, OSSL_PKEY_PARAM_RSA_N);
  public_key_.exponent = number_in(key, OSSL_PKEY_PARAM_RSA_E);
}

RsaPrivateKey RsaPrivateKey::generate() {
  Key key(EVP_RSA_gen(kBits));
  require(key != nullptr, "EVP_RSA_gen");
  return RsaPrivateKey(std::move(key));
}

RsaPrivateKey RsaPrivateKey::load(const std::string& path) {
  std::string pem = read_secret_file(path, kMaxPem);
  Stream stream(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  require(stream != nullptr, "BIO_new_mem_buf");
  Key key(PEM_read_bio_PrivateKey(stream.get(), nullptr, no_password, nullptr));
  if (!key || EVP_PKEY_is_a(key.get(), "RSA") != 1 ||
      EVP_PKEY_get_bits(key.get()) != kBits) {
    throw Error(ErrorKind::corrupt,
                "private key " + path +
                    ": expected an RSA key of 1024 bits in PEM, without a "
                    "password");
  }
  return RsaPrivateKey(std::move(key));
}

void RsaPrivateKey::save(const std::string& path) const {
  Stream stream(BIO_new(BIO_s_mem()));
  char* pem = nullptr;
  require(stream && PEM_write_bio_PKCS8PrivateKey(
                        stream.get(), static_cast<const EVP_PKEY*>(pkey_.get()),
                        nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "PEM_write_bio_PKCS8PrivateKey");
  auto size = static_cast<std::size_t>(BIO_get_mem_data(stream.get(), &pem));
  write_secret_file(path, std::string_view(pem, size));
}

RsaSignature RsaPrivateKey::sign(std::string_view text) const {
  KeyContext context(EVP_PKEY_CTX_new_from_pkey(
      nullptr, static_cast<EVP_PKEY*>(pkey_.get()), nullptr));
  RsaSignature signature;
  std::size_t size = signature.bytes.size();
  require(context && EVP_PKEY_sign_init(context.get()) == 1 &&
              set_padding(context.get()) &&
              EVP_PKEY_sign(context.get(), signature.bytes.data(), &size,
                            as_bytes(text).data(), text.size()) == 1,
          "RSA sign");
  return signature;
}

bool verify(const RsaPublicKey& key, std::string_view text,
            const RsaSignature& signature) {
  Key pkey = openssl_form(key);
  if (!pkey) return false;
  KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, pkey.get(), nullptr));
  require(context != nullptr, "EVP_PKEY_CTX_new");
  return EVP_PKEY_verify_init(context.get()) == 1 &&
         set_padding(context.get()) &&
         EVP_PKEY_verify(context.get(), signature.bytes.data(),
                         signature.bytes.size(), as_bytes(text).data(),
                         text.size()) == 1;
}

}  // namespace quorate
