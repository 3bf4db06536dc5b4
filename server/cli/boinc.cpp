// boinc: what is published for BOINC clients, and the key that signs it. Asks
// no server: one that runs notices the change.
#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "protocol/boinc/signatures.h"
#include "server/apps/app_publisher.h"
#include "server/apps/app_versions.h"
#include "server/apps/program_files.h"
#include "server/cli/commands.h"
#include "server/cli/support/table.h"

namespace quorate {
namespace {

using boinc::AppManifest;
using boinc::AppPublisher;
using boinc::DeviceKind;
using boinc::PublishedVersion;
using nlohmann::json;

// Of an open project.
ProjectFolder project_in(const GlobalOptions& global) {
  ProjectFolder folder{global.folder};
  load_keys(folder);  // says so if there is no project
  return folder;
}

// Where the key is that --key names, or the project's own.
fs::path key_path(const ProjectFolder& folder, const std::string& named) {
  return named.empty() ? folder.boinc_key() : fs::path(named);
}

std::string devices_text(const PublishedVersion& version) {
  std::string text;
  for (DeviceKind kind : version.devices) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(kind));
  }
  return text;
}

json row_of(const AppManifest& manifest, const PublishedVersion& version) {
  std::uint64_t bytes = manifest.files.at(version.program).nbytes;
  json files = json::array({version.program});
  for (const boinc::AppLibrary& library : version.libraries) {
    bytes += manifest.files.at(library.file).nbytes;
    files.push_back(library.file);
  }
  return {{"version", version.version},
          {"platform", version.platform},
          {"devices", devices_text(version)},
          {"state", version.is_retired ? "retired" : "published"},
          {"files", files},
          {"bytes", bytes},
          {"program", version.program},
          {"count", files.size()},
          {"size", fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6)}};
}

json rows_of(const AppManifest& manifest) {
  json rows = json::array();
  for (const PublishedVersion& version : manifest.versions) {
    rows.push_back(row_of(manifest, version));
  }
  return rows;
}

void print_versions(const json& rows, bool as_json) {
  if (as_json) {
    say("{}\n", rows.dump());
    return;
  }
  say("{}", table(rows, {{"VERSION", "version"},
                         {"PLATFORM", "platform"},
                         {"DEVICES", "devices"},
                         {"STATE", "state"},
                         {"PROGRAM", "program"},
                         {"FILES", "count"},
                         {"SIZE", "size"}}));
}

struct AddOptions {
  std::string program;
  std::string platform{boinc::own_platform()};
  std::vector<std::string> devices{"cpu", "opencl"};
  std::vector<std::string> libraries;
  std::string key;
};

std::vector<DeviceKind> kinds_of(const std::vector<std::string>& names) {
  std::vector<DeviceKind> kinds;
  for (DeviceKind kind : boinc::kDeviceKinds) {
    if (std::find(names.begin(), names.end(), name_of(kind)) != names.end()) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

void add_version(const GlobalOptions& global, const AddOptions& options) {
  ProjectFolder folder = project_in(global);
  boinc::NewVersion version = boinc::read_program(
      options.program, {options.libraries.begin(), options.libraries.end()},
      options.platform, kinds_of(options.devices));
  AppPublisher publisher(folder, "app add");
  RsaPrivateKey key = publisher.load_or_make_key(key_path(folder, options.key));
  publisher.add(key, version);
  json row = row_of(publisher.manifest(), publisher.manifest().versions.back());
  print_versions(global.json ? row : json::array({row}), global.json);
}

void retire(const GlobalOptions& global, std::uint32_t number) {
  ProjectFolder folder = project_in(global);
  AppPublisher publisher(folder, "app retire");
  publisher.retire(number);
  print_versions(rows_of(publisher.manifest()), global.json);
}

void print_key(const GlobalOptions& global, const ProjectFolder& folder,
               const AppManifest& manifest) {
  if (!manifest.code_sign_key) {
    throw Error(ErrorKind::usage,
                "key show: there is no code-sign key yet: make one with "
                "`quorate boinc key new`");
  }
  std::string key = boinc::write(*manifest.code_sign_key);
  bool is_here = fs::exists(folder.boinc_key());
  if (global.json) {
    say("{}\n", json{{"code_sign_key", key},
                     {"private_key", is_here ? json(folder.boinc_key().string())
                                             : json(nullptr)},
                     {"files", manifest.files.size()},
                     {"former_keys", manifest.former_keys.size()}}
                    .dump());
    return;
  }
  say("{}\nPrivate half: {}\nPublished files that it signs: {}\n"
      "Keys before it: {}\n",
      key,
      is_here ? folder.boinc_key().string() : "kept elsewhere (--key FILE)",
      manifest.files.size(), manifest.former_keys.size());
}

void make_key(const GlobalOptions& global, const std::string& path) {
  ProjectFolder folder = project_in(global);
  AppPublisher publisher(folder, "key new");
  publisher.make_first_key(key_path(folder, path));
  print_key(global, folder, publisher.manifest());
  if (global.json) return;
  say("Start the server, or start it again: BOINC clients can come.\n");
  if (fs::exists(folder.boinc_key())) {
    say("Whoever breaks into the server has this key, and can send "
        "programs to every\nvolunteer's machine. Take it away: `quorate "
        "boinc key rotate --new-key FILE`.\n");
  }
}

void rotate(const GlobalOptions& global, const std::string& path,
            const std::string& next) {
  ProjectFolder folder = project_in(global);
  AppPublisher publisher(folder, "key rotate");
  publisher.rotate(key_path(folder, path), next);
  print_key(global, folder, publisher.manifest());
}

void add_adding(CLI::App& group, GlobalOptions& global) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* command = group.add_subcommand(
      "add", "Sign a worker program and publish it as the next version");
  command->add_option("WORKER", options->program, "The program")->required();
  command
      ->add_option("--platform", options->platform,
                   "Platform that it is built for")
      ->capture_default_str();
  command
      ->add_option("--devices", options->devices,
                   "What it can compute on: any of cpu, cuda, opencl; cuda "
                   "only if it was built with CUDA")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"cpu", "cuda", "opencl"}))
      ->capture_default_str();
  command
      ->add_option("--library", options->libraries,
                   "A shared library that it needs and that this machine's "
                   "loader does not find; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--key", options->key,
                      "File of the private code-sign key, if you keep it "
                      "elsewhere [keys/boinc_code_sign.key]");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n"
      "  quorate -C my-project boinc app add build/release/bin/quorate-worker\n"
      "  quorate -C my-project boinc app add --devices cpu,cuda,opencl \\\n"
      "      --key /media/stick/code_sign.pem quorate-worker\n");
  command->callback([options, &global] { add_version(global, *options); });
}

void add_app(CLI::App& boinc_group, GlobalOptions& global) {
  CLI::App* app = boinc_group.add_subcommand(
      "app", "The programs that the server sends to BOINC clients");
  app->require_subcommand(1);
  add_adding(*app, global);

  CLI::App* list = app->add_subcommand("list", "List what is published");
  list->add_flag("--json", global.json, "Machine-readable output");
  list->footer("Example:\n  quorate -C my-project boinc app list\n");
  list->callback([&global] {
    ProjectFolder folder = project_in(global);
    print_versions(rows_of(boinc::load_app_manifest(folder)), global.json);
  });

  auto number = std::make_shared<std::uint32_t>(0);
  CLI::App* retiring =
      app->add_subcommand("retire",
                          "Send no new work for this version; its files stay "
                          "for tasks already sent");
  retiring->add_option("VERSION", *number, "Its number in `app list`")
      ->required();
  retiring->add_flag("--json", global.json, "Machine-readable output");
  retiring->footer("Example:\n  quorate -C my-project boinc app retire 3\n");
  retiring->callback([number, &global] { retire(global, *number); });
}

void add_key(CLI::App& boinc_group, GlobalOptions& global) {
  struct Options {
    std::string key;
    std::string next;
  };
  auto options = std::make_shared<Options>();
  CLI::App* key = boinc_group.add_subcommand(
      "key", "The code-sign key, which signs every published file");
  key->require_subcommand(1);

  CLI::App* making =
      key->add_subcommand("new",
                          "Make the project's first code-sign key: it opens "
                          "the door to BOINC clients");
  making->add_option("--key", options->key,
                     "File for its private half; if the file holds a key "
                     "already, that key is used [keys/boinc_code_sign.key]");
  making->add_flag("--json", global.json, "Machine-readable output");
  making->footer(
      "Example:\n"
      "  quorate -C my-project boinc key new --key /media/stick/key\n");
  making->callback([options, &global] { make_key(global, options->key); });

  CLI::App* show = key->add_subcommand("show", "Show its public half");
  show->add_flag("--json", global.json, "Machine-readable output");
  show->footer("Example:\n  quorate -C my-project boinc key show\n");
  show->callback([&global] {
    ProjectFolder folder = project_in(global);
    print_key(global, folder, boinc::load_app_manifest(folder));
  });

  CLI::App* rotating =
      key->add_subcommand("rotate",
                          "Change the key: the old key signs the new one, and "
                          "the new one signs every published file again");
  rotating->add_option("--key", options->key,
                       "File of the old private key, if you keep it elsewhere "
                       "[keys/boinc_code_sign.key]");
  rotating->add_option("--new-key", options->next,
                       "File for the new private key [replaces the old one]");
  rotating->add_flag("--json", global.json, "Machine-readable output");
  rotating->footer(
      "Example:\n"
      "  quorate -C my-project boinc key rotate\n"
      "  quorate -C my-project boinc key rotate --new-key /media/stick/key\n");
  rotating->callback(
      [options, &global] { rotate(global, options->key, options->next); });
}

}  // namespace

void add_boinc(CLI::App& app, GlobalOptions& global) {
  CLI::App* group = app.add_subcommand(
      "boinc", "What the server sends to volunteers with a BOINC client");
  group->require_subcommand(1);
  add_app(*group, global);
  add_key(*group, global);
}

}  // namespace quorate
