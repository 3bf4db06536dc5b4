// The part of the store's contract about users and their hosts, and about other
// projects.
#pragma once

#include "server/store/store.h"

namespace quorate::test {

void keeps_users(Store& store);
void keeps_hosts(Store& store);
void keeps_device_records(Store& store);
void forgets_users(Store& store);
void keeps_boinc_accounts(Store& store);
void keeps_boinc_hosts(Store& store);
void keeps_peers(Store& store);
void keeps_allowed_peers(Store& store);

}  // namespace quorate::test
