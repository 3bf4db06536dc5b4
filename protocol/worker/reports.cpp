#include "protocol/worker/reports.h"

#include <nlohmann/json.hpp>

#include "protocol/limits.h"
#include "protocol/text.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

std::string write(const std::vector<DeviceReport>& devices) {
  Json list = Json::array();
  for (const DeviceReport& device : devices) {
    list.push_back(
        {{"name", plain_text(device.name, kMaxDevice)},
         {"description", plain_text(device.description, kMaxReason)}});
  }
  return list.dump();
}

std::string write(const std::vector<BenchReport>& rows) {
  Json list = Json::array();
  for (const BenchReport& row : rows) {
    list.push_back(
        {{"case", row.name}, {"value", row.value}, {"unit", row.unit}});
  }
  return list.dump();
}

}  // namespace quorate::protocol
