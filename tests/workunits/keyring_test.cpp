#include "workunits/keyring.h"

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate {
namespace {

using test::sample_key;
using test::sample_keyring;

std::string refusal_of(ByteView sealed) {
  try {
    open_keyring(sealed, "ring");
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

// The sample's text with `from` replaced, sealed anew by its root.
std::string refusal_after(std::string_view from, std::string_view to) {
  const Bytes sealed = sample_keyring().sealed;
  std::string text(as_text(ByteView(sealed).first(sealed.size() - kSealBytes)));
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return refusal_of(seal(as_bytes(text), SealKind::keyring,
                         test::sample_project(), sample_key(1)));
}

bool has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

Bytes note_of(std::uint8_t key) {
  return seal(as_bytes("note"), SealKind::workunit, test::sample_project(),
              sample_key(key));
}

}  // namespace

TEST_CASE("a keyring is read as its root sealed it") {
  const Keyring ring = sample_keyring();
  CHECK(open_keyring(ring.sealed, "ring") == ring);
  CHECK(ring.project == test::sample_project());
  CHECK(ring.current().key == sample_key(6).public_key());
  CHECK(ring.find(sample_key(7).public_key()) == nullptr);
}

TEST_CASE("a keyring that somebody touched or another sealed is refused") {
  const Bytes sealed = sample_keyring().sealed;
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    Bytes changed = sealed;
    changed[at] ^= 1;
    CAPTURE(at);
    CHECK(refusal_of(changed) != "");
  }
  // The key that signs now cannot name its successor.
  const ByteView payload = ByteView(sealed).first(sealed.size() - kSealBytes);
  CHECK(has(refusal_of(seal(payload, SealKind::keyring, test::sample_project(),
                            sample_key(6))),
            "sealed with key"));
  CHECK(has(refusal_of(seal(payload, SealKind::receipt, test::sample_project(),
                            sample_key(1))),
            "a seal of kind"));
  CHECK(has(refusal_of(Bytes(kMaxKeyringBytes + kSealBytes + 1)),
            "are not a keyring"));
}

TEST_CASE("a keyring that says what cannot be is refused") {
  const std::string last = sample_key(6).public_key().hex();
  CHECK(has(refusal_after(last, sample_key(5).public_key().hex()),
            "is there twice"));
  CHECK(has(refusal_after("\"number\":2", "\"number\":0"), "number"));
  CHECK(has(refusal_after("keyring v1", "keyring v2"), "expected format"));
  CHECK(has(refusal_after("{\"format\"", "{ \"format\""),
            "not written as we write"));
  CHECK(has(refusal_after("\"from\":2000,\"key\":\"" + last +
                              "\",\"revoked\":false,\"until\":9000",
                          "\"from\":2000,\"key\":\"" + last +
                              "\",\"revoked\":true,\"until\":9000"),
            "the key that signs is revoked"));
  CHECK(has(refusal_after("\"until\":9000", "\"until\":1000"),
            "ends before it begins"));
  CHECK(has(refusal_after("\"revoked\":false", "\"revoked\":0"),
            "expected true or false"));
}

TEST_CASE("what a key signed is told by whose it is and by its time") {
  const Keyring ring = sample_keyring();
  for (const std::uint8_t key : std::array<std::uint8_t, 3>{1, 5, 6}) {
    CAPTURE(int{key});
    const Bytes note = note_of(key);
    CHECK(as_text(open_sealed(note, SealKind::workunit, ring, "note")) ==
          "note");
    CHECK(sealer_of(note, ring, "note").key == sample_key(key).public_key());
  }
  CHECK_THROWS_WITH_AS(
      open_sealed(note_of(7), SealKind::workunit, ring, "note"),
      doctest::Contains("none of the 3 keys of project"), Error);
  CHECK_THROWS_AS(open_sealed(Bytes(3), SealKind::workunit, ring, "note"),
                  Error);
  CHECK(speaks(ring.keys[0], 1499));
  CHECK_FALSE(speaks(ring.keys[0], 1500));  // its time is over
  CHECK_FALSE(speaks(ring.keys[1], 1600));  // revoked
  CHECK(speaks(ring.keys[2], 8999));
  CHECK_FALSE(speaks(ring.keys[2], 9000));
}

TEST_CASE("a document's key is the last of the keyring that it carries") {
  const Keyring ring = sample_keyring();
  const std::string list = to_hex(ring.sealed);
  CHECK(keyring_named(ring.current().key, list, "paper") == ring);
  CHECK(keyring_named(ring.root, "", "paper") == keyring_of(ring.root));
  CHECK_THROWS_WITH_AS(keyring_named(ring.root, list, "paper"),
                       doctest::Contains("paper: its key is not the one"),
                       Error);
  CHECK_THROWS_AS(keyring_named(ring.root, "zz", "paper"), Error);
  CHECK_THROWS_AS(
      keyring_named(ring.root, std::string(kMaxKeyringHex + 2, '0'), "paper"),
      Error);
}

// What it signed before stays in the ledger: nobody could go on otherwise.
TEST_CASE(
    "a ledger goes on over a renewal, and counts what a revoked key signed") {
  const Keyring ring = sample_keyring();
  LedgerVerifier verifier(ring);
  std::vector<LedgerEntry> entries = test::sample_entries();
  Hash previous;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].previous = previous;
    const auto key = static_cast<std::uint8_t>(i < 2 ? 1 : i < 4 ? 5 : 6);
    const LedgerRecord record =
        make_record(entries[i], test::sample_project(), sample_key(key));
    verifier.next(record);
    previous = record.hash;
  }
  CHECK(verifier.by_revoked() == 2);
  LedgerVerifier stranger(keyring_of(ring.root));
  CHECK_THROWS_AS(
      stranger.next(make_record(test::sample_entries()[0],
                                test::sample_project(), sample_key(5))),
      Error);
}

}  // namespace quorate
