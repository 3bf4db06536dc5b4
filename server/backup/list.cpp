#include "server/backup/list.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/names.h"
#include "server/datasets/manifest.h"

namespace quorate {
namespace {

constexpr std::string_view kHead = "# quorate backup 1";
constexpr std::size_t kHashDigits = 64;

constexpr std::array<std::string_view, 4> kNeeded = {
    "db/quorate.sqlite", "keys/house.key", "keys/project.key", kBackupSettings};
constexpr std::array<std::string_view, 7> kOptional = {
    "boinc/app_versions.json",
    "keys/boinc_code_sign.key",
    "keys/boinc_upload.key",
    "keys/keyring",
    "keys/tls.crt",
    "keys/tls.key",
    "keys/web_operators.json"};

[[noreturn]] void refuse(const std::string& found) {
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: {}: use a backup that is whole", kBackupList, found));
}

bool is_dataset_path(std::string_view path) {
  constexpr std::string_view kFolder = "datasets/";
  if (!path.starts_with(kFolder)) return false;
  path.remove_prefix(kFolder.size());
  if (!path.ends_with(".json") && !path.ends_with(".png")) return false;
  return is_dataset_name(std::string(path.substr(0, path.rfind('.'))));
}

bool is_boinc_path(std::string_view path) {
  constexpr std::string_view kFolder = "boinc/files/";
  return path.starts_with(kFolder) &&
         boinc::is_file_name(path.substr(kFolder.size()));
}

template <std::size_t N>
bool has(const std::array<std::string_view, N>& paths, std::string_view path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

bool is_backup_path(const BackupFile& file) {
  std::string name = file.hash.hex();
  return has(kNeeded, file.path) || has(kOptional, file.path) ||
         is_dataset_path(file.path) || is_boinc_path(file.path) ||
         file.path == "objects/" + name.substr(0, 2) + "/" + name;
}

BackupFile parse_line(std::string_view line) {
  std::string_view path = line.substr(std::min(kHashDigits + 2, line.size()));
  if (path.empty() || line.substr(kHashDigits, 2) != "  ") {
    refuse(fmt::format("expected \"HASH  PATH\", found \"{}\"",
                       line.substr(0, 2 * kHashDigits)));
  }
  BackupFile file{std::string(path),
                  parse_hex<Hash>(line.substr(0, kHashDigits), kBackupList)};
  if (file.hash.hex() != line.substr(0, kHashDigits)) {
    refuse(
        fmt::format("hash of \"{}\": expected lower-case letters", file.path));
  }
  if (!is_backup_path(file)) {
    refuse(fmt::format("\"{}\" is not a file of a backup",
                       path.substr(0, 2 * kHashDigits)));
  }
  return file;
}

// Takes the next line off the text; one without its end is none.
std::string_view take_line(std::string_view& text) {
  std::size_t end = text.find('\n');
  if (end == std::string_view::npos) refuse("cut short");
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string last_line(std::size_t files) {
  return fmt::format("# {} files", files);
}

}  // namespace

std::string write_backup_list(std::vector<BackupFile> files) {
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  std::string text = fmt::format("{}\n", kHead);
  for (const BackupFile& file : files) {
    text += fmt::format("{}  {}\n", file.hash.hex(), file.path);
  }
  return text + last_line(files.size()) + "\n";
}

std::vector<BackupFile> parse_backup_list(std::string_view text) {
  if (take_line(text) != kHead) {
    refuse(fmt::format("its first line is not \"{}\"", kHead));
  }
  std::vector<BackupFile> files;
  std::size_t needed = 0;
  for (;;) {
    std::string_view line = take_line(text);
    if (line.starts_with('#')) {
      if (line != last_line(files.size()) || !text.empty()) {
        refuse(fmt::format("it does not end after {} files", files.size()));
      }
      break;
    }
    files.push_back(parse_line(line));
    std::size_t count = files.size();
    if (count > 1 && files[count - 2].path >= files[count - 1].path) {
      refuse(fmt::format("\"{}\" is out of order", files.back().path));
    }
    needed += has(kNeeded, files.back().path) ? 1 : 0;
  }
  if (needed != kNeeded.size()) refuse("store, settings or keys are missing");
  return files;
}

}  // namespace quorate
