#include "server/datasets/readers/formats.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "server/datasets/readers/cifar.h"
#include "server/datasets/readers/csv_set.h"
#include "server/datasets/readers/idx.h"
#include "server/datasets/readers/idx_set.h"
#include "server/datasets/readers/safetensors_set.h"
#include "server/datasets/readers/text_set.h"

namespace quorate {
namespace {

constexpr std::size_t kHeadBytes = 16;

bool is_idx_head(ByteView head) {
  return idx_kind(head).has_value();
}

constexpr std::array kFormats = {
    Format{"idx",
           "train-images-idx3-ubyte, train-labels-idx1-ubyte, "
           "t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte",
           is_idx_head, is_idx_name, read_idx_set},
    Format{"cifar", "data_batch_1.bin, ..., test_batch.bin", nullptr,
           is_cifar_name, read_cifar_set},
    Format{"csv", "NAME.csv, NAME-test.csv", nullptr, is_csv_name,
           read_csv_set},
    Format{"safetensors", "NAME.safetensors, NAME-test.safetensors",
           is_safetensors_head, is_safetensors_name, read_safetensors_set},
    Format{kTextKind, "NAME.txt, NAME-test.txt", nullptr, is_text_name,
           read_text_set, true},
};

}  // namespace

std::string looked_for() {
  std::string text = "looked for ";
  for (const Format& format : kFormats) {
    text += fmt::format("{} ({}); ", format.name, format.looked_for);
  }
  return text + "each also with .gz; for files with other names say --format";
}

const Format* recognise(const fs::path& path) {
  Bytes head = read_head(path, kHeadBytes);
  for (const Format& format : kFormats) {
    if (format.has_mark != nullptr && format.has_mark(head)) return &format;
  }
  std::string name = plain_name(path);
  for (const Format& format : kFormats) {
    if (format.is_named_so(name)) return &format;
  }
  return nullptr;
}

const Format& format_named(const std::string& name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("data set: --format {}: unknown; {}", name, looked_for()));
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

}  // namespace quorate
