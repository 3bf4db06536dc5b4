#include "server/datasets/readers/text_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace quorate {
namespace {

constexpr std::size_t kShown = 4;  // bytes of what is no text, in an error

void expect_text(ByteView bytes, const DataFile& file) {
  if (bytes.empty()) file.fail("expected text, the file is empty");
  for (std::size_t at = 0; at < bytes.size();) {
    ByteView left = bytes.subspan(at);
    std::size_t length = left[0] == 0 ? 0 : utf8_length(as_text(left));
    if (length == 0) {
      file.fail(fmt::format(
          "byte {}: expected text in UTF-8 without zero bytes, found {}: text "
          "in another encoding must be converted first",
          at, to_hex(left.first(std::min(kShown, left.size())))));
    }
    at += length;
  }
}

void append_file(const fs::path& path, const ReadProgress& progress,
                 const DatasetSource& source, Bytes& text) {
  DataFile file(path, room_left(source), progress);
  std::size_t had = text.size();
  file.append_rest(text);
  expect_text(ByteView(text).subspan(had), file);
}

}  // namespace

bool is_text_name(const std::string& plain_name) {
  return plain_name.ends_with(".txt");
}

DatasetSource read_text_set(const SourceFiles& files, const SourceSpec&,
                            const ReadProgress& progress) {
  DatasetSource source;
  source.kind = kTextKind;
  for (const fs::path& file : files.train) {
    append_file(file, progress, source, source.train.text);
  }
  for (const fs::path& file : files.test) {
    append_file(file, progress, source, source.test.text);
  }
  if (files.train.size() > 1) {
    source.guess = fmt::format("the text is made of {}, in this order (PATH)",
                               names_of(files.train));
  }
  return source;
}

}  // namespace quorate
