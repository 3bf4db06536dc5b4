#include "workunits/model_offer.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::sample_key;
using test::sample_offer;

std::string complaint(ByteView sealed) {
  try {
    open_offer(sealed, "theirs");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "opened";
}

// The sample's text with `from` replaced, sealed anew by the same project.
std::string complaint_after(std::string_view from, std::string_view to) {
  const Bytes sealed = seal_offer(sample_offer(), sample_key(4));
  std::string text(as_text(ByteView(sealed).first(sealed.size() - kSealBytes)));
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return complaint(seal(as_bytes(text), SealKind::model_offer,
                        project_id_of(sample_key(4).public_key()),
                        sample_key(4)));
}

}  // namespace

TEST_CASE("an offer says what it was told, and who says so") {
  const ModelOffer wanted = sample_offer();
  const ModelOffer found =
      open_offer(seal_offer(wanted, sample_key(4)), "theirs");
  CHECK(found.keys == keyring_of(sample_key(4).public_key()));
  CHECK(found.run == wanted.run);
  CHECK(found.name == wanted.name);
  CHECK(found.model == wanted.model);
  CHECK(found.arithmetic == wanted.arithmetic);
  CHECK(found.version == wanted.version);
  CHECK(found.parameters == wanted.parameters);
  CHECK(found.entry == wanted.entry);
  CHECK(found.record == wanted.record);
}

TEST_CASE("an offer that somebody touched or another sealed is refused") {
  Bytes sealed = seal_offer(sample_offer(), sample_key(4));
  CHECK(complaint(ByteView(sealed).first(kSealBytes)) ==
        "theirs: its 88 bytes are not an offer");
  CHECK(
      complaint(Bytes(kMaxOfferBytes + kSealBytes + 1)).find("not an offer") !=
      std::string::npos);
  // It names key 4, and key 5 sealed it.
  const ByteView payload = ByteView(sealed).first(sealed.size() - kSealBytes);
  CHECK(complaint(seal(payload, SealKind::model_offer,
                       project_id_of(sample_key(4).public_key()),
                       sample_key(5))) != "opened");
  CHECK(complaint(seal(payload, SealKind::receipt,
                       project_id_of(sample_key(4).public_key()),
                       sample_key(4))) != "opened");
  sealed[60] ^= 1;
  CHECK(complaint(sealed) != "opened");
}

TEST_CASE("an offer that is not written as we write it is refused") {
  CHECK(complaint_after("offer v1", "offer v2") ==
        "theirs: expected format \"quorate model offer v1\"");
  CHECK(complaint_after("{\"arithmetic\"", "{ \"arithmetic\"") ==
        "theirs: is not written as we write offers");
  CHECK(complaint_after("\"version\":17", "\"version\":-17") != "opened");
  CHECK(complaint_after("\"widths\":[2,3,2]", "\"widths\":[]") != "opened");
}

}  // namespace quorate
