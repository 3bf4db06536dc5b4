#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "validator/update_rules/update_rule.h"

namespace quorate {

TEST_CASE("what a rule carries on has these names, in every ledger") {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"vc-asgd", {}},
      {"delta-asgd", {}},
      {"downpour", {}},
      {"dc-asgd", {}},
      {"dc-asgd-adaptive", {"dc-asgd-adaptive.v"}},
      {"fedasync", {}},
      {"fedbuff", {"fedbuff.sum"}},
      {"delayed-nesterov", {"delayed-nesterov.buffer", "delayed-nesterov.m"}},
      {"easgd", {"easgd.x.0", "easgd.x.1"}},
      {"eamsgd", {"eamsgd.x.0", "eamsgd.x.1"}},
      {"sync-easgd",
       {"sync-easgd.arrived.scalars", "sync-easgd.sum", "sync-easgd.x.0",
        "sync-easgd.x.1"}},
      {"gossip", {"gossip.weights.scalars", "gossip.x.0", "gossip.x.1"}},
      {"sync", {}},
      {"local-sgd", {}},
      {"diloco", {"diloco.m"}}};
  for (const std::string& name : update_rule_names()) {
    CAPTURE(name);
    const bool has_replicas =
        !expected.at(name).empty() && expected.at(name).back().ends_with("x.1");
    const auto rule =
        make_update_rule(name, has_replicas ? R"({"replicas":2})" : "");
    std::vector<std::string> found;
    for (const StateBuffer& one : rule->state_buffers(rule->coefficients({}))) {
      found.push_back(one.name);
    }
    std::sort(found.begin(), found.end());
    CHECK(found == expected.at(name));
    if (!rule->in_rounds()) continue;
    const auto rounded = make_update_rule(name, R"({"snapshots":"int4"})");
    CHECK(rounded->state_buffers(rounded->coefficients({})).back().name ==
          "snapshots.unrounded");
  }
}

}  // namespace quorate
