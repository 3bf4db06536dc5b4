#include "workunits/device_text.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr std::string_view kBeforeDriver = "; ";
// What their makers call them can be long.
constexpr std::size_t kMaxName = 12, kMaxModel = 29, kMaxDriver = 20;

std::string plain(std::string_view text, std::size_t most) {
  std::string out(text.substr(0, most));
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return c < ' ' || c > '~' || c == ';'; }, '?');
  return out;
}

}  // namespace

std::string device_text(std::string_view name, std::string_view model,
                        std::string_view driver) {
  std::string text = plain(name, kMaxName);
  if (!model.empty()) text += " " + plain(model, kMaxModel);
  if (!driver.empty()) {
    text += std::string(kBeforeDriver) + plain(driver, kMaxDriver);
  }
  return text;
}

std::string_view name_in(std::string_view device_text) {
  return device_text.substr(0, device_text.find_first_of(" ;"));
}

std::string_view without_driver(std::string_view device_text) {
  return device_text.substr(0, device_text.find(kBeforeDriver));
}

}  // namespace quorate
