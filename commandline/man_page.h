// The manual page of a program, made from its help texts.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace quorate::commandline {

// In the language of man(7). version: "0.1.0".
std::string man_page(const CLI::App& program, const std::string& version);

// The hidden flag --man-page, which prints it: the build asks for it.
void add_man_page(CLI::App& program, const std::string& version);

}  // namespace quorate::commandline
