// The site that this host belongs to: site.json in the data folder,
//   {"addresses": ["192.168.1.7"], "port": 8471, "secret": "quorate-site-..."}
// with mode 0600, for whoever reads it is a mate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/folder/data_folder.h"
#include "client/site/site_secret.h"

namespace quorate::client {

struct SiteSettings {
  SiteSecret secret;
  // Where mates reach this host; empty: at all of its own.
  std::vector<std::string> addresses;
  std::uint16_t port = 0;  // 0: any free one
};

// nullopt if it belongs to none. Throws denied if others may read the file,
// corrupt, naming file and field, io.
std::optional<SiteSettings> read_site(const DataFolder& folder);
// Durable on return, in the place of what was there. Throws io.
void write_site(const DataFolder& folder, const SiteSettings& settings);
// Durable on return. False if there was none.
bool remove_site(const DataFolder& folder);

// The text of the file. parse_site throws corrupt.
std::string write_site_settings(const SiteSettings& settings);
SiteSettings parse_site(const std::string& text, const std::string& place);

// Throws usage unless each is an address and all fit into a contact.
void expect_site_addresses(const std::vector<std::string>& addresses);

}  // namespace quorate::client
