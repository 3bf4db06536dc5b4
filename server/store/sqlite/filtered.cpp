// The SQLite store: rows that somebody wants to see (server/store/filters.h).
// Conditions that do not matter are switched off by their values, so that each
// question is one statement that stays prepared. No index helps: rows are
// passed over from the newest on, in the database, and only those that match
// are read.
#include <fmt/format.h>

#include "server/store/sqlite/rows.h"
#include "server/store/sqlite/sqlite_store.h"

namespace quorate {
namespace {

static_assert(static_cast<int>(ResultOutcome::success) == 1);
static_assert(static_cast<int>(ValidateState::init) == 0);
static_assert(static_cast<int>(ValidateState::inconclusive) == 5);

// Parameters 1 to 3 are of one of a unit's results, too.
constexpr std::string_view kHolder =
    "(?1 = 0 OR host = ?1) AND (?2 = 0 OR user = ?2) AND "
    "(?3 = '' OR instr(lower(device_of(header)), lower(?3)) > 0)";
constexpr std::string_view kResult =
    "(?4 = 0 OR run = ?4) AND (?5 < 0 OR server_state = ?5) AND "
    "(?6 < 0 OR outcome = ?6) AND (?7 < 0 OR validate_state = ?7) AND "
    "(?8 = 0 OR (outcome = 1 AND validate_state IN (0, 5))) AND "
    "(sent >= ?9 OR received >= ?9)";
constexpr std::string_view kWorkunit =
    "(?4 = 0 OR run = ?4) AND (?5 < 0 OR state = ?5) AND "
    "(?6 < 0 OR check_state = ?6) AND "
    "(created >= ?7 OR judged >= ?7 OR closed >= ?7 OR checked >= ?7) AND "
    "((?1 = 0 AND ?2 = 0 AND ?3 = '') OR id IN "
    "(SELECT workunit FROM results WHERE {}))";

const std::string& results_where() {
  static const std::string kSql =
      fmt::format("WHERE {} AND {}", kHolder, kResult);
  return kSql;
}

const std::string& workunits_where() {
  static const std::string kSql =
      "WHERE " + fmt::format(fmt::runtime(kWorkunit), kHolder);
  return kSql;
}

// -1: any.
template <class T>
std::int64_t code(const std::optional<T>& wanted) {
  return wanted ? static_cast<std::int64_t>(*wanted) : -1;
}

// Calls use(values...) with the parameters' values in their order.
template <class Use>
auto with_values(const ResultFilter& filter, Use&& use) {
  return use(filter.host, filter.user, filter.device, filter.run,
             code(filter.server_state), code(filter.outcome),
             code(filter.validate_state), filter.is_waiting, filter.since);
}

template <class Use>
auto with_values(const WorkunitFilter& filter, Use&& use) {
  return use(filter.host, filter.user, filter.device, filter.run,
             code(filter.state), code(filter.check), filter.since);
}

template <class Filter>
std::uint64_t count_rows(SqliteConnection& connection, std::string_view table,
                         const std::string& where, const Filter& filter) {
  Query query =
      connection.query(fmt::format("SELECT count(*) FROM {} {}", table, where));
  with_values(filter,
              [&](const auto&... values) { (put(query, values), ...); });
  query.next();
  return static_cast<std::uint64_t>(query.integer());
}

template <class Row, class Filter>
std::vector<Row> page_of(SqliteConnection& connection, const std::string& where,
                         const Filter& filter, const Page& page) {
  return with_values(filter, [&](const auto&... values) {
    return select<Row>(connection,
                       where + " AND id < ? ORDER BY id DESC LIMIT ?",
                       values..., page.before_id, limit_of(page.limit));
  });
}

}  // namespace

std::vector<Result> SqliteStore::results(const ResultFilter& filter,
                                         const Page& page) {
  return page_of<Result>(reading(), results_where(), filter, page);
}

std::uint64_t SqliteStore::count(const ResultFilter& filter) {
  return count_rows(reading(), "results", results_where(), filter);
}

std::vector<Workunit> SqliteStore::workunits(const WorkunitFilter& filter,
                                             const Page& page) {
  return page_of<Workunit>(reading(), workunits_where(), filter, page);
}

std::uint64_t SqliteStore::count(const WorkunitFilter& filter) {
  return count_rows(reading(), "workunits", workunits_where(), filter);
}

}  // namespace quorate
