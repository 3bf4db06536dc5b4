// The tables of a project's store and their history.
//
// The history is a list of steps, one SQL text each; PRAGMA user_version says
// how many were done. A step is never changed once it was released: what is new
// is a new step. Triggers keep the totals and shares.
#pragma once

#include "server/store/sqlite/connection.h"

namespace quorate {

// Brings the database to the newest schema, in one transaction, from any older
// one or from nothing. Does nothing if it is the newest. Throws unsupported,
// changing nothing, if a newer program has already changed it.
void migrate(SqliteConnection& connection);

// For those who only read beside a server: throws unsupported if the schema is
// not the newest, older or newer; then the server has to be started, or this
// program to be updated. Changes nothing.
void expect_newest(SqliteConnection& connection);

}  // namespace quorate
