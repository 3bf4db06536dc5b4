#include "base/weak_crypto.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

// Made with "openssl genrsa 1024"; the signature with
//   md5sum FILE | cut -c1-32 | tr -d '\n' > h
//   openssl pkeyutl -sign -inkey KEY -in h -pkeyopt rsa_padding_mode:pkcs1
// and believed by a BOINC client 7.20.5. A key for tests only.
constexpr std::string_view kPem = R"(-----BEGIN PRIVATE KEY-----
MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMrvPTIDpStvxAPO
bk+4qJF9fHnhnA6FYphbNMeXveVIw/h7T49I3snlcSS44Op25XdiPZQXkL8hXC7x
NH/E7Tg8jfk6iqbKT+RSQ3WEbBxtAkHyGPgGWI8wgTr41PQk+ytgcCOKOkbMtCiK
yVm7cLIW4+vpU/bSQmJltnF9Q29VAgMBAAECgYEAqG1hU/ZUirWLcUFOqtnvBjmp
KxtFw4OPLjZcmt9lGzyGceAeSyTGy7ijbEAJZG/jyW7+/r+EQi207b0Bvp25530g
WufcWZPBGpXXdI8cstOG9IITu4ktI4DUeRjbbG4d9hLag+0kYWIYk9dimQsS1Jjj
6hM1qAZ6BNNhDkxbOgECQQDt7lylLE39T3S52+fWVBzT+XXw5k0Vyoh4wd3AwL/0
OGIGjA81ijB3vbl8hZKsBWh8DmMrTaeIKApXXud0ByiBAkEA2liBgYsqKejGWavp
zVuURR0va2+0Ct2XRxajCv9rLbRcOQEBq9O3s3R5Tn8wtVP98J8fYxBJT8TxfYiF
aZC81QJBAKnOF6h5+h7yeee7HbZEyV4vBxEqC5GlvcgQ8+YAqf3tz2fExYX8XaLX
cG2CFq9WHL+MtRHOleYCTX8VaDHSegECQGQW0jbp7kgL1nDgp2plopAUEtqy99tL
PL9vlwnBkAYBeYz/8x4rDTiMGddr4o4clHmq1553psOUSgb7f/ymRokCQDCDUsQq
gxnALUzET6GULHgANrLn1cA/FV727lJvTl+FV9nPE5wJA4SpR2bcEClPOqwux6Lg
N5wxKN39CAUJYN0=
-----END PRIVATE KEY-----
)";
constexpr std::string_view kModulus =
    "caef3d3203a52b6fc403ce6e4fb8a8917d7c79e19c0e8562985b34c797bde548"
    "c3f87b4f8f48dec9e57124b8e0ea76e577623d941790bf215c2ef1347fc4ed38"
    "3c8df93a8aa6ca4fe4524375846c1c6d0241f218f806588f30813af8d4f424fb"
    "2b6070238a3a46ccb4288ac959bb70b216e3ebe953f6d2426265b6717d436f55";
constexpr std::string_view kSigned = "c3c1ee75952a1f8dfcd9e235069b9bef";
constexpr std::string_view kSignature =
    "b8481cf764032f6155693162e17e7210b84fe806942cf87c79d0cc3af3d176d5"
    "13eae7a76ab0ee039da281aa6f742de654cb418395ba3e88cf09489729b0476b"
    "1aae44bb7c4ce99206d4b19a9914da8bd1a435b020ae91bce9b761e4f70c1222"
    "cc00502883815079e806fab9ed6f04d48c762348a6236dfbc6cc8cb5e077b6b9";

std::string saved_key(const fs::path& folder) {
  std::string path = folder / "openssl.pem";
  write_secret_file(path, kPem);
  return path;
}

}  // namespace

TEST_CASE("MD5 gives the published answers, whole and in pieces") {
  // RFC 1321, appendix A.5.
  CHECK(md5({}).hex() == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(md5(as_bytes("message digest")).hex() ==
        "f96b697d7cb7938d525a2f31aaf161d0");
  Md5 digest;
  digest.update(as_bytes("message "));
  digest.update(as_bytes("digest"));
  CHECK(digest.finish() == md5(as_bytes("message digest")));
  CHECK(digest.finish() == md5({}));
}

TEST_CASE("a key made by openssl signs as openssl does") {
  test::TemporaryFolder folder;
  RsaPrivateKey key = RsaPrivateKey::load(saved_key(folder.path()));
  CHECK(key.public_key().modulus.hex() == kModulus);
  CHECK(key.public_key().exponent.hex() == std::string(250, '0') + "010001");
  RsaSignature signature = key.sign(kSigned);
  CHECK(signature.hex() == kSignature);
  CHECK(verify(key.public_key(), kSigned, signature));
}

TEST_CASE("a signature of something or somebody else is none") {
  RsaPrivateKey key = RsaPrivateKey::generate();
  RsaSignature signature = key.sign(kSigned);
  CHECK(verify(key.public_key(), kSigned, signature));
  CHECK_FALSE(verify(key.public_key(), "other text", signature));
  CHECK_FALSE(verify(key.public_key(), "", signature));
  CHECK_FALSE(
      verify(RsaPrivateKey::generate().public_key(), kSigned, signature));
  for (std::size_t at : {0U, 64U, 127U}) {
    RsaSignature changed = signature;
    changed.bytes[at] ^= 1;
    CHECK_FALSE(verify(key.public_key(), kSigned, changed));
  }
}

TEST_CASE("numbers that are no key verify nothing") {
  RsaSignature signature;
  CHECK_FALSE(verify(RsaPublicKey{}, kSigned, signature));
  RsaPublicKey ones;
  ones.modulus.bytes.fill(0xff);
  ones.exponent.bytes.fill(0xff);
  CHECK_FALSE(verify(ones, kSigned, signature));
  RsaPublicKey small;
  small.modulus.bytes[127] = 15;
  small.exponent.bytes[127] = 3;
  CHECK_FALSE(verify(small, kSigned, signature));
}

TEST_CASE("a key is saved for its owner only, and read again") {
  test::TemporaryFolder folder;
  std::string path = folder.path() / "code.pem";
  RsaPrivateKey key = RsaPrivateKey::generate();
  key.save(path);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(RsaPrivateKey::load(path).public_key() == key.public_key());
  CHECK_THROWS_AS(key.save(path), Error);

  fs::permissions(path, fs::perms::others_read, fs::perm_options::add);
  CHECK_THROWS_WITH_AS(RsaPrivateKey::load(path),
                       doctest::Contains("others may read it"), Error);
}

TEST_CASE("a file that holds no such key is refused") {
  test::TemporaryFolder folder;
  std::string path = folder.path() / "key.pem";
  std::string cut(kPem.substr(0, kPem.size() / 2));
  for (const std::string& text : {std::string("no key"), std::string(), cut}) {
    fs::remove(path);
    write_secret_file(path, text);
    CHECK_THROWS_WITH_AS(RsaPrivateKey::load(path),
                         doctest::Contains("expected an RSA key of 1024 bits"),
                         Error);
  }
}

}  // namespace quorate
