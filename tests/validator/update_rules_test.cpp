// The expected bits were computed with exact rational arithmetic and one
// rounding for each operation, apart from this program.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "tests/validator/bits.h"
#include "validator/update_rules/update_rule.h"

namespace quorate {
namespace {

const Floats kParameters = {0.1F, -0.2F, 0.3F, 1e-3F};
const Floats kBase = {0.15F, -0.25F, 0.3F, 2e-3F};
const Floats kDelta = {0.01F, 0.02F, -0.7F, 1e-9F};

Bits after_vc_asgd(const char* settings, std::uint32_t epoch) {
  const auto rule = make_update_rule("vc-asgd", settings);
  Floats w = kParameters;
  RuleState none;
  const Contribution one{kBase, kDelta};
  rule->step({0, 4}, w, none, {&one, 1}, rule->coefficients({.epoch = epoch}));
  return bits_of(w);
}

std::uint32_t weight(const char* settings, std::uint32_t epoch) {
  return bits(make_update_rule("vc-asgd", settings)
                  ->coefficients({.version = 3, .epoch = epoch})
                  .at("one_minus_alpha"));
}

TEST_CASE("vc-asgd mixes a volunteer's parameters into the model") {
  CHECK(after_vc_asgd("", 1) ==
        Bits{0x3df1a9fd, 0xbe560419, 0x3db851ec, 0x3aaa64c6});
  CHECK(after_vc_asgd("{\"alpha\": 0.7}", 9) == after_vc_asgd("", 1));
  CHECK(after_vc_asgd("{\"alpha\": \"var\"}", 1) ==
        Bits{0x3e051eb9, 0xbe5c28f6, 0xbd4cccc8, 0x3ac49baa});
  CHECK(after_vc_asgd("{\"alpha\": \"var\"}", 2) ==
        Bits{0x3df5c290, 0xbe570a3e, 0x3d88888d, 0x3aaec341});
}

TEST_CASE("vc-asgd decides alpha per result") {
  CHECK(weight("", 1) == 0x3e99999a);  // 1 - 0.7
  CHECK(weight("", 40) == 0x3e99999a);
  CHECK(weight("{\"alpha\": 0}", 1) == bits(1.0F));
  CHECK(weight("{\"alpha\": \"var\"}", 1) == bits(0.5F));
  CHECK(weight("{\"alpha\": \"var\"}", 2) == 0x3eaaaaaa);  // 1 - 2/3
  CHECK(weight("{\"alpha\": \"var\"}", 3) == bits(0.25F));
}

TEST_CASE("alpha 0 takes the volunteer's parameters") {
  Floats taken;
  for (std::size_t i = 0; i < 2; ++i) taken.push_back(kBase[i] + kDelta[i]);
  Bits found = after_vc_asgd("{\"alpha\": 0}", 1);
  found.resize(2);
  CHECK(found == bits_of(taken));
}

TEST_CASE("diloco steps with Nesterov momentum on the mean") {
  // given three updates and momentum zero
  const auto rule = make_update_rule("diloco", "");
  const Floats second = {0.03F, -0.01F, 0.1F, 5e-9F};
  const Floats third = {-0.2F, 0.4F, 0.33F, 7e-3F};
  const Contribution round[] = {{{}, kDelta}, {{}, second}, {{}, third}};
  Floats w = kParameters;
  RuleState state{{"diloco.m", Floats(4, 0.0F)}};
  // when two rounds close with them
  rule->step({0, 4}, w, state, round, rule->coefficients({}));
  // then after each, momentum and model have the expected bits
  CHECK(bits_of(state.at("diloco.m")) ==
        Bits{0xbd5a740e, 0x3e0bf259, 0xbdb851ea, 0x3b18eae0});
  CHECK(bits_of(w) == Bits{0x3cee1d39, 0xbc955e10, 0x3e38a092, 0x3b867548});
  rule->step({0, 4}, w, state, round, rule->coefficients({}));
  CHECK(bits_of(state.at("diloco.m")) ==
        Bits{0xbdcf87da, 0x3e84f308, 0xbe2f1a9e, 0x3b914588});
  CHECK(bits_of(w) == Bits{0xbd93aca9, 0x3e76ced2, 0x3c1ccbbe, 0x3c0bc00c});
}

// n updates of `size` elements, of very different magnitudes.
std::vector<Floats> random_deltas(std::size_t n, std::size_t size) {
  RandomStream random(11, stream_of(RandomUse::codec), 0);
  std::vector<Floats> deltas(n, Floats(size));
  for (Floats& delta : deltas) {
    for (float& value : delta) {
      value = uniform11(random.next()) *
              static_cast<float>(1U << (random.next() % 20));
    }
  }
  return deltas;
}

std::vector<Contribution> contributions_of(const std::vector<Floats>& deltas) {
  std::vector<Contribution> round;
  for (const Floats& delta : deltas) round.push_back({{}, delta});
  return round;
}

TEST_CASE("diloco's mean is the canonical sum at any size of round") {
  // given gamma 1, beta 0 and a model of zeros: it becomes the mean
  const auto rule = make_update_rule("diloco", "{\"gamma\": 1, \"beta\": 0}");
  for (const std::size_t n : {1U, 2U, 63U, 64U, 65U, 128U, 129U, 193U, 257U}) {
    CAPTURE(n);
    const std::vector<Floats> deltas = random_deltas(n, 5);
    Floats w(5, 0.0F);
    RuleState state{{"diloco.m", Floats(5, 0.0F)}};
    rule->step({0, 5}, w, state, contributions_of(deltas),
               rule->coefficients({}));
    for (std::size_t i = 0; i < w.size(); ++i) {
      ChainSum sum;
      for (const Floats& delta : deltas) sum.push(delta[i]);
      const float mean = sum.total() * (1.0F / static_cast<float>(n));
      CHECK(bits(w[i]) == bits(mean));
    }
  }
}

// What they have for a range.
std::vector<Contribution> part_of(std::span<const Contribution> all,
                                  ParameterRange range) {
  std::vector<Contribution> part;
  for (const Contribution& one : all) {
    part.push_back({{}, one.delta.subspan(range.first, range.count)});
  }
  return part;
}

TEST_CASE("blocks of any size give the same bits") {
  constexpr std::size_t kSize = 2500;
  const std::vector<Floats> deltas = random_deltas(70, kSize);
  const auto round = contributions_of(deltas);
  const auto rule = make_update_rule("diloco", "");
  const Coefficients coefficients = rule->coefficients({});
  auto run_in_blocks = [&](std::size_t block) {
    Floats w(kSize, 0.5F);
    RuleState state{{"diloco.m", Floats(kSize, 0.25F)}};
    for (std::size_t first = 0; first < kSize; first += block) {
      const ParameterRange range{first, std::min(block, kSize - first)};
      rule->step(range, w, state, part_of(round, range), coefficients);
    }
    return bits_of(w);
  };
  const Bits whole = run_in_blocks(kSize);
  CHECK(run_in_blocks(1) == whole);
  CHECK(run_in_blocks(1000) == whole);
}

// What volunteers of one round made of `base`, one after another.
std::vector<Floats> deltas_to(const std::vector<Floats>& made,
                              const Floats& base) {
  std::vector<Floats> deltas = made;
  for (Floats& delta : deltas) {
    for (std::size_t i = 0; i < base.size(); ++i) delta[i] -= base[i];
  }
  return deltas;
}

// The state that a rule begins with, at these parameters.
RuleState first_state(const UpdateRule& rule, const Floats& w) {
  RuleState state;
  for (const StateBuffer& buffer : rule.state_buffers(rule.coefficients({}))) {
    const bool is_ones = buffer.start == StateBuffer::Start::ones;
    const std::size_t size = buffer.scalars != 0 ? buffer.scalars : w.size();
    state[buffer.name] = buffer.start == StateBuffer::Start::model
                             ? w
                             : Floats(size, is_ones ? 1.0F : 0.0F);
  }
  return state;
}

TEST_CASE("vc-asgd mixes running statistics as it does parameters") {
  const auto rule = make_update_rule("vc-asgd", "");
  Floats w = kParameters;
  RuleState state;
  const Contribution one{kBase, kDelta};
  rule->step_statistics({0, 4}, w, state, {&one, 1}, rule->coefficients({}));
  CHECK(bits_of(w) == after_vc_asgd("", 1));
}

TEST_CASE("diloco takes the mean of running statistics") {
  const auto rule = make_update_rule("diloco", "");
  for (const std::size_t n : {1U, 2U, 65U, 129U}) {
    CAPTURE(n);
    const std::vector<Floats> deltas = random_deltas(n, 5);
    Floats w = {1, 2, 3, 4, 5};
    RuleState state;
    rule->step_statistics({1, 3}, w, state,
                          part_of(contributions_of(deltas), {1, 3}),
                          rule->coefficients({}));
    CHECK(w[0] == 1.0F);
    CHECK(w[4] == 5.0F);
    for (std::size_t i = 1; i < 4; ++i) {
      ChainSum sum;
      for (const Floats& delta : deltas) {
        sum.push(static_cast<float>(i + 1) + delta[i]);
      }
      CHECK(bits(w[i]) == bits(sum.total() * (1.0F / static_cast<float>(n))));
    }
  }
}

TEST_CASE("a running variance never becomes negative") {
  // given variances of all magnitudes, and volunteers who find them smaller
  // by as many, or zero
  constexpr std::size_t kSize = 400;
  RandomStream random(12, stream_of(RandomUse::codec), 0);
  auto draw = [&] {
    Floats values;
    for (std::size_t i = 0; i < kSize; ++i) {
      const int power = static_cast<int>(random.next() % 60) - 40;
      values.push_back(random.next() % 8 == 0
                           ? 0.0F
                           : std::ldexp(uniform01(random.next()), power));
    }
    return values;
  };
  for (const std::size_t n : {1U, 3U, 7U, 70U}) {
    for (const std::string& name : update_rule_names()) {
      CAPTURE(name);
      CAPTURE(n);
      const auto rule = make_update_rule(name, "");
      const Floats base = draw();
      std::vector<Floats> made;
      for (std::size_t i = 0; i < n; ++i) made.push_back(draw());
      const std::vector<Floats> deltas = deltas_to(made, base);
      // A rule that takes results one by one has moved on since the base.
      Floats w = rule->in_rounds() ? base : draw();
      RuleState state = first_state(*rule, draw());
      std::vector<Contribution> all;
      for (const Floats& delta : deltas) all.push_back({base, delta});
      for (std::size_t i = 0; i < n; ++i) {
        const auto part =
            rule->in_rounds() ? std::span(all) : std::span(all).subspan(i, 1);
        rule->step_statistics({0, kSize}, w, state, part,
                              rule->coefficients({.version = i}));
        for (const float value : w) REQUIRE(value >= 0.0F);
        for (const auto& [buffer, values] : state) {
          for (const float value : values) REQUIRE(value >= 0.0F);
        }
        if (rule->in_rounds()) break;
      }
    }
  }
}

float rate_at(const char* rule, const char* settings, const char* name,
              std::uint64_t version, std::uint64_t base_version) {
  return make_update_rule(rule, settings)
      ->coefficients({.version = version, .base_version = base_version})
      .at(name);
}

TEST_CASE("late results count less, and never more than is stable") {
  CHECK(rate_at("delta-asgd", "", "rate", 7, 7) == 1.2F);
  CHECK(rate_at("delta-asgd", "", "rate", 9, 6) == 0.3F);
  // (s + 1)^-1/2 would be more than 1.5 / (s + 1) from staleness 1 on
  const char* root = "{\"power\": 0.5}";
  CHECK(rate_at("delta-asgd", root, "rate", 7, 7) == 1.2F);
  CHECK(rate_at("delta-asgd", root, "rate", 7, 4) == 0.375F);
  CHECK(rate_at("downpour", "", "rate", 7, 7) == 1.0F);
  CHECK(rate_at("downpour", "", "rate", 7, 6) == 0.75F);
  CHECK(rate_at("dc-asgd", "", "rate", 9, 6) == 0.3F);
  CHECK(rate_at("fedasync", "", "weight", 3, 0) == 0.3F);
  const char* hinge = "{\"weighting\": \"hinge\", \"alpha\": 1, \"a\": 0.5}";
  CHECK(rate_at("fedasync", hinge, "weight", 4, 0) == 1.0F);
  CHECK(rate_at("fedasync", hinge, "weight", 6, 0) == 0.5F);
  const char* constant = "{\"weighting\": \"constant\"}";
  CHECK(rate_at("fedasync", constant, "weight", 99, 0) == 0.6F);
}

TEST_CASE("dc-asgd knows the way that a unit went") {
  const auto rule = make_update_rule("dc-asgd", "");
  const Coefficients found =
      rule->coefficients({.steps = 4, .learning_rate = 0.5F});
  CHECK(found.at("compensation") == 0.25F);  // lambda / (H l)
}

TEST_CASE("fedbuff steps with every buffer-th result") {
  // given a buffer of two, and a model of zeros
  const auto rule = make_update_rule("fedbuff", "{\"buffer\": 2}");
  Floats w(4, 0.0F);
  RuleState state{{"fedbuff.sum", Floats(4, 0.0F)}};
  const Floats half = {0.5F, 1.0F, -0.25F, 2.0F};
  const Contribution one{w, half};
  auto take = [&](std::uint64_t version, std::size_t results) {
    const Coefficients coefficients =
        rule->coefficients({.version = version, .base_version = version});
    rule->step({0, 4}, w, state, {&one, results}, coefficients);
    return coefficients.at(kOneMinusC);
  };
  // when the first comes, then nothing moves, nor does the average
  CHECK(take(0, 1) == 0.0F);
  CHECK(w == Floats(4, 0.0F));
  // when the second comes, then their mean is added
  CHECK(take(1, 1) > 0.0F);
  CHECK(w == half);
  CHECK(state.at("fedbuff.sum") == Floats(4, 0.0F));
  // when the second of the next pair is left out, the first goes in all the
  // same
  take(2, 1);
  take(3, 0);
  CHECK(w == Floats{0.75F, 1.5F, -0.375F, 3.0F});
}

TEST_CASE("the momentum of delayed-nesterov waits for `delay` results") {
  const auto rule = make_update_rule(
      "delayed-nesterov",
      "{\"delay\": 2, \"gamma\": 0.5, \"beta\": 0.5, \"c\": 0}");
  Floats w(1, 0.0F);
  RuleState state{{"delayed-nesterov.m", Floats(1, 0.0F)},
                  {"delayed-nesterov.buffer", Floats(1, 0.0F)}};
  const Floats eight = {8.0F};
  const Contribution one{w, eight};
  auto take = [&](std::uint64_t version, std::size_t results) {
    rule->step(
        {0, 1}, w, state, {&one, results},
        rule->coefficients({.version = version, .base_version = version}));
  };
  take(0, 1);  // 0.5 * 8 / 2
  CHECK(w[0] == 2.0F);
  take(1, 1);  // m = 8; 0.5 * (0.5 * 8 + 4) more
  CHECK(state.at("delayed-nesterov.m")[0] == 8.0F);
  CHECK(w[0] == 6.0F);
  take(2, 1);
  CHECK(w[0] == 8.0F);
  take(3, 0);  // left out: m = 0.5 * 8 + 4; 0.5 * 0.5 * 8 more
  CHECK(state.at("delayed-nesterov.m")[0] == 8.0F);
  CHECK(w[0] == 10.0F);
}

TEST_CASE("rules without momentum add the mean of a round") {
  for (const char* name : {"sync", "local-sgd"}) {
    const auto rule = make_update_rule(name, "");
    const Floats second = {0.03F, -0.02F, 0.7F, 3e-9F};
    const Contribution round[] = {{{}, kDelta}, {{}, second}};
    Floats w(4, 1.0F);
    RuleState none;
    rule->step({1, 2}, w, none, part_of(round, {1, 2}), rule->coefficients({}));
    CHECK(w == Floats{1.0F, 1.0F, 1.0F, 1.0F});
    rule->step({0, 1}, w, none, part_of(round, {0, 1}), rule->coefficients({}));
    CHECK(w == Floats{1.02F, 1.0F, 1.0F, 1.0F});
  }
  CHECK(make_update_rule("sync", "")->local_steps() == 1);
  CHECK(make_update_rule("local-sgd", "")->local_steps() == 0);
}

TEST_CASE("what is published is averaged by result or by round") {
  const auto one_by_one = make_update_rule("vc-asgd", "");
  const auto rounds = make_update_rule("diloco", "");
  CHECK_FALSE(one_by_one->in_rounds());
  CHECK(rounds->in_rounds());
  CHECK(bits(one_by_one->coefficients({}).at(kOneMinusC)) == 0x3dccccd0);
  CHECK(bits(rounds->coefficients({}).at(kOneMinusC)) == 0x3e4ccccc);
  // ... or as the run wants it
  for (const std::string& name : update_rule_names()) {
    CAPTURE(name);
    const auto rule = make_update_rule(name, "{\"average\": 0.25}");
    // given that all other replicas are in, for the rule that waits for them
    const RuleState in = {{"sync-easgd.arrived.scalars", Floats(8, 1.0F)}};
    const Coefficients closing =
        rule->coefficients({.version = 9, .state = &in});
    CHECK(closing.at(kOneMinusC) == 0.75F);
  }
  const auto plain = make_update_rule("diloco", "{\"average\": 0}");
  CHECK(plain->coefficients({}).at(kOneMinusC) == 1.0F);
  CHECK_THROWS_WITH_AS(
      make_update_rule("diloco", "{\"average\": 1}"),
      doctest::Contains("setting \"average\" is 1: expected a"), Error);
}

TEST_CASE("a step without its coefficient changes nothing") {
  for (const std::string& name : update_rule_names()) {
    CAPTURE(name);
    const auto rule = make_update_rule(name, "");
    if (rule->coefficients({}).size() == 1) continue;  // the average's alone
    Floats w = kParameters;
    RuleState state = first_state(*rule, w);
    const Contribution one{kBase, kDelta};
    CHECK_THROWS_AS(rule->step({0, 4}, w, state, {&one, 1}, {}), Error);
    CHECK(bits_of(w) == bits_of(kParameters));
  }
}

struct Refusal {
  const char* rule;
  const char* settings;
  const char* says;
};

const Refusal kRefusals[] = {
    {"sgd", "",
     "unknown; choose one of: vc-asgd, delta-asgd, downpour, dc-asgd, "
     "dc-asgd-adaptive, fedasync, fedbuff, delayed-nesterov, easgd, eamsgd, "
     "sync-easgd, gossip, sync, local-sgd, diloco"},
    {"delta-asgd", "{\"rate\": 1.6}", "at most 1.5: two steps"},
    {"delta-asgd", "{\"rate\": 0}", "setting \"rate\" is 0"},
    {"delta-asgd", "{\"power\": -1}", "setting \"power\" is -1"},
    {"downpour", "{\"rate\": 2}", "at most 1.5: two steps"},
    {"downpour", "{\"power\": 1}",
     "\"power\" is unknown; it has: average, rate, snapshots"},
    {"dc-asgd", "{\"lambda\": 3}", "setting \"lambda\" is 3"},
    {"dc-asgd", "{\"decay\": 0.5}", "\"decay\" is unknown"},
    {"dc-asgd-adaptive", "{\"decay\": 1}", "setting \"decay\" is 1"},
    {"fedasync", "{\"alpha\": 1.1}", "setting \"alpha\" is 1.1"},
    {"fedasync", "{\"weighting\": \"cosine\"}",
     "expected \"constant\", \"polynomial\" or \"hinge\""},
    {"fedasync", "{\"weighting\": 2}", "setting \"weighting\" is 2"},
    {"fedasync", "{\"b\": 2}", "\"b\" is unknown"},
    {"fedasync", "{\"weighting\": \"constant\", \"a\": 1}",
     "\"a\" is unknown; it has: alpha, average, snapshots, weighting"},
    {"fedbuff", "{\"buffer\": 0}", "a whole number from 1 to 1000"},
    {"fedbuff", "{\"buffer\": 2.5}", "a whole number from 1 to 1000"},
    {"fedbuff", "{\"rate\": 1.51}", "setting \"rate\" is 1.51"},
    {"delayed-nesterov", "{\"gamma\": 1.2}", "setting \"gamma\" is 1.2"},
    {"delayed-nesterov", "{\"delay\": 4, \"c\": 0.3}", "setting \"c\" is 0.3"},
    {"sync", "{\"gamma\": 0.5}", "\"gamma\" is unknown"},
    {"easgd", "{\"beta\": 1.1}", "setting \"beta\" is 1.1"},
    {"sync-easgd", "{\"beta\": 0}", "setting \"beta\" is 0"},
    {"eamsgd", "{\"replicas\": 1025}", "a whole number from 1 to 1024"},
    {"gossip", "{\"replicas\": 1}", "a whole number from 2 to 1024"},
    {"gossip", "{\"exchange\": \"shout\"}",
     "expected \"pull\", \"push\" or \"push-sum\""},
    {"vc-asgd", "{\"alpha\": 1}", "setting \"alpha\" is 1: expected"},
    {"vc-asgd", "{\"alpha\": 0.99999999999}", "setting \"alpha\""},
    {"vc-asgd", "{\"alpha\": -0.1}", "setting \"alpha\" is -0.1"},
    {"vc-asgd", "{\"alpha\": \"fast\"}", "setting \"alpha\" is \"fast\""},
    {"vc-asgd", "{\"alpha\": true}", "setting \"alpha\" is boolean"},
    {"vc-asgd", "{\"gamma\": 0.7}",
     "\"gamma\" is unknown; it has: alpha, average, snapshots"},
    {"vc-asgd", "[0.7]", "not a JSON object"},
    {"vc-asgd", "{\"alpha\": 0.7", "not a JSON object"},
    {"vc-asgd", "{\"alpha\": 1e999}", "vc-asgd"},
    {"diloco", "{\"gamma\": 0}", "setting \"gamma\" is 0"},
    {"diloco", "{\"gamma\": 1.01}", "setting \"gamma\" is 1.01"},
    {"diloco", "{\"beta\": 1}", "setting \"beta\" is 1"},
    {"diloco", "{\"beta\": -0.5}", "setting \"beta\" is -0.5"},
    {"diloco", "{\"alpha\": 0.7}",
     "\"alpha\" is unknown; it has: average, beta, gamma, snapshots"},
    {"diloco", "{\"snapshots\": \"int3\"}",
     "setting \"snapshots\" is \"int3\": expected one of: fp32, int8, int4"},
    {"diloco", "{\"snapshots\": 4}", "setting \"snapshots\" is 4"},
    {"vc-asgd", "{\"snapshots\": \"int4\"}",
     "setting \"snapshots\" is \"int4\": only rules in rounds"},
};

TEST_CASE("settings that make no sense are refused with the reason") {
  for (const Refusal& refusal : kRefusals) {
    CAPTURE(refusal.settings);
    try {
      make_update_rule(refusal.rule, refusal.settings);
      FAIL_CHECK("not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CAPTURE(error.what());
      CHECK(std::string(error.what()).find(refusal.says) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace quorate
