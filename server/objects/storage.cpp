#include "server/objects/storage.h"

#include <algorithm>
#include <numeric>

namespace quorate {
namespace {

// Files below a folder, but for what is in one of the folders of `but`. What
// comes or goes meanwhile may be counted or not.
StorageRow files_in(const fs::path& folder, std::string what,
                    const std::vector<fs::path>& but = {}) {
  StorageRow row{"", std::move(what)};
  std::error_code gone;
  for (fs::recursive_directory_iterator at(folder, gone), end;
       !gone && at != end; at.increment(gone)) {
    std::error_code error;
    if (std::find(but.begin(), but.end(), at->path()) != but.end()) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(error) && !at->is_symlink(error)) {
      const std::uintmax_t size = at->file_size(error);
      if (error) continue;
      ++row.count;
      row.bytes += size;
    }
  }
  return row;
}

}  // namespace

void Storage::add_object(const ObjectUse& use, std::uint64_t bytes) {
  Amount& amount = objects_[{use.run, use.what}];
  ++amount.count;
  amount.bytes += bytes;
}

void Storage::take_object(const ObjectUse& use, std::uint64_t bytes) {
  Amount& amount = objects_[{use.run, use.what}];
  --amount.count;
  amount.bytes -= bytes;
}

void Storage::add_other(const ProjectFolder& folder, StoreNames& names) {
  for (const Run& run : names.runs()) runs_[run.key] = run.name;
  for (const TaskTotals& tasks : names.task_totals()) {
    other_.push_back(
        {runs_[tasks.run], "tasks", tasks.count, tasks.bytes, true});
  }
  const fs::path store = folder.database().parent_path();
  other_.push_back(files_in(folder.uploads(), "uploads"));
  other_.push_back(files_in(store, "store"));
  other_.push_back(files_in(folder.root, "other files",
                            {folder.objects(), folder.uploads(), store}));
}

std::vector<StorageRow> Storage::rows() const {
  std::vector<StorageRow> rows;
  for (const auto& [key, amount] : objects_) {
    const auto run = runs_.find(key.first);
    rows.push_back({run == runs_.end() ? "" : run->second,
                    std::string(name_of(key.second)), amount.count,
                    amount.bytes});
  }
  rows.insert(rows.end(), other_.begin(), other_.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StorageRow& a, const StorageRow& b) {
                     if (a.run.empty() != b.run.empty()) return b.run.empty();
                     return a.run < b.run;
                   });
  return rows;
}

std::uint64_t total_bytes(const std::vector<StorageRow>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const StorageRow& row) {
                           return sum + (row.is_in_store ? 0 : row.bytes);
                         });
}

}  // namespace quorate
