// Who may log in to the page for administration: keys/web_operators.json, which
// `quorate operators web` writes and the server reads. The project's owner
// alone can do either. Not in the store: what is exported, shown or noted comes
// from there, and this is secret.
//
//   {"format":"quorate web operators v1","operators":[
//     {"guest":false,"made":MS,"name":"anna","password":"64 digits",
//      "salt":"32 digits","secret":"40 digits"}]}
//
// in order of the names. password: slow_hash(password, salt); secret: of the
// one-time codes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "server/web/one_time_code.h"

namespace quorate {

struct WebOperator {
  std::string name;
  bool is_guest = false;  // who may ask, but change nothing
  // Milliseconds since 1970, of this password: sessions of before are over.
  std::int64_t made = 0;
  FixedBytes<16> salt;
  Hash password;
  CodeSecret secret;

  bool operator==(const WebOperator&) const = default;
};

inline constexpr std::size_t kMostWebOperators = 100;
inline constexpr std::size_t kLeastPasswordBytes = 10;
inline constexpr std::size_t kMostPasswordBytes = 200;

// 1 to 32 of a-z, 0-9, ".", "_" and "-".
bool is_web_name(std::string_view name);
// As the order log names them: no Unix user has a colon.
std::string who_of(const WebOperator& one);

// With a salt and a secret that nobody knows.
WebOperator new_web_operator(const std::string& name, bool is_guest,
                             std::string_view password, std::int64_t now_ms);

// Throws corrupt for anything that write_web_operators() does not write.
std::vector<WebOperator> parse_web_operators(std::string_view text);
std::string write_web_operators(std::vector<WebOperator> operators);

// None if there is no such file. Throws denied if others may read it, corrupt.
std::vector<WebOperator> load_web_operators(const fs::path& path);
void save_web_operators(const fs::path& path,
                        const std::vector<WebOperator>& operators);
const WebOperator* find_web_operator(const std::vector<WebOperator>& operators,
                                     std::string_view name);

}  // namespace quorate
