// Ways for a host to send false results: what the attacker program does in
// place of an honest volunteer, so that tests can see it found out. Digests of
// the state stay honest unless the name says otherwise; a lie about the update
// is what they are to uncover. Lies in which all fits together: false_work.h.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/exchange/result_signing.h"

namespace quorate::test {

// The names that make_attack knows, for messages.
inline constexpr const char* kAttackNames =
    "random, agreed, scaled, large, huge, sign-flip, non-finite, "
    "false-digests, "
    "wrong-payload, other-unit, spoilt-replicas";

//   random         floats drawn anew, of the size that the honest ones have
//   agreed         the same, drawn alike by all who have this unit
//   scaled         the update times 1.5
//   large          the update times 30
//   huge           values of 1e37
//   sign-flip      the update times -1
//   non-finite     one element of the update is NaN
//   false-digests  the right update, with made-up digests of the state
//   wrong-payload  an honest header, another body
//   other-unit     claim and body of the first unit under every later one
//   spoilt-replicas  honest results; but mates of its site get other replicas
// nullptr for another name.
std::unique_ptr<client::ResultTamper> make_attack(const std::string& name);

// Does what `attack` does to a share of the results, drawn by their ids, after
// `honest` ones that it leaves alone.
std::unique_ptr<client::ResultTamper> sometimes(
    std::unique_ptr<client::ResultTamper> attack, double share,
    std::uint64_t honest);

// A change to all values of an update; the bytes are a safetensors container
// and stay a valid one. Throws corrupt if they are none. Of an update in codes
// it is their scales that change. growing: times 1.3 to the power of `seed`.
enum class Change {
  random,
  scaled,
  large,
  growing,
  huge,
  sign_flip,
  not_finite
};
void change_update(Bytes& update, Change change, std::uint64_t seed);

}  // namespace quorate::test
