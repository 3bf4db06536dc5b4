// The tables of a project's store and their history.
#pragma once

#include "server/store/sqlite/connection.h"

namespace quorate {

// Brings the database to the newest schema, in one transaction, from any older
// one or from nothing. Throws unsupported, changing nothing, if a newer program
// has already changed it.
void migrate(SqliteConnection& connection);

// For those who only read beside a server: throws unsupported if the schema is
// not the newest.
void expect_newest(SqliteConnection& connection);

}  // namespace quorate
