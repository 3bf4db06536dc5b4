// quorate-attacker --attack NAME ...: takes the commands and flags of
// quorate-client and sends false results. For tests; never installed.
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "client/program.h"
#include "tests/support/attacker/attacks.h"

namespace {

constexpr const char* kProgram = "quorate-attacker";

// Takes "--attack NAME" out of the arguments; "" if it is not there.
std::string take_attack(std::vector<char*>& arguments) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::strcmp(arguments[i], "--attack") != 0) continue;
    std::string name = arguments[i + 1];
    auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + 2);
    return name;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string name = take_attack(arguments);
  std::unique_ptr<quorate::client::ResultTamper> attack;
  if (!name.empty()) {
    attack = quorate::test::make_attack(name);
    if (!attack) {
      fmt::print(stderr, "{}: --attack {}: unknown: choose one of {}\n",
                 kProgram, name, quorate::test::kAttackNames);
      return 2;
    }
  }
  return quorate::client::run_program(kProgram,
                                      static_cast<int>(arguments.size()),
                                      arguments.data(), attack.get());
}
