#include "protocol/boinc/signatures.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/boinc/scheduler_request.h"
#include "protocol/boinc/upload.h"
#include "tests/protocol/boinc/samples.h"
#include "tests/support/samples.h"

namespace quorate::boinc {
namespace {

std::string refusal_of(std::string_view key) {
  try {
    parse_key(key);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a key has the text form that clients know") {
  RsaPublicKey key;
  key.modulus = test::filled<FixedBytes<128>>(0xc1);
  key.exponent.bytes[125] = 1;
  key.exponent.bytes[127] = 1;
  std::string c1_line, zero_line(64, '0');
  for (int i = 0; i < 32; ++i) c1_line += "c1";
  c1_line += '\n';
  zero_line += '\n';
  std::string text = "1024\n" + c1_line + c1_line + c1_line + c1_line +
                     zero_line + zero_line + zero_line + std::string(58, '0') +
                     "010001\n.\n";
  CHECK(write(key) == text);
  CHECK(parse_key(text) == key);
  CHECK(parse_key("  1024\r\n" + text.substr(5) + "and more") == key);
}

TEST_CASE("a key that a client sends back is the one that it was given") {
  // Made by openssl, believed by a client 7.20.5, recorded from it.
  SchedulerRequest request =
      parse_scheduler_request(as_bytes(golden("request_reports.xml")));
  REQUIRE(request.code_sign_key);
  CHECK(golden("request_reports.xml").find(write(*request.code_sign_key)) !=
        std::string::npos);
}

// Given to a client 7.20.5 in a reply, recorded from its upload.
TEST_CASE("a permission to upload comes back from a client as it was") {
  auto upload =
      std::get<FileUpload>(*parse_upload_head(as_bytes(golden("upload.bin"))));
  const auto key = test::filled<UploadKey>('k');
  CHECK(permit_upload(key, upload.name, upload.max_nbytes) ==
        upload.permission);
}

TEST_CASE("a permission to upload is for one name and one size") {
  const auto key = test::filled<UploadKey>('k');
  const UploadPermission permission = permit_upload(key, "r1_update", 5000);
  CHECK(is_permitted(key, "r1_update", 5000, permission));
  CHECK_FALSE(is_permitted(key, "r1_update", 5001, permission));
  CHECK_FALSE(is_permitted(key, "r1_update", 500, permission));
  CHECK_FALSE(is_permitted(key, "r2_update", 5000, permission));
  CHECK_FALSE(is_permitted(key, "r1_header", 5000, permission));
  CHECK_FALSE(is_permitted(test::filled<UploadKey>('l'), "r1_update", 5000,
                           permission));
  CHECK_FALSE(is_permitted(key, "r1_update", 5000, UploadPermission{}));
}

TEST_CASE("a permission to upload is read as it was written") {
  const UploadPermission permission = permit_upload(UploadKey{}, "r1_x", 7);
  std::string text = write(permission);
  CHECK(text == permission.hex() + "\n.\n");
  CHECK(parse_upload_permission(text) == permission);
  text.pop_back();
  CHECK(parse_upload_permission("\n  " + text + "</x>zz") == permission);
}

TEST_CASE("a signature is read as it was written, the dot ends it") {
  RsaPrivateKey key = RsaPrivateKey::generate();
  RsaSignature signature = sign(key, md5(as_bytes("a program")));
  std::string text = write(signature);
  CHECK(text.size() == 4 * 65 + 2);
  CHECK(text.ends_with("\n.\n"));
  CHECK(parse_signature(text) == signature);
  text.pop_back();
  CHECK(parse_signature("\n" + text + "</x>zz") == signature);
  CHECK(verify(key.public_key(), md5(as_bytes("a program")), signature));
  CHECK_FALSE(verify(key.public_key(), md5(as_bytes("a progran")), signature));
}

TEST_CASE("the successor of a key is signed as its text without last newline") {
  RsaPublicKey key = RsaPrivateKey::generate().public_key();
  std::string text = write(key);
  CHECK(successor(key) == md5(as_bytes(text).subspan(0, text.size() - 1)));
}

TEST_CASE("what is no key or signature is refused") {
  std::string text = write(RsaPrivateKey::generate().public_key());
  CHECK(refusal_of("") == "code-sign key: expected a dot after it, found none");
  CHECK(refusal_of(text.substr(0, text.size() - 2)) ==
        "code-sign key: expected a dot after it, found none");
  CHECK(refusal_of("2048" + text.substr(4)) ==
        "code-sign key: expected one of 1024 bits");
  CHECK(refusal_of("1024\n.") ==
        "code-sign key: expected 512 hexadecimal digits, found 0");
  CHECK(refusal_of("1024\n00" + text.substr(5))
            .starts_with("code-sign key: expected 512 hexadecimal digits"));
  CHECK(refusal_of("1024\nx" + text.substr(6))
            .starts_with("code-sign key: not a hexadecimal digit"));
  CHECK(refusal_of("1024" + std::string(1000000, 'a') + ".") ==
        "code-sign key: expected 512 hexadecimal digits, found 513");
  for (std::string bad : {"", ".", "ab.", "ab"}) {
    CHECK_THROWS_AS(parse_signature(bad), Error);
    CHECK_THROWS_AS(parse_upload_permission(bad), Error);
  }
  for (std::size_t digits : {63u, 65u, 256u, 1000000u}) {
    CHECK_THROWS_AS(parse_upload_permission(std::string(digits, 'a') + "."),
                    Error);
  }
  CHECK_THROWS_AS(parse_signature(std::string(258, 'a') + "."), Error);
}

}  // namespace quorate::boinc
