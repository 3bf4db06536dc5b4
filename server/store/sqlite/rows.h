// Rows in and out of their tables: how each type of member is stored, and the
// statements that follow from the lists of columns in tables.h.
// Texts of statements are made once for each type; the connection keeps the
// statements prepared.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "server/store/sqlite/connection.h"
#include "server/store/sqlite/tables.h"

namespace quorate {

// Enumerators and integers are INTEGER (64-bit ones by their bits), floats and
// doubles REAL, hashes, keys and bytes BLOB, a model its JSON text. NaN becomes
// NULL.
template <class T>
void put(Query& query, const T& value) {
  if constexpr (std::is_same_v<T, ModelSpec>) {
    query.bind(to_json(value));
  } else if constexpr (std::is_enum_v<T>) {
    query.bind(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    query.bind(std::bit_cast<std::int64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    query.bind(std::int64_t{value});
  } else if constexpr (std::is_floating_point_v<T>) {
    query.bind(double{value});
  } else if constexpr (std::is_same_v<T, std::string>) {
    query.bind(value);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    query.bind(ByteView(value));
  } else {
    query.bind(value.view());  // FixedBytes
  }
}

template <class Id>
void put(Query& query, const Reference<Id>& reference) {
  if (reference.id == 0) {
    query.bind_null();
  } else {
    query.bind(std::int64_t{reference.id});
  }
}

// Throws corrupt if the column does not hold a T.
template <class T>
void get(Query& query, T& value) {
  if constexpr (std::is_same_v<T, ModelSpec>) {
    value = model_from_json(query.text());
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(query.integer());
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    value = std::bit_cast<std::uint64_t>(query.integer());
  } else if constexpr (std::is_integral_v<T>) {
    std::int64_t stored = query.integer();
    value = static_cast<T>(stored);
    if (value != stored) query.reject(fmt::format("{} is too large", stored));
  } else if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(query.real());
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = query.text();
  } else if constexpr (std::is_same_v<T, Bytes>) {
    ByteView stored = query.blob();
    value.assign(stored.begin(), stored.end());
  } else {
    ByteView stored = query.blob();
    if (stored.size() != value.bytes.size()) {
      query.reject(fmt::format("expected {} bytes, found {}",
                               value.bytes.size(), stored.size()));
    }
    std::copy(stored.begin(), stored.end(), value.bytes.begin());
  }
}

template <class Id>
void get(Query& query, Reference<Id> reference) {
  reference.id = query.integer();  // NULL reads as 0
}

// A limit as SQL takes it; one beyond is none.
inline std::int64_t limit_of(std::uint64_t limit) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(limit, INT64_MAX));
}

// Rows with an id of their own; others are found by a key.
template <class Row>
concept HasId = requires(Row& row) {
  Table<Row>::id(row);
};

// The columns' names, each followed by `suffix`, with commas between them.
template <class Row>
std::string column_list(std::string_view suffix, bool with_fixed = true) {
  std::string list;
  Row row;
  Table<Row>::columns(row, [&](std::string_view name, auto&&) {
    if (!with_fixed && is_fixed<Row>(name)) return;
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", name, suffix);
  });
  return list;
}

template <class Row>
std::string insert_sql(std::string_view verb) {
  std::string marks;
  Row row;
  Table<Row>::columns(row, [&](std::string_view, auto&&) {
    marks += marks.empty() ? "?" : ", ?";
  });
  return fmt::format("{} INTO {} ({}) VALUES ({})", verb, Table<Row>::kName,
                     column_list<Row>(""), marks);
}

// Binds the row's columns, in order.
template <class Row>
void bind_row(Query& query, const Row& row) {
  Table<Row>::columns(
      row, [&](std::string_view, const auto& member) { put(query, member); });
}

// Returns the new row's id.
template <class Row>
std::int64_t insert(SqliteConnection& connection, const Row& row) {
  static const std::string kSql = insert_sql<Row>("INSERT");
  Query query = connection.query(kSql);
  bind_row(query, row);
  query.run();
  return connection.last_insert_id();
}

// The same, but takes the place of a row with the same key.
template <class Row>
void replace(SqliteConnection& connection, const Row& row) {
  static const std::string kSql = insert_sql<Row>("INSERT OR REPLACE");
  Query query = connection.query(kSql);
  bind_row(query, row);
  query.run();
}

// Throws corrupt if there is no row with this id.
template <class Row>
void update(SqliteConnection& connection, const Row& row, std::int64_t id) {
  static const std::string kSql =
      fmt::format("UPDATE {} SET {} WHERE id = ?", Table<Row>::kName,
                  column_list<Row>(" = ?", false));
  Query query = connection.query(kSql);
  Table<Row>::columns(row, [&](std::string_view name, const auto& member) {
    if (!is_fixed<Row>(name)) put(query, member);
  });
  query.bind(id);
  if (query.run() != 1) {
    throw Error(ErrorKind::corrupt,
                fmt::format("store {}: table {} has no row {}",
                            connection.path().string(), Table<Row>::kName, id));
  }
}

// Rows in the order of the query. tail: the statement from WHERE on, constant
// text with a mark for each of the values.
template <class Row, class... Values>
std::vector<Row> select(SqliteConnection& connection, std::string_view tail,
                        const Values&... values) {
  static const std::string kHead =
      fmt::format("SELECT {}{} FROM {} ", HasId<Row> ? "id, " : "",
                  column_list<Row>(""), Table<Row>::kName);
  Query query = connection.query(kHead + std::string(tail));
  (put(query, values), ...);
  std::vector<Row> rows;
  while (query.next()) {
    Row& row = rows.emplace_back();
    if constexpr (HasId<Row>) Table<Row>::id(row) = query.integer();
    Table<Row>::columns(
        row, [&](std::string_view, auto&& member) { get(query, member); });
  }
  return rows;
}

// The first of the rows that select() gives.
template <class Row, class... Values>
std::optional<Row> select_one(SqliteConnection& connection,
                              std::string_view tail, const Values&... values) {
  std::vector<Row> rows = select<Row>(connection, tail, values...);
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

}  // namespace quorate
