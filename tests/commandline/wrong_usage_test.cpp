#include "commandline/wrong_usage.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

namespace quorate::commandline {
namespace {

struct Program {
  CLI::App app{"A program.", "prog"};
  std::string folder;
  std::string name;

  Program() {
    app.require_subcommand(1);
    app.add_option("-C", folder, "The folder");
    app.set_version_flag("--version", "1");
    app.add_subcommand("init", "")->add_option("DIR", name, "");
    app.add_subcommand("status", "");
    app.add_subcommand("serve", "")->add_option("--listen", name, "");
    CLI::App* train = app.add_subcommand("train", "");
    train->require_subcommand(1);
    for (const char* word : {"list", "pause", "show"}) {
      train->add_subcommand(word, "");
    }
    CLI::App* dataset = app.add_subcommand("dataset", "");
    dataset->require_subcommand(1);
    dataset->add_subcommand("list", "");
  }

  std::string says(const std::vector<std::string>& words) {
    return wrong_command(app, words);
  }
};

}  // namespace

TEST_CASE("a mistyped command is answered with what was meant") {
  Program program;
  CHECK(program.says({"frobnicate"}) ==
        "unknown command \"frobnicate\": see prog --help");
  CHECK(program.says({"pause"}) ==
        "unknown command \"pause\": did you mean \"train pause\"?");
  CHECK(program.says({"train", "lst"}) ==
        "unknown command \"train lst\": did you mean \"train list\"?");
  CHECK(program.says({"train", "pasue"}) ==
        "unknown command \"train pasue\": did you mean \"train pause\"?");
  CHECK(program.says({"-C", "p1", "stat"}) ==
        "unknown command \"stat\": did you mean \"status\"?");
  CHECK(program.says({"list"}) ==
        "unknown command \"list\": did you mean \"train list\" or \"dataset "
        "list\"?");
  CHECK(program.says({"train", "frobnicate"}) ==
        "unknown command \"train frobnicate\": see prog train --help");
  CHECK(program.says({std::string(1000000, 'x')}).size() < 100);
}

TEST_CASE("an option of the program comes before the command") {
  Program program;
  CHECK(program.says({"status", "-C", "p1"}) ==
        "-C comes before the command: prog -C ... status");
  CHECK(program.says({"train", "list", "-C=p1"}) ==
        "-C comes before the command: prog -C ... train list");
  CHECK(program.says({"--verson"}) ==
        "unknown option \"--verson\": see prog --help");
  CHECK(program.says({"train", "--all"}) ==
        "unknown option \"--all\": see prog train --help");
}

TEST_CASE("what is right, or wrong in another way, is not called unknown") {
  Program program;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"status"},
                                             {"train"},
                                             {"-C", "train", "status"},
                                             {"init", "anything"},
                                             {"serve", "--listen", "x"},
                                             {"serve", "--lisen", "x"},
                                             {"--", "frobnicate"}}) {
    CHECK(program.says(words).empty());
  }
}

TEST_CASE("distances") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("lst", "list") == 1);
  CHECK(edit_distance("pasue", "pause") == 2);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

}  // namespace quorate::commandline
