// quorate-attacker --attack NAME [--share P] [--after N] ...: takes the
// commands and flags of quorate-client and sends false results: in a share P of
// its units, after N honest ones. For tests; never installed.
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "client/commands/program.h"
#include "tests/support/attacker/attacks.h"

namespace {

constexpr const char* kProgram = "quorate-attacker";

// Takes "FLAG VALUE" out of the arguments; `otherwise` if it is not there.
std::string take(std::vector<char*>& arguments, const char* flag,
                 const char* otherwise) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::strcmp(arguments[i], flag) != 0) continue;
    std::string value = arguments[i + 1];
    auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + 2);
    return value;
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string name = take(arguments, "--attack", "");
  double share = std::strtod(take(arguments, "--share", "1").c_str(), nullptr);
  std::uint64_t after =
      std::strtoull(take(arguments, "--after", "0").c_str(), nullptr, 10);
  std::unique_ptr<quorate::client::ResultTamper> attack;
  if (!name.empty()) {
    attack = quorate::test::make_attack(name);
    if (!attack) {
      fmt::print(stderr, "{}: --attack {}: unknown: choose one of {}\n",
                 kProgram, name, quorate::test::kAttackNames);
      return 2;
    }
    attack = quorate::test::sometimes(std::move(attack), share, after);
  }
  return quorate::client::run_program(kProgram,
                                      static_cast<int>(arguments.size()),
                                      arguments.data(), attack.get());
}
