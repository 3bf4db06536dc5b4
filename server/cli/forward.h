// Options whose values go to the server as they are, which says what it
// expects.
//
// Neither checks the value: the server's message names the flag, and so the
// rule is in one place. `arguments` is shared by the options of a command and
// its callback; the value is stored when the option is parsed.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "server/orders/run_arguments.h"

namespace quorate {

// One that reaches the server only if it was given.
inline CLI::Option* forward(CLI::App* command,
                            const std::shared_ptr<nlohmann::json>& arguments,
                            const std::string& flag, const char* key,
                            const std::string& help) {
  return command->add_option_function<std::string>(
      flag,
      [arguments, key](const std::string& value) { (*arguments)[key] = value; },
      help);
}

// The same of a number, or of a word that stands for one.
inline void forward_number(CLI::App* command,
                           const std::shared_ptr<nlohmann::json>& arguments,
                           const std::string& flag, const char* key,
                           const std::string& help) {
  command
      ->add_option_function<std::string>(
          flag,
          [arguments, key](const std::string& text) {
            (*arguments)[key] = number_or_text(text);
          },
          help)
      ->type_name("NUMBER");
}

}  // namespace quorate
