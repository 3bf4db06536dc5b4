// The part of the store's contract about what changes leave behind: those that
// are taken back, refused or only partly done, and what is counted with them.
#pragma once

#include "server/store/store.h"

namespace quorate::test {

void restores_everything_that_is_rolled_back(Store& store);
void goes_on_after_a_refused_row(Store& store);
void keeps_what_a_row_is_made_with(Store& store);
void finds_rows_by_what_they_are_now(Store& store);
void counts_shares(Store& store);
void counts_revoked_units(Store& store);
void refuses_references_to_nothing(Store& store);

}  // namespace quorate::test
