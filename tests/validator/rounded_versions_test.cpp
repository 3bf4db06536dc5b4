// Versions that are rounded, so that hosts fetch changes.
#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "tests/support/samples.h"
#include "tests/validator/bits.h"
#include "tests/validator/entries.h"
#include "validator/model_state.h"
#include "workunits/objects/snapshot_delta.h"

namespace quorate {
namespace {

TEST_CASE("rounded versions follow the unrounded ones by deltas") {
  const ModelSpec model = test::sample_codec_task(Codec::int4).model;
  const Floats initial = initial_parameters(model, 3);
  const auto plain = make_update_rule("diloco", "");
  const auto rounded = make_update_rule("diloco", R"({"snapshots":"int4"})");
  ModelState exact(initial, model);
  ModelState state(initial, model);
  CHECK(state.delta().empty());
  Floats host = initial;  // who fetches every delta
  for (std::uint64_t version = 0; version < 5; ++version) {
    Floats delta = test::sample_delta(model);
    for (float& one : delta) one *= 0.1F;
    exact.apply(entry_of(*plain, version, version + 1, version), *plain, {},
                delta);
    state.apply(entry_of(*rounded, version, version + 1, version), *rounded, {},
                delta);
    // then what is rounded is made of unrounded versions alone
    CHECK(state.rule_state().at(kUnrounded) == exact.parameters());
    CHECK(state.published() == exact.published());
    // and a host that adds the deltas has the version
    apply_snapshot_delta(model, state.delta(), host, "delta");
    CHECK(bits_of(host) == bits_of(state.parameters()));
  }
  CHECK(state.parameters() != exact.parameters());
  // and running statistics are not rounded
  const std::size_t learned = trainable_count(model);
  const Floats& found = state.parameters();
  CHECK(Floats(found.begin() + static_cast<std::ptrdiff_t>(learned),
               found.end()) == Floats(exact.parameters().begin() +
                                          static_cast<std::ptrdiff_t>(learned),
                                      exact.parameters().end()));
  // and a state that was saved goes on with the same bits
  ModelState resumed(state.version(), state.parameters(), state.published(),
                     state.rule_state(), model);
  for (ModelState* one : {&state, &resumed}) {
    one->apply(entry_of(*rounded, 5, 6, 5), *rounded, {},
               test::sample_delta(model));
  }
  CHECK(bits_of(resumed.parameters()) == bits_of(state.parameters()));
  CHECK(to_hex(resumed.delta()) == to_hex(state.delta()));
}

TEST_CASE("a peer's model is mixed into what was not rounded") {
  const ModelSpec model = test::sample_codec_task(Codec::int4).model;
  const auto plain = make_update_rule("diloco", "");
  const auto rounded = make_update_rule("diloco", R"({"snapshots":"int4"})");
  ModelState exact(initial_parameters(model, 3), model);
  ModelState state(initial_parameters(model, 3), model);
  exact.apply(entry_of(*plain, 0, 1, 0), *plain, {}, test::sample_delta(model));
  state.apply(entry_of(*rounded, 0, 1, 0), *rounded, {},
              test::sample_delta(model));
  CHECK(state.parameters() != exact.parameters());
  for (ModelState* one : {&exact, &state}) {
    one->mix(mix_entry(1, 0.5F), initial_parameters(model, 8));
  }
  CHECK(bits_of(state.parameters()) == bits_of(exact.parameters()));
  CHECK(bits_of(state.rule_state().at(kUnrounded)) ==
        bits_of(exact.parameters()));
  CHECK(bits_of(state.published()) == bits_of(exact.published()));
  CHECK(state.delta().empty());
}

TEST_CASE("another rule in rounds goes on from what was not rounded") {
  const ModelSpec model = test::sample_codec_task(Codec::int4).model;
  const auto first = make_update_rule("diloco", R"({"snapshots":"int4"})");
  const auto rounded = make_update_rule("local-sgd", R"({"snapshots":"int8"})");
  const auto plain = make_update_rule("local-sgd", "");
  ModelState state(initial_parameters(model, 3), model);
  state.apply(entry_of(*first, 0, 1, 0), *first, {}, test::sample_delta(model));
  const Floats unrounded = state.rule_state().at(kUnrounded);
  const Floats version = state.parameters();
  const Floats nothing(version.size(), 0.0F);
  ModelState other(1, version, state.published(), state.rule_state(), model);
  state.apply(entry_of(*rounded, 1, 2, 1), *rounded, {}, nothing);
  CHECK(state.rule_state().at(kUnrounded) == unrounded);
  CHECK(state.rule_state().size() == 1);
  // without rounding, from the version that hosts had
  other.apply(entry_of(*plain, 1, 2, 1), *plain, {}, nothing);
  CHECK(other.parameters() == version);
  CHECK(other.rule_state().empty());
  CHECK(other.delta().empty());
}

TEST_CASE("a version that nothing leads to has no delta") {
  const ModelSpec model = test::sample_codec_task(Codec::int4).model;
  const auto rule = make_update_rule("diloco", R"({"snapshots":"int8"})");
  ModelState state(initial_parameters(model, 3), model);
  state.apply(entry_of(*rule, 0, 1, 0), *rule, {}, test::sample_delta(model));
  CHECK_FALSE(state.delta().empty());
  Revoked revoked;
  revoked.version_before = 1;
  revoked.version_after = 2;
  state.revoke(revoked);
  CHECK(state.delta().empty());
}

}  // namespace
}  // namespace quorate
