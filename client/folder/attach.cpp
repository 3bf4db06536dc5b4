#include "client/folder/attach.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "protocol/transfer/statement.h"

namespace quorate::client {
namespace {

// True if a project answers there without TLS.
bool answers_in_plain(const ProjectAddress& address,
                      const TransferMaker& make) {
  if (!address.is_encrypted()) return false;
  CurlOptions plain{"http://" + address.url.substr(address.url.find("://") + 3),
                    TlsTrust::unchecked, ""};
  try {
    open_statement(fetch_statement(*make(plain)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

Project fetch_with(const CurlOptions& options, const TransferMaker& make) {
  Project project = open_statement(fetch_statement(*make(options)));
  project.url = options.base_url;
  return project;
}

Project fetch_first(const ProjectAddress& address, const TransferMaker& make) {
  try {
    return fetch_with({address.url, TlsTrust::unchecked, ""}, make);
  } catch (const Error& e) {
    // Whoever can cut TLS off can also answer without it: no address that is
    // ready to be typed, or people would give up the encryption for a cheat.
    std::string advice = "check the address, and that the server is running";
    if (answers_in_plain(address, make)) {
      advice =
          "what answers there does not speak TLS, and may not be the project: "
          "ask its operator, by another way than this network, for the "
          "project's address and fingerprint, and type quorate-client attach "
          "ADDRESS#FINGERPRINT with both as the operator gives them";
    }
    throw Error(e.kind(), fmt::format("attach to {}: {}: {}", address.url,
                                      e.what(), advice));
  }
}

// "My project" 5705b2c1…
std::string short_text(const Project& project) {
  return fmt::format("\"{}\" {}…", project.statement.name,
                     fingerprint(project.id).substr(0, 8));
}

Project fetch_again(const Project& project, const TransferMaker& make) {
  try {
    return fetch_with(curl_options(project), make);
  } catch (const Error& e) {
    throw Error(
        e.kind(),
        fmt::format(
            "attach to {}: {}: ask the operator, by another way than this "
            "network, if the project's fingerprint is {} and if its TLS key or "
            "certificate has changed; a certificate that has expired, or is "
            "for another name, has to be renewed by the operator. Then attach "
            "to the address and fingerprint that the operator gives you, and "
            "do not leave out https://",
            project.url, e.what(), fingerprint(project.id)));
  }
}

}  // namespace

CurlOptions curl_options(const Project& project) {
  return quorate::curl_options(project.url, project.statement);
}

Project fetch_project(const ProjectAddress& address,
                      const TransferMaker& make) {
  Project project = fetch_first(address, make);
  if (!matches(address.fingerprint, project.id)) {
    throw Error(
        ErrorKind::denied,
        fmt::format("attach to {}: expected project {}, found {}: ask "
                    "the project for its address and fingerprint",
                    address.url, address.fingerprint, fingerprint(project.id)));
  }
  if (project.statement.arithmetic != kArithmeticVersion) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format(
            "attach to {}: the project computes with arithmetic {}, this "
            "client with {}: use the client version that the project uses",
            address.url, project.statement.arithmetic, kArithmeticVersion));
  }
  if (!address.is_encrypted()) return project;
  // Whoever relayed the statement could not change it; only now do we learn
  // whether the server itself holds the key that it names.
  Project again = fetch_again(project, make);
  if (again.id != project.id) {
    throw Error(ErrorKind::denied,
                fmt::format("attach to {}: the project changed between two "
                            "requests: try again on another network",
                            address.url));
  }
  return again;
}

void expect_newest(const std::vector<Project>& attached, const Project& found,
                   Millis unix_ms) {
  const auto known =
      std::find_if(attached.begin(), attached.end(),
                   [&](const Project& one) { return one.id == found.id; });
  const std::string why = against_statement(
      found, known == attached.end() ? nullptr : &*known, unix_ms);
  if (why.empty()) return;
  throw Error(ErrorKind::denied,
              fmt::format("attach to {}: {}", found.url, why));
}

void expect_no_stranger(const std::vector<Project>& attached,
                        const Project& found, const ProjectAddress& address) {
  if (!address.fingerprint.empty()) return;
  const Project* other = nullptr;
  for (const Project& project : attached) {
    if (project.id == found.id) return;
    if (project.url == found.url) other = &project;
  }
  if (other == nullptr) return;
  throw Error(
      ErrorKind::denied,
      fmt::format(
          "attach to {0}: {1} used to answer at this address, now {2} does: if "
          "that is intended, type quorate-client attach {0}#{3}",
          found.url, short_text(*other), short_text(found),
          fingerprint(found.id)));
}

Attached attach_project(const DataFolder& folder, const AttachOptions& options,
                        const TransferMaker& make, Millis unix_ms) {
  expect_name(options.name, "--name");
  expect_name(options.host_name, "--host-name");
  const ProjectAddress address = parse_project_address(options.address);
  Project project = fetch_project(address, make);
  const std::vector<Project> attached = folder.projects();
  expect_no_stranger(attached, project, address);
  expect_newest(attached, project, unix_ms);
  if (!options.account.empty()) folder.adopt_account(options.account);
  const auto known =
      std::find_if(attached.begin(), attached.end(),
                   [&](const Project& one) { return one.id == project.id; });
  const bool is_known = known != attached.end();
  project.has_own_keys = !is_known || known->has_own_keys;
  project.user_name = options.name;
  if (options.name.empty() && is_known) project.user_name = known->user_name;
  project.host_name = options.host_name;
  if (options.host_name.empty() && is_known) {
    project.host_name = known->host_name;
  }
  folder.add_project(project);
  return {std::move(project), address.fingerprint.empty() && !is_known};
}

void expect_name(const std::string& name, const char* option) {
  constexpr std::size_t kMostBytes = 64;
  if (name.size() > kMostBytes) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: at most {} bytes, found {}: choose a shorter "
                            "one",
                            option, kMostBytes, name.size()));
  }
  for (char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: it contains a control character: choose a "
                              "name of letters, digits and blanks",
                              option));
    }
  }
}

}  // namespace quorate::client
