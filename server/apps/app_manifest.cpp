#include "server/apps/app_manifest.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "protocol/boinc/names.h"
#include "protocol/boinc/signatures.h"

namespace quorate::boinc {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "quorate boinc app versions v1";
constexpr JsonLimits kLimits = {64 << 20, 5};
// Of texts, in bytes.
constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxPlatform = 128;
constexpr std::size_t kMaxKeyText = 1024;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error(ErrorKind::corrupt, where + ": " + why);
}

// Calls visit(element, "file: field "name"[3]") for each of an array.
template <class Visit>
void each(const JsonFields& fields, const char* name, Visit visit) {
  std::size_t place = 0;
  for (const json& element : fields.array(name)) {
    visit(element, fmt::format("{}[{}]", fields.label(name), place++));
  }
}

std::string file_name_in(const JsonFields& fields, const char* name) {
  std::string text = fields.text(name, kMaxName);
  if (!is_file_name(text)) {
    refuse(fields.label(name),
           "expected letters, digits, \"_\", \".\", \"-\" and \"+\"");
  }
  return text;
}

// A name of one of the files.
std::string known_file(const AppManifest& manifest, const JsonFields& fields,
                       const char* name) {
  std::string file = file_name_in(fields, name);
  if (!manifest.files.contains(file)) {
    refuse(fields.label(name),
           fmt::format("expected one of \"files\", found \"{}\"", file));
  }
  return file;
}

bool flag_in(const JsonFields& fields, const char* name) {
  const json& value = fields.at(name);
  if (!value.is_boolean()) refuse(fields.label(name), "expected true or false");
  return value.get<bool>();
}

RsaPublicKey key_in(const JsonFields& fields, const char* name) {
  try {
    return parse_key(fields.text(name, kMaxKeyText));
  } catch (const Error& error) {
    refuse(fields.label(name), error.what());
  }
}

AppFile read_file(const JsonFields& fields) {
  return {file_name_in(fields, "name"), fields.fixed_bytes<Md5Hash>("md5"),
          fields.integer("bytes", 1, kMaxAppFileBytes),
          fields.fixed_bytes<RsaSignature>("signature")};
}

std::vector<DeviceKind> devices_in(const JsonFields& fields) {
  std::vector<DeviceKind> devices;
  for (const json& element : fields.array("devices")) {
    auto kind = element.is_string()
                    ? device_kind(element.get_ref<const std::string&>())
                    : std::nullopt;
    bool is_new = kind && std::find(devices.begin(), devices.end(), *kind) ==
                              devices.end();
    if (!is_new) {
      refuse(fields.label("devices"),
             "expected \"cpu\", \"cuda\", \"opencl\", each at most once");
    }
    devices.push_back(*kind);
  }
  if (devices.empty()) refuse(fields.label("devices"), "expected one at least");
  return devices;
}

std::vector<AppLibrary> libraries_in(const AppManifest& manifest,
                                     const JsonFields& fields) {
  std::vector<AppLibrary> libraries;
  std::set<std::string> sonames;
  each(fields, "libraries", [&](const json& element, const std::string& where) {
    JsonFields library(element, where);
    libraries.push_back({known_file(manifest, library, "file"),
                         file_name_in(library, "soname")});
    if (!sonames.insert(libraries.back().soname).second) {
      refuse(library.label("soname"),
             fmt::format("\"{}\" is there twice", libraries.back().soname));
    }
    if (libraries.size() > kMaxLibraries) {
      refuse(where, fmt::format("expected at most {}", kMaxLibraries));
    }
  });
  return libraries;
}

PublishedVersion read_version(const AppManifest& manifest,
                              const JsonFields& fields) {
  PublishedVersion version;
  version.version = fields.integer32("version", 1, kMaxVersion);
  if (!manifest.versions.empty() &&
      manifest.versions.back().version >= version.version) {
    refuse(fields.label("version"), "expected ascending numbers");
  }
  version.platform = fields.text("platform", kMaxPlatform);
  if (!is_platform(version.platform)) {
    refuse(fields.label("platform"),
           "expected letters, digits, \"_\", \".\" and \"-\"");
  }
  version.devices = devices_in(fields);
  version.is_retired = flag_in(fields, "retired");
  version.program = known_file(manifest, fields, "program");
  version.libraries = libraries_in(manifest, fields);
  return version;
}

json to_json(const AppFile& file) {
  return {{"name", file.name},
          {"md5", file.md5.hex()},
          {"bytes", file.nbytes},
          {"signature", file.signature.hex()}};
}

json to_json(const PublishedVersion& version) {
  json devices = json::array();
  for (DeviceKind kind : version.devices) devices.push_back(name_of(kind));
  json libraries = json::array();
  for (const AppLibrary& library : version.libraries) {
    libraries.push_back({{"file", library.file}, {"soname", library.soname}});
  }
  return {{"version", version.version}, {"platform", version.platform},
          {"devices", devices},         {"retired", version.is_retired},
          {"program", version.program}, {"libraries", libraries}};
}

}  // namespace

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::opencl:
      return "opencl";
  }
  return "unknown";
}

std::optional<DeviceKind> device_kind(std::string_view name) {
  for (DeviceKind kind : kDeviceKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

bool PublishedVersion::serves(DeviceKind device) const {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

bool is_platform(std::string_view text) {
  return text.size() <= kMaxPlatform && is_file_name(text) &&
         text.find('+') == std::string_view::npos;
}

std::string write(const AppManifest& manifest) {
  json former = json::array();
  for (const FormerKey& key : manifest.former_keys) {
    former.push_back({{"key", write(key.key)},
                      {"successor_signature", key.successor.hex()}});
  }
  json files = json::array();
  for (const auto& [name, file] : manifest.files) {
    files.push_back(to_json(file));
  }
  json versions = json::array();
  for (const PublishedVersion& version : manifest.versions) {
    versions.push_back(to_json(version));
  }
  json root = {{"format", kFormat},
               {"former_keys", former},
               {"files", files},
               {"versions", versions}};
  if (manifest.code_sign_key) {
    root["code_sign_key"] = write(*manifest.code_sign_key);
  }
  return dump_json(root) + "\n";
}

AppManifest parse_app_manifest(std::string_view text, const std::string& what) {
  json root = parse_json(text, kLimits, what);
  JsonFields fields(root, what);
  if (fields.text("format", 64) != kFormat) {
    refuse(fields.label("format"), fmt::format("expected \"{}\"", kFormat));
  }
  AppManifest manifest;
  if (fields.has("code_sign_key")) {
    manifest.code_sign_key = key_in(fields, "code_sign_key");
  }
  each(fields, "former_keys", [&](const json& element, const auto& where) {
    JsonFields former(element, where);
    manifest.former_keys.push_back(
        {key_in(former, "key"),
         former.fixed_bytes<RsaSignature>("successor_signature")});
  });
  each(fields, "files", [&](const json& element, const auto& where) {
    AppFile file = read_file(JsonFields(element, where));
    std::string name = file.name;
    if (!manifest.files.emplace(name, std::move(file)).second) {
      refuse(where, fmt::format("\"{}\" is there twice", name));
    }
  });
  each(fields, "versions", [&](const json& element, const auto& where) {
    manifest.versions.push_back(
        read_version(manifest, JsonFields(element, where)));
  });
  if (!manifest.code_sign_key &&
      !(manifest.files.empty() && manifest.former_keys.empty())) {
    refuse(fields.label("code_sign_key"), "is missing");
  }
  return manifest;
}

}  // namespace quorate::boinc
