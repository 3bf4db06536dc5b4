#include "commandline/tree.h"

namespace quorate::commandline {
namespace {

Argument describe(const CLI::Option& option) {
  Argument argument;
  argument.is_positional = option.get_positional();
  argument.is_required = option.get_required();
  argument.text = option.get_description();
  if (argument.is_positional) {
    argument.names = option.get_name(true);
  } else {
    for (const std::string& name :
         CLI::detail::split(option.get_name(false, true), ',')) {
      argument.names += (argument.names.empty() ? "" : ", ") + name;
    }
  }
  if (option.get_items_expected_max() == 0) return argument;  // a flag
  std::string type = option.get_type_name();
  std::size_t colon = type.find(':');
  argument.value = type.substr(0, colon);
  if (colon != std::string::npos) argument.limits = type.substr(colon + 1);
  argument.default_value = option.get_default_str();
  return argument;
}

// CLI11 keeps an option group as a command without a name.
void collect_arguments(const CLI::App& app, std::vector<Argument>& out) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) out.push_back(describe(*option));
  }
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (group->get_name().empty()) collect_arguments(*group, out);
  }
}

void collect_commands(const CLI::App& app, const std::vector<std::string>& path,
                      std::vector<Command>& out) {
  std::vector<const CLI::App*> children =
      app.get_subcommands([](const CLI::App* child) {
        return !child->get_name().empty() && !child->get_group().empty();
      });
  Command command;
  command.path = path;
  command.text = app.get_description();
  // CLI11 gives a command without a footer that of the program.
  if (path.empty() || app.get_footer() != out.front().footer) {
    command.footer = app.get_footer();
  }
  collect_arguments(app, command.arguments);
  for (const CLI::App* child : children) {
    command.subcommands.push_back(child->get_name());
  }
  out.push_back(std::move(command));
  for (const CLI::App* child : children) {
    std::vector<std::string> longer = path;
    longer.push_back(child->get_name());
    collect_commands(*child, longer, out);
  }
}

}  // namespace

std::vector<std::string> Argument::flags() const {
  if (is_positional) return {};
  std::vector<std::string> flags = CLI::detail::split(names, ',');
  for (std::string& flag : flags) CLI::detail::ltrim(flag);
  return flags;
}

std::vector<std::string> Argument::choices() const {
  if (!limits.starts_with('{') || !limits.ends_with('}')) return {};
  return CLI::detail::split(limits.substr(1, limits.size() - 2), ',');
}

std::vector<Command> commands_of(const CLI::App& program) {
  std::vector<Command> commands;
  collect_commands(program, {}, commands);
  return commands;
}

}  // namespace quorate::commandline
