// receipt: fetches one, or checks one that is there.
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "client/commands/commands.h"
#include "client/commands/receipt.h"
#include "client/exchange/project_api.h"
#include "client/folder/attach.h"
#include "client/folder/choose_project.h"
#include "client/folder/data_folder.h"
#include "client/machine/host_info.h"

namespace quorate::client {
namespace {

// Said before anybody is asked.
void expect_new_file(const fs::path& out, bool may_replace) {
  auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage,
                fmt::format("receipt: --out {}: {}", out.string(), why));
  };
  std::error_code ignored;
  const fs::path folder = fs::absolute(out).parent_path();
  if (fs::is_directory(out, ignored)) refuse("this is a folder: name a file");
  if (!fs::is_directory(folder, ignored)) {
    refuse(
        fmt::format("there is no folder {}: make it first", folder.string()));
  }
  if (fs::exists(out, ignored) && !may_replace) {
    refuse("this file exists: name another, or say --force");
  }
}

Bytes fetch_from(const Project& project, const Identity& identity) {
  const auto transfer = make_curl_transfer(curl_options(project));
  Session session;
  ProjectApi api(*transfer, identity, session, {});
  try {
    return api.receipt();
  } catch (const Error& e) {
    throw Error(e.kind(),
                fmt::format("receipt of {} at {}: {}: try again when the "
                            "project can be reached",
                            project.statement.name, project.url, e.what()));
  }
}

std::vector<Project> attached_projects(const fs::path& dir) {
  std::error_code ignored;
  if (!fs::exists(dir, ignored)) return {};
  return DataFolder::open(dir).projects();
}

}  // namespace

void fetch_receipt(const fs::path& dir, const ReceiptOptions& options,
                   bool as_json) {
  const DataFolder folder = DataFolder::open(dir);
  const Project project =
      choose_project(folder.projects(), options.project, "receipt FINGERPRINT");
  if (!folder.has_host_key()) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "receipt: host.key is missing in {}: without it the project does "
            "not know this computer: restore the file from your copy",
            folder.root().string()));
  }
  const fs::path out =
      options.out.empty()
          ? receipt_file_name(project.id, SystemClock().unix_ms())
          : options.out;
  expect_new_file(out, options.may_replace);
  const Identity identity = identity_of(folder, project);
  const Bytes sealed = fetch_from(project, identity);
  const std::string what = "receipt from " + project.url;
  const Receipt receipt = open_receipt(sealed, what);
  expect_receipt_of(receipt, project, identity.host.public_key(), what);
  folder.keep_receipt(project.id, sealed);
  write_file_durably(out, sealed);
  if (as_json) {
    say("{}\n", receipt_json(receipt, out.string()));
    return;
  }
  say("{0}written to {1}\n  anybody can check it: quorate-client "
      "receipt --check {1} --key {2}\n",
      receipt_text(receipt), out.string(), fingerprint(project.id));
}

void check_receipt(const fs::path& dir, const ReceiptOptions& options,
                   bool as_json) {
  const Bytes sealed = read_file(options.check, kMaxReceiptBytes);
  const Receipt receipt = open_receipt(sealed, options.check);
  expect_known_project(
      receipt, options.key,
      options.key.empty() ? attached_projects(dir) : std::vector<Project>{},
      options.check);
  if (!options.ledger.empty()) {
    const MappedFile mapped(options.ledger);
    LedgerFile ledger(as_text(mapped.bytes()), options.ledger);
    expect_shown_by(ledger, options.ledger, receipt, options.check);
  }
  if (as_json) {
    say("{}\n", receipt_json(receipt, options.check));
    return;
  }
  say("{}: ok\n{}{}", options.check, receipt_text(receipt),
      options.ledger.empty()
          ? ""
          : fmt::format("  {} shows the same\n", options.ledger));
}

}  // namespace quorate::client
