#include "validator/model_state.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/validator/bits.h"
#include "tests/validator/entries.h"

namespace quorate {
namespace {

const Floats kDelta = {0.01F, 0.02F, -0.7F, 1e-9F};
const Floats kInitial = {0.1F, -0.2F, 0.3F, 1e-3F};

std::string refusal_of(ModelState& state, const ResultAssimilated& entry,
                       const UpdateRule& rule, Floats delta = kDelta) {
  const Bits before = bits_of(state.parameters());
  const std::size_t pending = state.pending();
  const Floats base = state.parameters();
  try {
    state.apply(entry, rule, base, std::move(delta));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    CHECK(bits_of(state.parameters()) == before);
    CHECK(state.pending() == pending);
    return error.what();
  }
  return "";
}

TEST_CASE("a result becomes a version, and the average follows") {
  // given a model at version 0
  const auto rule = make_update_rule("vc-asgd", "");
  ModelState state(kInitial);
  CHECK(state.published() == kInitial);
  // when one result is applied
  const Floats base = {0.15F, -0.25F, 0.3F, 2e-3F};
  CHECK(state.apply(entry_of(*rule, 0, 1, 7), *rule, base, kDelta));
  // then version, model and average are these, computed with exact rationals
  CHECK(state.version() == 1);
  CHECK(bits_of(state.parameters()) ==
        Bits{0x3df1a9fd, 0xbe560419, 0x3db851ec, 0x3aaa64c6});
  CHECK(bits_of(state.published()) ==
        Bits{0x3dd07c85, 0xbe4db8bb, 0x3e8ed917, 0x3a870111});
}

TEST_CASE("the base may be the state's own parameters") {
  const auto rule = make_update_rule("vc-asgd", "");
  ModelState own(kInitial);
  ModelState copied(kInitial);
  own.apply(entry_of(*rule, 0, 1, 7), *rule, own.parameters(), kDelta);
  copied.apply(entry_of(*rule, 0, 1, 7), *rule, kInitial, kDelta);
  CHECK(bits_of(own.parameters()) == bits_of(copied.parameters()));
}

TEST_CASE("a step that is computed apart gives the same bits") {
  // the last parameter is a running statistic
  const Floats base = {0.15F, -0.25F, 0.3F, 2e-3F};
  for (const char* name :
       {"vc-asgd", "delta-asgd", "downpour", "dc-asgd", "fedasync"}) {
    CAPTURE(name);
    const auto rule = make_update_rule(name, "");
    const ResultAssimilated entry = entry_of(*rule, 0, 1, 7);
    ModelState whole(kInitial, 1);
    whole.apply(entry, *rule, base, kDelta);
    ModelState apart(kInitial, 1);
    Floats stepped = kInitial;
    apply_step(entry, *rule, base, Floats(kDelta), apart.trainable(), stepped);
    apart.take(entry, *rule, stepped);
    CHECK(apart.version() == 1);
    CHECK(bits_of(apart.parameters()) == bits_of(whole.parameters()));
    CHECK(bits_of(apart.published()) == bits_of(whole.published()));
  }
}

TEST_CASE("a step may begin from a version that others have passed") {
  const auto rule = make_update_rule("vc-asgd", "");
  ModelState state(kInitial);
  state.apply(entry_of(*rule, 0, 1, 7), *rule, kInitial, kDelta);
  const Floats average = state.published();
  ModelState alone(kInitial);
  ResultAssimilated second = entry_of(*rule, 1, 2, 8);
  second.base_version = 0;
  second.staleness = 1;
  second.read_version = 0;
  state.apply(second, *rule, kInitial, Floats(4, 0.5F), kInitial);
  alone.apply(entry_of(*rule, 0, 1, 8), *rule, kInitial, Floats(4, 0.5F));
  CHECK(state.version() == 2);
  CHECK(bits_of(state.parameters()) == bits_of(alone.parameters()));
  // the average goes on from the newest version's
  const float weight = 1.0F - rule->average();
  CHECK(state.published()[0] ==
        fma(weight, state.parameters()[0] - average[0], average[0]));
  // not of a rule that keeps more, nor without the version, nor too far back
  second.version_before = 2;
  second.version_after = 3;
  second.staleness = 2;
  CHECK(refusal_of(state, second, *rule).find("version read") !=
        std::string::npos);
  second.read_version = 2;
  CHECK(refusal_of(state, second, *rule).find("it read version 2") !=
        std::string::npos);
}

TEST_CASE("a peer's model is approached, and the average follows") {
  // given parameters of which the last is a running statistic
  ModelState state({1.0F, -2.0F, 0.1F, 4.0F}, 1);
  // when half of the way is gone to another model
  state.mix(mix_entry(0, 0.5F), Floats{3.0F, 2.0F, 0.3F, 0.0F});
  // then each is in the middle: of 0.1 and 0.3 that is, in units of 2^-27,
  // 13421773 + 26843548 / 2, a tie that goes to 26843548; and the average has
  // gone a quarter of the way to that
  CHECK(state.version() == 1);
  CHECK(bits_of(state.parameters()) ==
        Bits{0x40000000, 0x00000000, 0x3e4cccce, 0x40000000});
  CHECK(bits_of(state.published()) ==
        Bits{0x3fa00000, 0xbfc00000, 0x3e000000, 0x40600000});
}

TEST_CASE("replicas are mixed as the model is, other state stays") {
  for (const char* rule : {"gossip", "easgd"}) {
    const std::string first = replica_buffer(rule, 0);
    const std::string second = replica_buffer(rule, 1);
    RuleState rules{{first, {0.0F, 2.0F}},
                    {second, {4.0F, 6.0F}},
                    {"gossip.weights.scalars", {1.0F, 1.0F}},
                    {"diloco.m", {8.0F, 8.0F}}};
    ModelState state(7, {2.0F, 4.0F}, {2.0F, 4.0F}, rules);
    state.mix(mix_entry(7, 0.25F), Floats{10.0F, 0.0F});
    CHECK(state.version() == 8);
    CHECK(state.parameters() == Floats{4.0F, 3.0F});
    CHECK(state.rule_state().at(first) == Floats{2.5F, 1.5F});
    CHECK(state.rule_state().at(second) == Floats{5.5F, 4.5F});
    CHECK(state.rule_state().at("gossip.weights.scalars") ==
          Floats{1.0F, 1.0F});
    CHECK(state.rule_state().at("diloco.m") == Floats{8.0F, 8.0F});
  }
}

TEST_CASE("a peer's model that does not follow is refused, changing nothing") {
  ModelState state(kInitial);
  const auto refusal = [&](const PeerMixed& entry, Floats peer) {
    try {
      state.mix(entry, std::move(peer));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::corrupt);
      CHECK(state.parameters() == kInitial);
      return std::string(error.what());
    }
    return std::string();
  };
  PeerMixed jump = mix_entry(0, 0.5F);
  jump.version_after = 2;
  CHECK(refusal(mix_entry(1, 0.5F), kDelta) ==
        "model of a peer: it leads from version 1 to 2, the model is at 0");
  CHECK(refusal(jump, kDelta) ==
        "model of a peer: it leads from version 0 to 2, the model is at 0");
  CHECK(refusal(mix_entry(0, 1.0F), kDelta).find("weight 1") !=
        std::string::npos);
  CHECK(refusal(mix_entry(0, 0.5F), {1.0F}) ==
        "model of a peer: it has 1 elements, the model 4");
  for (const std::uint32_t bad : {0x7f800000U, 0xff800000U, 0x7fc00000U}) {
    CHECK(refusal(mix_entry(0, 0.5F), {0.0F, 0.0F, 0.0F, float_of_bits(bad)}) ==
          "model of a peer: it has numbers that are not finite");
  }
  // given a round that is open
  const auto diloco = make_update_rule("diloco", "");
  state.apply(entry_of(*diloco, 0, 0, 1), *diloco, kInitial, kDelta);
  CHECK(refusal(mix_entry(0, 0.5F), kDelta) ==
        "model of a peer: inside an open round");
}

TEST_CASE("a big model of a peer is mixed as a small one") {
  constexpr std::size_t kBig = 600'000;
  Floats w(kBig), x(kBig), e(kBig);
  for (std::size_t i = 0; i < kBig; ++i) {
    w[i] = static_cast<float>(i % 1009) * 0.01F;
    x[i] = static_cast<float>(i % 997) * -0.03F;
  }
  ModelState state(w, 70'001);
  state.mix(mix_entry(0, 0.3F), x);
  for (std::size_t i = 0; i < kBig; ++i) {
    e[i] = w[i];
    w[i] = fma(0.3F, x[i] - w[i], w[i]);
    e[i] = fma(0.25F, w[i] - e[i], e[i]);
  }
  CHECK(state.parameters() == w);
  CHECK(state.published() == e);
}

// What every rule makes of some results, in blocks and on several threads, or
// at once and plainly.
constexpr std::size_t kMany = 600'000;
constexpr std::size_t kStatistics = 70'001;

Floats numbers(std::uint32_t salt) {
  Floats values(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    values[i] = static_cast<float>((i * 2654435761U + salt) % 4093) * 1e-3F;
  }
  return values;
}

struct Plain {
  Floats w, e;
  RuleState state;

  void take(const UpdateRule& rule, const Coefficients& coefficients,
            const Floats& base, std::span<const Floats> deltas) {
    constexpr std::size_t kLearned = kMany - kStatistics;
    std::vector<Contribution> learned, statistics;
    for (const Floats& delta : deltas) {
      learned.push_back(
          {std::span(base).first(kLearned), std::span(delta).first(kLearned)});
      statistics.push_back({std::span(base).last(kStatistics),
                            std::span(delta).last(kStatistics)});
    }
    rule.step({0, kLearned}, w, state, learned, coefficients);
    rule.step_statistics({kLearned, kStatistics}, w, state, statistics,
                         coefficients);
    rule.step_scalars(state, coefficients);
    const float weight = coefficients.at(kOneMinusC);
    for (std::size_t i = 0; i < kMany; ++i) {
      e[i] = fma(weight, w[i] - e[i], e[i]);
    }
  }
};

TEST_CASE("a big model has the bits of plain loops, whatever the rule") {
  CHECK(merging_threads(1000) == 1);
  CHECK(merging_threads(kMany) <= 2);
  const Floats base = numbers(1);
  const std::vector<Floats> deltas = {numbers(2), numbers(3), numbers(4)};
  for (const std::string& name : update_rule_names()) {
    CAPTURE(name);
    const auto rule = make_update_rule(name, "");
    Plain plain{base, base, {}};
    ModelState state(base, kStatistics);
    for (const StateBuffer& buffer :
         rule->state_buffers(rule->coefficients({}))) {
      const bool is_ones = buffer.start == StateBuffer::Start::ones;
      plain.state[buffer.name] =
          buffer.start == StateBuffer::Start::model
              ? base
              : Floats(buffer.scalars == 0 ? kMany : buffer.scalars,
                       is_ones ? 1.0F : 0.0F);
    }
    for (std::uint64_t unit = 0; unit < 3; ++unit) {
      const std::uint64_t version = rule->in_rounds() ? 0 : unit;
      const bool closes = !rule->in_rounds() || unit == 2;
      ResultAssimilated entry =
          entry_of(*rule, version, closes ? version + 1 : version, unit);
      entry.coefficients = rule->coefficients(
          {.version = 9 * version, .base_version = 9 * version});
      const std::span<const Floats> merged =
          rule->in_rounds() ? std::span(deltas)
                            : std::span(deltas).subspan(unit, 1);
      // once the base is what the step changes
      if (closes) {
        plain.take(*rule, entry.coefficients, unit == 1 ? plain.w : base,
                   merged);
      }
      state.apply(entry, *rule,
                  unit == 1 ? state.parameters() : std::span<const float>(base),
                  deltas[unit]);
    }
    CHECK(bits_of(state.parameters()) == bits_of(plain.w));
    CHECK(bits_of(state.published()) == bits_of(plain.e));
    REQUIRE(state.rule_state().size() == plain.state.size());
    for (const auto& [buffer, values] : plain.state) {
      CHECK(bits_of(state.rule_state().at(buffer)) == bits_of(values));
    }
  }
}

TEST_CASE("a version that is not published leaves the average alone") {
  const auto rule = make_update_rule("fedbuff", "");
  ModelState state(0, {1.0F}, {-0.0F}, {});
  state.apply(entry_of(*rule, 0, 1, 0), *rule, Floats{1.0F}, Floats{1.0F});
  CHECK(bits(state.published()[0]) == bits(-0.0F));
}

TEST_CASE("a round closes in order of unit index, however it arrived") {
  const auto rule = make_update_rule("diloco", "");
  const Floats second = {0.03F, -0.01F, 0.1F, 5e-9F};
  const Floats third = {-0.2F, 0.4F, 0.33F, 7e-3F};
  ModelState state(kInitial);
  // given two of three results that arrive out of order
  CHECK_FALSE(state.apply(entry_of(*rule, 0, 0, 9), *rule, {}, third));
  CHECK_FALSE(state.apply(entry_of(*rule, 0, 0, 7), *rule, {}, kDelta));
  CHECK(state.pending() == 2);
  CHECK(bits_of(state.parameters()) == bits_of(kInitial));
  // when the third closes the round
  CHECK(state.apply(entry_of(*rule, 0, 1, 8), *rule, {}, second));
  // then the step is that of kDelta, second, third
  CHECK(state.version() == 1);
  CHECK(state.pending() == 0);
  CHECK(bits_of(state.parameters()) ==
        Bits{0x3cee1d39, 0xbc955e10, 0x3e38a092, 0x3b867548});
  CHECK(bits_of(state.published()) ==
        Bits{0x3dafbee7, 0xbe2792fe, 0x3e8d57bd, 0x3ad46c92});
}

TEST_CASE("running statistics at the end are merged as such") {
  const auto rule = make_update_rule("diloco", "");
  const Floats second = {0.03F, -0.01F, 0.1F, 5e-9F};
  auto close_round = [&](ModelState& state) {
    state.apply(entry_of(*rule, 0, 0, 7), *rule, {}, kDelta);
    state.apply(entry_of(*rule, 0, 1, 8), *rule, {}, second);
  };
  // given the same round with and without two running statistics
  ModelState learned(kInitial);
  ModelState mixed(kInitial, 2);
  close_round(learned);
  close_round(mixed);
  // then what is learned is alike
  auto first_two = [](const Floats& values) {
    return bits_of({values.begin(), values.begin() + 2});
  };
  CHECK(first_two(mixed.parameters()) == first_two(learned.parameters()));
  CHECK(first_two(mixed.published()) == first_two(learned.published()));
  // and the others are means, without momentum
  const float weight = rule->coefficients({}).at(kOneMinusC);
  for (std::size_t i = 2; i < 4; ++i) {
    const float w = kInitial[i];
    const float mean = ((w + kDelta[i]) + (w + second[i])) * 0.5F;
    CHECK(bits(mixed.parameters()[i]) == bits(mean));
    CHECK(bits(mixed.published()[i]) == bits(fma(weight, mean - w, w)));
    CHECK(mixed.rule_state().at("diloco.m")[i] == 0.0F);
  }
  // and a state that was saved knows them too
  ModelState resumed(0, kInitial, kInitial, {}, 2);
  close_round(resumed);
  CHECK(bits_of(resumed.parameters()) == bits_of(mixed.parameters()));
}

TEST_CASE("a saved state goes on with the same bits") {
  const auto rule = make_update_rule("diloco", "");
  ModelState state(kInitial);
  auto round = [&](ModelState& at) {
    const std::uint64_t v = at.version();
    at.apply(entry_of(*rule, v, v, 2 * v), *rule, {}, kDelta);
    at.apply(entry_of(*rule, v, v + 1, 2 * v + 1), *rule, {}, kInitial);
  };
  // given a state after two rounds, saved and read back
  round(state);
  round(state);
  const Bytes saved = rule_state_parts(state.rule_state()).joined();
  CHECK(rule_state_hash(state.rule_state()) == sha256(saved));
  ModelState resumed(state.version(), state.parameters(), state.published(),
                     read_rule_state(saved, 4, "saved"));
  // when both go on
  round(state);
  round(resumed);
  // then nothing differs
  CHECK(resumed.version() == 3);
  CHECK(bits_of(resumed.parameters()) == bits_of(state.parameters()));
  CHECK(bits_of(resumed.published()) == bits_of(state.published()));
  CHECK(rule_state_hash(resumed.rule_state()) ==
        rule_state_hash(state.rule_state()));
}

TEST_CASE("a rule's state that is not the model's is refused") {
  CHECK(rule_state_hash({}).is_zero());
  CHECK(rule_state_parts({}).parts().empty());
  CHECK(read_rule_state({}, 4, "saved").empty());
  const Bytes saved = rule_state_parts({{"diloco.m", kDelta}}).joined();
  CHECK_THROWS_AS(read_rule_state(saved, 5, "saved"), Error);
  CHECK_THROWS_AS(
      read_rule_state(ByteView(saved).first(saved.size() - 1), 4, "saved"),
      Error);
  CHECK_THROWS_AS(ModelState(3, kInitial, {1.0F}, {}), Error);
}

TEST_CASE("a run may change its rule; the new one starts from zero") {
  const auto vc = make_update_rule("vc-asgd", "");
  const auto diloco = make_update_rule("diloco", "");
  ModelState state(kInitial);
  state.apply(entry_of(*diloco, 0, 1, 0), *diloco, {}, kDelta);
  CHECK(state.rule_state().count("diloco.m") == 1);
  state.apply(entry_of(*vc, 1, 2, 1), *vc, state.parameters(), kDelta);
  CHECK(state.rule_state().empty());
}

TEST_CASE("a skipped result leaves the model and counts the version") {
  const auto vc = make_update_rule("vc-asgd", "");
  ModelState state(kInitial);
  CHECK(state.skip(entry_of(*vc, 0, 1, 0), *vc));
  CHECK(state.version() == 1);
  CHECK(bits_of(state.parameters()) == bits_of(kInitial));

  SUBCASE("the others of its round still count") {
    const auto diloco = make_update_rule("diloco", "");
    ModelState alone(1, kInitial, kInitial, {});
    alone.apply(entry_of(*diloco, 1, 2, 1), *diloco, {}, kDelta);
    state.apply(entry_of(*diloco, 1, 1, 1), *diloco, {}, kDelta);
    CHECK(state.skip(entry_of(*diloco, 1, 2, 2), *diloco));
    CHECK(bits_of(state.parameters()) == bits_of(alone.parameters()));
    CHECK(bits_of(state.published()) == bits_of(alone.published()));
  }
}

TEST_CASE("entries that do not follow are refused, and change nothing") {
  const auto vc = make_update_rule("vc-asgd", "");
  const auto diloco = make_update_rule("diloco", "");
  ModelState state(3, kInitial, kInitial, {});
  ResultAssimilated entry = entry_of(*vc, 3, 4, 7);
  SUBCASE("version before") {
    entry.version_before = 2;
    CHECK(refusal_of(state, entry, *vc) ==
          "result 40 (unit 7): it changes version 2, the model is at 3");
  }
  SUBCASE("version after") {
    entry.version_after = 5;
    CHECK(refusal_of(state, entry, *vc) != "");
    entry.version_after = 3;  // no round of this rule could stay open
    CHECK(refusal_of(state, entry, *vc) != "");
  }
  SUBCASE("staleness") {
    entry.staleness = 1;
    CHECK(refusal_of(state, entry, *vc) != "");
    entry.base_version = 4;
    CHECK(refusal_of(state, entry, *vc) != "");
  }
  SUBCASE("rule") {
    CHECK(refusal_of(state, entry, *diloco) != "");
  }
  SUBCASE("size") {
    CHECK(refusal_of(state, entry, *vc, {1.0F}) != "");
  }
  SUBCASE("coefficients") {
    entry.coefficients.erase("one_minus_alpha");
    CHECK(refusal_of(state, entry, *vc).find("one_minus_alpha") !=
          std::string::npos);
    entry.coefficients = {{"one_minus_alpha", 0.3F}};
    CHECK(refusal_of(state, entry, *vc).find("one_minus_c") !=
          std::string::npos);
  }
  SUBCASE("inside a round") {
    state.apply(entry_of(*diloco, 3, 3, 1), *diloco, {}, kDelta);
    CHECK(refusal_of(state, entry, *vc) != "");
    CHECK(refusal_of(state, entry_of(*diloco, 3, 3, 1), *diloco) != "");
    ResultAssimilated other = entry_of(*diloco, 3, 3, 2);
    other.coefficients["gamma"] = 0.5F;
    CHECK(refusal_of(state, other, *diloco) != "");
  }
}

}  // namespace
}  // namespace quorate
