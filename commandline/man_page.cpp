#include "commandline/man_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "commandline/tree.h"

namespace quorate::commandline {
namespace {

// Text that roff takes as it is.
std::string plain(const std::string& text) {
  std::string out;
  bool at_start = true;
  for (char c : text) {
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";  // not a hyphen: what is copied must work
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

std::string argument_entry(const Argument& argument) {
  std::string names = plain(argument.names);
  std::string head = argument.is_positional ? fmt::format("\\fI{}\\fR", names)
                                            : fmt::format("\\fB{}\\fR", names);
  if (!argument.is_positional && !argument.value.empty()) {
    head += fmt::format(" \\fI{}\\fR", plain(argument.value));
  }
  std::string text = plain(argument.text);
  if (!argument.limits.empty()) {
    text += fmt::format(" ({})", plain(argument.limits));
  }
  if (!argument.default_value.empty()) {
    text += fmt::format(" [default: {}]", plain(argument.default_value));
  }
  return fmt::format(".TP\n{}\n{}\n", head, text);
}

std::string synopsis(const std::string& program, const Command& command) {
  std::string line = fmt::format("\\fB{}\\fR", plain(program));
  for (const std::string& word : command.path) {
    line += fmt::format(" \\fB{}\\fR", plain(word));
  }
  if (!command.subcommands.empty()) {
    return line + " [\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...";
  }
  for (const Argument& argument : command.arguments) {
    if (argument.is_positional) {
      std::string name = fmt::format("\\fI{}\\fR", plain(argument.names));
      line += argument.is_required ? " " + name : " [" + name + "]";
    } else if (argument.is_required) {
      line += fmt::format(" \\fB{}\\fR \\fI{}\\fR", plain(argument.names),
                          plain(argument.value));
    }
  }
  return line + " [\\fIOPTIONS\\fR]";
}

std::string body_of(const Command& command) {
  std::string text;
  for (const Argument& argument : command.arguments) {
    if (argument.names.find("--help") != std::string::npos) continue;
    text += argument_entry(argument);
  }
  if (!command.footer.empty()) {
    std::string footer = command.footer;
    while (footer.ends_with('\n')) footer.pop_back();
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(footer));
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& program, const std::string& version) {
  std::string name = program.get_name();
  std::vector<Command> commands = commands_of(program);
  const Command& whole = commands.front();
  std::string page = fmt::format(
      ".\\\" Made from the help texts of {0}: do not edit.\n"
      ".TH {1} 1 \"\" \"Quorate {2}\" \"User Commands\"\n"
      ".SH NAME\n{0} \\- {3}\n.SH SYNOPSIS\n{4}\n.SH OPTIONS\n{5}",
      plain(name), plain(upper(name)), version, plain(whole.text),
      synopsis(name, whole), body_of(whole));
  if (commands.size() > 1) page += ".SH COMMANDS\n";
  for (std::size_t i = 1; i < commands.size(); ++i) {
    page += fmt::format(".SS {}\n{}.\n{}", synopsis(name, commands[i]),
                        plain(commands[i].text), body_of(commands[i]));
  }
  return page +
         ".SH EXIT STATUS\n"
         "0: done. 1: failed; standard error says what was tried, what was\n"
         "found, and what to do. 2: wrong usage.\n";
}

void add_man_page(CLI::App& program, const std::string& version) {
  program
      .add_flag_callback("--man-page",
                         [&program, version] {
                           fmt::print("{}", man_page(program, version));
                           throw CLI::Success();
                         })
      ->trigger_on_parse()
      ->group("");
}

}  // namespace quorate::commandline
