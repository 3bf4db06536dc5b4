// What takes back the changes of a transaction in memory. Every change goes
// through here or leaves a step of its own, so that tables, indexes and sums
// are all restored alike, the last change first.
// References must be to places that stay until the end of the transaction:
// members of rows, values of std::map and std::unordered_map.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quorate {

class UndoLog {
 public:
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }

  // Gives `place` another value.
  template <class T>
  void set(T& place, std::type_identity_t<T> value) {
    add([&place, old = std::exchange(place, std::move(value))]() mutable {
      place = std::move(old);
    });
  }

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
  // Of a map or a set; does nothing if there is none.
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
  template <class Set>
  void insert(Set& set, const typename Set::key_type& key) {
    if (set.insert(key).second) add([&set, key] { set.erase(key); });
  }
  // To a vector or a deque.
  template <class Sequence>
  void append(Sequence& to, typename Sequence::value_type value) {
    to.push_back(std::move(value));
    add([&to] { to.pop_back(); });
  }

  void forget() { steps_.clear(); }
  void undo() {
    while (!steps_.empty()) {
      steps_.back()();
      steps_.pop_back();
    }
  }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace quorate
