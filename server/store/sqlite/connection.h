// An SQLite database: opening, statements kept prepared, and SQLite's failures
// as our errors. Knows nothing of the tables.
//
// The room server/store/sqlite is the only one that includes SQLite's headers.
// It owns the database file and its write-ahead log, and may include
// server/store.
//
// A file is opened with synchronous=FULL, a write-ahead log and checked foreign
// keys: a commit that returned survives a power failure. One connection belongs
// to one thread; several connections of one file may read while one writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "base/bytes.h"
#include "base/file.h"

namespace quorate {

// One use of a prepared statement: parameters are bound and columns are read
// from left to right, so their order in the code is that in the SQL. Resets the
// statement at its end. Its methods throw what SqliteConnection throws.
class Query {
 public:
  // path: of the database, for messages.
  Query(SQLite::Statement& statement, const fs::path& path)
      : statement_(statement), path_(path) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Binds the next parameter. NaN is stored as NULL. Bytes are copied.
  void bind(std::int64_t value);
  void bind(double value);
  void bind(const std::string& value);
  void bind(ByteView value);
  void bind_null();

  // Steps to the next row; false after the last.
  bool next();
  // For statements without rows; returns how many rows it changed.
  // With changes of foreign keys checked at once, not at commit.
  int run();

  // The next column of this row. NULL reads as 0, an empty text or no bytes.
  std::int64_t integer();
  // A NULL reads as NaN: it is how SQLite stores one.
  double real();
  std::string text();
  // Valid until the next step.
  ByteView blob();

  // Throws corrupt: the column read last does not hold what it should.
  [[noreturn]] void reject(const std::string& why) const;

 private:
  SQLite::Statement& statement_;
  const fs::path& path_;
  int parameter_ = 0;
  int column_ = 0;
};

class SqliteConnection {
 public:
  // Opens the file, creating it, or a new database in memory for ":memory:".
  // Throws, as all its methods: unavailable if another program holds the
  // database for longer than kBusyMilliseconds; corrupt if rows would
  // contradict each other; io, saying what to do, for anything else, and for a
  // file system without shared memory (a write-ahead log needs it).
  explicit SqliteConnection(const fs::path& path);

  static constexpr int kBusyMilliseconds = 2000;

  // Runs statements that are used once, several with ';' between them.
  void execute(const std::string& sql);
  // Prepares the statement on first use and keeps it as long as the connection;
  // so the text must be one of few, with marks for all values. Only one Query
  // of the same text at a time.
  Query query(const std::string& sql);
  // The one value of a query without parameters.
  // The query is prepared anew each time: not for the server's daily work.
  std::int64_t integer(const std::string& sql);

  // Lets SQL call function(blob), a text, by this name. Each blob has one
  // answer. It must not throw.
  void add_function(const char* name, std::string (*function)(ByteView));

  // False also after SQLite rolled back by itself, as it does on a full disk.
  bool in_transaction() const;
  std::int64_t last_insert_id() const;
  const fs::path& path() const { return path_; }

 private:
  // Sets what the header of this file says.
  void set_up();

  fs::path path_;
  SQLite::Database database_;
  // Prepared statements by their text. They die before the database does.
  std::unordered_map<std::string, SQLite::Statement> statements_;
};

}  // namespace quorate
