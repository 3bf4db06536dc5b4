// How the assimilators of a run share its model.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace quorate {

// strong: reading the model, the step and writing it are one transaction.
// eventual: whoever writes last wins; what others wrote since it read is lost.
enum class Consistency { strong, eventual };

// Of a run. It bounds how many past versions a replay keeps.
inline constexpr std::uint32_t kMaxAssimilators = 16;

std::string_view name_of(Consistency consistency);
std::optional<Consistency> consistency_called(std::string_view name);

}  // namespace quorate
