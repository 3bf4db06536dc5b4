#include "workunits/ledger/witness.h"

#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

Keyring sample_head() {
  return keyring_of(test::sample_key(1).public_key());
}

// What a file of these records says of a ledger that has `now`.
std::string refusal_of(const Keyring& head,
                       const std::vector<LedgerRecord>& seen,
                       const std::vector<LedgerRecord>& now) {
  std::string text = write_ledger_head(head) + "\n";
  for (const LedgerRecord& record : seen) {
    text += write_ledger_line(record) + "\n";
  }
  LedgerFile file(text, "seen");
  try {
    const std::uint64_t count =
        expect_witnessed(file, "seen", sample_head(), [&](std::uint64_t seq) {
          return seq < now.size() ? std::optional(now[seq]) : std::nullopt;
        });
    CHECK(count == seen.size());
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a ledger that goes on is as its witnesses saw it") {
  const std::vector<LedgerRecord> now = test::sample_ledger();
  CHECK(refusal_of(sample_head(), now, now) == "");
  CHECK(refusal_of(sample_head(), {now[1]}, now) == "");
  CHECK(refusal_of(sample_head(), {}, now) == "");
}

// By the project itself, which has the key to sign it anew.
TEST_CASE("a ledger that was rewritten is found by who saw it before") {
  const std::vector<LedgerRecord> before = test::sample_ledger();
  LedgerEntry entry = parse_entry(before[1].line);
  std::get<ResultAssimilated>(entry.body).samples += 1;
  std::vector<LedgerRecord> now = before;
  now[1] = make_record(entry, test::sample_project(), test::sample_key(1));
  const std::string changed = refusal_of(sample_head(), {before[1]}, now);
  CHECK(has(changed, "seen: entry 1: the project signed"));
  CHECK(has(changed, now[1].hash.hex().c_str()));
  CHECK(has(refusal_of(sample_head(), {before[1]}, {before[0]}),
            "now has no such entry"));
}

// Else anybody could accuse a project.
TEST_CASE("what the project did not sign accuses nobody") {
  const std::vector<LedgerRecord> now = test::sample_ledger();
  LedgerEntry entry = parse_entry(now[1].line);
  std::get<ResultAssimilated>(entry.body).samples += 1;
  LedgerRecord forged =
      make_record(entry, test::sample_project(), test::sample_key(2));
  CHECK(has(refusal_of(sample_head(), {forged}, now), "did not sign"));
  LedgerRecord moved = now[1];
  moved.seq = 0;
  CHECK(has(refusal_of(sample_head(), {moved}, now), "did not sign"));
  LedgerRecord damaged = now[1];
  damaged.line = now[0].line;
  CHECK(has(refusal_of(sample_head(), {damaged}, now), "did not sign"));
}

TEST_CASE("another project's ledger is no witness") {
  const PublicKey key = test::sample_key(2).public_key();
  CHECK(has(refusal_of(keyring_of(key), {}, test::sample_ledger()),
            "it is of project"));
}

}  // namespace quorate
