// Bounds of what messages carry; native/openapi.json repeats them. For the
// sources of protocol/ only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quorate::protocol {

// Texts, in bytes.
inline constexpr std::size_t kMaxName = 64;
inline constexpr std::size_t kMaxPlatform = 128;
inline constexpr std::size_t kMaxDevice = 64;
// Of what a worker says about its sandbox.
inline constexpr std::size_t kMaxConfinement = 500;
inline constexpr std::size_t kMaxUrl = 512;
inline constexpr std::size_t kMaxPin = 128;
inline constexpr std::size_t kMaxReason = 1024;
inline constexpr std::size_t kMaxContact = 1024;

// Lists.
// Results of one host: twice what a project may let it have in progress, for
// it names those, too, whose lease has ended. Each that is not in progress
// costs the server a look into its store.
inline constexpr std::size_t kMaxHolding = 256;
inline constexpr std::size_t kMaxAssignments = 64;
inline constexpr std::size_t kMaxObjects = 8;
// Versions that a host may be behind: more would soon be the whole snapshot.
inline constexpr std::size_t kMaxDeltas = 8;
// A host that waits for work is remembered with what it said.
inline constexpr std::size_t kMaxShards = 256;

// Of a site: a school's, or a cluster's.
inline constexpr std::size_t kMaxMates = 64;

inline constexpr std::size_t kMaxRuns = 1000;

// Bytes of a page of a ledger: many entries, or a large one with its quotes
// escaped (workunits/ledger/ledger_file).
inline constexpr std::size_t kMostLedgerPage = 10 << 20;

inline constexpr double kMaxWaitSeconds = 25;
inline constexpr double kMaxSeconds = 30 * 86400;  // leases, delays
inline constexpr double kMaxFlops = 1e18;
inline constexpr double kMaxCredit = 1e18;
inline constexpr std::uint64_t kMaxTime = 1ULL << 53;  // milliseconds
inline constexpr std::uint64_t kMaxCount = 1ULL << 53;

}  // namespace quorate::protocol
