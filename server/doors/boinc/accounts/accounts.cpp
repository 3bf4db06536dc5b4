#include "server/doors/boinc/accounts/accounts.h"

#include <fmt/format.h>

namespace quorate::boinc {

BoincAccounts::BoincAccounts(ProjectState& state, const UploadKey& secret)
    : state_(state), secret_(secret) {
  for (BoincAccount& account : state.store.boinc_accounts()) {
    keep(std::move(account));
  }
}

void BoincAccounts::keep(BoincAccount account) {
  by_authenticator_[sha256(as_bytes(authenticator(account)))] = account.user;
  if (!account.email.empty()) by_email_[account.email] = account.user;
  accounts_[account.user] = std::move(account);
}

std::optional<UserId> BoincAccounts::find(
    const std::string& authenticator) const {
  auto found = by_authenticator_.find(sha256(as_bytes(authenticator)));
  if (found == by_authenticator_.end() || is_deleted(found->second)) {
    return std::nullopt;
  }
  return found->second;
}

const BoincAccount* BoincAccounts::with_email(const std::string& email) const {
  auto found = by_email_.find(email);
  if (found == by_email_.end() || is_deleted(found->second)) return nullptr;
  return &accounts_.at(found->second);
}

// The store has forgotten it; these indexes do at the next start.
bool BoincAccounts::is_deleted(UserId user) const {
  return state_.hosts.user(user)->deleted != 0;
}

const BoincAccount& BoincAccounts::add(const std::string& name,
                                       BoincAccount account) {
  // A key that nobody has.
  account.user = state_.hosts
                     .register_user(secret_random<PublicKey>(), name,
                                    state_.clock.unix_ms())
                     .id;
  state_.store.insert_boinc_account(account);
  UserId user = account.user;
  keep(std::move(account));
  return accounts_.at(user);
}

std::string BoincAccounts::authenticator(const BoincAccount& account) const {
  constexpr std::size_t kDigits = 32;
  std::string what = fmt::format("quorate boinc account v1\n{}\n{}\n",
                                 account.user, account.salt.hex());
  return hmac_sha256(secret_, as_bytes(what)).hex().substr(0, kDigits);
}

}  // namespace quorate::boinc
