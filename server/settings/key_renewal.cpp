#include "server/settings/key_renewal.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/settings/operation_lock.h"

namespace quorate {
namespace {

constexpr Millis kDay = 86'400'000;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::usage, "keys renew: " + why);
}

// A backup, and whoever reads one, would have it.
void expect_outside(const ProjectFolder& folder, const fs::path& file) {
  const fs::path inside = fs::weakly_canonical(file).lexically_relative(
      fs::weakly_canonical(folder.root));
  if (inside.empty() || *inside.begin() == "..") return;
  refuse(
      fmt::format("--root {}: it lies in the project's folder, where the "
                  "root key is as easily stolen as the one that it is to "
                  "replace: name a file elsewhere, best on a disk that you "
                  "can take away",
                  file.string()));
}

PrivateKey root_key(const ProjectKeys& keys, const fs::path& file) {
  if (fs::exists(file)) {
    PrivateKey root = PrivateKey::load(file.string());
    if (root.public_key() == keys.ring.root) return root;
    refuse(fmt::format("--root {}: it is not the root key of project {}, {}",
                       file.string(), fingerprint(keys.id),
                       keys.ring.root.hex()));
  }
  if (keys.ring.number != 0) {
    refuse(
        fmt::format("--root {}: there is no such file: name the one to which "
                    "the root key went when the key was renewed first",
                    file.string()));
  }
  keys.project.save(file.string());
  return PrivateKey::load(file.string());
}

void end_by(SigningKey& key, Millis end) {
  if (key.until == 0 || key.until > end) key.until = std::max(end, key.from);
}

void revoke(SigningKey& key, Millis unix_ms) {
  end_by(key, unix_ms);
  key.is_revoked = true;
}

}  // namespace

Keyring with_next_key(Keyring ring, const PublicKey& next,
                      const KeyTerms& terms, Millis unix_ms) {
  if (ring.keys.size() >= kMostSigningKeys) {
    refuse(fmt::format("the project has had {} keys, and can have no more",
                       ring.keys.size()));
  }
  if (terms.revoke && ring.current().key == ring.root) {
    refuse(
        "the key that signs is the root: whoever has it is the project, and "
        "no list can change that: begin a new project, and tell its "
        "fingerprint to your volunteers");
  }
  const auto overlap = static_cast<Millis>(1000 * kKeyOverlap.count());
  const Millis from = std::max(unix_ms, ring.current().from);
  for (SigningKey& one : ring.keys) {
    if (terms.revoke) {
      if (one.key != ring.root && speaks(one, unix_ms)) revoke(one, unix_ms);
    } else if (one == ring.current()) {
      end_by(one, unix_ms + overlap);
    }
  }
  ring.keys.push_back({next, from, from + terms.days * kDay, false});
  // By the time, so that a project that was restored from before its renewals
  // does not seal a second list of their numbers.
  const auto now = static_cast<std::uint64_t>(std::max<Millis>(unix_ms, 0));
  ring.number = std::max(ring.number + 1, now / 1000);
  return ring;
}

Keyring renew_key(const ProjectFolder& folder, const fs::path& root_file,
                  const KeyTerms& terms, Millis unix_ms) {
  const FileLock lock =
      lock_for("keys renew", folder.lock(), "the project is served");
  const ProjectKeys keys = load_keys(folder);
  expect_outside(folder, root_file);
  const PrivateKey next = PrivateKey::generate();
  Keyring wanted = with_next_key(keys.ring, next.public_key(), terms, unix_ms);
  const Keyring ring =
      seal_keyring(std::move(wanted), root_key(keys, root_file));
  fs::remove(folder.next_project_key());
  next.save(folder.next_project_key().string());
  write_file_durably(folder.keyring(), ring.sealed);
  return load_keys(folder).ring;
}

std::optional<std::int64_t> few_days_left(const Keyring& ring, Millis unix_ms) {
  constexpr std::int64_t kFew = 30;
  const SigningKey& key = ring.current();
  if (key.until == 0) return std::nullopt;
  if (!speaks(key, unix_ms)) {
    throw Error(ErrorKind::usage,
                "the time of the project's key is over: volunteers take "
                "nothing that it signs: renew it with `quorate keys renew "
                "--root FILE`, where FILE has the root key");
  }
  const std::int64_t days = (key.until - unix_ms) / kDay;
  if (days > kFew) return std::nullopt;
  return days;
}

void log_key_end(const Keyring& ring, Millis unix_ms) {
  try {
    const auto days = few_days_left(ring, unix_ms);
    if (days) log_warning("key_ends", {{"days", *days}});
  } catch (const Error& error) {
    log_error("key_over", {{"why", error.what()}});
  }
}

}  // namespace quorate
