// Bounds of what BOINC clients send; docs/protocol.md, "The BOINC dialect",
// repeats them. For the sources of protocol/boinc only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quorate::boinc {

// A stock client sends 8 to 13 kB, and up to 64 kB of standard error for each
// failed result; our worker writes little there.
inline constexpr std::size_t kMaxRequestBytes = 1 << 20;
// Before a tree is built: a node of 64 bytes for each "<", an attribute of 40
// for each "=", no more.
inline constexpr std::size_t kMaxMarks = 1 << 16;

// Texts, in bytes. Those marked "cut" are for people only.
inline constexpr std::size_t kMaxFileName = 255;  // results, too
inline constexpr std::size_t kMaxAuthenticator = 64;
inline constexpr std::size_t kMaxEmail = 254;
inline constexpr std::size_t kMaxPlatform = 128;
inline constexpr std::size_t kMaxPlanClass = 64;
inline constexpr std::size_t kMaxVariety = 64;
inline constexpr std::size_t kMaxHostText = 256;  // cut
inline constexpr std::size_t kMaxCpid = 64;
inline constexpr std::size_t kMaxFeatures = 8192;  // cut
inline constexpr std::size_t kMaxReason = 1024;    // cut: standard error
inline constexpr std::size_t kMaxKeyText = 1024;

// Lists. Results: as many as a host may name on the native door.
inline constexpr std::size_t kMaxResults = 256;
// A client cannot name fewer than it has; the marks bound it, too.
inline constexpr std::size_t kMaxFiles = 4096;
inline constexpr std::size_t kMaxFilesOfResult = 16;
inline constexpr std::size_t kMaxMessages = 256;
inline constexpr std::size_t kMaxPlatforms = 16;
inline constexpr std::size_t kMaxCoprocs = 16;

inline constexpr std::uint64_t kMaxId = INT64_MAX;
inline constexpr std::uint64_t kMaxCount = 1ULL << 53;  // exact as a double
inline constexpr double kMaxNumber = 1e30;

}  // namespace quorate::boinc
