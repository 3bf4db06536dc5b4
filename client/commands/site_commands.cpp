// site create, site join, site leave, site show.
#include <algorithm>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "client/commands/commands.h"
#include "client/site/own_addresses.h"
#include "client/site/site.h"
#include "client/status/status.h"

namespace quorate::client {
namespace {

constexpr const char* kWhenTakenUp =
    "an agent that runs takes it up at its next start";

// The one of the command line, or a line of standard input.
std::string given_secret(const std::string& argument) {
  if (argument != "-") return argument;
  std::string line;
  std::getline(std::cin, line);
  return line;
}

void print_line(const nlohmann::json& row) {
  say("{}\n", row.dump());
}

std::string port_text(std::uint16_t port) {
  return port == 0
             ? "any free port: with a firewall, give one with --port and "
               "open it"
             : fmt::format("port {}: a firewall must let the others in", port);
}

// What the running agent tells, else what is known without one.
struct SiteNow {
  SiteActivity activity;
  bool is_running = false;  // an agent, as a host of this site
};

SiteNow site_now(const DataFolder& folder, const SiteSettings& settings) {
  SiteNow now;
  now.activity.id = settings.secret.id().hex();
  now.activity.addresses =
      settings.addresses.empty() ? own_addresses() : settings.addresses;
  now.activity.port = settings.port;
  for (const ProjectStatus& one : read_status(folder, 0).projects) {
    if (!one.activity.site || one.activity.site->id != now.activity.id) {
      continue;
    }
    now.activity = *one.activity.site;
    now.is_running = true;
  }
  return now;
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string site_text(const SiteNow& now) {
  const SiteActivity& site = now.activity;
  std::string text =
      fmt::format("site {}\n  reached at {}, {}\n", site.id.substr(0, 16),
                  fmt::join(site.addresses, ", "), port_text(site.port));
  if (!now.is_running) {
    return text + "  no agent runs as a host of it: quorate-client run\n";
  }
  text += fmt::format("  to mates {}, from mates {}, {} strangers refused\n",
                      megabytes(site.bytes_given),
                      megabytes(site.bytes_received), site.refused);
  if (site.mates.empty()) text += "  no mates: the project names none\n";
  for (const MateStatus& mate : site.mates) {
    text += fmt::format("  mate {} at {}: {}, {}{}\n", mate.name, mate.address,
                        megabytes(mate.bytes), mate.state,
                        mate.why.empty() ? "" : " (" + mate.why + ")");
  }
  return text;
}

void expect_no_other_site(const DataFolder& folder, const SiteSecret* wanted) {
  const auto there = read_site(folder);
  if (!there) return;
  if (wanted != nullptr && wanted->id() == there->secret.id()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("site: this computer already belongs to site {}: to go to "
                  "another one, quorate-client site leave first",
                  there->secret.id().hex().substr(0, 16)));
}

}  // namespace

void create_site(const fs::path& dir, const SiteOptions& options,
                 bool as_json) {
  const DataFolder folder = DataFolder::open(dir);
  expect_site_addresses(options.addresses);
  expect_no_other_site(folder, nullptr);
  const SiteSecret secret = SiteSecret::generate();
  write_site(folder, {secret, options.addresses, options.port});
  if (as_json) {
    print_line({{"id", secret.id().hex()}, {"secret", secret.text()}});
    return;
  }
  say("made site {}; {}\n  secret {}\non each of your other computers type\n"
      "  quorate-client site join -\nand give it the secret, which nobody else "
      "may have; listens at {}\n",
      secret.id().hex().substr(0, 16), kWhenTakenUp, secret.text(),
      port_text(options.port));
}

void join_site(const fs::path& dir, const SiteOptions& options, bool as_json) {
  const DataFolder folder = DataFolder::open(dir);
  expect_site_addresses(options.addresses);
  const SiteSecret secret = SiteSecret::parse(given_secret(options.secret));
  expect_no_other_site(folder, &secret);
  write_site(folder, {secret, options.addresses, options.port});
  if (as_json) {
    print_line({{"id", secret.id().hex()}});
    return;
  }
  say("joined site {}; {}\n  listens at {}\n", secret.id().hex().substr(0, 16),
      kWhenTakenUp, port_text(options.port));
}

void leave_site(const fs::path& dir, const SiteOptions&, bool as_json) {
  const bool was_there = remove_site(DataFolder::open(dir));
  if (as_json) {
    print_line({{"left", was_there}});
    return;
  }
  say("{}\n", was_there ? "left the site; an agent that runs does at its end"
                        : "this computer belongs to no site");
}

void show_site(const fs::path& dir, const SiteOptions&, bool as_json) {
  const DataFolder folder = DataFolder::open(dir);
  const auto settings = read_site(folder);
  if (!settings) {
    say("{}\n", as_json ? "null"
                        : "this computer belongs to no site: "
                          "quorate-client site create makes one");
    return;
  }
  const SiteNow now = site_now(folder, *settings);
  if (as_json) {
    auto row = nlohmann::json::parse(site_activity_json(now.activity));
    row["running"] = now.is_running;
    print_line(row);
    return;
  }
  say("{}", site_text(now));
}

}  // namespace quorate::client
