#include "server/store/filters.h"

#include <algorithm>

namespace quorate {
namespace {

// As SQL's lower(): only ASCII.
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_part(const std::string& text, const std::string& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) !=
         text.end();
}

template <class T>
bool suits(const std::optional<T>& wanted, T value) {
  return !wanted || *wanted == value;
}

bool is_waiting(const Result& result) {
  return result.outcome == ResultOutcome::success &&
         (result.validate_state == ValidateState::init ||
          result.validate_state == ValidateState::inconclusive);
}

}  // namespace

bool matches(const ResultFilter& filter, const Result& result) {
  return (filter.run == 0 || result.run == filter.run) &&
         (filter.host == 0 || result.host == filter.host) &&
         (filter.user == 0 || result.user == filter.user) &&
         suits(filter.server_state, result.server_state) &&
         suits(filter.outcome, result.outcome) &&
         suits(filter.validate_state, result.validate_state) &&
         (!filter.is_waiting || is_waiting(result)) &&
         (result.sent >= filter.since || result.received >= filter.since) &&
         (filter.device.empty() ||
          has_part(device_in(result.header.bytes), filter.device));
}

bool matches(const WorkunitFilter& filter, const Workunit& unit) {
  return (filter.run == 0 || unit.run == filter.run) &&
         suits(filter.state, unit.state) && suits(filter.check, unit.check) &&
         (unit.created >= filter.since || unit.judged >= filter.since ||
          unit.closed >= filter.since || unit.checked >= filter.since);
}

}  // namespace quorate
