// Entries that follow from a state at some version.
#pragma once

#include "validator/update_rules/update_rule.h"
#include "workunits/ledger/ledger.h"

namespace quorate {

inline ResultAssimilated entry_of(const UpdateRule& rule, std::uint64_t before,
                                  std::uint64_t after, std::uint64_t unit) {
  ResultAssimilated entry;
  entry.version_before = before;
  entry.version_after = after;
  entry.base_version = before;
  entry.unit_index = unit;
  entry.result = 40;
  entry.rule = rule.name();
  entry.coefficients = rule.coefficients({});
  return entry;
}

inline PeerMixed mix_entry(std::uint64_t before, float weight) {
  PeerMixed entry;
  entry.version_before = before;
  entry.version_after = before + 1;
  entry.weight = weight;
  entry.one_minus_c = 0.25F;
  return entry;
}

}  // namespace quorate
