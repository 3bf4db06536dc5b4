#include "server/datasets/dataset.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "server/admin/commands.h"
#include "server/admin/table.h"
#include "server/datasets/formats.h"
#include "server/datasets/readers.h"
#include "server/project_folder.h"

namespace quorate {
namespace {

using nlohmann::json;

// One line on a terminal that is written over; nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine() : is_terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { show(""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (!is_terminal_ || text == shown_) return;
    fmt::print(stderr, "\r{:<{}}\r{}", "", shown_.size(), text);
    shown_ = text;
  }

 private:
  bool is_terminal_;
  std::string shown_;
};

std::string progress_text(const std::string& what, std::uint64_t done,
                          std::uint64_t all) {
  std::uint64_t percent = all == 0 ? 100 : 100 * done / all;
  return fmt::format("{}: {} %", what, percent);
}

// Shards go straight into the object store: they are named by content, so this
// may be done beside a running server.
void add(const GlobalOptions& global, const std::string& name,
         const SourceSpec& spec, std::uint64_t seed) {
  ProjectFolder folder{global.folder};
  load_keys(folder);
  fs::path manifest_path = folder.datasets() / (name + ".json");
  if (fs::exists(manifest_path)) {
    throw Error(ErrorKind::usage,
                fmt::format("dataset add {}: there is one of this name: choose "
                            "another",
                            name));
  }
  fs::path temporary =
      folder.temporary() / fmt::format("dataset-{}", ::getpid());
  DatasetManifest manifest;
  {
    ProgressLine line;
    ObjectStore objects(folder.objects(), temporary);
    DatasetSource source = open_source(
        spec,
        [&](const std::string& file, std::uint64_t done, std::uint64_t all) {
          line.show(progress_text("reading " + file, done, all));
        });
    manifest = build_dataset(
        source, name, seed, objects,
        [&](std::uint64_t done, std::uint64_t all) {
          line.show(progress_text("writing shards of " + name, done, all));
        });
  }
  fs::remove_all(temporary);
  write_file_durably(manifest_path, as_bytes(to_json(manifest)));
  if (global.json) {
    fmt::print("{}\n", to_json(manifest));
    return;
  }
  fmt::print(
      "Added data set {}: {} training and {} test samples, {}x{}x{}, "
      "{} classes, {} shards.\n",
      name, samples_of(manifest.train), samples_of(manifest.test),
      manifest.shape.height, manifest.shape.width, manifest.shape.channels,
      manifest.classes, manifest.train.size());
}

void list(const GlobalOptions& global) {
  ProjectFolder folder{global.folder};
  load_keys(folder);
  json rows = json::array();
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.datasets())) {
    if (entry.path().extension() != ".json") continue;
    DatasetManifest manifest =
        manifest_from_json(read_text_file(entry.path()), entry.path().string());
    rows.push_back({{"name", manifest.name},
                    {"kind", manifest.kind},
                    {"train", samples_of(manifest.train)},
                    {"test", samples_of(manifest.test)},
                    {"classes", manifest.classes},
                    {"shards", manifest.train.size()}});
  }
  if (global.json) {
    fmt::print("{}\n", rows.dump());
    return;
  }
  fmt::print("{}", table(rows, {{"NAME", "name"},
                                {"KIND", "kind"},
                                {"TRAIN", "train"},
                                {"TEST", "test"},
                                {"CLASSES", "classes"},
                                {"SHARDS", "shards"}}));
}

}  // namespace

void add_dataset(CLI::App& app, GlobalOptions& global) {
  struct Options {
    std::string name;
    SourceSpec spec;
    std::uint64_t seed = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("dataset", "Data sets");
  command->require_subcommand(1);

  CLI::App* adding = command->add_subcommand(
      "add", "Cut a data set into shards and store them");
  adding
      ->add_option("NAME", options->name,
                   "Name of the data set; \"glyphs\" without a path is the "
                   "built-in one")
      ->required();
  adding->add_option("PATH", options->spec.paths,
                     "A folder with data files (plain or .gz), the files "
                     "themselves, or the word glyphs");
  adding
      ->add_option("--format", options->spec.format,
                   "Of the files, when their names do not tell it")
      ->check(CLI::IsMember(format_names()));
  adding->add_option("--seed", options->seed, "Of the shuffle");
  adding->add_option("--samples", options->spec.train_samples,
                     "glyphs: training samples");
  adding->add_option("--test-samples", options->spec.test_samples,
                     "glyphs: test samples");
  adding->add_flag("--json", global.json, "Machine-readable output");
  adding->footer(
      "Example:\n"
      "  quorate -C my-project dataset add glyphs\n"
      "  quorate -C my-project dataset add mnist data/mnist/\n"
      "  quorate -C my-project dataset add cifar10 cifar-10-batches-bin/\n");
  adding->callback([options, &global] {
    if (options->spec.paths.empty()) {
      if (options->name != "glyphs") {
        throw Error(ErrorKind::usage,
                    fmt::format("dataset add {}: name the folder or files to "
                                "read, or the word glyphs",
                                options->name));
      }
      options->spec.paths = {"glyphs"};
    }
    add(global, options->name, options->spec, options->seed);
  });

  CLI::App* listing =
      command->add_subcommand("list", "The project's data sets");
  listing->add_flag("--json", global.json, "Machine-readable output");
  listing->footer("Example:\n  quorate -C my-project dataset list\n");
  listing->callback([&global] { list(global); });
}

}  // namespace quorate
