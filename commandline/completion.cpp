#include "commandline/completion.h"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "commandline/tree.h"

namespace quorate::commandline {
namespace {

// @...@ stands for what depends on the program. `place` counts the words of a
// command that are neither options nor their values.
constexpr std::string_view kScript =
    R"bash(# Completion for @program@, for bash. For zsh, run before this:
#   autoload -U +X compinit bashcompinit && compinit && bashcompinit
@function@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local command= place=0 choices= list= choice i
  local -a where
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
@where@
@valued@
      -*) ;;
      *)
        case $command/${COMP_WORDS[i]} in
@commands@
          *) place=$((place + 1)) ;;
        esac ;;
    esac
  done
  case $previous in
@files@
@values@
    *)
      case $command in
@words@
      esac
      case $command/$place in
@places@
      esac ;;
  esac
  if [[ -n $list ]]; then
    choices+=" $("$1" "${where[@]}" completion names "$list" 2>/dev/null)"
  fi
  COMPREPLY=()
  while read -r choice; do
    [[ -n $choice && $choice == "$current"* ]] && COMPREPLY+=("$choice")
  done < <(printf '%s\n' $choices)
}
complete -o default -F @function@ @program@
)bash";

std::string join(const std::vector<std::string>& words,
                 const std::string& between) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : between) + word;
  }
  return text;
}

std::string key_of(const Command& command) {
  std::string key;
  for (const std::string& word : command.path) key += "/" + word;
  return key;
}

void replace(std::string& text, const std::string& name,
             const std::string& value) {
  std::string mark = "@" + name + "@";
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

// The parts of the script, collected command by command.
class Script {
 public:
  Script(const CLI::App& program, const ListedArguments& listed)
      : listed_(listed) {
    for (const Command& command : commands_of(program)) add(command);
    // An option is skipped with its value wherever it stands.
    skips_ = pattern("      ", valued_, "i=$((i + 1)) ;;");
    // What is empty completes to the names of files: complete -o default.
    files_ = pattern("    ", free_, ";;");
  }

  std::string text(const std::string& program) const {
    std::string function = "_" + program;
    std::replace(function.begin(), function.end(), '-', '_');
    std::string text(kScript);
    replace(text, "where", join(where_, "\n"));
    replace(text, "valued", skips_);
    replace(text, "commands", join(commands_, "\n"));
    replace(text, "files", files_);
    replace(text, "values", join(values_, "\n"));
    replace(text, "words", join(words_, "\n"));
    replace(text, "places", join(places_, "\n"));
    replace(text, "function", function);
    replace(text, "program", program);
    return text;
  }

 private:
  void add(const Command& command) {
    std::string key = key_of(command);
    if (!key.empty()) {
      commands_.push_back(
          fmt::format("          {}) command={} place=0 ;;", key, key));
    }
    std::vector<std::string> words = command.subcommands;
    int place = 0;
    for (const Argument& argument : command.arguments) {
      if (argument.is_positional) {
        add_place(key, place++, argument);
        continue;
      }
      for (const std::string& flag : argument.flags()) {
        words.push_back(flag);
        if (!argument.value.empty()) add_value(key, flag, argument);
      }
    }
    words_.push_back(
        fmt::format("        '{}') choices='{}' ;;", key, join(words, " ")));
  }

  static std::string pattern(const std::string& indent,
                             const std::set<std::string>& flags,
                             const std::string& action) {
    if (flags.empty()) return "";
    return fmt::format("{}{}) {}", indent,
                       join({flags.begin(), flags.end()}, "|"), action);
  }

  // What the program lists, or --help does; empty: anything.
  std::string values_of(const std::string& name,
                        const Argument& argument) const {
    if (auto list = listed_.find(name); list != listed_.end()) {
      return "list=" + list->second;
    }
    std::string choices = join(argument.choices(), " ");
    return choices.empty() ? "" : fmt::format("choices+=' {}'", choices);
  }

  void add_place(const std::string& key, int place, const Argument& argument) {
    std::string values = values_of(argument.names, argument);
    if (values.empty()) return;
    places_.push_back(fmt::format("        {}/{}) {} ;;", key, place, values));
  }

  void add_value(const std::string& key, const std::string& flag,
                 const Argument& argument) {
    if (!valued_.insert(flag).second) return;
    std::string values = values_of(flag, argument);
    if (values.empty()) {
      free_.insert(flag);
    } else {
      values_.push_back(fmt::format("    {}) {} ;;", flag, values));
    }
    if (!key.empty()) return;
    where_.push_back(fmt::format(
        "      {0}) where+=({0} \"${{COMP_WORDS[i+1]}}\"); i=$((i + 1)) ;;",
        flag));
  }

  const ListedArguments& listed_;
  std::set<std::string> valued_;    // options that take a value
  std::set<std::string> free_;      // of these, those that take any
  std::vector<std::string> where_;  // options of the program itself
  std::string skips_;
  std::string files_;
  std::vector<std::string> commands_;  // names that lead to a command
  std::vector<std::string> values_;    // of options
  std::vector<std::string> words_;     // that may follow a command
  std::vector<std::string> places_;    // values of positional arguments
};

bool is_plain_word(const std::string& text) {
  return !text.empty() && text.front() != '-' &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789._-") == std::string::npos;
}

void print_names(const Lister& lister, const std::string& list) {
  try {
    for (const std::string& name : lister(list)) {
      if (is_plain_word(name)) fmt::print("{}\n", name);
    }
  } catch (const std::exception&) {
    // A shell that completes has no place for messages.
  }
}

}  // namespace

std::string bash_completion(const CLI::App& program,
                            const ListedArguments& listed) {
  return Script(program, listed).text(program.get_name());
}

void add_completion(CLI::App& program, const ListedArguments& listed,
                    const Lister& lister) {
  std::string name = program.get_name();
  CLI::App* completion = program.add_subcommand(
      "completion", "Let the shell complete commands, options and names");
  completion->require_subcommand(1);
  CLI::App* bash =
      completion->add_subcommand("bash", "Print the script that bash needs");
  bash->footer(fmt::format(
      "Example:\n  source <({0} completion bash)\n"
      "To install it for good, if cmake --install has not done so:\n"
      "  {0} completion bash > "
      "~/.local/share/bash-completion/completions/{0}\n",
      name));
  bash->callback([&program, listed] {
    fmt::print("{}", bash_completion(program, listed));
    throw CLI::Success();
  });
  CLI::App* names = completion->add_subcommand("names", "")->group("");
  auto list = std::make_shared<std::string>();
  names->add_option("LIST", *list)->required();
  names->callback([lister, list] {
    print_names(lister, *list);
    throw CLI::Success();
  });
}

}  // namespace quorate::commandline
