#include "protocol/worker/reports.h"

#include <nlohmann/json.hpp>

#include "protocol/json_reader.h"
#include "protocol/limits.h"
#include "protocol/text.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxDevices = 600;  // of two interfaces, and the CPU's
constexpr std::size_t kMaxCases = 100;
constexpr double kMaxValue = 1e12;

}  // namespace

std::string write(const DeviceList& list) {
  Json devices = Json::array();
  for (const DeviceReport& device : list.devices) {
    devices.push_back(
        {{"name", plain_text(device.name, kMaxDevice)},
         {"description", plain_text(device.description, kMaxReason)},
         {"model", plain_text(device.model, kMaxReason)},
         {"gpu", device.is_gpu}});
  }
  Json refused = Json::array();
  for (const std::string& why : list.refused) {
    refused.push_back(plain_text(why, kMaxReason));
  }
  return Json{{"program", plain_text(list.program, kMaxName)},
              {"devices", std::move(devices)},
              {"refused", std::move(refused)}}
      .dump();
}

std::string write(const BenchReport& report) {
  Json cases = Json::array();
  for (const BenchCase& row : report.cases) {
    cases.push_back({{"case", plain_text(row.name, kMaxReason)},
                     {"value", row.value},
                     {"unit", plain_text(row.unit, kMaxName)}});
  }
  return Json{{"cases", std::move(cases)},
              {"failure", plain_text(report.failure, kMaxReason)}}
      .dump();
}

DeviceList parse_device_list(const std::string& line) {
  JsonDocument document(as_bytes(line), "list of devices");
  JsonValue root = document.root();
  DeviceList list;
  list.program = root.at("program").text(kMaxName);
  for (const JsonValue& item : root.at("devices").items(kMaxDevices)) {
    list.devices.push_back({item.at("name").text(kMaxDevice),
                            item.at("description").text(kMaxReason),
                            item.at("model").text(kMaxReason),
                            item.at("gpu").boolean()});
  }
  for (const JsonValue& item : root.at("refused").items(kMaxDevices)) {
    list.refused.push_back(item.text(kMaxReason));
  }
  return list;
}

BenchReport parse_bench_report(const std::string& line) {
  JsonDocument document(as_bytes(line), "measurement");
  JsonValue root = document.root();
  BenchReport report;
  for (const JsonValue& item : root.at("cases").items(kMaxCases)) {
    report.cases.push_back({item.at("case").text(kMaxReason),
                            item.at("value").number(kMaxValue),
                            item.at("unit").text(kMaxName)});
  }
  report.failure = root.at("failure").text(kMaxReason);
  return report;
}

}  // namespace quorate::protocol
