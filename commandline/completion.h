// Completion of command lines by bash, and by zsh with its bashcompinit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quorate::commandline {

// Arguments whose values the program itself can list: the argument ("RUN",
// "--dataset") and a word for the list ("runs").
using ListedArguments = std::map<std::string, std::string>;
// The values of such a list.
using Lister = std::function<std::vector<std::string>(const std::string&)>;

// A script to source, or to install as bash-completion/completions/PROGRAM. It
// asks `PROGRAM completion names LIST` for the values of listed arguments.
std::string bash_completion(const CLI::App& program,
                            const ListedArguments& listed);

// Adds `completion bash`, and `completion names LIST` in hiding. Of what
// `lister` gives only plain words are shown (letters, digits, "._-"): names
// come from strangers, and the shell would run what it finds in them. What it
// throws means no names.
void add_completion(CLI::App& program, const ListedArguments& listed,
                    const Lister& lister);

}  // namespace quorate::commandline
