#include "server/doors/boinc/accounts/account_routes.h"

#include "base/error.h"
#include "protocol/boinc/project_config.h"
#include "protocol/text.h"
#include "server/doors/answer_from_writer.h"
#include "server/doors/boinc/accounts/master_page.h"
#include "server/doors/boinc/accounts/urls.h"
#include "server/doors/refusals.h"
#include "server/hosts/look_alike.h"
#include "server/http/clients/places.h"
#include "server/http/text.h"

namespace quorate::boinc {
namespace {

constexpr std::string_view kXml = "text/xml";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
// Passwords that may be tried from one place, on average.
constexpr double kLookupsPerMinute = 10;

Response answer(AccountError error) {
  return no_store(text_response(200, kXml, write(error)));
}

Response answer(const std::string& authenticator) {
  return no_store(text_response(200, kXml, write_account(authenticator)));
}

std::variant<AccountQuery, AccountError> query_of(const Request& request) {
  return read_account_query(request.query_value("email_addr"),
                            request.query_value("passwd_hash"),
                            request.query_value("user_name"));
}

// What a client sends for a password is as good as the password.
Hash password_hash(const AccountQuery& query, const FixedBytes<16>& salt) {
  return slow_hash(query.password_hash.view(), salt.view());
}

}  // namespace

AccountRoutes::AccountRoutes(
    Project& project, BoincAccounts& accounts, bool is_tls,
    std::function<std::vector<std::string>()> platforms)
    : project_(project),
      state_(project.state()),
      accounts_(accounts),
      is_tls_(is_tls),
      platforms_(std::move(platforms)),
      lookups_(kLookupsPerMinute, state_.clock) {}

void AccountRoutes::add_routes(Router& router) {
  auto add = [&](const char* path, auto handler) {
    router.add(Method::get, path,
               [this, handler](Request& request, Responder responder) {
                 (this->*handler)(request, std::move(responder));
               });
  };
  add("/boinc", &AccountRoutes::get_page);
  add("/boinc/", &AccountRoutes::get_page);
  add("/boinc/get_project_config.php", &AccountRoutes::get_config);
  add("/boinc/lookup_account.php", &AccountRoutes::lookup);
  add("/boinc/create_account.php", &AccountRoutes::create);
}

void AccountRoutes::get_page(const Request& request,
                             Responder responder) const {
  std::string master = master_url(state_.settings, request, is_tls_);
  responder.send(
      text_response(200, kHtml, master_page(state_.settings.name, master)));
}

void AccountRoutes::get_config(const Request& request,
                               Responder responder) const {
  ProjectConfig config;
  config.name = state_.settings.name;
  config.master_url = master_url(state_.settings, request, is_tls_);
  config.platforms = platforms_();
  responder.send(text_response(200, kXml, write(config)));
}

void AccountRoutes::lookup(const Request& request, Responder responder) {
  auto query = query_of(request);
  if (const auto* error = std::get_if<AccountError>(&query)) {
    return responder.send(answer(*error));
  }
  project_.daemons().post([this, query = std::get<AccountQuery>(query),
                           places = places_of(request.remote_address),
                           responder = std::move(responder)]() mutable {
    if (auto wait = lookups_.join(places)) {
      return responder.send(crowded_response("accounts", *wait));
    }
    const BoincAccount* account = accounts_.with_email(query.email);
    if (account == nullptr) {
      return responder.send(answer(AccountError::not_found));
    }
    check_password(*account, query, AccountError::bad_password,
                   std::move(responder));
  });
}

void AccountRoutes::check_password(BoincAccount account,
                                   const AccountQuery& query,
                                   AccountError wrong, Responder responder) {
  passwords_.post([account = std::move(account), query, wrong,
                   key = accounts_.authenticator(account),
                   responder = std::move(responder)]() mutable {
    const bool is_right =
        password_hash(query, account.salt) == account.password;
    responder.send(is_right ? answer(key) : answer(wrong));
  });
}

void AccountRoutes::create(const Request& request, Responder responder) {
  Places places = places_of(request.remote_address);
  BoincAccount account;
  account.salt = secret_random<FixedBytes<16>>();
  // Without address and password the authenticator alone opens the account.
  const bool is_nameless = request.query_value("email_addr").empty() &&
                           request.query_value("passwd_hash").empty();
  if (is_nameless) {
    std::string name =
        protocol::plain_text(request.query_value("user_name"), kMostNameBytes);
    return make(name, account, places, std::move(responder));
  }
  auto query = query_of(request);
  if (const auto* error = std::get_if<AccountError>(&query)) {
    return responder.send(answer(*error));
  }
  project_.daemons().post([this, query = std::get<AccountQuery>(query), account,
                           places, responder = std::move(responder)]() mutable {
    if (auto wait = lookups_.join(places)) {
      return responder.send(crowded_response("accounts", *wait));
    }
    // Who knows the password of the account that there is gets that.
    if (const BoincAccount* known = accounts_.with_email(query.email)) {
      return check_password(*known, query, AccountError::email_in_use,
                            std::move(responder));
    }
    passwords_.post([this, query, account, places,
                     responder = std::move(responder)]() mutable {
      account.email = query.email;
      account.password = password_hash(query, account.salt);
      make(query.user_name, account, places, std::move(responder));
    });
  });
}

void AccountRoutes::make(const std::string& name, const BoincAccount& account,
                         const Places& places, Responder responder) {
  answer_from_writer(
      project_, std::move(responder),
      [this, name, account, places] { return add(name, account, places); });
}

Response AccountRoutes::add(const std::string& name,
                            const BoincAccount& account, const Places& places) {
  if (!account.email.empty() && accounts_.with_email(account.email)) {
    return answer(AccountError::email_in_use);  // of two at once
  }
  if (auto wait = state_.new_accounts.join(places)) {
    return crowded_response("accounts", *wait);
  }
  const std::string given = is_reserved_name(name) ? "" : name;
  return answer(accounts_.authenticator(accounts_.add(given, account)));
}

}  // namespace quorate::boinc
