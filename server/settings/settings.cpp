#include "server/settings/settings.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.h"
#include "server/http/clients/ip_address.h"
#include "server/http/tls/tls.h"
#include "server/settings/address.h"
#include "server/settings/settings_lines.h"

namespace quorate {
namespace {

// One setting: its name, its meaning for the operator, and how to move it
// between the file and the struct.
struct Entry {
  std::string name;
  std::string comment;
  std::function<std::string(const ServerSettings&)> write;
  // False if the value has the wrong kind or is out of range.
  std::function<bool(ServerSettings&, const toml::node&)> read;
  std::string expected;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

Entry text(std::string name, std::string ServerSettings::*member,
           std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) { return quoted(s.*member); },
          [member](ServerSettings& s, const toml::node& node) {
            auto value = node.value_exact<std::string>();
            if (value) s.*member = *value;
            return value.has_value();
          },
          "a text in quotes"};
}

// The same, of which not every text will do.
Entry checked(Entry entry, std::string ServerSettings::*member,
              std::function<bool(const std::string&)> is_good,
              std::string expected) {
  entry.read = [read = entry.read, member, is_good](ServerSettings& s,
                                                    const toml::node& node) {
    return read(s, node) && is_good(s.*member);
  };
  entry.expected = std::move(expected);
  return entry;
}

Entry flag(std::string name, bool ServerSettings::*member,
           std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) {
            return std::string(s.*member ? "true" : "false");
          },
          [member](ServerSettings& s, const toml::node& node) {
            auto value = node.value_exact<bool>();
            if (value) s.*member = *value;
            return value.has_value();
          },
          "true or false"};
}

template <class T>
Entry number(std::string name, T ServerSettings::*member, std::int64_t least,
             std::int64_t most, std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) {
            return fmt::format("{}", s.*member);
          },
          [member, least, most](ServerSettings& s, const toml::node& node) {
            auto value = node.value_exact<std::int64_t>();
            if (!value || *value < least || *value > most) return false;
            s.*member = static_cast<T>(*value);
            return true;
          },
          fmt::format("a whole number from {} to {}", least, most)};
}

Entry seconds(std::string name, Seconds ServerSettings::*member, double least,
              double most, std::string comment) {
  return {std::move(name), std::move(comment) + " Seconds.",
          [member](const ServerSettings& s) {
            return fmt::format("{}", (s.*member).count());
          },
          [member, least, most](ServerSettings& s, const toml::node& node) {
            auto value = node.value<double>();
            if (!value || !(*value >= least && *value <= most)) return false;
            s.*member = Seconds(*value);
            return true;
          },
          fmt::format("a number of seconds from {} to {}", least, most)};
}

Entry share(std::string name, double ServerSettings::*member,
            std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) {
            return fmt::format("{}", s.*member);
          },
          [member](ServerSettings& s, const toml::node& node) {
            auto value = node.value<double>();
            if (!value || !(*value >= 0 && *value <= 1)) return false;
            s.*member = *value;
            return true;
          },
          "a number from 0 to 1"};
}

// A number from 0 to `most`; what: of what it is one, or "".
Entry amount(std::string name, double ServerSettings::*member, double most,
             const char* what, std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) {
            return fmt::format("{}", s.*member);
          },
          [member, most](ServerSettings& s, const toml::node& node) {
            auto value = node.value<double>();
            if (!value || !(*value >= 0 && *value <= most)) return false;
            s.*member = *value;
            return true;
          },
          fmt::format("a number {}from 0 to {}", what, most)};
}

Entry days(std::string name, double ServerSettings::*member,
           std::string comment) {
  return amount(std::move(name), member, 36'500, "of days ",
                std::move(comment) + " 0: for ever.");
}

Entry price(std::string name, double ServerSettings::*member,
            std::string comment) {
  return amount(std::move(name), member, 1e6, "", std::move(comment));
}

constexpr std::size_t kMostListed = 64;

bool is_user_name(const std::string& name) {
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) <= 0x20 || c == ':';
         });
}

bool is_ip_block(const std::string& text) {
  return parse_ip_block(text).has_value();
}

// False unless it is a list of texts that will do.
bool read_list(const toml::node& node, bool (*is_good)(const std::string&),
               std::vector<std::string>& texts) {
  const toml::array* list = node.as_array();
  if (list == nullptr || list->size() > kMostListed) return false;
  texts.clear();
  for (const toml::node& one : *list) {
    const auto item = one.value_exact<std::string>();
    if (!item || !is_good(*item)) return false;
    texts.push_back(*item);
  }
  return true;
}

// what: they are, with an example.
Entry list(std::string name, std::vector<std::string> ServerSettings::*member,
           bool (*is_good)(const std::string&), const char* what,
           std::string comment) {
  return {std::move(name), std::move(comment),
          [member](const ServerSettings& s) {
            std::string texts;
            for (const std::string& one : s.*member) {
              texts += (texts.empty() ? "" : ", ") + quoted(one);
            }
            return "[" + texts + "]";
          },
          [member, is_good](ServerSettings& s, const toml::node& node) {
            return read_list(node, is_good, s.*member);
          },
          fmt::format("a list of at most {} {}", kMostListed, what)};
}

Entry users(std::string name, std::vector<std::string> ServerSettings::*member,
            std::string comment) {
  return list(std::move(name), member, is_user_name,
              "Unix users, for example [\"anna\", \"ben\"]",
              std::move(comment));
}

Entry ip_blocks(std::string name,
                std::vector<std::string> ServerSettings::*member,
                std::string comment) {
  return list(std::move(name), member, is_ip_block,
              "addresses and blocks of them, for example [\"127.0.0.1\", "
              "\"10.0.0.0/8\", \"2001:db8::/32\"], and none of every address",
              std::move(comment));
}

using S = ServerSettings;

std::vector<Entry> entries_of_serving() {
  return {
      checked(text("name", &S::name, "What volunteers see."), &S::name,
              is_project_name, kProjectName),
      checked(
          text("url", &S::url,
               "Where volunteers reach this server, e.g. https://host:8470"
               "; empty: the address at which it listens."),
          &S::url,
          [](const std::string& url) {
            return url.empty() || is_public_url(url);
          },
          kPublicUrl),
      users("operators", &S::operators,
            "Unix users of this machine who may give orders, beside this "
            "project's owner and root."),
      users("guests", &S::guests,
            "Unix users who may ask (status, hosts, results ...), but change "
            "nothing."),
      text("listen", &S::listen, "Address and port to listen on."),
      flag("plain_http", &S::plain_http,
           "Serve without TLS, even beyond loopback: use it only behind a "
           "proxy that handles TLS, and name that in trusted_proxies."),
      ip_blocks("trusted_proxies", &S::trusted_proxies,
                "Addresses and blocks of the proxies in front, e.g. "
                "[\"127.0.0.1\", \"::1\"]: only what these say of a client's "
                "address (X-Forwarded-For) is believed."),
      flag("proxy_protocol", &S::proxy_protocol,
           "Whether the trusted proxies speak the PROXY protocol, version 1 or "
           "2; their connections without it are closed."),
      text("tls_certificate", &S::tls_certificate,
           "PEM file; empty: the self-signed certificate in keys/."),
      text("tls_key", &S::tls_key, "PEM file of the certificate's key."),
      number("io_threads", &S::io_threads, 1, 64, "Threads that serve HTTP."),
      number("max_connections", &S::max_connections, 8, 1000000,
             "Most connections at one time."),
      number("max_connections_per_address", &S::max_connections_per_address, 1,
             1000000, "Most connections at one time from one address."),
      number("new_accounts_per_minute", &S::new_accounts_per_minute, 1, 1000000,
             "Most new accounts from one address, on average; twelve times as "
             "many may come at once."),
      number("new_hosts_per_minute", &S::new_hosts_per_minute, 1, 1000000,
             "The same for new hosts."),
      number("max_hosts_per_account", &S::max_hosts_per_account, 1, 1000000,
             "Most hosts of one account."),
  };
}

std::vector<Entry> entries_of_units() {
  return {
      seconds("lease", &S::lease, 1, 86400,
              "How long a host may be silent before its results go to others."),
      seconds("heartbeat", &S::heartbeat, 0.2, 3600,
              "How often hosts report that they are still there."),
      seconds("reservation", &S::reservation, 0.1, 600,
              "How long a replica waits for the host that was drawn for it."),
      flag("boinc", &S::boinc,
           "Whether stock BOINC clients may take part, at /boinc/ of this "
           "server's address."),
      seconds("boinc_contact", &S::boinc_contact, 5, 3600,
              "How often BOINC clients come back when they have no work."),
      seconds("boinc_lease", &S::boinc_lease, 5, 604800,
              "How long a BOINC client may be silent before its results go to "
              "others; several times boinc_contact."),
      number("max_results_per_host", &S::max_results_per_host, 1, 128,
             "Most results that one host may hold."),
      number("disk_reserve_mb", &S::disk_reserve_mb, 0, 1 << 30,
             "Uploads are refused while less than this is free on the disk, in "
             "MiB."),
      days(
          "keep_payloads_days", &S::keep_payloads_days,
          "How many days to keep payloads that no ledger names: those of "
          "results that were rejected, late or not needed. They are evidence."),
      number(
          "max_payloads_mb", &S::max_payloads_mb, 0, 1 << 30,
          "Most space for such payloads, in MiB, and less when the disk gets "
          "full: of the account or address that has most, the oldest go "
          "first; 0: no limit."),
      days("keep_updates_days", &S::keep_updates_days,
           "How many days to keep a run's recorded updates after its end. "
           "Without them only `audit` and `replay --recompute` can check the "
           "run, by computing it again."),
  };
}

std::vector<Entry> entries_of_trust() {
  return {
      number("trust_proven_after", &S::trust_proven_after, 0, 1000000,
             "A host is proven once this many of its units agreed with "
             "somebody trusted; from then on its word is enough. 0: never, "
             "unless the operator trusts the host."),
      seconds("trust_proven_time", &S::trust_proven_time, 0, 8640000,
              "Least time in which a host becomes proven: units that it does "
              "faster do not count."),
      share(
          "trust_spot_check", &S::trust_spot_check,
          "Share of a proven host's units that a house worker computes again."),
      number("trust_ban_after", &S::trust_ban_after, 1, 1000000,
             "False results after which a host is banned."),
      flag("trust_anchor", &S::trust_anchor,
           "A quorum counts only if it includes a proven host or a house "
           "worker. If false, any users who agree are believed, although "
           "accounts cost nothing."),
      flag("trust_distinct_addresses", &S::trust_distinct_addresses,
           "Never send two results of a unit to one block of public addresses "
           "(IPv4 /24, IPv6 /48)."),
      number("house_workers", &S::house_workers, 0, kMostHouseWorkers,
             "Trusted workers that the server starts: they evaluate, break "
             "ties, and compute when nobody else does."),
      number("house_threads", &S::house_threads, 1, 256,
             "Threads of each house worker."),
      text("house_device", &S::house_device,
           "Device of the house workers, as quorate-worker --list-devices "
           "names it. Together they should be at least trust_spot_check times "
           "as fast as all volunteers."),
      seconds("evaluate_every", &S::evaluate_every, 0, 86400,
              "Least time from one evaluation to the next; "
              "evaluate_every_versions must have passed as well."),
      number("evaluate_every_versions", &S::evaluate_every_versions, 1, 1000000,
             "Least number of versions from one evaluation to the next; "
             "evaluate_every must have passed as well."),
  };
}

std::vector<Entry> entries_of_prices() {
  return {
      price("price_cpu", &S::price_cpu,
            "What an hour of a host's time costs if a processor computes, for "
            "`train create --until cost=...`; in any currency. 0: nothing."),
      price("price_gpu", &S::price_gpu,
            "The same if a graphics card computes."),
  };
}

// In the order in which a new settings file has them.
std::vector<Entry> entries() {
  std::vector<Entry> all = entries_of_serving();
  for (auto more :
       {entries_of_units(), entries_of_trust(), entries_of_prices()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

[[noreturn]] void refuse(const std::string& place, const toml::node& node,
                         const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("settings {}, line {}: {}", place,
                                            node.source().begin.line, what));
}

std::string known_names(const std::vector<Entry>& all) {
  std::string names;
  for (const Entry& entry : all) {
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  return names;
}

// The certificate of the settings, if they name one, loads with its key.
void expect_tls_files(const toml::table& table, const std::string& place) {
  const toml::node* certificate = table.get("tls_certificate");
  const toml::node* key = table.get("tls_key");
  auto path_of = [](const toml::node* node) {
    return node == nullptr ? "" : node->value_or(std::string());
  };
  TlsFiles files{path_of(certificate), path_of(key)};
  if (files.certificate.empty() && files.key.empty()) return;
  if (files.certificate.empty()) {
    refuse(place, *key, "\"tls_key\": needs \"tls_certificate\" as well");
  }
  if (files.key.empty()) {
    refuse(place, *certificate,
           "\"tls_certificate\": needs \"tls_key\" as well");
  }
  try {
    expect_certificate(files);
  } catch (const Error& error) {
    refuse(
        place, *certificate,
        fmt::format("\"tls_certificate\" and \"tls_key\": {}", error.what()));
  }
}

toml::table parse_toml(std::string_view text, const std::string& place) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  expect_plain_lines(text, place);
  try {
    return toml::parse(text, place);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::usage,
                fmt::format("settings {}, line {}: {}", place,
                            error.source().begin.line,
                            std::string(error.description())));
  }
}

// Settings that are good alone may not be so together.
void expect_fitting(const ServerSettings& settings, const std::string& place) {
  if (settings.heartbeat >= settings.lease) {
    throw Error(
        ErrorKind::usage,
        fmt::format("settings {}: heartbeat ({} s) must be shorter than lease "
                    "({} s), or every lease would end",
                    place, settings.heartbeat.count(), settings.lease.count()));
  }
  if (settings.proxy_protocol && settings.trusted_proxies.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("settings {}: proxy_protocol needs the proxies' "
                            "addresses in trusted_proxies",
                            place));
  }
}

}  // namespace

bool speaks_tls(const ServerSettings& settings, const std::string& address) {
  if (settings.plain_http) return false;
  return !is_loopback(address) || !settings.tls_certificate.empty();
}

bool is_project_name(const std::string& name) {
  bool has_ink = name.find_first_not_of(" \t\r\n") != name.npos;
  return has_ink && name.size() <= kMostNameBytes;
}

ServerSettings parse_settings(std::string_view text, const std::string& place) {
  toml::table table = parse_toml(text, place);
  std::vector<Entry> all = entries();
  ServerSettings settings;
  for (auto&& [key, node] : table) {
    std::string name(key.str());
    auto entry = std::find_if(all.begin(), all.end(),
                              [&](const Entry& e) { return e.name == name; });
    if (entry == all.end()) {
      refuse(place, node,
             fmt::format("unknown setting \"{}\": the settings are {}", name,
                         known_names(all)));
    }
    if (!entry->read(settings, node)) {
      refuse(place, node,
             fmt::format("\"{}\": expected {}", name, entry->expected));
    }
  }
  expect_fitting(settings, place);
  return settings;
}

ServerSettings load_settings(const fs::path& path) {
  return parse_settings(read_text_file(path, 1 << 20), path.string());
}

void expect_settings_files(const fs::path& path) {
  expect_tls_files(parse_toml(read_text_file(path, 1 << 20), path.string()),
                   path.string());
}

std::string settings_template(const ServerSettings& settings) {
  std::string text =
      "# Settings of this project; restart the server after a "
      "change.\n";
  for (const Entry& entry : entries()) {
    text += fmt::format("\n# {}\n{} = {}\n", entry.comment, entry.name,
                        entry.write(settings));
  }
  return text;
}

}  // namespace quorate
