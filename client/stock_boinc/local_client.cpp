#include "client/stock_boinc/local_client.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr const char* kPasswordFile = "gui_rpc_auth.cfg";

[[noreturn]] void refuse_address(std::string_view text) {
  throw Error(ErrorKind::usage,
              fmt::format("--host {}: expected HOST:PORT, such as "
                          "127.0.0.1:31416",
                          text));
}

bool is_host(std::string_view host) {
  constexpr std::size_t kMost = 253;
  return !host.empty() && host.size() <= kMost &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '.' || c == '-';
         });
}

int parse_port(std::string_view digits, std::string_view whole) {
  int port = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, failed] = std::from_chars(digits.data(), end, port);
  if (failed != std::errc{} || stop != end || port < 1 || port > 65535) {
    refuse_address(whole);
  }
  return port;
}

// What an account in the group "boinc" may read on Debian.
[[noreturn]] void refuse_reading(const fs::path& file) {
  throw Error(
      ErrorKind::denied,
      fmt::format("read {}, the BOINC client's password: permission denied: "
                  "type: sudo usermod --append --groups boinc $USER, log in "
                  "again, and try again; or run this with sudo",
                  file.string()));
}

}  // namespace

GuiAddress parse_gui_address(std::string_view text) {
  GuiAddress address;
  std::size_t colon = text.find(':');
  std::string_view host = text.substr(0, colon);
  if (!is_host(host)) refuse_address(text);
  address.host = host;
  if (colon != std::string_view::npos) {
    address.port = parse_port(text.substr(colon + 1), text);
  }
  return address;
}

std::vector<fs::path> stock_data_folders() {
  return {"/var/lib/boinc-client", "/var/lib/boinc"};
}

fs::path find_password_file(const std::vector<fs::path>& folders) {
  std::string looked;
  for (const fs::path& folder : folders) {
    std::error_code unknown;
    if (fs::exists(folder, unknown) || unknown) return folder / kPasswordFile;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw Error(ErrorKind::unavailable,
              fmt::format("find a BOINC client: found none of its data folders "
                          "({}): install it (Debian: sudo apt install "
                          "boinc-client), or say where it is with "
                          "--password-file FILE and --host HOST:PORT",
                          looked));
}

std::string read_gui_password(const fs::path& file) {
  constexpr std::uint64_t kMostBytes = 4096;
  constexpr std::size_t kMostPassword = 255;
  std::error_code unknown;
  bool is_there = fs::exists(file, unknown);
  if (!is_there && !unknown) {
    throw Error(ErrorKind::unavailable,
                fmt::format("read {}, the BOINC client's password: no such "
                            "file: start the client once to make it (sudo "
                            "systemctl start boinc-client)",
                            file.string()));
  }
  if (unknown || ::access(file.c_str(), R_OK) != 0) refuse_reading(file);
  const std::string text = read_text_file(file, kMostBytes);
  std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  constexpr const char* kBlank = " \t\r";
  std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  line = line.substr(first, line.find_last_not_of(kBlank) - first + 1);
  if (line.size() > kMostPassword ||
      line.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: its first line is not a password of at most "
                            "{} characters: is this the {} of a BOINC client?",
                            file.string(), kMostPassword, kPasswordFile));
  }
  return std::string(line);
}

StockClient open_stock_client(const StockOptions& options) {
  const GuiAddress address = parse_gui_address(options.host);
  const fs::path file = options.password_file.empty()
                            ? find_password_file(stock_data_folders())
                            : fs::path(options.password_file);
  return StockClient(address, read_gui_password(file));
}

}  // namespace quorate::client
