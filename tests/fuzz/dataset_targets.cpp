#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "server/datasets/manifest.h"
#include "server/datasets/readers/csv_set.h"
#include "server/datasets/readers/formats.h"
#include "server/datasets/readers/idx.h"
#include "tests/fuzz/targets.h"

namespace quorate::fuzz {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 20;

void expect_whole(const SampleSet& part, const DatasetSource& source) {
  expect(part.images.size() == part.samples() * source.shape.size(),
         "as many pixels as the samples have");
  expect(source.is_text() || part.text.empty(), "images have no text");
  for (std::uint8_t byte : part.text) expect(byte != 0, "no zeros in text");
  for (std::uint8_t label : part.labels) {
    expect(label < source.classes, "labels are below the classes");
  }
}

// IDX needs two files, which are read one by one here.
void read_idx(const fs::path& path) {
  if (idx_kind(read_head(path, 4)) == IdxKind::labels) {
    (void)read_idx_labels(path, kMaxBytes);
  } else {
    (void)read_idx_images(path, kMaxBytes);
  }
}

void read_set(const std::string& format, const fs::path& path) {
  DatasetSource source = format_named(format).read({{path}, {}}, {}, {});
  expect_whole(source.train, source);
  expect_whole(source.test, source);
}

// The bytes as a file in memory.
Target file_target(const std::string& format) {
  return {"dataset_" + format, [format](ByteView bytes) {
            FileDescriptor file(::memfd_create("sample", MFD_CLOEXEC));
            fs::path path = "/proc/self/fd/" + std::to_string(file.get());
            write_all(file.get(), bytes, path);
            // usage: every label is the same, so the column is the wrong one.
            may_refuse(
                {ErrorKind::corrupt, ErrorKind::denied, ErrorKind::usage}, [&] {
                  format == "idx" ? read_idx(path) : read_set(format, path);
                });
          }};
}

void read_manifest(ByteView bytes) {
  std::string text(as_text(bytes));
  may_refuse({ErrorKind::corrupt}, [&] {
    std::string written = to_json(manifest_from_json(text, "file"));
    expect(to_json(manifest_from_json(written, "file")) == written,
           "a manifest is read as it was written");
  });
}

}  // namespace

std::vector<Target> dataset_targets() {
  return {file_target("idx"),  file_target("cifar"),
          file_target("csv"),  file_target("safetensors"),
          file_target("text"), {"dataset_manifest", read_manifest}};
}

}  // namespace quorate::fuzz
