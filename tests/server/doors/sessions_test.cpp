#include "server/doors/sessions.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/samples.h"

namespace quorate {

TEST_CASE("a challenge is good once") {
  ManualClock clock;
  Sessions sessions(clock);
  std::string challenge = sessions.new_challenge();
  CHECK(challenge.size() == 64);
  CHECK(challenge != sessions.new_challenge());
  CHECK(sessions.is_fresh(challenge));
  CHECK(sessions.use_challenge(challenge));
  CHECK_FALSE(sessions.is_fresh(challenge));
  CHECK_FALSE(sessions.use_challenge(challenge));
  CHECK_FALSE(sessions.is_fresh(""));
  CHECK_FALSE(sessions.is_fresh(std::string(64, '0')));
}

TEST_CASE("a challenge must be signed within a minute") {
  ManualClock clock;
  Sessions sessions(clock);
  std::string early = sessions.new_challenge();
  std::string late = sessions.new_challenge();
  clock.advance(Seconds(59));
  CHECK(sessions.is_fresh(early));
  clock.advance(Seconds(1));
  CHECK_FALSE(sessions.is_fresh(late));
  CHECK_FALSE(sessions.use_challenge(late));
}

TEST_CASE("a challenge of another server, or a changed one, is none") {
  ManualClock clock;
  Sessions sessions(clock);
  Sessions restarted(clock);
  std::string challenge = sessions.new_challenge();
  CHECK_FALSE(restarted.is_fresh(challenge));
  for (std::size_t i = 0; i < challenge.size(); ++i) {
    std::string changed = challenge;
    changed[i] = changed[i] == '0' ? '1' : '0';
    CHECK_FALSE(sessions.is_fresh(changed));
  }
  CHECK(sessions.is_fresh(challenge));
}

TEST_CASE("a token names its session for a day") {
  ManualClock clock;
  Sessions sessions(clock);
  PublicKey key = test::filled<PublicKey>(3);
  std::string token = sessions.open({7, key});
  std::string other = sessions.open({8, key});
  CHECK(token.size() == 64);
  CHECK(token != other);
  clock.advance(Seconds(24 * 3600.0 - 1));
  REQUIRE(sessions.find(token).has_value());
  CHECK(sessions.find(token)->host == 7);
  CHECK(sessions.find(token)->key == key);
  CHECK(sessions.find(other)->host == 8);
  clock.advance(Seconds(1));
  CHECK_FALSE(sessions.find(token).has_value());
}

TEST_CASE("a host keeps its newest eight tokens") {
  ManualClock clock;
  Sessions sessions(clock);
  std::string of_other = sessions.open({8, {}});
  std::vector<std::string> tokens;
  for (int i = 0; i < 300; ++i) tokens.push_back(sessions.open({7, {}}));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    CHECK(sessions.find(tokens[i]).has_value() == (i >= tokens.size() - 8));
  }
  CHECK(sessions.find(of_other).has_value());
}

TEST_CASE("an unknown token, or a challenge for one, opens nothing") {
  ManualClock clock;
  Sessions sessions(clock);
  std::string token = sessions.open({7, {}});
  CHECK_FALSE(sessions.find("").has_value());
  CHECK_FALSE(sessions.find(token.substr(1)).has_value());
  CHECK_FALSE(sessions.find(sessions.new_challenge()).has_value());
  CHECK_FALSE(sessions.is_fresh(token));
}

}  // namespace quorate
