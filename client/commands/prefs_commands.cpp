// `quorate-client prefs`, `prefs set` and `prefs reset`.
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "client/commands/commands.h"
#include "client/folder/data_folder.h"
#include "client/permission/prefs.h"

namespace quorate::client {

void show_prefs(const fs::path& dir, bool as_json) {
  Prefs prefs = load_prefs(DataFolder::open(dir).prefs_file());
  say("{}", as_json ? prefs_json(prefs) + "\n" : prefs_text(prefs));
}

void set_pref(const fs::path& dir, const std::string& key,
              const std::string& value, bool as_json) {
  fs::path file = DataFolder::open(dir).prefs_file();
  Prefs prefs = load_prefs(file);
  try {
    set(prefs, pref_info(key), value);
  } catch (const Error& e) {
    throw Error(
        e.kind(),
        fmt::format(
            "{}: `quorate-client prefs` lists keys, values and meanings",
            e.what()));
  }
  save_prefs(file, prefs);
  const PrefInfo& info = pref_info(key);
  say("{}\n", as_json
                  ? prefs_json(prefs)
                  : fmt::format("{} {}", info.key, value_text(prefs, info)));
}

void reset_prefs(const fs::path& dir, const std::string& key, bool as_json) {
  fs::path file = DataFolder::open(dir).prefs_file();
  Prefs prefs;
  if (!key.empty()) {
    const PrefInfo& info = pref_info(key);
    prefs = load_prefs(file);
    set(prefs, info, value_text(Prefs{}, info));
  }
  save_prefs(file, prefs);
  if (as_json) {
    say("{}\n", prefs_json(prefs));
    return;
  }
  say("{} back to the default\n", key.empty() ? "all preferences are" : key);
}

}  // namespace quorate::client
