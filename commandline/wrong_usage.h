// What a person is told whose command line makes no sense.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace quorate::commandline {

// Steps from one word to another: letters added, left out or changed.
std::size_t edit_distance(const std::string& from, const std::string& to);

// For words (without the program's name) that name a command or an option that
// there is not, or an option of the program after its command: one line, with
// what was probably meant. Empty if it is something else.
std::string wrong_command(const CLI::App& program,
                          const std::vector<std::string>& words);

// After app.parse() threw: prints the help that was asked for, or to standard
// error what is wrong; of a command that stands for a group, its help. Returns
// the exit code, 0 or 2.
int report(const CLI::App& program, const CLI::ParseError& error, int argc,
           const char* const* argv);

}  // namespace quorate::commandline
