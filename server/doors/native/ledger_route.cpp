#include "server/doors/native/ledger_route.h"

#include <charconv>

#include "base/error.h"
#include "protocol/limits.h"
#include "server/doors/answer_from_writer.h"
#include "server/doors/refusals.h"
#include "server/http/clients/places.h"
#include "workunits/ledger/ledger_file.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMostEntries = 256;
// A page ends with the entry that goes beyond; one alone has at most 9 MiB.
constexpr std::size_t kEnough = 512 << 10;
// On average; twelve times as many at once: some hundred thousand entries.
constexpr double kPagesPerMinute = 60;

std::uint64_t first_entry(const Request& request) {
  const std::string_view text = request.query_value("from");
  if (text.empty()) return 0;
  std::uint64_t from = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), from);
  // The store counts in 63 bits.
  const bool is_number =
      error == std::errc() && end == text.data() + text.size();
  if (is_number && from <= protocol::kMaxCount) return from;
  throw Error(ErrorKind::usage,
              "ledger: from: expected the number of an entry, from 0");
}

}  // namespace

std::string ledger_page(ProjectState& state, RunKey run, std::uint64_t from) {
  std::string page;
  if (from == 0) page = write_ledger_head(state.keys.ring) + "\n";
  for (const LedgerRecord& record :
       state.store.ledger(run, from, kMostEntries)) {
    page += write_ledger_line(record) + "\n";
    if (page.size() >= kEnough) break;
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
      [this, from = first_entry(request),
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
        return text_response(
            200, "application/x-ndjson",
            ledger_page(project_.state(), training->run.key, from));
      });
}

}  // namespace quorate
