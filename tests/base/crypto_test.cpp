#include "base/crypto.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

Bytes bytes_of(std::string_view hex) {
  Bytes bytes(hex.size() / 2);
  from_hex(hex, bytes, "test");
  return bytes;
}

// RFC 8032, section 7.1, test 2.
constexpr std::string_view kSeed =
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
constexpr std::string_view kPublic =
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
constexpr std::string_view kSignature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

}  // namespace

TEST_CASE("SHA-256 gives the published answers") {
  CHECK(sha256({}).hex() ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(as_bytes("abc")).hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("scrypt gives the answer of RFC 7914") {
  CHECK(
      slow_hash(as_bytes("pleaseletmein"), as_bytes("SodiumChloride")).hex() ==
      "7023bdcb3afd7348461c06cd81fd38eb"
      "fda8fbba904f8e3ea9b543f6545da1f2");
}

TEST_CASE("a stream hashes like the whole, and starts anew") {
  Sha256 digest;
  for (int round = 0; round < 2; ++round) {
    digest.update(as_bytes("a"));
    digest.update({});
    digest.update(as_bytes("bc"));
    CHECK(digest.finish() == sha256(as_bytes("abc")));
  }
}

// Keys of other lengths are made 32 bytes as HMAC itself does it: short ones
// end in zeros, those longer than a block are hashed.
TEST_CASE("HMAC-SHA-256 gives the answers of RFC 4231") {
  FixedBytes<32> key1, key2, key3, key4;
  std::fill_n(key1.bytes.begin(), 20, std::uint8_t{0x0b});
  std::copy_n("Jefe", 4, key2.bytes.begin());
  std::fill_n(key3.bytes.begin(), 20, std::uint8_t{0xaa});
  std::iota(key4.bytes.begin(), key4.bytes.begin() + 25, std::uint8_t{1});
  FixedBytes<32> long_key = sha256(Bytes(131, 0xaa));
  CHECK(hmac_sha256(key1, as_bytes("Hi There")).hex() ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac_sha256(key2, as_bytes("what do ya want for nothing?")).hex() ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_sha256(key3, Bytes(50, 0xdd)).hex() ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  CHECK(hmac_sha256(key4, Bytes(50, 0xcd)).hex() ==
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(
      hmac_sha256(long_key, as_bytes("Test Using Larger Than Block-Size Key - "
                                     "Hash Key First"))
          .hex() ==
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("secrets are equal when every byte is") {
  FixedBytes<32> a, b;
  CHECK(is_equal_secret(a, b));
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    b = a;
    b.bytes[i] = 1;
    CHECK_FALSE(is_equal_secret(a, b));
  }
}

TEST_CASE("Ed25519 gives the answers of RFC 8032") {
  PrivateKey key = PrivateKey::from_seed(bytes_of(kSeed));
  CHECK(key.public_key().hex() == kPublic);
  Bytes message{0x72};
  CHECK(key.sign(message).hex() == kSignature);
  CHECK(verify(key.public_key(), message, key.sign(message)));
}

TEST_CASE("a signature fits one key and one message") {
  PrivateKey key = PrivateKey::generate();
  Signature signature = key.sign(as_bytes("message"));
  CHECK(verify(key.public_key(), as_bytes("message"), signature));
  CHECK_FALSE(verify(key.public_key(), as_bytes("messagf"), signature));
  CHECK_FALSE(verify(PrivateKey::generate().public_key(), as_bytes("message"),
                     signature));
  signature.bytes[63] ^= 1;
  CHECK_FALSE(verify(key.public_key(), as_bytes("message"), signature));
  CHECK_FALSE(verify(PublicKey{}, as_bytes("message"), Signature{}));
}

TEST_CASE("a seed has 32 bytes") {
  CHECK_THROWS_AS(PrivateKey::from_seed(Bytes(31)), Error);
  CHECK_THROWS_AS(PrivateKey::from_seed(Bytes(33)), Error);
}

TEST_CASE("a key file is for its owner only") {
  test::TemporaryFolder folder;
  std::string path = folder / "key";
  PrivateKey key = PrivateKey::generate();
  key.save(path);

  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(PrivateKey::load(path).public_key() == key.public_key());
  // it is never overwritten
  CHECK_THROWS_AS(PrivateKey::generate().save(path), Error);
  CHECK(PrivateKey::load(path).public_key() == key.public_key());

  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  try {
    PrivateKey::load(path);
    FAIL("read a key that others can read");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::denied);
  }
}

TEST_CASE("a damaged key file is refused") {
  test::TemporaryFolder folder;
  write_file_durably(folder / "key", as_bytes("abcd\n"), 0600);
  CHECK_THROWS_AS(PrivateKey::load(folder / "key"), Error);
  CHECK_THROWS_AS(PrivateKey::load(folder / "none"), Error);
}

TEST_CASE("secret numbers do not repeat") {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(secret_random_u64());
  CHECK(seen.size() == 100);
}

TEST_CASE("secrets of all sizes are whole, and no part of one comes again") {
  std::set<Bytes> seen;  // pieces of 8 bytes
  std::size_t pieces = 0;
  for (std::size_t size : {8U, 32U, 64U, 72U, 600U, 16U}) {
    for (int i = 0; i < 50; ++i) {
      Bytes secret(size);
      fill_secret_random(secret);
      for (std::size_t at = 0; at < size; at += 8, ++pieces) {
        seen.emplace(secret.begin() + static_cast<std::ptrdiff_t>(at),
                     secret.begin() + static_cast<std::ptrdiff_t>(at + 8));
      }
    }
  }
  CHECK(seen.size() == pieces);
  CHECK(seen.count(Bytes(8)) == 0);
}

TEST_CASE("fixed bytes compare, print and parse as a whole") {
  Hash hash = sha256(as_bytes("abc"));
  CHECK(parse_hex<Hash>(hash.hex(), "hash") == hash);
  CHECK(Hash{}.is_zero());
  CHECK_FALSE(hash.is_zero());
  CHECK(Hash{} < hash);
  CHECK_THROWS_WITH_AS(parse_hex<Hash>("00", "update hash"),
                       "update hash: expected 64 hexadecimal digits, found 2",
                       Error);
}

}  // namespace quorate
