#include "server/apps/app_manifest.h"

#include <functional>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/server/apps/app_samples.h"

namespace quorate::boinc {
namespace {

using nlohmann::json;

std::string refusal_of(const std::string& text) {
  return test::refusal_of(ErrorKind::corrupt,
                          [&] { parse_app_manifest(text, "the file"); });
}

// The sample with something done to it.
std::string refusal_after(const std::function<void(json&)>& change) {
  json root = json::parse(write(test::sample_manifest()));
  change(root);
  return refusal_of(root.dump());
}

}  // namespace

TEST_CASE("a manifest of app versions is read as it was written") {
  AppManifest manifest = test::sample_manifest();
  CHECK(parse_app_manifest(write(manifest), "x") == manifest);
  CHECK(parse_app_manifest(write(AppManifest{}), "x") == AppManifest{});
  AppManifest only_key;
  only_key.code_sign_key = test::first_key().public_key();
  CHECK(parse_app_manifest(write(only_key), "x") == only_key);
}

TEST_CASE("a manifest that is cut short is refused") {
  std::string text = write(test::sample_manifest());
  text.pop_back();  // the newline
  for (std::size_t size = 0; size < text.size(); size += 7) {
    CAPTURE(size);
    CHECK(test::has(refusal_of(text.substr(0, size)), "the file"));
  }
}

TEST_CASE("a manifest is refused by the member that is wrong") {
  struct Case {
    const char* words;  // of the message
    std::function<void(json&)> change;
  };
  const Case cases[] = {
      {"\"format\": expected", [](json& j) { j["format"] = "quorate v9"; }},
      {"\"files\" is missing", [](json& j) { j.erase("files"); }},
      {"\"files\": expected an array", [](json& j) { j["files"] = 1; }},
      {"\"code_sign_key\": is missing",
       [](json& j) { j.erase("code_sign_key"); }},
      {"\"code_sign_key\": code-sign key",
       [](json& j) { j["code_sign_key"] = "2048\n00\n."; }},
      {"\"files\"[0]: field \"name\"",
       [](json& j) { j["files"][0]["name"] = "../../etc/passwd"; }},
      {"\"name\": expected letters",
       [](json& j) { j["files"][0]["name"] = "a..b"; }},
      {"is there twice", [](json& j) { j["files"][1] = j["files"][0]; }},
      {"\"md5\"", [](json& j) { j["files"][0]["md5"] = "zz"; }},
      {"\"bytes\": expected 1",
       [](json& j) { j["files"][0]["bytes"] = 1ULL << 40; }},
      {"\"bytes\": expected 1", [](json& j) { j["files"][0]["bytes"] = 0; }},
      {"\"signature\"", [](json& j) { j["files"][0]["signature"] = "00"; }},
      {"\"successor_signature\"",
       [](json& j) { j["former_keys"][0]["successor_signature"] = ""; }},
      {"\"versions\"[0]: expected a JSON object",
       [](json& j) { j["versions"][0] = 3; }},
      {"\"version\": expected ascending",
       [](json& j) { j["versions"][1]["version"] = 1; }},
      {"\"version\": expected 1 to",
       [](json& j) { j["versions"][1]["version"] = 4294967296; }},
      {"\"platform\": expected letters",
       [](json& j) { j["versions"][0]["platform"] = "x86 <b>"; }},
      {"\"devices\": expected one",
       [](json& j) { j["versions"][0]["devices"] = json::array(); }},
      {"\"devices\": expected \"cpu\"",
       [](json& j) {
         j["versions"][0]["devices"] = {"cpu", "cpu"};
       }},
      {"\"devices\": expected \"cpu\"",
       [](json& j) { j["versions"][0]["devices"] = {"tpu"}; }},
      {"\"devices\": expected \"cpu\"",
       [](json& j) { j["versions"][0]["devices"] = {7}; }},
      {"\"retired\": expected true",
       [](json& j) { j["versions"][0]["retired"] = 1; }},
      {"\"program\": expected one of \"files\"",
       [](json& j) { j["versions"][0]["program"] = "other"; }},
      {"\"file\": expected one of \"files\"",
       [](json& j) { j["versions"][0]["libraries"][0]["file"] = "other"; }},
      {"\"soname\": expected letters",
       [](json& j) { j["versions"][0]["libraries"][0]["soname"] = "/lib/x"; }},
      {"is there twice",
       [](json& j) {
         json& libraries = j["versions"][0]["libraries"];
         libraries.push_back(libraries[0]);
       }},
      {"expected at most 64",
       [](json& j) {
         json& libraries = j["versions"][0]["libraries"];
         for (int i = 0; i < 70; ++i) {
           json other = libraries[0];
           other["soname"] = "lib" + std::to_string(i);
           libraries.push_back(other);
         }
       }},
  };
  for (const Case& one : cases) {
    std::string why = refusal_after(one.change);
    CAPTURE(one.words);
    CAPTURE(why);
    CHECK(test::has(why, one.words));
    CHECK(why.starts_with("the file: "));
  }
}

TEST_CASE("kinds of devices have the names that the worker takes") {
  for (DeviceKind kind : kDeviceKinds)
    CHECK(device_kind(name_of(kind)) == kind);
  CHECK(name_of(DeviceKind::opencl) == "opencl");
  CHECK_FALSE(device_kind("tpu"));
}

}  // namespace quorate::boinc
