#include "workunits/objects/replica_exchange.h"

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"

namespace quorate {

void exchange_replica(std::span<float> replica, std::span<const float> delta,
                      std::span<const float> met) {
  check(delta.size() == replica.size() && met.size() == replica.size(),
        "an exchange is of replicas of one model");
  float* own = replica.data();
  const float* change = delta.data();
  const float* other = met.data();
  for_each_element(replica.size(), [=](std::size_t i) {
    const float u = own[i] + change[i];
    own[i] = fma(kHalfWay, other[i] - u, u);
  });
}

}  // namespace quorate
