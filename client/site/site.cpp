#include "client/site/site.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "protocol/native/mate_messages.h"

namespace quorate::client {
namespace {

constexpr JsonLimits kSiteLimits{4096, 3};

fs::path site_file(const DataFolder& folder) {
  return folder.root() / "site.json";
}

bool is_ipv6(const std::string& text) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

std::vector<std::string> read_addresses(const JsonFields& fields) {
  std::vector<std::string> addresses;
  for (const nlohmann::json& one : fields.array("addresses")) {
    if (!one.is_string()) {
      throw Error(ErrorKind::corrupt,
                  fields.label("addresses") + ": expected texts");
    }
    addresses.push_back(one.get<std::string>());
  }
  expect_site_addresses(addresses);
  return addresses;
}

}  // namespace

void expect_site_addresses(const std::vector<std::string>& addresses) {
  for (const std::string& one : addresses) {
    const bool is_numbered = one.find(':') != std::string::npos;
    if (protocol::is_mate_address(one) && (!is_numbered || is_ipv6(one))) {
      continue;
    }
    throw Error(ErrorKind::usage,
                fmt::format("address \"{}\": expected one such as 192.168.1.7, "
                            "2001:db8::7 or attic.example.org; a port is given "
                            "with --port",
                            one.substr(0, 80)));
  }
  if (protocol::fitting_addresses(addresses) == addresses) return;
  throw Error(ErrorKind::usage,
              fmt::format("addresses: at most {} fit, and shorter ones than "
                          "these: leave some out",
                          protocol::kMaxMateAddresses));
}

std::string write_site_settings(const SiteSettings& settings) {
  return dump_json({{"secret", settings.secret.text()},
                    {"addresses", settings.addresses},
                    {"port", settings.port}}) +
         "\n";
}

SiteSettings parse_site(const std::string& text, const std::string& place) {
  try {
    const nlohmann::json json = parse_json(text, kSiteLimits, "site");
    const JsonFields fields(json, "site");
    return {SiteSecret::parse(fields.text("secret", 200)),
            read_addresses(fields),
            static_cast<std::uint16_t>(fields.integer("port", 0, 65535))};
  } catch (const Error& e) {
    throw Error(ErrorKind::corrupt,
                fmt::format("read {}: {}: quorate-client site leave, then join "
                            "it again",
                            place, e.what()));
  }
}

std::optional<SiteSettings> read_site(const DataFolder& folder) {
  const fs::path file = site_file(folder);
  if (!fs::exists(file)) return std::nullopt;
  return parse_site(read_secret_file(file, kSiteLimits.bytes), file.string());
}

void write_site(const DataFolder& folder, const SiteSettings& settings) {
  write_file_durably(site_file(folder), as_bytes(write_site_settings(settings)),
                     0600);
}

bool remove_site(const DataFolder& folder) {
  if (!fs::remove(site_file(folder))) return false;
  sync_folder(folder.root());
  return true;
}

}  // namespace quorate::client
