#include "server/datasets/dataset.h"

#include <algorithm>
#include <numeric>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/progress_line.h"
#include "server/cli/support/table.h"
#include "server/datasets/picture.h"
#include "server/datasets/readers/csv_set.h"
#include "server/datasets/readers/formats.h"
#include "server/datasets/readers/readers.h"
#include "server/settings/operation_lock.h"
#include "server/settings/project_folder.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostGlyphs = 1'000'000;

std::string share_text(std::uint64_t count, const DatasetManifest& manifest) {
  auto all = static_cast<double>(samples_of(manifest.train));
  return fmt::format("{:5.1f} %", 100 * static_cast<double>(count) / all);
}

// How the training samples divide into classes; of many classes the extremes.
std::string class_table(const DatasetManifest& manifest) {
  constexpr std::size_t kMostRows = 20;
  const std::vector<std::uint64_t>& counts = manifest.class_counts;
  if (counts.size() > kMostRows) {
    auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return fmt::format(
        "Training samples per class: from {} (class {}) to {} (class {}).\n",
        *least, least - counts.begin(), *most, most - counts.begin());
  }
  json rows = json::array();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows.push_back({{"class", i},
                    {"samples", counts[i]},
                    {"share", share_text(counts[i], manifest)}});
  }
  return table(
      rows, {{"CLASS", "class"}, {"TRAINING", "samples"}, {"SHARE", "share"}});
}

// A byte of a text as people may read it.
std::string symbol_text(std::uint8_t byte) {
  if (byte == ' ') return "space";
  if (byte == '\n') return "newline";
  if (byte > ' ' && byte < 0x7f) return {static_cast<char>(byte)};
  return fmt::format("0x{:02x}", byte);
}

// The symbols that a text has most often in its training part.
std::string symbol_table(const DatasetManifest& manifest) {
  constexpr std::size_t kMostRows = 10;
  std::vector<std::size_t> tokens(manifest.classes);
  std::iota(tokens.begin(), tokens.end(), std::size_t{0});
  std::size_t shown = std::min(tokens.size(), kMostRows);
  const std::vector<std::uint64_t>& counts = manifest.class_counts;
  std::stable_sort(
      tokens.begin(), tokens.end(),
      [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  json rows = json::array();
  for (std::size_t token : std::span(tokens).first(shown)) {
    rows.push_back({{"symbol", symbol_text(manifest.symbols[token])},
                    {"tokens", counts[token]},
                    {"share", share_text(counts[token], manifest)}});
  }
  std::string text = table(
      rows, {{"SYMBOL", "symbol"}, {"TRAINING", "tokens"}, {"SHARE", "share"}});
  if (tokens.size() == shown) return text;
  return text + fmt::format("and {} less frequent\n", tokens.size() - shown);
}

// "28x28x1", or what a text consists of.
std::string sample_text(const DatasetManifest& manifest) {
  if (manifest.is_text()) return "token";
  return fmt::format("{}x{}x{}", manifest.shape.height, manifest.shape.width,
                     manifest.shape.channels);
}

// "1 shard", "2 shards".
std::string counted(std::size_t count, std::string_view one,
                    std::string_view ending) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : ending);
}

std::string added_text(const DatasetManifest& manifest) {
  std::uint64_t train = samples_of(manifest.train);
  std::uint64_t test = samples_of(manifest.test);
  std::string shards = counted(manifest.train.size(), "shard", "s");
  if (manifest.is_text()) {
    return fmt::format(
        "Added data set {}: text of {} training and {} test tokens, {}, "
        "{}.\n{}",
        manifest.name, train, test, counted(manifest.classes, "symbol", "s"),
        shards, symbol_table(manifest));
  }
  return fmt::format(
      "Added data set {}: {} training and {} test samples, {}, {}, {}.\n{}",
      manifest.name, train, test, sample_text(manifest),
      counted(manifest.classes, "class", "es"), shards, class_table(manifest));
}

// A folder that goes when its owner does, however that happens.
struct ScratchFolder {
  fs::path path;

  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// What an added set is stored as.
struct Added {
  DatasetManifest manifest;
  std::string guess;  // as DatasetSource::guess
  Bytes picture;      // PNG; none of a text
};

// Shards go straight into the object store: they are named by content, so this
// may be done beside a running server.
Added read_and_store(const ProjectFolder& folder, const SourceSpec& spec,
                     const DatasetOptions& options) {
  ScratchFolder scratch{folder.temporary() /
                        fmt::format("dataset-{}", ::getpid())};
  ProgressLine line;
  ObjectStore objects(folder.objects(), scratch.path);
  DatasetSource source = open_source(
      spec,
      [&](const std::string& file, std::uint64_t done, std::uint64_t all) {
        line.show("reading " + fs::path(file).filename().string(), done, all);
      });
  Added added;
  added.manifest = build_dataset(
      source, options, objects, [&](std::uint64_t done, std::uint64_t all) {
        line.show("writing shards of " + options.name, done, all);
      });
  objects.sync();
  added.guess = source.guess;
  if (!source.is_text()) added.picture = encode_png(sample_grid(source));
  return added;
}

void add(const GlobalOptions& global, const SourceSpec& spec,
         const DatasetOptions& options) {
  const std::string& name = options.name;
  ProjectFolder folder{global.folder};
  load_keys(folder);
  FileLock adding = lock_for("dataset add " + name, folder.datasets_lock(),
                             "another data set is being added, or old objects "
                             "are being removed");
  fs::path manifest_path = folder.manifest(name);
  fs::path picture_path = folder.picture(name);
  if (fs::exists(manifest_path)) {
    throw Error(ErrorKind::usage,
                fmt::format("dataset add {}: a data set of this name exists: "
                            "choose another name",
                            name));
  }
  auto [manifest, guess, picture] = read_and_store(folder, spec, options);
  if (!picture.empty()) write_file_durably(picture_path, picture);
  write_file_durably(manifest_path, as_bytes(to_json(manifest)));
  say("{}", global.json ? to_json(manifest) + "\n" : added_text(manifest));
  std::FILE* remarks = global.json ? stderr : stdout;
  if (!guess.empty()) {
    say(remarks,
        "Assumed, because no option said otherwise (the options are in "
        "brackets): {}.\n",
        guess);
  }
  if (!picture.empty()) {
    say(remarks, "A picture of some samples, one row for each class: {}\n",
        picture_path.string());
  }
}

void list(const GlobalOptions& global) {
  ProjectFolder folder{global.folder};
  load_keys(folder);
  json rows = json::array();
  for (const std::string& name : dataset_names(folder)) {
    fs::path path = folder.manifest(name);
    DatasetManifest manifest =
        manifest_from_json(read_text_file(path), path.string());
    rows.push_back({{"name", manifest.name},
                    {"kind", manifest.kind},
                    {"sample", sample_text(manifest)},
                    {"train", samples_of(manifest.train)},
                    {"test", samples_of(manifest.test)},
                    {"classes", manifest.classes},
                    {"shards", manifest.train.size()}});
  }
  if (global.json) {
    say("{}\n", rows.dump());
    return;
  }
  say("{}", table(rows, {{"NAME", "name"},
                         {"KIND", "kind"},
                         {"SAMPLE", "sample"},
                         {"TRAIN", "train"},
                         {"TEST", "test"},
                         {"CLASSES", "classes"},
                         {"SHARDS", "shards"}}));
}

void remove(const GlobalOptions& global, const std::string& name) {
  AdminClient client(global.folder);
  json removed = client.call("dataset-remove", {{"dataset", name}});
  if (global.json) {
    say("{}\n", removed.dump());
    return;
  }
  say("{}: removed, with {} of {:.1f} MB that no other data set uses\n", name,
      counted(removed["shards"].get<std::size_t>(), "shard", "s"),
      static_cast<double>(removed["bytes"].get<std::uint64_t>()) / 1e6);
}

void add_removing(CLI::App& command, GlobalOptions& global) {
  auto name = std::make_shared<std::string>();
  CLI::App* removing = command.add_subcommand(
      "remove", "Delete a data set that no run was created with");
  removing->add_option("DATASET", *name, "Name of the data set")->required();
  removing->add_flag("--json", global.json, "Machine-readable output");
  removing->footer("Example:\n  quorate -C my-project dataset remove glyphs\n");
  removing->callback([name, &global] { remove(global, *name); });
}

// Added with `dataset add`.
struct Addition {
  SourceSpec spec;
  DatasetOptions dataset;
};

// Where the samples come from, and how they are read.
void add_source_options(CLI::App* adding, std::shared_ptr<Addition> options) {
  adding->add_option("PATH", options->spec.paths,
                     "A folder with data files (plain or .gz), the files "
                     "themselves, or the word glyphs");
  adding
      ->add_option("--format", options->spec.format,
                   "Format of the files, if their names do not show it")
      ->check(CLI::IsMember(format_names()));
  adding->add_option("--label", options->spec.label_column,
                     "CSV: column of the label: its number, counted from 1, "
                     "the word last, or its name in the header line (1)");
  adding->add_option_function<std::string>(
      "--shape",
      [options](const std::string& text) {
        options->spec.shape = parse_sample_shape(text);
      },
      "CSV: height x width x channels of the values in a line, such as "
      "28x28x1");
  adding
      ->add_option(
          "--max-value", options->spec.max_value,
          "CSV: the value of white: values from 0 to it are scaled to 0 to 255 "
          "(default: the largest value found, if below 128, else 255)")
      ->check(CLI::Range(1, 255));
}

void add_addition(CLI::App& command, GlobalOptions& global) {
  auto options = std::make_shared<Addition>();
  CLI::App* adding = command.add_subcommand(
      "add", "Cut a data set into shards and store them");
  adding
      ->add_option("NAME", options->dataset.name,
                   "Name of the data set; the name glyphs without a PATH adds "
                   "the built-in one")
      ->required();
  add_source_options(adding, options);
  adding
      ->add_option("--seed", options->dataset.seed,
                   "Seed of the shuffle; a text keeps its order")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  adding->add_option(
      "--hold-out", options->dataset.hold_out_percent,
      fmt::format("Per cent of the training samples (of a text: from its end) "
                  "that become the test part if the data have none ({})",
                  kHoldOutPercent));
  adding
      ->add_option("--samples", options->spec.train_samples,
                   "glyphs: number of training samples")
      ->check(CLI::Range(1U, kMostGlyphs));
  adding
      ->add_option("--test-samples", options->spec.test_samples,
                   "glyphs: number of test samples")
      ->check(CLI::Range(1U, kMostGlyphs));
  adding->add_flag("--json", global.json, "Machine-readable output");
  adding->footer(
      "Example:\n"
      "  quorate -C my-project dataset add glyphs\n"
      "  quorate -C my-project dataset add mnist data/mnist/\n"
      "  quorate -C my-project dataset add cifar10 cifar-10-batches-bin/\n"
      "  quorate -C my-project dataset add digits optdigits/ --label last\n"
      "  quorate -C my-project dataset add shakespeare input.txt\n");
  adding->callback([options, &global] {
    if (options->spec.paths.empty()) {
      if (options->dataset.name != "glyphs") {
        throw Error(ErrorKind::usage,
                    fmt::format("dataset add {}: name the folder or files to "
                                "read, or the word glyphs",
                                options->dataset.name));
      }
      options->spec.paths = {"glyphs"};
    }
    add(global, options->spec, options->dataset);
  });
}

}  // namespace

void add_dataset(CLI::App& app, GlobalOptions& global) {
  CLI::App* command =
      app.add_subcommand("dataset", "Add, list and remove data sets");
  command->require_subcommand(1);
  add_addition(*command, global);
  add_removing(*command, global);
  CLI::App* listing =
      command->add_subcommand("list", "List the project's data sets");
  listing->add_flag("--json", global.json, "Machine-readable output");
  listing->footer("Example:\n  quorate -C my-project dataset list\n");
  listing->callback([&global] { list(global); });
}

}  // namespace quorate
