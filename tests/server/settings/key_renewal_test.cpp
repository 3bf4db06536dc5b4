#include "server/settings/key_renewal.h"

#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

constexpr Millis kDay = 86'400'000;
constexpr Millis kNow = 1'800'000'000'000;

struct Place {
  test::TemporaryFolder temporary;
  ProjectFolder folder{temporary.path() / "project"};
  fs::path root = temporary.path() / "root.key";

  Place() { create_project(folder, "Sample", ""); }
  Keyring renew(const KeyTerms& terms = {}, Millis now = kNow) {
    return renew_key(folder, root, terms, now);
  }
};

std::string refusal_of(const std::function<void()>& job) {
  try {
    job();
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
}

bool has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the first renewal takes the root away, and the project stays") {
  Place place;
  const ProjectKeys before = load_keys(place.folder);
  const Keyring ring = place.renew({100, false});
  const ProjectKeys after = load_keys(place.folder);
  CHECK(after.id == before.id);
  CHECK(after.ring == ring);
  CHECK(ring.number == kNow / 1000);
  CHECK(ring.root == before.project.public_key());
  CHECK(after.project.public_key() == ring.current().key);
  CHECK(after.project.public_key() != before.project.public_key());
  CHECK(PrivateKey::load(place.root.string()).public_key() == ring.root);
  CHECK(ring.current().until == kNow + 100 * kDay);
  // What the root sealed is taken for a while.
  CHECK(ring.keys[0].until == kNow + 14 * kDay);
  CHECK_FALSE(ring.keys[0].is_revoked);
}

TEST_CASE("later renewals need the root, and may revoke") {
  Place place;
  place.renew();
  const fs::path away = place.temporary.path() / "stick.key";
  fs::rename(place.root, away);
  CHECK(has(refusal_of([&] { place.renew(); }), "there is no such file"));
  PrivateKey::generate().save(place.root.string());
  CHECK(has(refusal_of([&] { place.renew(); }), "is not the root key"));
  fs::rename(away, place.root);
  const Keyring ring = place.renew({365, true}, kNow + kDay);
  CHECK(ring.number == (kNow + kDay) / 1000);
  REQUIRE(ring.keys.size() == 3);
  CHECK(ring.keys[1].is_revoked);
  CHECK(ring.keys[1].until == kNow + kDay);
  CHECK(load_keys(place.folder).ring == ring);
}

TEST_CASE("what is revoked is every key that a thief may have") {
  Place place;
  place.renew();
  place.renew({}, kNow + kDay);  // the key before is taken for two weeks
  const Keyring ring = place.renew({365, true}, kNow + 2 * kDay);
  REQUIRE(ring.keys.size() == 4);
  CHECK_FALSE(ring.keys[0].is_revoked);  // the root, which is elsewhere
  CHECK(ring.keys[1].is_revoked);
  CHECK(ring.keys[1].until == kNow + 2 * kDay);
  CHECK(ring.keys[2].is_revoked);
  CHECK_FALSE(ring.current().is_revoked);
  // One whose time was over then says nothing anyway.
  const Keyring late = place.renew({365, true}, kNow + 400 * kDay);
  CHECK(late.keys[3].is_revoked == false);
}

TEST_CASE("lists count by the time, and always up") {
  const Keyring first = keyring_of(PrivateKey::generate().public_key());
  const auto next = [](const Keyring& ring, Millis now) {
    return with_next_key(ring, PrivateKey::generate().public_key(), {}, now);
  };
  const Keyring ring = next(first, kNow);
  // In the same second, and after the clock was put back.
  CHECK(next(ring, kNow).number == ring.number + 1);
  CHECK(next(ring, kNow - kDay).number == ring.number + 1);
  // Restored from before the first list: the new one does not repeat it.
  CHECK(next(first, kNow + 1000).number > ring.number);
}

TEST_CASE("a root that signs itself cannot be revoked, nor lie in the folder") {
  Place place;
  CHECK(has(refusal_of([&] {
              place.renew({365, true});
            }),
            "begin a new project"));
  place.root = place.folder.keys() / "root.key";
  CHECK(
      has(refusal_of([&] { place.renew(); }), "lies in the project's folder"));
  CHECK(load_keys(place.folder).ring.number == 0);
}

TEST_CASE("a renewal that was cut off has its old key or its new one") {
  Place place;
  const PublicKey first = load_keys(place.folder).project.public_key();
  // After the next key, before the list.
  PrivateKey::generate().save(place.folder.next_project_key().string());
  CHECK(load_keys(place.folder).project.public_key() == first);
  // In the middle of it.
  const auto begin_key = [&] {
    write_file_durably(place.folder.next_project_key(), as_bytes("0123"), 0600);
  };
  begin_key();
  place.renew();
  begin_key();
  CHECK(load_keys(place.folder).ring.keys.size() == 2);
  const Keyring ring = place.renew();
  CHECK(load_keys(place.folder).ring == ring);
  // After the list: the new key still has its other name, the old its own.
  fs::rename(place.folder.project_key(), place.folder.next_project_key());
  fs::copy_file(place.root, place.folder.project_key());
  CHECK(load_keys(place.folder).project.public_key() == ring.current().key);
  CHECK_FALSE(fs::exists(place.folder.next_project_key()));
  // With another key nobody could go on.
  fs::remove(place.folder.project_key());
  fs::copy_file(place.root, place.folder.project_key());
  CHECK_THROWS_WITH_AS(load_keys(place.folder),
                       doctest::Contains("is not the key that it names last"),
                       Error);
}

TEST_CASE("the end of a key is told beforehand, and nothing is served after") {
  Place place;
  CHECK_FALSE(few_days_left(load_keys(place.folder).ring, kNow));
  const Keyring ring = place.renew({100, false});
  CHECK_FALSE(few_days_left(ring, kNow + 60 * kDay));
  CHECK(few_days_left(ring, kNow + 90 * kDay) == 10);
  CHECK(has(refusal_of([&] { few_days_left(ring, kNow + 100 * kDay); }),
            "quorate keys renew"));
}

TEST_CASE("a project has at most as many keys as a list takes") {
  Place place;
  Keyring ring = load_keys(place.folder).ring;
  while (ring.keys.size() < kMostSigningKeys) {
    ring = with_next_key(std::move(ring), PrivateKey::generate().public_key(),
                         {}, kNow);
  }
  CHECK(has(refusal_of([&] {
              with_next_key(ring, PrivateKey::generate().public_key(), {},
                            kNow);
            }),
            "can have no more"));
  const PrivateKey root = PrivateKey::load(place.folder.project_key().string());
  const Keyring sealed = seal_keyring(ring, root);
  CHECK(open_keyring(sealed.sealed, "ring") == sealed);
}

}  // namespace quorate
