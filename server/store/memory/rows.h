// Rows by id in memory. Ids count up from 1, so a row is found without a
// search; a row stays where it is until it is dropped, so a pointer to it is
// good that long, whatever is added meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace quorate {

// Row: has no id of its own here; its caller sets one before it adds it. One
// thread.
template <class Row>
class Rows {
 public:
  // The id of the next row to be added.
  std::int64_t next_id() const {
    return first_ + static_cast<std::int64_t>(rows_.size());
  }

  // Returns the row where it now stays.
  Row& add(Row row) {
    rows_.push_back(std::make_unique<Row>(std::move(row)));
    return *rows_.back();
  }
  // Undoes add(): its id will be given again. Only for the row added last.
  void remove_last() { rows_.pop_back(); }

  // Null if there is none, or none any more. Any number may be asked for.
  Row* find(std::int64_t id) {
    if (id < first_ || id >= next_id()) return nullptr;
    return rows_[static_cast<std::size_t>(id - first_)].get();
  }

  // Frees a row that there is; its id is never given again. The space of a
  // dropped row is given back once all older ones are gone, too.
  void drop(std::int64_t id) {
    rows_[static_cast<std::size_t>(id - first_)].reset();
    while (!rows_.empty() && rows_.front() == nullptr) {
      rows_.pop_front();
      ++first_;
    }
  }

  // Shows every row, in order of id.
  // see(row) must not add or drop rows.
  template <class See>
  void each(See&& see) {
    for (std::unique_ptr<Row>& row : rows_) {
      if (row) see(*row);
    }
  }

  // Shows the rows with an id below `before`, newest first, until `see` returns
  // false.
  template <class See>
  void newest(std::int64_t before, See&& see) {
    for (std::int64_t id = std::min(before, next_id()) - 1; id >= first_;
         --id) {
      Row* row = find(id);
      if (row != nullptr && !see(*row)) return;
    }
  }

 private:
  // rows_[i] has the id first_ + i. Each row is an allocation of its own, so
  // that it stays where it is when the deque grows.
  std::deque<std::unique_ptr<Row>> rows_;  // null: dropped
  // Grows as old rows are dropped, never shrinks.
  std::int64_t first_ = 1;  // id of the front
};

}  // namespace quorate
