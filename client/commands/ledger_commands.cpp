// ledger: fetches what a project shows of a run's history, and goes on with it.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "client/commands/commands.h"
#include "client/commands/receipt.h"
#include "client/exchange/ledger_copy.h"
#include "client/folder/attach.h"
#include "client/folder/choose_project.h"
#include "client/folder/data_folder.h"
#include "client/status/contact.h"
#include "protocol/transfer/statement.h"
#include "workunits/receipt.h"

namespace quorate::client {
namespace {

// As quorate train create takes them; others would be another address.
void expect_run_name(const std::string& run) {
  const bool is_plain =
      std::all_of(run.begin(), run.end(), [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '-' || letter == '_' ||
               letter == '.';
      });
  if (is_plain && !run.empty() && !run.starts_with('.')) return;
  throw Error(ErrorKind::usage,
              fmt::format("ledger: RUN {}: expected letters, digits, - . and _ "
                          "as on the project's page",
                          run));
}

// The keys that the project has today, which it may have renewed since.
Keyring keys_of(const Project& known) {
  const auto transfer =
      make_curl_transfer({known.url, TlsTrust::unchecked, ""});
  const Project found = open_statement(fetch_statement(*transfer));
  const std::string why =
      against_statement(found, &known, SystemClock().unix_ms());
  if (!why.empty()) {
    throw Error(ErrorKind::denied, fmt::format("{}: {}", known.url, why));
  }
  return found.statement.keys;
}

std::vector<KeptReceipt> kept_receipts(const DataFolder& folder,
                                       const ProjectId& project) {
  std::vector<KeptReceipt> kept;
  for (const fs::path& file : folder.receipts(project)) {
    const Bytes sealed = read_file(file, kMaxReceiptBytes);
    kept.push_back({file.string(), open_receipt(sealed, file.string())});
  }
  return kept;
}

void expect_agreement(const Comparison& found, const LedgerOrder& order) {
  if (found.against.empty()) return;
  throw Error(
      ErrorKind::corrupt,
      fmt::format("run {}: the project shows another history than it sealed: "
                  "{} of the {} receipts that you keep differ from {}: {}: "
                  "keep these files, for the project had sealed them, and ask "
                  "its operator: a restored backup is a reason, hiding "
                  "something another",
                  order.run, found.against.size(), found.receipts,
                  order.file.string(), found.against.front()));
}

std::string receipts_text(std::size_t receipts) {
  if (receipts == 0) {
    return "you keep no receipt of this run to compare with it: get one by: "
           "quorate-client receipt";
  }
  return "it agrees with " + count_text(receipts, "receipt") +
         " of this run that you keep";
}

std::string copy_text(const LedgerOrder& order, const LedgerCopy& copy,
                      std::size_t receipts) {
  return fmt::format(
      "{}: {} entries of run {}, {} of them new; every one is sealed and "
      "follows the one before\n  the last one has the hash {}\n  {}\n",
      order.file.string(), copy.entries(), order.run,
      copy.entries() - copy.known, copy.head().hex(), receipts_text(receipts));
}

std::string copy_json(const LedgerOrder& order, const LedgerCopy& copy,
                      std::size_t receipts) {
  return nlohmann::json{
      {"file", order.file.string()}, {"run", order.run},
      {"entries", copy.entries()},   {"new", copy.entries() - copy.known},
      {"head", copy.head().hex()},   {"receipts", receipts}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void fetch_ledger(const fs::path& dir, const LedgerOptions& options,
                  bool as_json) {
  expect_run_name(options.run);
  const DataFolder folder = DataFolder::open(dir);
  const Project project = choose_project(folder.projects(), options.project,
                                         "--project FINGERPRINT");
  LedgerOrder order;
  order.run = options.run;
  order.keys = keys_of(project);
  order.pause = [](Seconds wanted) { std::this_thread::sleep_for(wanted); };
  order.file = options.out.empty() ? options.run + ".ledger" : options.out;
  const bool is_shown = !as_json && ::isatty(STDERR_FILENO) != 0;
  if (is_shown) {
    order.progress = [](std::uint64_t entries) {
      fmt::print(stderr, "\r{} entries", entries);
    };
  }
  const auto transfer = make_curl_transfer(curl_options(project));
  const LedgerCopy copy = copy_ledger(order, *transfer, {});
  if (is_shown) fmt::print(stderr, "\n");
  const Comparison found = compare(kept_receipts(folder, project.id),
                                   order.keys, order.run, copy.hashes);
  expect_agreement(found, order);
  if (as_json) {
    say("{}\n", copy_json(order, copy, found.receipts));
  } else {
    say("{}", copy_text(order, copy, found.receipts));
  }
}

}  // namespace quorate::client
