// The list of the files of a backup, SHA256SUMS: what `sha256sum --check`
// reads, between two lines of ours that are comments to it.
//
//   # quorate backup 1
//   HASH  PATH            a line a file, in ascending order of the paths
//   # N files
//
// The list is written last, and its last line says that it is whole: a folder
// without is no backup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"

namespace quorate {

inline constexpr const char* kBackupList = "SHA256SUMS";
// Not the name it has in a project: a backup must not be served by mistake.
inline constexpr const char* kBackupSettings = "settings.toml";

struct BackupFile {
  std::string path;  // relative, with '/': "keys/project.key"
  Hash hash;
};

// Sorts by path.
std::string write_backup_list(std::vector<BackupFile> files);
// Throws corrupt for anything that write_backup_list() cannot have written, for
// paths that lead elsewhere than a backup's files, and for a list without
// store, settings or keys.
std::vector<BackupFile> parse_backup_list(std::string_view text);

}  // namespace quorate
