#include "server/cli/auditing/audit_state.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

AuditState sample() {
  AuditState state;
  state.seed = 0x0123456789abcdef;
  state.entries = 40;
  state.last = test::filled<Hash>(0x22);
  state.recomputed = 7;
  state.found = {{12, 30, 11, test::sample_key(2).public_key(), 5, 8}};
  return state;
}

std::string refusal_of(const std::string& text) {
  try {
    parse_audit_state(text);
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

}  // namespace

TEST_CASE("the state of an audit comes back as it was written") {
  CHECK(parse_audit_state(write_audit_state(sample())) == sample());
  CHECK(parse_audit_state(write_audit_state({})) == AuditState{});
}

TEST_CASE("what is no state of an audit is refused by name") {
  const std::string text = write_audit_state(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK(refusal_of(text.substr(0, size)) != "");
  }
  auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  CHECK(refusal_of(with("audit v1", "audit v2")).find("expected format") !=
        std::string::npos);
  CHECK(refusal_of(with("\"entries\":40", "\"entries\":-1"))
            .find("field \"entries\"") != std::string::npos);
  CHECK(refusal_of(with("\"last_step\":8", "\"last_step\":\"8\""))
            .find("field \"last_step\"") != std::string::npos);
}

TEST_CASE("a draw takes its share of the entries, the same for the same seed") {
  for (const double share : {0.0, 0.05, 0.5, 1.0}) {
    CAPTURE(share);
    int drawn = 0;
    int with_other_seed = 0;
    for (std::uint64_t entry = 0; entry < 10'000; ++entry) {
      drawn += is_drawn(7, entry, share) ? 1 : 0;
      with_other_seed += is_drawn(8, entry, share) && is_drawn(7, entry, share);
    }
    // Five standard deviations of a binomial distribution.
    const double spread = 5 * std::sqrt(10'000 * share * (1 - share)) + 1e-9;
    CHECK(std::abs(drawn - 10'000 * share) <= spread);
    if (share == 0.5) CHECK(with_other_seed < 0.6 * drawn);
  }
}

}  // namespace quorate
