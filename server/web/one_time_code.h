// One-time codes of an authenticator app: TOTP, RFC 6238, with SHA-1, six
// digits and steps of 30 seconds, which every app knows. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.h"

namespace quorate {

struct CodeSecret : FixedBytes<20> {};

// The 30 seconds that a moment is in. unix_ms: from 1970, not before.
std::uint64_t code_step(std::int64_t unix_ms);
// The code of that step, below 1,000,000.
std::uint32_t one_time_code(const CodeSecret& secret, std::uint64_t step);
// As people type it: six digits. nullopt for anything else.
std::optional<std::uint32_t> parse_code(std::string_view text);

// The step whose code this is: the present one, or the one before, for whoever
// types slowly. nullopt: neither.
std::optional<std::uint64_t> step_of_code(const CodeSecret& secret,
                                          std::uint32_t code,
                                          std::uint64_t present);

// RFC 4648, without padding: as people type a secret into an app.
std::string base32(ByteView bytes);
// What an app reads from a QR code; project and name are shown in it.
std::string otpauth_url(std::string_view project, std::string_view name,
                        const CodeSecret& secret);

}  // namespace quorate
