// A run's ledger as a command reads it: page by page, from the running server
// or the store.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/cli/support/client.h"
#include "validator/ledger_walk.h"
#include "workunits/objects/object_store.h"
#include "workunits/result_header.h"

namespace quorate {

// Used forward; with each page come the sealed tasks and headers that it names,
// unless the records alone are wanted.
class LedgerPages {
 public:
  enum class With { tasks, records };  // alone

  LedgerPages(AdminClient& client, std::string run, With with = With::tasks)
      : client_(client), run_(std::move(run)), with_(with) {}

  // Record `seq`, from the page that is here or a new one; nullopt beyond the
  // end. Throws what the client throws. References that task() gave are invalid
  // once a new page was loaded.
  std::optional<LedgerRecord> record(std::uint64_t seq);
  // The newest record.
  LedgerRecord head();
  // The next two: of a record of the current page.
  // Throws corrupt if it is missing.
  const Bytes& task(const Hash& workunit) const;
  // The claim with this hash, from the header that its host signed; nullopt if
  // that is not kept.
  std::optional<Claim> claim(const Hash& hash) const;
  // Of the run: see Run::updates_removed.
  bool are_updates_removed();

 private:
  static constexpr std::uint64_t kPage = 200;  // records, each with a task

  void load(std::uint64_t seq);
  void take_page(const nlohmann::json& rows);
  void keep_claim(ByteView header);

  AdminClient& client_;
  std::string run_;
  With with_;
  bool are_updates_removed_ = false;  // it never ceases to be so
  std::uint64_t first_ = 0;
  std::deque<LedgerRecord> page_;
  std::map<Hash, Bytes> tasks_;
  std::map<Hash, Claim> claims_;  // by their hash
};

// pages, objects: must outlive what is returned.
LedgerSources sources_of(const ProjectFolder& folder, LedgerPages& pages,
                         const ObjectReader& objects);

}  // namespace quorate
