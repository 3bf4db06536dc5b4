#include "server/doors/native/ledger_route.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "server/doors/answer_from_writer.h"
#include "server/doors/refusals.h"
#include "server/http/clients/places.h"
#include "workunits/ledger/ledger_file.h"

namespace quorate {
namespace {

// Read at once: entries may be large, and those beyond a page are thrown away.
constexpr std::uint64_t kAtOnce = 16;
// A page ends with the entry that goes beyond; one alone has at most 9 MiB.
constexpr std::size_t kEnough = 512 << 10;
// On average; twelve times as many at once: some hundred thousand entries.
constexpr double kPagesPerMinute = 60;

// What the request says under this name, `otherwise` if nothing. Throws usage
// with what was expected.
std::uint64_t number_in(const Request& request, std::string_view name,
                        std::uint64_t least, std::uint64_t otherwise,
                        std::string_view expected) {
  const std::string_view text = request.query_value(name);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number =
      error == std::errc() && end == text.data() + text.size();
  // The store counts in 63 bits.
  if (is_number && number >= least && number <= protocol::kMaxCount) {
    return number;
  }
  throw Error(ErrorKind::usage,
              fmt::format("ledger: {}: expected {}, from {} to {}", name,
                          expected, least, protocol::kMaxCount));
}

std::uint64_t first_entry(const Request& request) {
  return number_in(request, "from", 0, 0, "the number of an entry");
}

std::uint64_t most_entries(const Request& request) {
  return number_in(request, "limit", 1, kMostLedgerEntries,
                   "how many entries at most");
}

}  // namespace

std::string ledger_page(ProjectState& state, RunKey run, std::uint64_t from,
                        std::uint64_t limit) {
  std::string page;
  if (from == 0) page = write_ledger_head(state.keys.ring) + "\n";
  const std::uint64_t end = from + std::min(limit, kMostLedgerEntries);
  while (from < end) {
    const std::vector<LedgerRecord> records =
        state.store.ledger(run, from, std::min(end - from, kAtOnce));
    if (records.empty()) break;
    for (const LedgerRecord& record : records) {
      page += write_ledger_line(record) + "\n";
      if (page.size() >= kEnough) return page;
    }
    from += records.size();
  }
  return page;
}

LedgerRoute::LedgerRoute(Project& project)
    : project_(project), pages_(kPagesPerMinute, project.state().clock) {}

void LedgerRoute::add_routes(Router& router) {
  router.add(Method::get, "/v1/runs/{run}/ledger",
             [this](Request& request, Responder responder) {
               get(request, std::move(responder));
             });
}

void LedgerRoute::get(const Request& request, Responder responder) {
  answer_from_writer(
      project_, std::move(responder),
      [this, from = first_entry(request), limit = most_entries(request),
       name = std::string(request.path_value("run")),
       places = places_of(request.remote_address)] {
        if (auto wait = pages_.join(places)) {
          return crowded_response("pages of ledgers", *wait);
        }
        const TrainingRun* training = project_.state().run_by_name(name);
        if (training == nullptr) {
          return error_response(404, ErrorKind::usage,
                                "there is no run of this name: GET /v1/runs "
                                "lists them");
        }
        // A cache's old page would look as if the end had been cut off.
        return no_store(text_response(
            200, "application/x-ndjson",
            ledger_page(project_.state(), training->run.key, from, limit)));
      });
}

}  // namespace quorate
