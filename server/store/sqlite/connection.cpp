#include "server/store/sqlite/connection.h"

#include <limits>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"

namespace quorate {
namespace {

struct Advice {
  ErrorKind kind;
  std::string_view text;
};

Advice advice_for(int code) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::unavailable,
              "another program is using it: try again when that is done"};
    case SQLITE_CONSTRAINT:
      return {ErrorKind::corrupt, "the change contradicts what is stored"};
    case SQLITE_FULL:
      return {ErrorKind::io,
              "free some disk space and start again; what was committed is "
              "safe"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorKind::io,
              "the file is damaged or not a database: restore it from a "
              "backup, together with its -wal file"};
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorKind::io,
              "check that its folder exists and that this user may write to "
              "both"};
    case SQLITE_IOERR:
      return {ErrorKind::io,
              "check the disk, then start again; what was committed is safe"};
    default:
      return {ErrorKind::io, "start again; what was committed is safe"};
  }
}

[[noreturn]] void fail(const fs::path& path, const SQLite::Exception& error) {
  Advice advice = advice_for(error.getErrorCode());
  throw Error(advice.kind, fmt::format("store {}: {}: {}", path.string(),
                                       error.what(), advice.text));
}

template <class F>
decltype(auto) guarded(const fs::path& path, F&& call) {
  try {
    return call();
  } catch (const SQLite::Exception& error) {
    fail(path, error);
  }
}

SQLite::Database open(const fs::path& path) {
  return guarded(path, [&] {
    return SQLite::Database(path.string(),
                            SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                            SqliteConnection::kBusyMilliseconds);
  });
}

}  // namespace

Query::~Query() {
  statement_.tryReset();
}

void Query::bind(std::int64_t value) {
  guarded(path_, [&] { statement_.bind(++parameter_, value); });
}

void Query::bind(double value) {
  guarded(path_, [&] { statement_.bind(++parameter_, value); });
}

void Query::bind(const std::string& value) {
  guarded(path_, [&] { statement_.bind(++parameter_, value); });
}

void Query::bind(ByteView value) {
  // A null pointer would store NULL instead of an empty blob.
  const void* data =
      value.empty() ? "" : static_cast<const void*>(value.data());
  check(value.size() <= std::numeric_limits<int>::max(), "a blob is too large");
  guarded(path_, [&] {
    statement_.bind(++parameter_, data, static_cast<int>(value.size()));
  });
}

void Query::bind_null() {
  guarded(path_, [&] { statement_.bind(++parameter_); });
}

bool Query::next() {
  column_ = 0;
  return guarded(path_, [&] { return statement_.executeStep(); });
}

int Query::run() {
  return guarded(path_, [&] { return statement_.exec(); });
}

std::int64_t Query::integer() {
  return statement_.getColumn(column_++).getInt64();
}

double Query::real() {
  SQLite::Column column = statement_.getColumn(column_++);
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN()
                         : column.getDouble();
}

std::string Query::text() {
  return statement_.getColumn(column_++).getString();
}

ByteView Query::blob() {
  SQLite::Column column = statement_.getColumn(column_++);
  const void* data = column.getBlob();
  return {static_cast<const std::uint8_t*>(data),
          static_cast<std::size_t>(column.getBytes())};
}

void Query::reject(const std::string& why) const {
  const char* name = statement_.getColumn(column_ - 1).getName();
  throw Error(ErrorKind::corrupt,
              fmt::format("store {}: column {}: {}: restore it from a backup",
                          path_.string(), name, why));
}

SqliteConnection::SqliteConnection(const fs::path& path)
    : path_(path), database_(open(path)) {
  set_up();
}

void SqliteConnection::set_up() {
  // FULL: a commit that returned survives a power failure.
  execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  guarded(path_, [&] {
    // A database in memory has no log to write ahead.
    std::string mode =
        database_.execAndGet("PRAGMA journal_mode = WAL").getString();
    if (mode == "wal" || mode == "memory") return;
    throw Error(ErrorKind::io,
                fmt::format("store {}: its file system has no shared memory "
                            "(journal mode {}): move it to a local disk",
                            path_.string(), mode));
  });
}

void SqliteConnection::execute(const std::string& sql) {
  guarded(path_, [&] { database_.exec(sql); });
}

Query SqliteConnection::query(const std::string& sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    found = guarded(path_, [&] {
      return statements_.try_emplace(sql, database_, sql).first;
    });
  }
  return Query(found->second, path_);
}

std::int64_t SqliteConnection::integer(const std::string& sql) {
  return guarded(path_, [&] { return database_.execAndGet(sql).getInt64(); });
}

void SqliteConnection::add_function(const char* name,
                                    std::string (*function)(ByteView)) {
  auto call = [](sqlite3_context* context, int, sqlite3_value** values) {
    auto* answer_of =
        reinterpret_cast<std::string (*)(ByteView)>(sqlite3_user_data(context));
    const void* data = sqlite3_value_blob(values[0]);
    const std::string answer =
        answer_of({static_cast<const std::uint8_t*>(data),
                   static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
    sqlite3_result_text(context, answer.data(), static_cast<int>(answer.size()),
                        SQLITE_TRANSIENT);
  };
  guarded(path_, [&] {
    database_.createFunction(name, 1, true, reinterpret_cast<void*>(function),
                             call);
  });
}

bool SqliteConnection::in_transaction() const {
  return sqlite3_get_autocommit(database_.getHandle()) == 0;
}

std::int64_t SqliteConnection::last_insert_id() const {
  return database_.getLastInsertRowid();
}

}  // namespace quorate
