#include "server/cli/support/table.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace quorate {
namespace {

using nlohmann::json;

bool is_time(const std::string& key) {
  return key == "time" || key == "created" || key == "ended" || key == "sent" ||
         key == "received" || key == "last_seen" || key == "judged" ||
         key == "closed";
}

std::string local_time(std::int64_t unix_ms) {
  if (unix_ms == 0) return "-";
  std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

}  // namespace

std::string cell(const std::string& key, const json& value) {
  if (value.is_null()) return "-";
  if (is_time(key)) return local_time(value.get<std::int64_t>());
  if (value.is_number() &&
      (key.find("accuracy") != std::string::npos || key == "progress" ||
       key == "done" || key == "hosts_part")) {
    return fmt::format("{:.2f} %", 100 * value.get<double>());
  }
  if (value.is_number_float())
    return fmt::format("{:.4g}", value.get<double>());
  // A newline in a text must not look like another row.
  if (value.is_string()) return shown_text(value.get<std::string>());
  return value.dump();
}

std::string table(const json& rows, const std::vector<Column>& columns) {
  if (rows.empty()) return "(none)\n";
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (const Column& column : columns) {
    std::size_t width = column.head.size();
    for (const json& row : rows) {
      width = std::max(width,
                       cell(column.key, row.value(column.key, json())).size());
    }
    widths.push_back(width);
    json first = rows.front().value(column.key, json());
    right.push_back(first.is_number() && !is_time(column.key));
  }
  std::string text;
  auto line = [&](auto&& text_of) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string value = text_of(columns[i]);
      out += right[i] ? fmt::format("{:>{}}  ", value, widths[i])
                      : fmt::format("{:<{}}  ", value, widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  line([](const Column& c) { return c.head; });
  for (const json& row : rows) {
    line(
        [&](const Column& c) { return cell(c.key, row.value(c.key, json())); });
  }
  return text;
}

}  // namespace quorate
