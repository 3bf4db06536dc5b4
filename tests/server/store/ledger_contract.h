// The ledger's part of the store's contract.
#pragma once

#include "server/store/store.h"

namespace quorate::test {

void keeps_ledgers(Store& store);
void keeps_orders(Store& store);
void refuses_ledgers_that_contradict_themselves(Store& store);

}  // namespace quorate::test
