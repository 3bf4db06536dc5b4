#include "client/commands/receipt.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "client/commands/commands.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using test::sample_key;
using test::sample_project;
using test::sample_receipt;

Project sample_attached(std::uint8_t key = 1) {
  Project project;
  project.statement.keys = keyring_of(sample_key(key).public_key());
  project.id = project.statement.keys.project;
  return project;
}

// How a check by expect_known_project ends; "" if it is content.
std::string complaint(const std::string& key, std::vector<Project> attached) {
  try {
    expect_known_project(sample_receipt(), key, attached, "mine");
  } catch (const Error& error) {
    return std::string(name_of(error.kind())) + ": " + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a receipt is told in words") {
  const std::string text = receipt_text(sample_receipt());
  for (const char* words :
       {"sample, fingerprint", "2026-09-21 14:13:20 UTC", "earned 12.5 credit",
        "run first (finished): 3 results in versions 1 to 2", "6 entries"}) {
    CAPTURE(text);
    CHECK(text.find(words) != std::string::npos);
  }
  Receipt none = sample_receipt();
  none.runs.clear();
  CHECK(receipt_text(none).find("none of its results is part of a model yet") !=
        std::string::npos);
}

TEST_CASE("a project's names do not reach the terminal as they are") {
  Receipt receipt = sample_receipt();
  receipt.project = "a\x1b[2Jb";
  receipt.runs[0].name = "c\nd";
  receipt.runs[0].state = "\x1b]0;";
  const std::string text = receipt_text(receipt);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("c?d") != std::string::npos);
}

TEST_CASE("a receipt is told to programs") {
  const auto json = nlohmann::json::parse(receipt_json(sample_receipt(), "f"));
  CHECK(json["file"] == "f");
  CHECK(json["credit"] == 12.5);
  CHECK(json["fingerprint"] == fingerprint(sample_project()));
  CHECK(json["runs"][0]["results"] == 3);
  CHECK(json["runs"][0]["ledger_head"] ==
        test::sample_ledger().back().hash.hex());
}

TEST_CASE("what is fetched is of the project, for this host") {
  const PublicKey host = sample_key(2).public_key();
  const Receipt receipt = sample_receipt();
  CHECK_NOTHROW(expect_receipt_of(receipt, sample_attached(), host, "it"));
  CHECK_THROWS_WITH_AS(
      expect_receipt_of(receipt, sample_attached(2), host, "it"),
      doctest::Contains("is another project served"), Error);
  CHECK_THROWS_WITH_AS(expect_receipt_of(receipt, sample_attached(),
                                         sample_key(3).public_key(), "it"),
                       doctest::Contains("expected one for this host"), Error);
}

TEST_CASE("a file is believed for a known project only") {
  const std::string print = fingerprint(sample_project());
  CHECK(complaint(print, {}) == "");
  CHECK(complaint(sample_project().hex(), {}) == "");
  CHECK(complaint(sample_key(1).public_key().hex(), {}) == "");
  CHECK(complaint("", {sample_attached(2), sample_attached()}) == "");
  CHECK(complaint("", {sample_attached(2)}).find("usage: mine: it is of") == 0);
  CHECK(complaint("", {}).find("say --key FINGERPRINT") != std::string::npos);
  CHECK(complaint(print.substr(0, 8), {}).find("usage: --key") == 0);
  CHECK(complaint(fingerprint(sample_attached(2).id), {sample_attached()})
            .find("corrupt: mine: it belongs to project " + print) == 0);
}

TEST_CASE("a file is checked by its name, without a data folder") {
  test::TemporaryFolder folder;
  ReceiptOptions options;
  options.check = (folder / "mine").string();
  options.key = fingerprint(sample_project());
  const fs::path nowhere = folder / "nowhere";
  Bytes sealed = seal_receipt(sample_receipt(), sample_key(1));
  write_file_durably(folder / "mine", sealed);
  CHECK_NOTHROW(check_receipt(nowhere, options, false));
  CHECK_NOTHROW(check_receipt(nowhere, options, true));
  sealed[100] ^= 1;
  write_file_durably(folder / "mine", sealed);
  CHECK_THROWS_WITH_AS(check_receipt(nowhere, options, false),
                       doctest::Contains(options.check.c_str()), Error);
  options.check = (folder / "missing").string();
  CHECK_THROWS_AS(check_receipt(nowhere, options, false), Error);
  CHECK_FALSE(fs::exists(nowhere));
}

TEST_CASE("a ledger shows what a receipt says, or the project has changed it") {
  const Keyring keys = keyring_of(sample_key(1).public_key());
  const auto complaint = [&](const std::vector<LedgerRecord>& records,
                             const Keyring& of) -> std::string {
    std::string text = write_ledger_head(of) + "\n";
    for (const LedgerRecord& record : records) {
      text += write_ledger_line(record) + "\n";
    }
    LedgerFile ledger(text, "shown");
    try {
      expect_shown_by(ledger, "shown", sample_receipt(), "mine");
    } catch (const Error& error) {
      return std::string(name_of(error.kind())) + ": " + error.what();
    }
    return "";
  };
  const auto begins = [](const std::string& text, std::string_view with) {
    CAPTURE(text);
    return text.starts_with(with);
  };
  std::vector<LedgerRecord> records = test::sample_ledger();
  CHECK(complaint(records, keys) == "");
  // Signed anew by the project, which has the key.
  std::vector<LedgerEntry> entries = test::sample_entries();
  std::get<ResultAssimilated>(entries.at(3).body).samples += 1;
  CHECK(begins(complaint(test::chain(entries), keys),
               "corrupt: shown: entry 5 has the hash "));
  records.pop_back();
  CHECK(begins(complaint(records, keys), "usage: shown: it has 5 entries"));
  // Begun anew under the same name.
  std::get<RunCreated>(entries.at(0).body).run.bytes[0] ^= 1;
  CHECK(begins(complaint(test::chain(entries), keys),
               "corrupt: shown: entry 5 has the hash "));
  std::get<RunCreated>(entries.at(0).body).name = "other";
  CHECK(begins(complaint(test::chain(entries), keys),
               "usage: shown: it is of run other, of which mine says nothing"));
  CHECK(begins(complaint({}, keyring_of(sample_key(2).public_key())),
               "corrupt: shown: it is of project "));
}

TEST_CASE("receipts are compared with a ledger, each where it names it") {
  std::vector<Hash> hashes;
  for (const LedgerRecord& record : test::sample_ledger()) {
    hashes.push_back(record.hash);
  }
  const Keyring keys = keyring_of(sample_key(1).public_key());
  Receipt early = sample_receipt();
  early.runs[0].ledger_entries = 2;
  early.runs[0].ledger_head = hashes[1];
  Receipt other = sample_receipt();
  other.runs[0].name = "second";
  const std::vector<KeptReceipt> kept{
      {"a", sample_receipt()}, {"b", early}, {"c", other}};
  const auto against = [&](const Keyring& known) {
    const Comparison found = compare(kept, known, "first", hashes);
    std::string text = std::to_string(found.receipts);
    for (const std::string& one : found.against) text += ", " + one;
    return text;
  };
  CHECK(against(keys) == "2");

  const std::vector<Hash> all = hashes;
  hashes.back() = Hash{};
  CHECK(against(keys) ==
        fmt::format("2, a: entry 5 has the hash {}, and had {}", Hash{}.hex(),
                    all.back().hex()));
  hashes.resize(1);
  CHECK(against(keys) ==
        "2, a: it has 1 entry, and had 6, b: it has 1 entry, and had 2");
  // A thief's receipts are nobody's word.
  Keyring revoked = keys;
  for (SigningKey& key : revoked.keys) key.is_revoked = true;
  CHECK(against(revoked) == "0");
}

TEST_CASE("a file is named by project and day") {
  CHECK(receipt_file_name(sample_project(), 1'790'000'000'123) ==
        "quorate-" + fingerprint(sample_project()).substr(0, 8) +
            "-2026-09-21.receipt");
}

}  // namespace quorate::client
