#include "server/orders/order_book.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "server/project/project.h"
#include "workunits/ledger/order_log.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostArgument = 200;
constexpr std::size_t kMostOutcome = 600;
constexpr std::uint64_t kMostEventsNoted = 6;
constexpr std::uint64_t kMostRows = 1000;

// Of a text that people type or the server says: its beginning is enough.
std::string beginning(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;  // not within a character
  }
  return text.substr(0, end) + fmt::format("... ({} bytes)", text.size());
}

std::string text_in(const json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && found->is_string()
             ? found->get<std::string>()
             : "";
}

std::string why_in(const json& arguments) {
  const std::string why = text_in(arguments, "why");
  return beginning(why.empty() ? text_in(arguments, "reason") : why,
                   kMostOutcome);
}

// Without the reason, which stands apart. Models and lists may be long.
std::string arguments_noted(const json& arguments) {
  json noted = json::object();
  for (const auto& [name, value] : arguments.items()) {
    if (name == "why" || name == "reason") continue;
    const std::string text =
        value.is_string() ? value.get<std::string>() : dump_json(value);
    noted[beginning(name, kMostArgument)] =
        text.size() <= kMostArgument ? value
                                     : json(beginning(text, kMostArgument));
  }
  return beginning(dump_json(noted), kMostOrderText / 2);
}

std::string outcome_of(ProjectState& state, const json& reply,
                       std::int64_t before) {
  std::string outcome;
  std::vector<Event> events = state.store.events({.limit = kMostEventsNoted});
  std::reverse(events.begin(), events.end());
  for (const Event& event : events) {
    if (event.id <= before) continue;
    outcome += fmt::format("{}{}: {}", outcome.empty() ? "" : "; ", event.kind,
                           event.text);
  }
  if (outcome.empty()) outcome = dump_json(reply);
  return beginning(outcome, kMostOutcome);
}

}  // namespace

std::int64_t last_event(ProjectState& state) {
  const std::vector<Event> events = state.store.events({.limit = 1});
  return events.empty() ? 0 : events.front().id;
}

void note_order(ProjectState& state, const Person& who,
                const std::string& command, const json& arguments,
                const json& reply, std::int64_t before) {
  OrderEntry entry;
  entry.seq = state.store.orders_made() + 1;
  if (const std::optional<OrderRecord> last = state.store.last_order()) {
    entry.previous = last->hash;
  }
  entry.time = state.clock.unix_ms();
  entry.who = beginning(who.name, kMostOrderWho / 2);
  entry.command = command;
  entry.arguments = arguments_noted(arguments);
  entry.why = why_in(arguments);
  entry.outcome = outcome_of(state, reply, before);
  state.store.append_order(
      make_order_record(entry, state.keys.id, state.keys.project));
}

json list_orders(Project& project, const json& arguments) {
  ProjectState& state = project.state();
  const auto from = arguments.value("from", std::uint64_t{1});
  const auto limit = std::min(arguments.value("limit", kMostRows), kMostRows);
  json rows = json::array();
  for (const OrderRecord& record : state.store.orders(from, limit)) {
    rows.push_back({{"seq", record.seq},
                    {"line", record.line},
                    {"hash", record.hash.hex()},
                    {"signature", record.signature.hex()}});
  }
  return {{"project", state.keys.id.hex()},
          {"key", state.keys.project.public_key().hex()},
          {"keyring", to_hex(state.keys.ring.sealed)},
          {"made", state.store.orders_made()},
          {"rows", rows}};
}

}  // namespace quorate
