// What takes back the changes of a transaction in memory. Every change goes
// through here or leaves a step of its own, so that tables, indexes and sums
// are all restored alike, the last change first.
//
// Rejected: a copy of all tables at begin(), which takes a simulation's time;
// and changes that are collected and made at commit(), which every read would
// have to look through.
//
// References must be to places that stay until the end of the transaction:
// members of rows, values of std::map and std::unordered_map.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quorate {

// One thread. Steps must not throw: undo() has nobody to tell.
class UndoLog {
 public:
  // A step of one's own: what brings back the state from before.
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }

  // Gives `place` another value. The old one is moved into the step, so this
  // costs no copy of it.
  template <class T>
  void set(T& place, std::type_identity_t<T> value) {
    add([&place, old = std::exchange(place, std::move(value))]() mutable {
      place = std::move(old);
    });
  }

  // map[key] = value, whether there was one or not.
  template <class Map>
  void put(Map& map, const typename Map::key_type& key,
           typename Map::mapped_type value) {
    auto [at, is_new] = map.try_emplace(key);
    if (is_new) {
      at->second = std::move(value);
      add([&map, key] { map.erase(key); });
    } else {
      set(at->second, std::move(value));
    }
  }
  // Takes a key and its value out of a map or a set; does nothing if there is
  // none.
  template <class Container>
  void erase(Container& from, const typename Container::key_type& key) {
    auto node = from.extract(key);
    if (node.empty()) return;
    if constexpr (requires { node.mapped(); }) {
      add([&from, key, value = std::move(node.mapped())] {
        from.emplace(key, value);
      });
    } else {
      add([&from, key] { from.insert(key); });
    }
  }
  // Adds to a set; does nothing if it is there.
  template <class Set>
  void insert(Set& set, const typename Set::key_type& key) {
    if (set.insert(key).second) add([&set, key] { set.erase(key); });
  }
  // Adds to the end of a vector or a deque. Nothing may be taken from its front
  // before the transaction ends.
  template <class Sequence>
  void append(Sequence& to, typename Sequence::value_type value) {
    to.push_back(std::move(value));
    add([&to] { to.pop_back(); });
  }

  // The transaction is committed: its steps are of no use any more.
  void forget() { steps_.clear(); }
  // The transaction is rolled back: runs all steps, the last first.
  void undo() {
    while (!steps_.empty()) {
      steps_.back()();
      steps_.pop_back();
    }
  }

 private:
  // In the order of the changes.
  std::vector<std::function<void()>> steps_;
};

}  // namespace quorate
