// The part of the store's contract about rows that somebody wants to see.
#pragma once

#include "server/store/store.h"

namespace quorate::test {

void finds_results_by_filters(Store& store);
void finds_workunits_by_filters(Store& store);

}  // namespace quorate::test
