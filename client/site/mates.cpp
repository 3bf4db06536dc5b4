#include "client/site/mates.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "client/site/site_door.h"
#include "protocol/transfer/curl_transfer.h"

namespace quorate::client {
namespace {

using Kind = MateAnswer::Kind;

constexpr std::size_t kMostContact = 512;  // hexadecimal digits
// Of one address: as many threads fetch at the same time.
constexpr std::size_t kMostIdle = 2;

MateStatus status_of(const Mate& mate, Instant now) {
  std::string address = mate.address;
  if (address.empty() && !mate.contact.addresses.empty()) {
    address = mate.contact.addresses.front();
  }
  return {mate.contact.name, address, mate.bytes,
          std::string(state_name(mate, now)), mate.why};
}

std::set<std::string> urls_of(const MatesById& mates) {
  std::set<std::string> urls;
  for (const auto& [id, mate] : mates) {
    for (const std::string& address : mate.contact.addresses) {
      urls.insert(url_of(address, mate.contact.port));
    }
  }
  return urls;
}

}  // namespace

std::optional<protocol::MateContact> open_contact(const SiteSecret& secret,
                                                  std::string_view text) {
  if (text.size() > kMostContact) return std::nullopt;
  try {
    Bytes sealed(text.size() / 2);
    from_hex(text, sealed, "contact");
    const auto opened = secret.open(MateMessage::contact, sealed);
    if (!opened) return std::nullopt;
    return protocol::parse_mate_contact(*opened);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Mates::Mates(const SiteSecret& secret, std::string_view own_contact,
             const Clock& clock, MateLimits limits)
    : secret_(secret), clock_(clock), limits_(limits) {
  if (const auto own = open_contact(secret, own_contact)) own_ = own->process;
}

void Mates::learn(const std::vector<std::string>& contacts) {
  MatesById named;
  std::lock_guard lock(mutex_);
  for (const std::string& text : contacts) {
    if (named.size() == limits_.mates) break;
    const auto contact = open_contact(secret_, text);
    if (!contact || contact->process == own_) continue;
    if (auto known = mates_.extract(contact->process)) {
      named.insert(std::move(known));
    }
    Mate& mate = named[contact->process];
    mate.contact = *contact;
    mate.is_named = true;
  }
  // The excluded ones stay so: the project might name them again.
  std::size_t kept = 0;
  for (auto& [id, mate] : mates_) {
    if (!mate.is_excluded || kept == limits_.mates) continue;
    mate.is_named = false;
    named.emplace(id, std::move(mate));
    ++kept;
  }
  mates_ = std::move(named);
  const std::set<std::string> urls = urls_of(mates_);
  std::erase_if(idle_,
                [&](const auto& one) { return !urls.contains(one.first); });
}

bool Mates::fetch(const Hash& hash, std::uint64_t size, const fs::path& part,
                  const std::stop_token& stop) {
  const Seconds most =
      limits_.patience +
      Seconds(static_cast<double>(size) / limits_.least_bytes_per_second);
  const Wanted wanted{hash, size, clock_.now() + most, stop};
  std::vector<Mate> order;
  {
    std::lock_guard lock(mutex_);
    order = asking_order(mates_, clock_.now());
  }
  if (order.empty()) return false;
  const fs::path collected = fs::path(part).replace_extension(".mates");
  PartFile file(collected, size);
  for (const Mate& mate : order) {
    if (stop.stop_requested() || clock_.now() >= wanted.until) return false;
    if (!fetch_from(mate, wanted, file)) continue;
    fs::rename(collected, part);
    return true;
  }
  return false;
}

bool Mates::fetch_from(const Mate& mate, const Wanted& wanted, PartFile& file) {
  bool is_of_others = file.size() > 0;
  while (take_rest(mate, wanted, file)) {
    const Hash found = file.finish();
    if (found == wanted.hash) return true;
    file.restart();
    if (!is_of_others) {
      exclude(mate, fmt::format("sent bytes with the hash {} for {}",
                                found.hex(), wanted.hash.hex()));
      return false;
    }
    is_of_others = false;  // whoever was wrong: once more, all from this one
  }
  return false;
}

bool Mates::take_rest(const Mate& mate, const Wanted& wanted, PartFile& file) {
  if (file.size() == wanted.size) return true;
  std::string why = "its contact names no address";
  for (const std::string& address : addresses_to_try(mate)) {
    MateAnswer last;
    std::uint64_t before = 0;
    do {  // a connection that broke goes on where it was
      before = file.size();
      last = take_at(address, mate, wanted, file);
      if (wanted.stop.stop_requested()) return false;
    } while (last.kind == Kind::no_answer && file.size() > before);
    if (last.kind == Kind::piece) return true;
    if (last.kind == Kind::wrong) exclude(mate, last.why);
    if (last.kind != Kind::no_answer) return false;
    why = last.why;
  }
  rest(mate, why);
  return false;
}

MateAnswer Mates::take_at(const std::string& address, const Mate& mate,
                          const Wanted& wanted, PartFile& file) {
  const std::string url = url_of(address, mate.contact.port);
  std::unique_ptr<Transfer> connection = open_connection(url);
  MateAnswer answer;
  bool is_first = true;
  do {
    answer = ask(*connection, address, mate, wanted, file.size(), is_first);
    is_first = false;
    if (answer.kind == Kind::piece) file.append(answer.bytes);
  } while (answer.kind == Kind::piece && file.size() < wanted.size);
  if (answer.kind != Kind::no_answer) {
    keep_connection(url, std::move(connection));
  }
  return answer;
}

MateAnswer Mates::ask(Transfer& connection, const std::string& address,
                      const Mate& mate, const Wanted& wanted,
                      std::uint64_t offset, bool is_first) {
  const Instant asked = clock_.now();
  if (asked >= wanted.until) {
    return {Kind::no_answer, {}, "it takes too long"};
  }
  const std::uint32_t most =
      is_first ? limits_.probe_bytes : protocol::kMaxMateChunk;
  const Seconds timeout =
      is_first ? limits_.probe_timeout : limits_.chunk_timeout;
  const MateQuestion question{
      mate.contact.process,
      wanted.hash,
      wanted.size,
      offset,
      static_cast<std::uint32_t>(
          std::min<std::uint64_t>(most, wanted.size - offset)),
      std::min(timeout, wanted.until - asked)};
  MateAnswer answer = ask_mate(connection, secret_, question, wanted.stop);
  if (answer.kind == Kind::no_answer || answer.kind == Kind::wrong) {
    return answer;
  }
  received_ += answer.bytes.size();
  const Seconds took = clock_.now() - asked;
  std::lock_guard lock(mutex_);
  const auto known = mates_.find(mate.contact.process);
  if (known != mates_.end()) {
    note_answer(known->second, address, answer.bytes.size(), took);
  }
  return answer;
}

void Mates::rest(const Mate& mate, const std::string& why) {
  std::lock_guard lock(mutex_);
  const auto known = mates_.find(mate.contact.process);
  if (known == mates_.end()) return;
  note_silence(known->second, clock_.now(), why);
  if (known->second.failures > 1) return;  // said once
  log_info("mate_rests", {{"mate", mate.contact.name}, {"why", why}});
}

void Mates::exclude(const Mate& mate, const std::string& why) {
  std::lock_guard lock(mutex_);
  const auto known = mates_.find(mate.contact.process);
  if (known == mates_.end()) return;
  known->second.is_excluded = true;
  known->second.why = why;
  log_warning("mate_excluded",
              {{"mate", mate.contact.name},
               {"address", status_of(known->second, clock_.now()).address},
               {"why", why},
               {"then",
                "look at the disk of that computer; it is asked again "
                "when its agent was started anew"}});
}

std::unique_ptr<Transfer> Mates::open_connection(const std::string& url) {
  {
    std::lock_guard lock(mutex_);
    auto kept = idle_.find(url);
    if (kept != idle_.end() && !kept->second.empty()) {
      auto connection = std::move(kept->second.back());
      kept->second.pop_back();
      return connection;
    }
  }
  CurlOptions options;
  options.base_url = url;
  options.may_use_proxy = false;
  return make_curl_transfer(options);
}

void Mates::keep_connection(const std::string& url,
                            std::unique_ptr<Transfer> connection) {
  std::lock_guard lock(mutex_);
  auto& kept = idle_[url];
  if (kept.size() < kMostIdle) kept.push_back(std::move(connection));
}

std::vector<MateStatus> Mates::status() const {
  std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  std::vector<MateStatus> all;
  for (const auto& [id, mate] : mates_) {
    if (mate.is_named) all.push_back(status_of(mate, now));
  }
  return all;
}

SiteActivity site_activity(const SiteDoor& door, const Mates& mates) {
  const DoorCounters counters = door.counters();
  return {door.secret().id().hex(),
          door.addresses(),
          door.port(),
          counters.bytes_given,
          mates.bytes_received(),
          counters.refused,
          mates.status()};
}

}  // namespace quorate::client
