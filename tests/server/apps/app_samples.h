// Programs, keys and manifests for the tests of published app versions.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "server/apps/app_changes.h"
#include "server/apps/elf_file.h"

namespace quorate::boinc::test {

// The bytes of the smallest file that says so of itself. salt: another content
// for every value.
Bytes elf_bytes(const ElfFile& file, std::uint8_t salt = 0);

// Keys take a moment to make: always the same two.
const RsaPrivateKey& first_key();
const RsaPrivateKey& second_key();

// A program "worker" and one library "libmine.so.1".
NewVersion new_version(std::uint8_t salt,
                       std::vector<DeviceKind> devices = {DeviceKind::cpu});

// Two versions, the first of them retired, after a change of the key.
AppManifest sample_manifest();

// What the call's Error of this kind says; "no error", or "another kind: ...".
template <class Call>
std::string refusal_of(ErrorKind kind, Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == kind ? error.what()
                                : std::string("another kind: ") + error.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace quorate::boinc::test
