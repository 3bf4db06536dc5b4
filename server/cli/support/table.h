// Tables and numbers for people.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace quorate {

// One column: its head and the key of the row's object.
struct Column {
  std::string head;
  std::string key;
};

// Rows aligned under their heads; numbers to the right. "(none)" without rows.
std::string table(const nlohmann::json& rows,
                  const std::vector<Column>& columns);

// How a value is shown: fractions of accuracy as per cent, times as local time,
// null as "-".
std::string cell(const std::string& key, const nlohmann::json& value);

}  // namespace quorate
