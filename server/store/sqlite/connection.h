// An SQLite database: opening, statements kept prepared, and SQLite's failures
// as our errors. Knows nothing of the tables.
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
// from left to right. Resets the statement at its end. Its methods throw what
// SqliteConnection throws.
class Query {
 public:
  // path: of the database, for messages.
  Query(SQLite::Statement& statement, const fs::path& path)
      : statement_(statement), path_(path) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind(std::int64_t value);
  void bind(double value);
  void bind(const std::string& value);
  void bind(ByteView value);
  void bind_null();

  // Steps to the next row; false after the last.
  bool next();
  // For statements without rows; returns how many rows it changed.
  int run();

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
  // Opens the file, or a new database in memory for ":memory:". Throws, as all
  // its methods: unavailable if another program holds the database for longer
  // than kBusyMilliseconds; corrupt if rows would contradict each other; io,
  // saying what to do, for anything else.
  explicit SqliteConnection(const fs::path& path);

  static constexpr int kBusyMilliseconds = 2000;

  // Runs statements that are used once.
  void execute(const std::string& sql);
  // Prepares the statement on first use. Only one Query of the same text at a
  // time.
  Query query(const std::string& sql);
  // The one value of a query without parameters.
  std::int64_t integer(const std::string& sql);

  bool in_transaction() const;
  std::int64_t last_insert_id() const;
  const fs::path& path() const { return path_; }

 private:
  void set_up();

  fs::path path_;
  SQLite::Database database_;
  std::unordered_map<std::string, SQLite::Statement> statements_;
};

}  // namespace quorate
