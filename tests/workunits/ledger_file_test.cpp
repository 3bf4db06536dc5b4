#include "workunits/ledger/ledger_file.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/data.h"
#include "tests/support/samples.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate {
namespace {

std::string sample_file() {
  std::string text =
      write_ledger_head(keyring_of(test::sample_key(1).public_key())) + "\n";
  for (const LedgerRecord& record : test::sample_ledger()) {
    text += write_ledger_line(record) + "\n";
  }
  return text;
}

std::string refusal_of(const std::string& text) {
  try {
    LedgerFile file(text, "file");
    while (file.next()) {
    }
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& from,
                     const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a ledger in a file verifies elsewhere") {
  const std::string text = sample_file();
  LedgerFile file(text, "file");
  CHECK(file.keys().project == test::sample_project());
  LedgerVerifier verifier(file.keys());
  std::uint64_t records = 0;
  while (const auto record = file.next()) {
    verifier.next(*record);
    ++records;
  }
  CHECK(records == test::sample_ledger().size());
  CHECK_FALSE(file.next());
}

TEST_CASE("a ledger file is written as it always was") {
  const std::string text = sample_file();
  CHECK(as_text(test::golden(fs::path(QUORATE_GOLDEN) / "first.ledger",
                             as_bytes(text))) == text);
}

TEST_CASE("what is no ledger file is refused by line") {
  const std::string text = sample_file();
  CHECK(refusal_of(text) == "");
  CHECK(refusal_of("").find("file line 1") == 0);
  CHECK(refusal_of("\n" + text).find("file line 1") == 0);
  CHECK(refusal_of(replaced(text, "file v1", "file v2"))
            .find("file line 1: expected format") == 0);
  // given a key that is not the project's
  const Keyring head =
      keyring_of(test::sample_project(), test::sample_key(2).public_key());
  CHECK(refusal_of(write_ledger_head(head)) ==
        "file line 1: its key is not that of its project");
  CHECK(refusal_of(replaced(text, "\"seq\":0", "\"seq\":-1"))
            .find("file line 2: field \"seq\"") == 0);
  CHECK(refusal_of(replaced(text, "\"kind\":\"run\"", "\"kind\":7"))
            .find("file line 2: field \"kind\"") == 0);
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const std::string why = refusal_of(text.substr(0, size));
    const bool at_end_of_line =
        size > 0 && (text[size - 1] == '\n' || text[size] == '\n');
    CHECK((why == "") == at_end_of_line);
  }
}

}  // namespace quorate
