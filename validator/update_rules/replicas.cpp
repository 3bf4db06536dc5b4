#include "validator/update_rules/replicas.h"

#include "base/error.h"

namespace quorate {

std::vector<StateBuffer> replica_buffers(std::string_view rule,
                                         std::uint32_t replicas) {
  std::vector<StateBuffer> buffers;
  for (std::uint32_t number = 0; number < replicas; ++number) {
    buffers.push_back(
        {replica_buffer(rule, number), StateBuffer::Start::model});
  }
  return buffers;
}

float* replica(std::string_view rule, RuleState& state, std::uint32_t number) {
  return state.at(replica_buffer(rule, number)).data();
}

float* trained_replica(std::string_view rule, RuleState& state,
                       const Coefficients& coefficients) {
  coefficient(coefficients, kReplica);
  return replica(rule, state, replica_of(coefficients).value());
}

}  // namespace quorate
