// A command line as a tree of commands, read from the CLI::App that parses it:
// manual page and completion are made of the same help texts that --help shows,
// so that none of them can say something else.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace quorate::commandline {

struct Argument {
  std::string names;   // "-f, --follow", or "RUN" of a positional one
  std::string value;   // "TEXT", "UINT"; empty for a flag
  std::string limits;  // "INT in [1 - 64]", "{a,b}"; may be empty
  std::string default_value;
  std::string text;  // what --help says
  bool is_positional = false;
  bool is_required = false;

  // Of an option, each by itself: {"-f", "--follow"}.
  std::vector<std::string> flags() const;
  // The values that are allowed, if these are few words: {"a", "b"}.
  std::vector<std::string> choices() const;
};

struct Command {
  std::vector<std::string> path;  // {"train", "create"}; empty: the program
  std::string text;
  std::string footer;
  std::vector<Argument> arguments;
  std::vector<std::string> subcommands;
};

// The program first, then every command, depth first. Hidden ones (CLI11's
// group "") are left out.
std::vector<Command> commands_of(const CLI::App& program);

}  // namespace quorate::commandline
