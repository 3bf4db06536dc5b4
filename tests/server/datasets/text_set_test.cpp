#include "server/datasets/readers/text_set.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/datasets/readers/readers.h"
#include "tests/server/datasets/files.h"
#include "tests/support/data.h"

namespace quorate {
namespace {

std::string refusal(std::string_view content) {
  TemporaryFolder folder;
  SourceSpec spec{{write_file(folder / "a.txt", as_bytes(content)).string()}};
  return error_of(ErrorKind::corrupt, [&] { (void)open_source(spec); });
}

TEST_CASE("golden: files of a part are joined, plain and gzip") {
  DatasetSource source = open_source(golden_spec("text"));
  CHECK(source.kind == "text");
  CHECK(source.is_text());
  CHECK(as_text(source.train.text) ==
        "To be,\nor not\nto b\u00e9? \u20ac\u00e9\n");
  CHECK(as_text(source.test.text) == "Zo\u00eb!\n");
  CHECK(source.train.samples() == 28);
  CHECK(source.train.images.empty());
  CHECK(contains(source.guess, "a.txt, b.txt.gz, in this order"));
}

TEST_CASE("one file is a text, with nothing taken for granted") {
  TemporaryFolder folder;
  // A byte order mark and both kinds of line end are content.
  std::string content = "\ufeffa\r\nb\n\tc";
  fs::path path = write_file(folder / "notes", as_bytes(content));
  SourceSpec spec{{path.string()}};
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "NAME.txt"));
  spec.format = "text";
  DatasetSource source = open_source(spec);
  CHECK(as_text(source.train.text) == content);
  CHECK(source.test.samples() == 0);
  CHECK(source.guess.empty());
}

TEST_CASE("what is no text is refused with its place") {
  std::string text = refusal(
      "one\ntwo \xff\xfe"
      "2\n345");
  CHECK(contains(text, "a.txt: byte 8: expected text in UTF-8"));
  CHECK(contains(text, "found fffe320a: text in another encoding"));
  CHECK(contains(refusal(std::string_view("ab\0c", 4)), "byte 2:"));
  CHECK(contains(refusal("Zo\xc3"), "byte 2: "));               // cut short
  CHECK(contains(refusal("Zo\xeb!"), "byte 2: "));              // ISO 8859-1
  CHECK(contains(refusal("\xed\xa0\x80"), "byte 0:"));          // a surrogate
  CHECK(contains(refusal("\xef\xbf\xbf\xc0\xaf"), "byte 3:"));  // overlong
  CHECK(contains(refusal(""), "the file is empty"));
}

TEST_CASE("a file with a changed byte is taken as it is, or refused") {
  TemporaryFolder folder;
  std::string content = "Zo\u00eb \u20ac\U0001f9ee\n";
  for (std::size_t at = 0; at < content.size(); ++at) {
    for (int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      fs::path path = write_file(folder / "a.txt", as_bytes(changed));
      try {
        DatasetSource source = open_source({{path.string()}});
        CHECK(as_text(source.train.text) == changed);
      } catch (const Error& error) {
        CHECK(name_of(error.kind()) == name_of(ErrorKind::corrupt));
        CHECK(contains(error.what(), "a.txt: byte "));
      }
    }
  }
}

TEST_CASE("a character does not reach from one file into the next") {
  TemporaryFolder folder;
  write_file(folder / "a.txt", as_bytes("a\xe2\x82"));
  write_file(folder / "b.txt", as_bytes("\xac"));
  SourceSpec spec{{folder.path().string()}};
  CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)open_source(spec); }),
                 "a.txt: byte 1:"));
}

TEST_CASE("the place in a later file is that file's own") {
  TemporaryFolder folder;
  write_file(folder / "a.txt", as_bytes("abc"));
  write_gzip(folder / "b.txt.gz", as_bytes("de\xff"));
  SourceSpec spec{{folder.path().string()}};
  CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)open_source(spec); }),
                 "b.txt.gz: byte 2:"));
}

TEST_CASE("text beside data describes them, unless it is asked for") {
  TemporaryFolder folder;
  write_file(folder / "data_batch_1.bin", Bytes(3073, 5));
  fs::path text = write_file(folder / "batches.meta.txt", as_bytes("cat\ndog"));
  SourceSpec spec{{folder.path().string()}};
  CHECK(open_source(spec).kind == "cifar");
  spec.format = "text";
  CHECK(as_text(open_source(spec).train.text) == "cat\ndog");
  spec.format.clear();
  spec.paths.push_back(text.string());
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "two formats, text and cifar"));
}

TEST_CASE("text beside unknown files is no data set by accident") {
  TemporaryFolder folder;
  write_file(folder / "photo.jpg", Bytes(100, 5));
  fs::path text =
      write_file(folder / "LICENSE.txt", as_bytes("do as you like"));
  SourceSpec spec{{folder.path().string()}};
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "LICENSE.txt may just be a description of the data"));
  spec.format = "text";
  CHECK(open_source(spec).train.text.size() == 14);
  CHECK(open_source({{text.string()}}).train.text.size() == 14);
}

TEST_CASE("options of CSV are refused, and a test part alone") {
  TemporaryFolder folder;
  SourceSpec spec{{write_file(folder / "test.txt", as_bytes("abc")).string()}};
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "no training samples; looked for text"));
  spec.label_column = "1";
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "are for CSV, but these files are text"));
}

TEST_CASE("text grows no further than a data set may") {
  DatasetSource source;
  source.train.text.resize(100);
  source.test.images.resize(10);
  CHECK(room_left(source) == kMaxDatasetBytes - 110);
}

TEST_CASE("the works of Shakespeare are read as they are") {
  std::optional<fs::path> path = test::data_path("tinyshakespeare/input.txt");
  if (!path) {
    MESSAGE("skipped: no tinyshakespeare in QUORATE_DATA");
    return;
  }
  DatasetSource source = open_source({{path->string()}});
  CHECK(source.train.text.size() == 1115394);
  CHECK(source.train.text == read_file(*path, 1 << 24));
}

}  // namespace
}  // namespace quorate
