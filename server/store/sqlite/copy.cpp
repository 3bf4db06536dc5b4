// A store's copy while others write to it.
#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "server/store/sqlite/connection.h"
#include "server/store/store.h"

namespace quorate {
namespace {

constexpr int kPagesAtOnce = 1024;

[[noreturn]] void fail(const fs::path& from, const fs::path& to,
                       const std::string& why) {
  throw Error(ErrorKind::io,
              fmt::format("copy store {} to {}: {}: check disk and space",
                          from.string(), to.string(), why));
}

// The copy of a damaged store is as good a name for it as any.
void expect_whole(const fs::path& copy) {
  SqliteConnection connection(copy);
  Query query = connection.query("PRAGMA quick_check(1)");
  std::string found = query.next() ? query.text() : "no answer";
  if (found == "ok") return;
  throw Error(ErrorKind::corrupt,
              fmt::format("copy store: its content is damaged: {}: restore an "
                          "earlier backup",
                          found));
}

}  // namespace

void copy_sqlite_store(
    const fs::path& from, const fs::path& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  try {
    SQLite::Database source(from.string(), SQLite::OPEN_READWRITE,
                            SqliteConnection::kBusyMilliseconds);
    SQLite::Database target(to.string(),
                            SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    // One moment of the store: without this transaction the copy would begin
    // anew with every commit of a server, and might never end.
    source.exec("BEGIN");
    source.execAndGet("SELECT count(*) FROM sqlite_schema");
    SQLite::Backup backup(target, source);
    int code = SQLITE_OK;
    while (code == SQLITE_OK) {
      code = backup.executeStep(kPagesAtOnce);
      auto all = static_cast<std::uint64_t>(backup.getTotalPageCount());
      auto left = static_cast<std::uint64_t>(backup.getRemainingPageCount());
      progress(all - left, all);
    }
    if (code != SQLITE_DONE) fail(from, to, sqlite3_errstr(code));
  } catch (const SQLite::Exception& error) {
    fail(from, to, error.what());
  }
  expect_whole(to);
}

}  // namespace quorate
