// Names that people would take for another's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

// What readers see when they see `name`: letters of all scripts that are drawn
// alike are one letter, and neither case nor spaces count. One or two texts,
// for a capital I looks like a small l in one way of reading, and is a small i
// in the other. Two names may be taken for each other if they have a text in
// common. Unicode's technical standard 39, with Latin's small capitals as well.
std::vector<std::string> looks_of(std::string_view name);

// Whether people would take it for the server's own workers: "House Workers",
// "house-worker 3", or the same with letters that look alike.
bool is_reserved_name(std::string_view name);

// Who had a name first, or one that looks like it.
class NamesInUse {
 public:
  // Another's stays another's.
  void take(const std::string& name, UserId user);
  // What the user has of it.
  void give_up(const std::string& name, UserId user);
  bool is_free_for(UserId user, const std::string& name) const;

 private:
  // By a hash of the look: with a million users, texts would be large.
  std::unordered_map<std::size_t, UserId> user_by_look_;
};

}  // namespace quorate
