#include "commandline/wrong_usage.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "commandline/tree.h"

namespace quorate::commandline {
namespace {

constexpr int kWrongUsage = 2;
constexpr std::size_t kMostSuggestions = 3;
constexpr std::size_t kShown = 40;  // bytes of a wrong word

using Path = std::vector<std::string>;

std::string joined(const Path& path) {
  std::string text;
  for (const std::string& word : path) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::string joined_after(const std::string& program, Path path) {
  path.insert(path.begin(), program);
  return joined(path);
}

const Command* find(const std::vector<Command>& commands, const Path& path) {
  auto found = std::find_if(commands.begin(), commands.end(),
                            [&](const Command& c) { return c.path == path; });
  return found == commands.end() ? nullptr : &*found;
}

const Argument* find_option(const Command& command, const std::string& flag) {
  for (const Argument& argument : command.arguments) {
    std::vector<std::string> flags = argument.flags();
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) {
      return &argument;
    }
  }
  return nullptr;
}

bool is_prefix_of(const std::string& typed, const std::string& word) {
  return typed.size() >= 2 && word.starts_with(typed);
}

// How far a command is from what was typed in place of it; among equals those
// of the same group are nearer.
std::optional<std::size_t> distance(const Command& command, const Path& typed) {
  if (command.path.empty()) return std::nullopt;
  const std::string& wrong = typed.back();
  std::size_t steps = edit_distance(wrong, command.path.back());
  if (is_prefix_of(wrong, command.path.back())) {
    steps = std::min<std::size_t>(steps, 1);
  }
  if (steps > std::max<std::size_t>(1, (wrong.size() + 1) / 3))
    return std::nullopt;
  bool is_sibling = std::equal(command.path.begin(), command.path.end() - 1,
                               typed.begin(), typed.end() - 1);
  return 2 * steps + (is_sibling ? 0 : 1);
}

// "did you mean ...", or where the commands are listed.
std::string suggestion(const std::string& program,
                       const std::vector<Command>& commands,
                       const Path& typed) {
  std::size_t nearest = SIZE_MAX;
  std::vector<std::string> names;
  for (const Command& command : commands) {
    std::optional<std::size_t> far = distance(command, typed);
    if (!far || *far > nearest) continue;
    if (*far < nearest) names.clear();
    nearest = *far;
    names.push_back(fmt::format("\"{}\"", joined(command.path)));
  }
  if (names.empty()) {
    Path group(typed.begin(), typed.end() - 1);
    return fmt::format("see {} --help", joined_after(program, group));
  }
  names.resize(std::min(names.size(), kMostSuggestions));
  std::string text = "did you mean ";
  for (const std::string& name : names) {
    text += (&name == &names.front() ? "" : " or ") + name;
  }
  return text + "?";
}

std::string shown(const std::string& word) {
  return word.size() <= kShown ? word : word.substr(0, kShown) + "...";
}

}  // namespace

std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[to.size()];
}

std::string wrong_command(const CLI::App& program,
                          const std::vector<std::string>& words) {
  std::vector<Command> commands = commands_of(program);
  const Command* at = &commands.front();
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.starts_with('-')) {
      std::string flag = word.substr(0, word.find('='));
      const Argument* own = find_option(*at, flag);
      if (own == nullptr && find_option(commands.front(), flag) != nullptr) {
        return fmt::format("{} comes before the command: {} {} ... {}", flag,
                           program.get_name(), flag, joined(at->path));
      }
      if (own == nullptr && !at->subcommands.empty()) {
        return fmt::format("unknown option \"{}\": see {} --help", shown(flag),
                           joined_after(program.get_name(), at->path));
      }
      bool has_value_next =
          own != nullptr && !own->value.empty() && word.find('=') == word.npos;
      if (has_value_next) ++i;
      continue;
    }
    if (at->subcommands.empty()) continue;
    Path path = at->path;
    path.push_back(word);
    const Command* next = find(commands, path);
    if (next == nullptr) {
      std::string meant = word.size() > kShown
                              ? fmt::format("see {} --help", program.get_name())
                              : suggestion(program.get_name(), commands, path);
      path.back() = shown(word);
      return fmt::format("unknown command \"{}\": {}", joined(path), meant);
    }
    at = next;
  }
  return "";
}

int report(const CLI::App& program, const CLI::ParseError& error, int argc,
           const char* const* argv) {
  if (error.get_exit_code() == 0) return program.exit(error);
  std::string why = wrong_command(program, {argv + 1, argv + argc});
  const CLI::App* at = &program;
  std::string command = program.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  bool names_no_command =
      why.empty() && error.get_name() == "RequiredError" &&
      !at->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (names_no_command) {
    fmt::print(stderr, "{}", program.help());
    return kWrongUsage;
  }
  if (why.empty()) {
    why = fmt::format("{}: see {} --help", error.what(), command);
  }
  fmt::print(stderr, "{}: {}\n", program.get_name(), why);
  return kWrongUsage;
}

}  // namespace quorate::commandline
