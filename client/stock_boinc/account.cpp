#include "client/stock_boinc/account.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/account_reply.h"
#include "protocol/transfer/refusal.h"

namespace quorate::client {
namespace {

constexpr Seconds kRequestTime{20};
// The application of our projects, as servers name it.
constexpr std::string_view kApp = "quorate";
constexpr std::string_view kPath = "/boinc/";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

// For a URL's query (RFC 3986, section 2).
std::string percent_encoded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (is_letter_or_digit(c)) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

[[noreturn]] void refuse_url(const std::string& url, const std::string& why) {
  throw Error(ErrorKind::usage,
              fmt::format("project address {}: {}", url, why));
}

HttpReply send_trusting(Transfer& transfer, const HttpRequest& request) {
  try {
    return transfer.send(request, {});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::denied) throw;
    throw Error(
        ErrorKind::denied,
        fmt::format(
            "{}: BOINC clients trust only certificates that an authority has "
            "signed: ask the project for an address that has one",
            e.what()));
  }
}

// tried: "create an account".
HttpReply ask_door(Transfer& transfer, const std::string& question,
                   const std::string& tried) {
  HttpRequest request;
  request.path = std::string(kPath) + question;
  request.timeout = kRequestTime;
  HttpReply reply = send_trusting(transfer, request);
  if (reply.status == 404) {
    throw Error(ErrorKind::unsupported,
                tried +
                    ": this project does not admit BOINC clients: ask it to, "
                    "or use quorate-client attach");
  }
  if (reply.status != 200) throw_refusal(reply, tried);
  return reply;
}

}  // namespace

ProjectAddress parse_boinc_address(std::string_view text) {
  ProjectAddress address = parse_project_address(text);
  std::string_view ending = kPath.substr(0, kPath.size() - 1);
  std::size_t host = address.url.find("://") + 3;
  if (address.url.ends_with(ending) &&
      address.url.find('/', host) != std::string::npos) {
    address.url.resize(address.url.size() - ending.size());
  }
  return address;
}

std::string boinc_master_url(const ProjectAddress& address) {
  constexpr std::size_t kMostBytes = 255;
  std::string url = address.url + std::string(kPath);
  std::size_t host = url.find("://") + 3;
  std::size_t end = url.find('/', host);
  for (std::size_t i = host; i < end; ++i) {
    if (url[i] >= 'A' && url[i] <= 'Z') {
      url[i] = static_cast<char>(url[i] - 'A' + 'a');
    }
  }
  if (url.size() > kMostBytes) {
    refuse_url(address.url, fmt::format("BOINC clients take at most {} "
                                        "characters: ask for a shorter one",
                                        kMostBytes - kPath.size()));
  }
  if (url.substr(host, end - host).find('.') == std::string::npos) {
    refuse_url(address.url,
               "BOINC clients want a host with a dot in its name, such as "
               "example.org or 127.0.0.1");
  }
  return url;
}

bool is_quorate(const StockProject& project) {
  return project.url.ends_with(kPath) &&
         std::all_of(project.apps.begin(), project.apps.end(),
                     [](const std::string& app) { return app == kApp; });
}

void expect_account_key(const std::string& key) {
  constexpr std::size_t kMostBytes = 64;
  if (!key.empty() && key.size() <= kMostBytes &&
      std::all_of(key.begin(), key.end(), is_letter_or_digit)) {
    return;
  }
  throw Error(ErrorKind::usage,
              fmt::format("--key: expected up to {} letters and digits, as "
                          "`boinc attach` showed them: leave it out for a new "
                          "account",
                          kMostBytes));
}

void expect_boinc_door(Transfer& transfer) {
  ask_door(transfer, "get_project_config.php", "ask for its door");
}

std::string create_account(Transfer& transfer, const std::string& user_name) {
  const HttpReply reply = ask_door(
      transfer, "create_account.php?user_name=" + percent_encoded(user_name),
      "create an account");
  return boinc::parse_account_reply(as_bytes(reply.body));
}

}  // namespace quorate::client
