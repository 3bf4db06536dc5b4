// Options whose values go to the server as they are, which says what it
// expects.
//
// Neither checks the value: the server's message names the flag, and so the
// rule is in one place. `arguments` is shared by the options of a command and
// its callback; the value is stored when the option is parsed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "server/orders/runs/run_arguments.h"

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

// KEY=VALUE, which may be repeated: members of an object.
inline void forward_settings(CLI::App* command,
                             const std::shared_ptr<nlohmann::json>& arguments,
                             const std::string& flag, const char* key,
                             const std::string& help) {
  command
      ->add_option_function<std::vector<std::string>>(
          flag,
          [arguments, flag, key](const std::vector<std::string>& settings) {
            for (const std::string& setting : settings) {
              const std::size_t at = setting.find('=');
              if (at == std::string::npos) {
                throw CLI::ValidationError(
                    flag, "\"" + setting + "\": expected KEY=VALUE");
              }
              (*arguments)[key][setting.substr(0, at)] =
                  number_or_text(setting.substr(at + 1));
            }
          },
          help)
      ->type_name("KEY=VALUE");
}

}  // namespace quorate
