#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/native/peer_messages.h"
#include "tests/protocol/samples.h"

namespace quorate::protocol {
namespace {

const ProjectId kProject = filled<ProjectId>(0xaa);

AccountRequest account(std::string name) {
  return {filled<PublicKey>(1), std::move(name), {}};
}

}  // namespace

TEST_CASE("an account message has the documented bytes") {
  CHECK(to_hex(account_message(kProject, account("Al"))) ==
        to_hex(as_bytes("quorate account v1")) + "00" + hex32("aa") +
            hex32("01") + "02000000" + to_hex(as_bytes("Al")));
}

TEST_CASE("a host message has the documented bytes") {
  HostRequest request{
      filled<PublicKey>(1), filled<PublicKey>(2), "h", "linux", {}, {}};
  CHECK(to_hex(host_message(kProject, request)) ==
        to_hex(as_bytes("quorate host v1")) + "00" + hex32("aa") + hex32("01") +
            hex32("02") + "01000000" + to_hex(as_bytes("h")) + "05000000" +
            to_hex(as_bytes("linux")));
}

TEST_CASE("a session message has the documented bytes") {
  SessionRequest request{filled<PublicKey>(2), hex32("0b"), {}, true};
  CHECK(to_hex(session_message(kProject, request)) ==
        to_hex(as_bytes("quorate session v1")) + "00" + hex32("aa") +
            hex32("02") + "40000000" + to_hex(as_bytes(hex32("0b"))));
}

TEST_CASE("a peer's session message has the documented bytes") {
  PeerSessionRequest request{filled<PublicKey>(2), hex32("0b"), {}, true};
  CHECK(to_hex(peer_session_message(kProject, request)) ==
        to_hex(as_bytes("quorate peer session v1")) + "00" + hex32("aa") +
            hex32("02") + "40000000" + to_hex(as_bytes(hex32("0b"))));
}

TEST_CASE("a signature made before sending holds after reading") {
  PrivateKey key = PrivateKey::generate();
  AccountRequest request = account("tabs\tand \xff" + std::string(99, 'x'));
  request.account = key.public_key();
  request.signature = key.sign(account_message(kProject, request));

  AccountRequest read = parse_account_request(as_bytes(write(request)));

  CHECK(verify(read.account, account_message(kProject, read), read.signature));
  CHECK_FALSE(
      verify(read.account, account_message(ProjectId{}, read), read.signature));
}

TEST_CASE("a signed header is its bytes and its signature") {
  SignedHeader header{{1, 2, 3}, filled<Signature>(9)};
  Bytes bytes = write_signed_header(header);
  CHECK(bytes.size() == 67);
  SignedHeader read = parse_signed_header(bytes);
  CHECK(read.bytes == header.bytes);
  CHECK(read.signature == header.signature);
}

TEST_CASE("a signed header of impossible size is refused") {
  CHECK_THROWS_WITH_AS(
      parse_signed_header(Bytes(64)),
      "signed result header: expected 65 to 4096 bytes, found 64", Error);
  CHECK_THROWS_AS(parse_signed_header(Bytes(4097)), Error);
  CHECK_THROWS_AS(parse_signed_header({}), Error);
}

}  // namespace quorate::protocol
