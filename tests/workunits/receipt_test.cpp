#include "workunits/receipt.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::sample_key;
using test::sample_receipt;

// What opening says; "opened" if it takes it.
std::string complaint(ByteView sealed) {
  try {
    open_receipt(sealed, "mine");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "opened";
}

// The sample's text with `from` replaced, sealed anew by the same project: what
// only a project that does not keep to the format can make.
std::string complaint_after(std::string_view from, std::string_view to) {
  Bytes sealed = seal_receipt(sample_receipt(), sample_key(1));
  std::string text(as_text(ByteView(sealed).first(sealed.size() - kSealBytes)));
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return complaint(seal(as_bytes(text), SealKind::receipt,
                        test::sample_project(), sample_key(1)));
}

}  // namespace

TEST_CASE("a receipt says what it was told") {
  const Receipt wanted = sample_receipt();
  const Receipt found =
      open_receipt(seal_receipt(wanted, sample_key(1)), "mine");
  CHECK(found.project == wanted.project);
  CHECK(found.keys == wanted.keys);
  CHECK(found.host == wanted.host);
  CHECK(found.user == wanted.user);
  CHECK(found.when == wanted.when);
  CHECK(found.credit_thousandths == wanted.credit_thousandths);
  REQUIRE(found.runs.size() == 1);
  CHECK(found.runs[0].run == wanted.runs[0].run);
  CHECK(found.runs[0].name == "first");
  CHECK(found.runs[0].state == "finished");
  CHECK(found.runs[0].results == 3);
  CHECK(found.runs[0].first_version == 1);
  CHECK(found.runs[0].last_version == 2);
  CHECK(found.runs[0].ledger_entries == 6);
  CHECK(found.runs[0].ledger_head == test::sample_ledger().back().hash);
}

TEST_CASE("the seal is that of the project that the receipt names") {
  Bytes sealed = seal_receipt(sample_receipt(), sample_key(1));
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    Bytes changed = sealed;
    changed[at] ^= 1;
    CAPTURE(at);
    CHECK(complaint(changed) != "opened");
  }
  // Whoever has another key has another project.
  Receipt theirs = sample_receipt();
  theirs.keys = keyring_of(sample_key(2).public_key());
  CHECK(
      open_receipt(seal_receipt(theirs, sample_key(2)), "mine").keys.project !=
      test::sample_project());
  const std::string other = sample_key(2).public_key().hex();
  CHECK(complaint_after(sample_key(1).public_key().hex(), other) ==
        "mine: its key is not that of its project");
  // A text under the project's seal for something else.
  const ByteView payload = ByteView(sealed).first(sealed.size() - kSealBytes);
  CHECK(complaint(seal(payload, SealKind::project, test::sample_project(),
                       sample_key(1))) ==
        "mine: expected a seal of kind 4, found 2");
}

TEST_CASE("a receipt that we would not write is corrupt") {
  CHECK(complaint_after("\"results\":3", "\"results\":4") == "opened");
  CHECK(complaint_after("receipt v1", "receipt v2").find("expected format") !=
        std::string::npos);
  CHECK(complaint_after("{\"credit", "{ \"credit").find("not written as") !=
        std::string::npos);
  CHECK(complaint_after("{\"credit", "{\"a\":0,\"credit")
            .find("not written as") != std::string::npos);
  for (const char* wrong : {"-3", "0", "3.5", "\"3\"", "9007199254740993"}) {
    const std::string said =
        complaint_after("\"results\":3", std::string("\"results\":") + wrong);
    CHECK(said.find("field \"runs\"[0]: field \"results\"") !=
          std::string::npos);
  }
  CHECK(complaint_after("\"last_version\":2", "\"last_version\":0")
            .find("last_version") != std::string::npos);
  CHECK(complaint_after("\"name\":\"first\"",
                        "\"name\":\"" + std::string(257, 'x') + "\"")
            .find("257 bytes") != std::string::npos);
  CHECK(complaint_after("\"runs\":[{", "\"runs\":[{{").find("not JSON") !=
        std::string::npos);
  CHECK(complaint_after("\"runs\":[{", "\"runs\":[{\"a\":[[]],")
            .find("nested deeper") != std::string::npos);
}

TEST_CASE("a receipt of many runs has the last thousand, and can be read") {
  Receipt receipt = sample_receipt();
  receipt.runs[0].name = std::string(256, '"');
  receipt.runs.resize(kMaxReceiptRuns, receipt.runs[0]);
  receipt.runs.push_back(receipt.runs[0]);
  receipt.runs.back().name = "last";
  Receipt found = open_receipt(seal_receipt(receipt, sample_key(1)), "mine");
  CHECK(found.runs.size() == kMaxReceiptRuns);
  CHECK(found.runs.back().name == "last");
  CHECK(complaint(Bytes(kMaxReceiptBytes + 1)).find("not a receipt") !=
        std::string::npos);
}

}  // namespace quorate
