#include "server/http/tls/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/crypto.h"
#include "base/error.h"
#include "server/http/tls/tls_context.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMaxPemBytes = 1 << 20;
constexpr long kValidSeconds = 10L * 366 * 24 * 3600;
// A clock that is a little behind the server's must find it valid already.
constexpr long kValidBeforeNow = 24L * 3600;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
void free_names(GENERAL_NAMES* names) {
  GENERAL_NAMES_free(names);
}
using BioPointer = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, Freed<X509_free>>;
using NamesPointer = std::unique_ptr<GENERAL_NAMES, Freed<free_names>>;

void require(bool done, const char* what) {
  if (!done) throw_tls(std::string("making a certificate: ") + what);
}

Bytes bytes_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return Bytes(data, data + size);
}

// type: GEN_DNS with the name as text, or GEN_IPADD with the address's bytes.
void add_name(GENERAL_NAMES* names, int type, std::string_view value) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* text = ASN1_STRING_type_new(
      type == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
  require(name && text, "out of memory");
  ASN1_STRING_set(text, value.data(), static_cast<int>(value.size()));
  GENERAL_NAME_set0_value(name, type, text);
  require(sk_GENERAL_NAME_push(names, name) > 0, "out of memory");
}

void add_name(GENERAL_NAMES* names, const std::string& host) {
  unsigned char address[16];
  const char* raw = reinterpret_cast<const char*>(address);
  if (::inet_pton(AF_INET, host.c_str(), address) == 1) {
    add_name(names, GEN_IPADD, {raw, 4});
  } else if (::inet_pton(AF_INET6, host.c_str(), address) == 1) {
    add_name(names, GEN_IPADD, {raw, 16});
  } else {
    add_name(names, GEN_DNS, host);
  }
}

CertificatePointer sign_certificate(EVP_PKEY* key, const std::string& name) {
  CertificatePointer certificate(X509_new());
  X509* x509 = certificate.get();
  require(x509 != nullptr, "out of memory");
  X509_set_version(x509, X509_VERSION_3);
  // 63 bits: positive in its 8 bytes.
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509),
                          secret_random_u64() >> 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -kValidBeforeNow);
  X509_gmtime_adj(X509_getm_notAfter(x509), kValidSeconds);
  X509_set_pubkey(x509, key);
  X509_NAME* subject = X509_get_subject_name(x509);
  const auto* raw = reinterpret_cast<const unsigned char*>(name.data());
  require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, raw,
                                     static_cast<int>(name.size()), -1, 0) == 1,
          "the common name");
  X509_set_issuer_name(x509, subject);

  NamesPointer names(GENERAL_NAMES_new());
  require(names != nullptr, "out of memory");
  for (const std::string& host :
       {std::string("localhost"), std::string("127.0.0.1"),
        std::string("::1")}) {
    if (host != name) add_name(names.get(), host);
  }
  add_name(names.get(), name);
  require(X509_add1_ext_i2d(x509, NID_subject_alt_name, names.get(), 0,
                            X509V3_ADD_DEFAULT) == 1,
          "its names");
  require(X509_sign(x509, key, EVP_sha256()) > 0, "signing");
  return certificate;
}

}  // namespace

void make_self_signed_certificate(const TlsFiles& files,
                                  const std::string& common_name) {
  if (common_name.empty() || common_name.size() > 64) {
    throw Error(ErrorKind::usage,
                "making a certificate: the name \"" + common_name +
                    "\" must have 1 to 64 characters: choose another");
  }
  KeyPointer key(EVP_EC_gen("P-256"));
  require(key != nullptr, "its key");
  CertificatePointer certificate = sign_certificate(key.get(), common_name);

  BioPointer key_text(BIO_new(BIO_s_mem()));
  BioPointer certificate_text(BIO_new(BIO_s_mem()));
  require(key_text && certificate_text, "out of memory");
  require(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr,
                                   0, nullptr, nullptr) == 1,
          "writing its key");
  require(PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1,
          "writing it");
  write_file_durably(files.key, bytes_of(key_text.get()), 0600);
  write_file_durably(files.certificate, bytes_of(certificate_text.get()));
}

void expect_certificate(const TlsFiles& files) {
  make_tls_context(files);
}

std::string public_key_pin(const fs::path& certificate) {
  Bytes text = read_file(certificate, kMaxPemBytes);
  BioPointer bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CertificatePointer x509(
      bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!x509) {
    throw Error(ErrorKind::corrupt, "reading " + certificate.string() +
                                        ": expected a certificate in PEM form, "
                                        "found none");
  }
  unsigned char* der = nullptr;
  int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509.get()), &der);
  require(size > 0, "encoding its public key");
  Hash hash = sha256({der, static_cast<std::size_t>(size)});
  OPENSSL_free(der);

  // 32 bytes are 44 characters in base64; EVP_EncodeBlock adds a zero.
  unsigned char base64[45];
  EVP_EncodeBlock(base64, hash.bytes.data(),
                  static_cast<int>(hash.bytes.size()));
  return std::string("sha256//") + reinterpret_cast<const char*>(base64);
}

}  // namespace quorate
