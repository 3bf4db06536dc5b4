#include "client/control/authority.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <systemd/sd-login.h>

namespace quorate::client {
namespace {

using namespace std::string_view_literals;

struct Ordered {
  std::string_view command;
  Authority needed;
};

constexpr Ordered kCommands[] = {
    {"attach", Authority::full}, {"detach", Authority::full},
    {"finish", Authority::full}, {"log", Authority::full},
    {"pause", Authority::full},  {"prefs", Authority::full},
    {"resume", Authority::full}, {"status", Authority::look},
    {"ui", Authority::full},
};

// They name files or folders: the service's rights are not the caller's.
constexpr std::string_view kOwnFiles[] = {"--account", "--dir"};

const Ordered* find_command(std::span<const std::string> arguments) {
  if (arguments.empty()) return nullptr;
  const auto* found = std::find_if(
      std::begin(kCommands), std::end(kCommands),
      [&](const Ordered& one) { return one.command == arguments.front(); });
  return found == std::end(kCommands) ? nullptr : found;
}

// As "--dir", "--dir=X", or an abbreviation that the command line may take.
bool names_file(std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  return std::find(std::begin(kOwnFiles), std::end(kOwnFiles), name) !=
         std::end(kOwnFiles);
}

}  // namespace

Authority authority_of(std::uint32_t user, std::uint32_t own, bool has_seat) {
  return user == 0 || user == own || has_seat ? Authority::full
                                              : Authority::look;
}

bool has_seat(std::uint32_t user) {
  return ::sd_uid_get_seats(user, 1, nullptr) > 0;
}

bool is_for_service(std::span<const std::string> arguments) {
  return find_command(arguments) != nullptr &&
         std::none_of(arguments.begin(), arguments.end(), names_file);
}

std::string against_command(std::span<const std::string> arguments,
                            Authority authority) {
  if (!is_for_service(arguments)) {
    return "this computer's service does not do that: give --dir FOLDER to "
           "work in a folder of your own";
  }
  if (authority >= find_command(arguments)->needed) return "";
  return fmt::format(
      "{0}: only who sits at this computer, and root, may command its service: "
      "type sudo quorate-client {0} ...",
      arguments.front());
}

}  // namespace quorate::client
