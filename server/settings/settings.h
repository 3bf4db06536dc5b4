// The operator's settings, quorate.toml: every setting and its default. The
// names and ranges are entries in settings.cpp; docs/operator.md has them for
// people.
//
// The room server/settings has what a project is before anything runs: its
// folder, keys, settings, addresses and roles. It owns no memory of the server:
// settings are read once at the start, and never change while it runs. It may
// include no other room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "protocol/limits.h"

namespace quorate {

inline constexpr std::uint32_t kMostHouseWorkers = 64;
inline constexpr std::size_t kMostNameBytes = protocol::kMaxName;

inline constexpr Seconds kProvenTime{600};

struct ServerSettings {
  std::string name = "Quorate project";
  // Where volunteers reach the server; shown by `init` and on the page.
  std::string url;

  // Unix users beside the owner and root: those who may give orders, and those
  // who may only ask. See server/orders/operators.
  std::vector<std::string> operators;
  std::vector<std::string> guests;

  // Address and port of the native door and the page.
  std::string listen = "127.0.0.1:8470";
  // Serve without TLS beyond loopback: for a proxy that ends TLS in front.
  bool plain_http = false;
  // Addresses and blocks of them whose word for a client's address is believed:
  // in X-Forwarded-For, and before that in the PROXY protocol, which they then
  // must speak. See server/http/clients.
  std::vector<std::string> trusted_proxies;
  bool proxy_protocol = false;
  // PEM files; empty: the self-signed pair that `init` made.
  std::string tls_certificate;
  std::string tls_key;
  std::uint32_t io_threads = 1;
  std::uint32_t max_connections = 10000;
  std::uint32_t max_connections_per_address = 256;

  // New ones from one address, on average; twelve times as many at once.
  std::uint32_t new_accounts_per_minute = 10;
  std::uint32_t new_hosts_per_minute = 10;
  std::uint32_t max_hosts_per_account = 1000;

  // How long a host may be silent before its results go to others.
  Seconds lease{120};
  Seconds heartbeat{30};
  // How long a replica waits for the host that was drawn for it.
  Seconds reservation{5};
  // Whether stock BOINC clients may come; see server/doors/boinc.
  bool boinc = true;
  // How often they come when they have nothing to say, and how long they may be
  // silent: in between they cannot be reached.
  Seconds boinc_contact{60};
  Seconds boinc_lease{600};
  std::uint32_t max_results_per_host = 16;
  // Uploads are refused when the disk has less than this left.
  std::uint64_t disk_reserve_mb = 512;
  // See server/objects/retention.h. 0: for ever.
  double keep_payloads_days = 30;
  std::uint64_t max_payloads_mb = 10240;
  double keep_updates_days = 0;

  // See validator/trust.h.
  std::uint32_t trust_proven_after = 20;
  // New projects get kProvenTime; a project of before there was this has none.
  Seconds trust_proven_time{0};
  double trust_spot_check = 0.05;
  std::uint32_t trust_ban_after = 3;
  bool trust_anchor = true;
  bool trust_distinct_addresses = true;

  // Of an hour of hosts' time, in a currency of the operator's choice.
  double price_cpu = 0;
  double price_gpu = 0;

  std::uint32_t house_workers = 1;
  std::uint32_t house_threads = 1;
  std::string house_device = "cpu";
  // A version is published and evaluated when both have passed since the last.
  Seconds evaluate_every{2};
  std::uint32_t evaluate_every_versions = 10;
};

// Throws usage, naming `place`, line and the known settings, for an unknown key
// or a value of the wrong kind or out of range.
ServerSettings parse_settings(std::string_view text, const std::string& place);
// Of a file. Throws io as well.
ServerSettings load_settings(const fs::path& path);
// Throws usage, naming setting and line, if a file that these settings name
// cannot be used: the TLS certificate and its key.
void expect_settings_files(const fs::path& path);

// Whether the server speaks TLS at `address`: beyond this machine, and wherever
// the operator named a certificate, but not with plain_http.
bool speaks_tls(const ServerSettings& settings, const std::string& address);

// Of the project, for volunteers.
bool is_project_name(const std::string& name);
// For people: what is_project_name() expects.
inline constexpr const char* kProjectName =
    "a text of 1 to 64 bytes that is not blank";
static_assert(kMostNameBytes == 64);

// The text of a new settings file: every setting, commented with its meaning.
std::string settings_template(const ServerSettings& settings);

}  // namespace quorate
