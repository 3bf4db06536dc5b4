#include "server/apps/app_changes.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/signatures.h"

namespace quorate::boinc {
namespace {

// Of the hash, in digits: enough that no two contents ever share a name.
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kMostStem = 100;

void expect_code_sign_key(const AppManifest& manifest,
                          const RsaPublicKey& key) {
  if (!manifest.code_sign_key || *manifest.code_sign_key == key) return;
  throw Error(ErrorKind::usage,
              "sign: this is not the project's code-sign key, the one that "
              "volunteers' clients know: name that one with --key, or change "
              "it with `quorate boinc key rotate`");
}

// The same for two versions with the same content, whatever their libraries'
// order.
std::vector<AppLibrary> sorted(std::vector<AppLibrary> libraries) {
  std::sort(libraries.begin(), libraries.end(),
            [](const auto& a, const auto& b) { return a.soname < b.soname; });
  return libraries;
}

std::vector<AppLibrary> libraries_of(const NewVersion& version) {
  std::vector<AppLibrary> libraries;
  for (const AppContent& content : version.libraries) {
    libraries.push_back({content.file.name, content.open_name});
  }
  return sorted(std::move(libraries));
}

void add_file(AppManifest& manifest, const RsaPrivateKey& key, AppFile file) {
  file.signature = sign(key, file.md5);
  std::string name = file.name;
  manifest.files.emplace(std::move(name), std::move(file));
}

}  // namespace

AppContent app_content(std::string_view name, Bytes bytes) {
  std::string stem(name.substr(0, kMostStem));
  char before = 0;
  for (char& c : stem) {
    bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                    c == '-' || (c == '.' && before != '.');
    if (!is_plain) c = '_';
    before = c;
  }
  AppFile file;
  file.name = stem + "-" + sha256(bytes).hex().substr(0, kHashDigits);
  file.md5 = md5(bytes);
  file.nbytes = bytes.size();
  return {std::string(name), std::move(bytes), std::move(file)};
}

const PublishedVersion* find_same(const AppManifest& manifest,
                                  const NewVersion& version) {
  std::vector<AppLibrary> libraries = libraries_of(version);
  const PublishedVersion* same = nullptr;
  for (const PublishedVersion& known : manifest.versions) {
    bool serves_all =
        std::all_of(version.devices.begin(), version.devices.end(),
                    [&known](DeviceKind kind) { return known.serves(kind); });
    if (serves_all && known.platform == version.platform &&
        known.program == version.program.file.name &&
        sorted(known.libraries) == libraries) {
      same = &known;
    }
  }
  return same;
}

AppManifest with_version(AppManifest manifest, const RsaPrivateKey& key,
                         const NewVersion& version) {
  expect_code_sign_key(manifest, key.public_key());
  const PublishedVersion* same = find_same(manifest, version);
  if (same != nullptr && !same->is_retired) {
    throw Error(ErrorKind::usage,
                fmt::format("app add {}: already published as version {}",
                            version.program.open_name, same->version));
  }
  manifest.code_sign_key = key.public_key();
  std::uint32_t last =
      manifest.versions.empty() ? 0 : manifest.versions.back().version;
  if (last == kMaxVersion) {
    throw Error(ErrorKind::usage,
                fmt::format("app add: there are {} versions already, the most "
                            "that there can be",
                            kMaxVersion));
  }
  add_file(manifest, key, version.program.file);
  for (const AppContent& content : version.libraries) {
    add_file(manifest, key, content.file);
  }
  manifest.versions.push_back({last + 1, version.platform, version.devices,
                               false, version.program.file.name,
                               libraries_of(version)});
  return manifest;
}

AppManifest with_retired(AppManifest manifest, std::uint32_t version) {
  std::string known;
  for (PublishedVersion& published : manifest.versions) {
    if (published.is_retired) continue;
    if (published.version == version) {
      published.is_retired = true;
      return manifest;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", published.version);
  }
  throw Error(ErrorKind::usage,
              fmt::format("app retire {}: not published: {}", version,
                          known.empty() ? "nothing is" : "known are " + known));
}

AppManifest with_next_key(AppManifest manifest, const RsaPrivateKey& key,
                          const RsaPrivateKey& next) {
  check(manifest.code_sign_key.has_value(), "a key follows another");
  expect_code_sign_key(manifest, key.public_key());
  auto is_next = [&next](const FormerKey& former) {
    return former.key == next.public_key();
  };
  if (*manifest.code_sign_key == next.public_key() ||
      std::any_of(manifest.former_keys.begin(), manifest.former_keys.end(),
                  is_next)) {
    throw Error(
        ErrorKind::usage,
        "key rotate: the new key has been used before: name a new file");
  }
  manifest.former_keys.push_back(
      {key.public_key(), sign(key, successor(next.public_key()))});
  manifest.code_sign_key = next.public_key();
  for (auto& [name, file] : manifest.files) {
    file.signature = sign(next, file.md5);
  }
  return manifest;
}

void expect_signed(const AppManifest& manifest, const std::string& what) {
  for (const auto& [name, file] : manifest.files) {
    if (verify(*manifest.code_sign_key, file.md5, file.signature)) continue;
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: file \"{}\": the code-sign key did not sign it", what,
                    name));
  }
  const std::vector<FormerKey>& former = manifest.former_keys;
  for (std::size_t i = 0; i < former.size(); ++i) {
    const RsaPublicKey& next =
        i + 1 < former.size() ? former[i + 1].key : *manifest.code_sign_key;
    if (verify(former[i].key, successor(next), former[i].successor)) continue;
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: former key {}: it did not sign the key after it", what,
                    i));
  }
}

}  // namespace quorate::boinc
