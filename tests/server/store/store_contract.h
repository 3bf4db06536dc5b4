// What every implementation of Store must do. A test program runs each case on
// a fresh, empty store.
#pragma once

#include <span>

#include "server/store/store.h"

namespace quorate::test {

struct ContractCase {
  const char* name;
  void (*check)(Store& store);
};

std::span<const ContractCase> store_contract();

}  // namespace quorate::test
