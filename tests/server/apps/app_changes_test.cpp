#include "server/apps/app_changes.h"

#include <doctest/doctest.h>

#include "protocol/boinc/names.h"
#include "protocol/boinc/signatures.h"
#include "tests/server/apps/app_samples.h"

namespace quorate::boinc {
namespace {

template <class Call>
std::string misuse_of(Call call) {
  return test::refusal_of(ErrorKind::usage, call);
}

}  // namespace

TEST_CASE("a published file has a name that says its content") {
  auto name_of_content = [](const char* name, const char* text) {
    ByteView bytes = as_bytes(text);
    return app_content(name, {bytes.begin(), bytes.end()}).file.name;
  };
  CHECK(name_of_content("libstdc++.so.6", "abc") ==
        "libstdc__.so.6-ba7816bf8f01cfea");
  CHECK(name_of_content("worker", "abc") == "worker-ba7816bf8f01cfea");
  CHECK(name_of_content("worker", "abd") != name_of_content("worker", "abc"));
  for (const char* odd :
       {"a b", "..", "...", "a..b", "\xc3\xa4", "%41", "<x>"}) {
    CAPTURE(odd);
    CHECK(is_file_name(name_of_content(odd, "")));
  }
  CHECK(is_file_name(name_of_content(std::string(400, 'x').c_str(), "")));
}

TEST_CASE(
    "versions are counted, and share the files that they have in common") {
  AppManifest manifest =
      with_version({}, test::first_key(), test::new_version(1));
  manifest = with_version(manifest, test::first_key(), test::new_version(2));
  REQUIRE(manifest.versions.size() == 2);
  CHECK(manifest.versions[0].version == 1);
  CHECK(manifest.versions[1].version == 2);
  CHECK(manifest.files.size() == 3);  // two programs, one library
  CHECK(manifest.versions[0].libraries == manifest.versions[1].libraries);
  CHECK(manifest.code_sign_key == test::first_key().public_key());
  expect_signed(manifest, "x");
  CHECK(parse_app_manifest(write(manifest), "x") == manifest);
}

TEST_CASE("the same content is published once, for what it serves") {
  auto both = {DeviceKind::cpu, DeviceKind::opencl};
  AppManifest manifest =
      with_version({}, test::first_key(), test::new_version(1));
  std::string why = misuse_of(
      [&] { with_version(manifest, test::first_key(), test::new_version(1)); });
  CHECK(test::has(why, "already published as version 1"));
  // More devices are something new; fewer are not.
  manifest =
      with_version(manifest, test::first_key(), test::new_version(1, both));
  CHECK(manifest.versions.size() == 2);
  CHECK(manifest.files.size() == 2);
  why = misuse_of([&] {
    with_version(manifest, test::first_key(),
                 test::new_version(1, {DeviceKind::opencl}));
  });
  CHECK(test::has(why, "already published as version 2"));
  // So are a library that was replaced, and another platform.
  NewVersion other = test::new_version(1);
  other.libraries[0] = app_content("libmine.so.1", {1, 2, 3});
  CHECK(find_same(manifest, other) == nullptr);
  other = test::new_version(1);
  other.platform = "aarch64-unknown-linux-gnu";
  CHECK(find_same(manifest, other) == nullptr);
}

TEST_CASE("a retired version can be published again, under a new number") {
  AppManifest manifest =
      with_version({}, test::first_key(), test::new_version(1));
  manifest = with_retired(manifest, 1);
  CHECK(manifest.versions[0].is_retired);
  CHECK(manifest.files.size() == 2);  // for tasks that were sent
  REQUIRE(find_same(manifest, test::new_version(1)) != nullptr);
  manifest = with_version(manifest, test::first_key(), test::new_version(1));
  CHECK(manifest.versions[1].version == 2);
  CHECK_FALSE(manifest.versions[1].is_retired);
  CHECK(test::has(misuse_of([&] { with_retired(manifest, 1); }),
                  "app retire 1: not published: known are 2"));
  CHECK(test::has(misuse_of([&] { with_retired({}, 1); }), "nothing is"));
}

TEST_CASE("only the code-sign key signs") {
  AppManifest manifest =
      with_version({}, test::first_key(), test::new_version(1));
  CHECK(test::has(misuse_of([&] {
                    with_version(manifest, test::second_key(),
                                 test::new_version(2));
                  }),
                  "not the project's code-sign key"));
  CHECK(test::has(misuse_of([&] {
                    with_next_key(manifest, test::second_key(),
                                  test::first_key());
                  }),
                  "not the project's code-sign key"));
}

TEST_CASE("a new key signs every file anew, and the old one signs it") {
  AppManifest before =
      with_version({}, test::first_key(), test::new_version(1));
  AppManifest after =
      with_next_key(before, test::first_key(), test::second_key());
  CHECK(after.code_sign_key == test::second_key().public_key());
  REQUIRE(after.former_keys.size() == 1);
  CHECK(after.former_keys[0].key == test::first_key().public_key());
  CHECK(verify(test::first_key().public_key(),
               successor(test::second_key().public_key()),
               after.former_keys[0].successor));
  expect_signed(after, "x");
  CHECK(after.versions == before.versions);
  for (const auto& [name, file] : before.files) {
    CHECK(after.files.at(name).md5 == file.md5);
    CHECK(after.files.at(name).signature != file.signature);
  }
  // A key that clients have left behind cannot come back.
  CHECK(test::has(misuse_of([&] {
                    with_next_key(after, test::second_key(), test::first_key());
                  }),
                  "has been used before"));
  CHECK(test::has(misuse_of([&] {
                    with_next_key(after, test::second_key(),
                                  test::second_key());
                  }),
                  "has been used before"));
}

TEST_CASE("what the code-sign key did not sign is found") {
  auto refusal_of = [](const AppManifest& manifest) {
    return test::refusal_of(ErrorKind::corrupt,
                            [&] { expect_signed(manifest, "the file"); });
  };
  CHECK(refusal_of(test::sample_manifest()) == "no error");
  CHECK(refusal_of({}) == "no error");
  AppManifest changed = test::sample_manifest();
  changed.files.begin()->second.md5.bytes[3] ^= 1;
  CHECK(test::has(refusal_of(changed), "the file: file \""));
  changed = test::sample_manifest();
  changed.files.begin()->second.signature.bytes[3] ^= 1;
  CHECK(test::has(refusal_of(changed), "the code-sign key did not sign it"));
  changed = test::sample_manifest();
  changed.code_sign_key = test::first_key().public_key();
  CHECK(test::has(refusal_of(changed), "the code-sign key did not sign it"));
  changed = test::sample_manifest();
  changed.former_keys[0].successor.bytes[3] ^= 1;
  CHECK(test::has(refusal_of(changed), "former key 0: it did not sign"));
}

}  // namespace quorate::boinc
