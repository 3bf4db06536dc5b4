// A list that is asked for again and again: --watch.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace quorate {

// What a watcher knows of rows that have an "id".
class RowChanges {
 public:
  // Those of `rows` that are new or other than at the last call, in order of
  // id.
  nlohmann::json take(const nlohmann::json& rows);

 private:
  std::map<std::int64_t, nlohmann::json> known_;
};

struct WatchedList {
  std::function<nlohmann::json()> ask;                     // {"rows": ...}
  std::function<std::string(const nlohmann::json&)> text;  // of such an answer
  double seconds = 2;
  bool as_json = false;
};

// Until Ctrl-C, which is a good end. On a terminal the list is drawn anew;
// elsewhere new and changed rows are printed, with as_json one a line. Throws
// what `ask` throws.
void watch(const WatchedList& list);

}  // namespace quorate
