// Rules that train replicas: easgd, sync-easgd and gossip.
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "base/error.h"
#include "validator/update_rules/update_rule.h"

namespace quorate {
namespace {

using Floats = std::vector<float>;

TEST_CASE("easgd ties a replica and the centre together") {
  // given two replicas, tied with a = 1/4
  const auto rule =
      make_update_rule("easgd", "{\"replicas\": 2, \"beta\": 0.5}");
  CHECK(rule->replicas() == 2);
  Floats z(1, 1.0F);
  RuleState state = {{"easgd.x.0", {1.0F}}, {"easgd.x.1", {3.0F}}};
  const Floats eight = {8.0F};
  const Contribution one{z, eight};
  // when a unit of the second is in, then both have moved by a quarter of what
  // is between them
  rule->step({0, 1}, z, state, {&one, 1}, rule->coefficients({.replica = 1}));
  CHECK(z[0] == 3.5F);
  CHECK(state.at("easgd.x.1")[0] == 8.5F);
  CHECK(state.at("easgd.x.0")[0] == 1.0F);
}

TEST_CASE("sync-easgd moves the centre when all replicas are in") {
  // given two replicas, tied with a = 1/4
  const auto rule =
      make_update_rule("sync-easgd", "{\"replicas\": 2, \"beta\": 0.5}");
  CHECK(!rule->in_rounds());
  Floats z(1, 1.0F);
  RuleState state = {{"sync-easgd.x.0", {1.0F}},
                     {"sync-easgd.x.1", {3.0F}},
                     {"sync-easgd.sum", {0.0F}},
                     {"sync-easgd.arrived.scalars", {0.0F, 0.0F}}};
  const Floats eight = {8.0F};
  const Contribution one{z, eight};
  auto arrive = [&](std::uint32_t replica, bool is_there) {
    const Coefficients decided =
        rule->coefficients({.replica = replica, .state = &state});
    const std::size_t count = is_there ? 1 : 0;
    rule->step({0, 1}, z, state, {&one, count}, decided);
    rule->step_scalars(state, decided);
    return decided;
  };
  // when the second is in, it waits, and the centre is where it was
  CHECK(arrive(1, true).at("one_minus_c") == 0.0F);
  CHECK(z[0] == 1.0F);
  CHECK(state.at("sync-easgd.x.1")[0] == 8.5F);
  CHECK(rule->is_waiting(state, 1));
  CHECK(!rule->is_waiting(state, 0));
  CHECK(!rule->is_waiting({}, 0));
  // and when the first is in, too, the centre moves by both of them
  RuleState before = state;
  CHECK(arrive(0, true).at("one_minus_c") == 1.0F - rule->average());
  CHECK(z[0] == 5.5F);  // 1 + (11 - 1) / 4 + (9 - 1) / 4
  CHECK(state.at("sync-easgd.x.0")[0] == 7.0F);
  CHECK(!rule->is_waiting(state, 1));
  // when the result that closes a round is left out, the others still count
  state = before;
  z[0] = 1.0F;
  arrive(0, false);
  CHECK(z[0] == 3.5F);
  CHECK(state.at("sync-easgd.x.0")[0] == 1.0F);
}

struct Met {
  Floats replicas;
  float model = 0;
  Floats weights;
};

// Two replicas at 2 and 6, the model at their mean; the first gets a delta
// of 4.
Met after_exchange(const char* settings, Floats weights) {
  const auto rule = make_update_rule("gossip", settings);
  Floats w(1, 4.0F);
  RuleState state = {{"gossip.x.0", {2.0F}},
                     {"gossip.x.1", {6.0F}},
                     {"gossip.weights.scalars", std::move(weights)}};
  const Floats four = {4.0F};
  const Contribution one{w, four};
  const Coefficients coefficients =
      rule->coefficients({.replica = 0, .state = &state});
  CHECK(coefficients.at("peer") == 1.0F);
  rule->step({0, 1}, w, state, {&one, 1}, coefficients);
  rule->step_scalars(state, coefficients);
  return {{state.at("gossip.x.0")[0], state.at("gossip.x.1")[0]},
          w[0],
          state.at("gossip.weights.scalars")};
}

TEST_CASE("gossiping replicas meet in pairs, and the model is their mean") {
  const char* pull = "{\"replicas\": 2}";
  Met met = after_exchange(pull, {1.0F, 1.0F});
  CHECK(met.replicas == Floats{6.0F, 6.0F});
  CHECK(met.model == 6.0F);
  const char* push = "{\"replicas\": 2, \"exchange\": \"push\"}";
  met = after_exchange(push, {1.0F, 1.0F});
  CHECK(met.replicas == Floats{6.0F, 6.0F});
  CHECK(met.model == 6.0F);
  // Push-sum: half of the first's weight goes over.
  const char* sum = "{\"replicas\": 2, \"exchange\": \"push-sum\"}";
  met = after_exchange(sum, {1.0F, 1.0F});
  CHECK(met.replicas == Floats{6.0F, 6.0F});
  CHECK(met.weights == Floats{0.5F, 1.5F});
  CHECK(met.model == 6.0F);
  // One of a small weight steps further, but not without end.
  met = after_exchange(sum, {0.8F, 1.2F});
  CHECK(met.replicas[0] == 7.0F);
  met = after_exchange(sum, {0.25F, 1.75F});
  CHECK(met.replicas[0] == 8.0F);
  CHECK(met.model == 4.0F + 0.1875F * 4.0F);
}

TEST_CASE("every other replica is a peer as often, and never oneself") {
  const auto rule = make_update_rule("gossip", "{\"replicas\": 5}");
  std::map<float, int> drawn;
  for (std::uint64_t version = 0; version < 4000; ++version) {
    ++drawn[rule->coefficients({.version = version, .replica = 2, .seed = 7})
                .at("peer")];
  }
  CHECK(drawn.size() == 4);
  CHECK(drawn.count(2.0F) == 0);
  for (const auto& [peer, times] : drawn) CHECK(std::abs(times - 1000) < 120);
}

TEST_CASE("an adaptive replica rather meets who is far and has many units") {
  const auto rule = make_update_rule(
      "gossip", "{\"replicas\": 4, \"partners\": \"adaptive\"}");
  RuleState state = {{"gossip.x.0", {0.0F, 0.0F}},
                     {"gossip.x.1", {1.0F, 1.0F}},
                     {"gossip.x.2", {2.0F, 0.0F}},
                     {"gossip.x.3", {0.0F, 0.0F}},
                     {"gossip.weights.scalars", Floats(4, 1.0F)},
                     {"gossip.paces.scalars", {9.0F, 3.0F, 1.5F, 8.0F}}};
  // Mean squares 1, 2 and 0, times paces 3, 1.5 and 8.
  std::map<float, int> drawn;
  Coefficients last;
  for (std::uint64_t version = 0; version < 4000; ++version) {
    last = rule->coefficients(
        {.version = version, .replica = 0, .seed = 7, .state = &state});
    ++drawn[last.at("peer")];
  }
  CHECK(drawn.size() == 2);
  CHECK(std::abs(drawn[1.0F] - 2000) < 150);
  // Its own unit counts, and earlier ones less.
  rule->step_scalars(state, last);
  CHECK(state.at("gossip.paces.scalars") ==
        Floats{8.875F, 2.625F, 1.3125F, 7.0F});
  // Where all are alike, any is met.
  for (auto& [name, values] : state) {
    if (name.starts_with("gossip.x.")) values = {1.0F, 1.0F};
  }
  drawn.clear();
  for (std::uint64_t version = 0; version < 300; ++version) {
    ++drawn[rule->coefficients({.version = version, .state = &state})
                .at("peer")];
  }
  CHECK(drawn.size() == 3);
}

TEST_CASE("hosts exchange replicas by pulling alone") {
  CHECK(!make_update_rule("gossip", "")->exchanges_among_hosts());
  CHECK(make_update_rule("gossip", "{\"among\": \"hosts\"}")
            ->exchanges_among_hosts());
  for (const char* refused :
       {"{\"among\": \"hosts\", \"exchange\": \"push\"}",
        "{\"among\": \"friends\"}", "{\"partners\": \"few\"}"}) {
    CHECK_THROWS_AS(make_update_rule("gossip", refused), Error);
  }
}

TEST_CASE("coefficients that name no replica are refused") {
  const auto rule = make_update_rule("easgd", "");
  for (const float bad : {-1.0F, 0.0F, 1.5F, 1e9F, std::nanf("")}) {
    Coefficients found = rule->coefficients({});
    found[kReplicas] = bad;
    CHECK_THROWS_AS(rule->state_buffers(found), Error);
  }
  for (const float bad : {-1.0F, 8.0F, 0.5F, std::nanf("")}) {
    Coefficients found = rule->coefficients({});
    found[kReplica] = bad;
    CHECK_THROWS_AS(replica_of(found), Error);
  }
}

}  // namespace
}  // namespace quorate
