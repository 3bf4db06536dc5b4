// Receipts in words, and whose they are. Pure; the commands that fetch and
// check them are in receipt_commands.cpp.
#pragma once

#include <string>
#include <vector>

#include "client/folder/project.h"
#include "workunits/ledger/ledger_file.h"
#include "workunits/receipt.h"

namespace quorate::client {

// What it says, for people: several lines.
std::string receipt_text(const Receipt& receipt);
// The same for programs, one JSON object; file: where it lies.
std::string receipt_json(const Receipt& receipt, const std::string& file);

// Throws corrupt, naming `what`, unless it is of this project for this host.
void expect_receipt_of(const Receipt& receipt, const Project& project,
                       const PublicKey& host, const std::string& what);

// Whether the project that made it is the one that is meant. key: fingerprint,
// project id or project key; empty: any of `attached`. Throws usage when nobody
// has said which project is meant, corrupt when it is another; both name
// `what`.
void expect_known_project(const Receipt& receipt, const std::string& key,
                          const std::vector<Project>& attached,
                          const std::string& what);

// A receipt that the client keeps, and where.
struct KeptReceipt {
  std::string file;
  Receipt receipt;
};
struct Comparison {
  std::size_t receipts = 0;          // that name the run
  std::vector<std::string> against;  // of them, those that differ: file and why
};
// How receipts and a run's ledger fit: each names an entry and its hash. Those
// of a key that `keys`, the project's, has revoked say nothing: whoever took it
// can seal receipts, too. hashes: of all entries of the ledger.
Comparison compare(const std::vector<KeptReceipt>& kept, const Keyring& keys,
                   const std::string& run, const std::vector<Hash>& hashes);

// Whether a ledger shows what the receipt says of its run: the entry that was
// the last one then has the hash that it had. Verifies the ledger up to its
// end. Throws corrupt if it does not, or is another project's, usage if the two
// have nothing in common; names `what` and the ledger.
void expect_shown_by(LedgerFile& ledger, const std::string& ledger_name,
                     const Receipt& receipt, const std::string& what);

// "quorate-5f2c9a1e-2026-11-22.receipt"; unix_ms: now.
std::string receipt_file_name(const ProjectId& project, Millis unix_ms);

}  // namespace quorate::client
