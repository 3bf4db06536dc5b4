#include "server/datasets/readers/csv_set.h"

#include <algorithm>
#include <functional>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/datasets/readers/readers.h"
#include "tests/server/datasets/files.h"
#include "tests/support/data.h"

namespace quorate {
namespace {

DatasetSource read_guessing(const std::string& text,
                            const SourceSpec& spec = {}) {
  TemporaryFolder folder;
  fs::path path = write_file(folder / "f.csv", as_bytes(text));
  return read_csv_set({{path}, {}}, spec, {});
}

// The set of one file with this text; its values stay as they are, if the spec
// does not say otherwise.
DatasetSource read(const std::string& text, SourceSpec spec = {}) {
  if (!spec.max_value) spec.max_value = 255;
  return read_guessing(text, spec);
}

std::string refusal(ErrorKind kind, const std::string& text,
                    const SourceSpec& spec = {}) {
  return error_of(kind, [&] { (void)read(text, spec); });
}

SourceSpec labelled(const std::string& column) {
  SourceSpec spec;
  spec.label_column = column;
  return spec;
}

SourceSpec shaped(const SampleShape& shape) {
  SourceSpec spec;
  spec.shape = shape;
  return spec;
}

TEST_CASE("golden: header, quotes, line ends, parts and gzip") {
  SourceSpec spec = golden_spec("csv");
  spec.shape = {2, 3, 2};
  spec.max_value = 255;
  DatasetSource source = open_source(spec);
  CHECK(source.kind == "csv");
  CHECK(source.shape == SampleShape{2, 3, 2});
  CHECK(source.classes == 10);
  CHECK(source.train.labels == golden_labels(0, 4));
  CHECK(source.train.images == golden_images(0, 4, source.shape));
  CHECK(source.test.labels == golden_labels(4, 2));
  CHECK(source.test.images == golden_images(4, 2, source.shape));
}

TEST_CASE("the label's column is the first, or as it is said") {
  const char* text = "one,class,two\n1,2,3\n4,5,6\n";
  CHECK(read("7,1\n8,2\n").train.labels == Bytes{7, 8});
  for (const char* column : {"2", "class"}) {
    DatasetSource source = read(text, labelled(column));
    CHECK(source.train.labels == Bytes{2, 5});
    CHECK(source.train.images == Bytes{1, 3, 4, 6});
    CHECK(source.classes == 6);
  }
  CHECK(read(text, labelled("last")).train.labels == Bytes{3, 6});

  CHECK(contains(refusal(ErrorKind::usage, text, labelled("3rd")),
                 "--label 3rd: the first line has no column of this name"));
  for (const char* column : {"0", "4"}) {
    CHECK(contains(refusal(ErrorKind::usage, text, labelled(column)),
                   "the first line has 3 columns"));
  }
}

TEST_CASE("a first line whose label is no integer is a header") {
  CHECK(read("label,1,2\n3,4,5\n").train.labels == Bytes{3});
  CHECK(read("1,1,2\n3,4,5\n").train.labels == Bytes{1, 3});
  CHECK(contains(refusal(ErrorKind::corrupt, "1,1,x\n3,4,5\n"),
                 "line 1, column 3: expected an integer from 0 to 255, found "
                 "\"x\""));
  CHECK(contains(refusal(ErrorKind::corrupt, "label,x\n"), "found none"));
}

TEST_CASE("without --shape the values are a square, else one row") {
  DatasetSource source = read("0,1,2,3,4\n");
  CHECK(source.shape == SampleShape{2, 2, 1});
  CHECK(source.guess ==
        "no header line, label in column 1 (--label), the 4 values of a line "
        "are 2x2x1 (--shape)");
  CHECK(read("0,1,2,3,4,5\n").shape == SampleShape{1, 5, 1});
  CHECK(read("0,1,2,3,4\n", shaped({1, 2, 2})).shape == SampleShape{1, 2, 2});
  CHECK(contains(refusal(ErrorKind::usage, "0,1,2\n", shaped({2, 2, 1})),
                 "--shape 2x2x1: 4 values, a line has 2 beside its label"));
}

TEST_CASE("what the operator said is not called a guess") {
  const char* text = "0,1,2,3,200\n1,1,2,3,200\n";
  CHECK(read_guessing(text, labelled("1")).guess ==
        "the 4 values of a line are 2x2x1 (--shape)");
  CHECK(read_guessing(text, shaped({1, 2, 2})).guess ==
        "no header line, label in column 1 (--label)");
  SourceSpec all = shaped({1, 2, 2});
  all.label_column = "1";
  CHECK(read_guessing(text, all).guess.empty());
}

TEST_CASE("values that are all dark are stretched, and it is said") {
  DatasetSource source = read_guessing("0,0,8,16,1\n1,2,0,0,0\n");
  CHECK(source.train.images == Bytes{0, 128, 255, 16, 32, 0, 0, 0});
  CHECK(contains(source.guess,
                 "no value is above 16, so 0 to 16 became 0 to 255 "
                 "(--max-value)"));
  SourceSpec said;
  said.max_value = 32;
  source = read_guessing("0,0,8,16,1\n1,2,0,0,0\n", said);
  CHECK(source.train.images == Bytes{0, 64, 128, 8, 16, 0, 0, 0});
  CHECK_FALSE(contains(source.guess, "became"));
  said.max_value = 15;
  CHECK(contains(refusal(ErrorKind::usage, "0,8\n1,16\n", said),
                 "--max-value 15: some values are as large as 16"));
}

TEST_CASE("every value from 0 to white has its own place, 0 and white theirs") {
  for (std::uint32_t white : {1U, 16U, 100U, 127U, 128U, 255U}) {
    std::string text = "0,0\n";
    for (std::uint32_t v = 0; v <= white; ++v) text += fmt::format("1,{}\n", v);
    SourceSpec spec;
    spec.max_value = white;
    Bytes values = read_guessing(text, spec).train.images;
    values.erase(values.begin());
    CHECK(values.front() == 0);
    CHECK(values.back() == 255);
    CHECK(std::adjacent_find(values.begin(), values.end(),
                             std::greater_equal<>()) == values.end());
  }
}

TEST_CASE("only a set without any bright value is stretched by itself") {
  CHECK(guessed_white(0) == 255);
  CHECK(guessed_white(1) == 1);
  CHECK(guessed_white(127) == 127);
  CHECK(guessed_white(128) == 255);
  CHECK(guessed_white(255) == 255);
}

TEST_CASE("a column of equal labels is the wrong one") {
  CHECK(contains(refusal(ErrorKind::usage, "0,1,2\n0,3,4\n"),
                 "every label is 0: wrong column? Try --label last"));
  CHECK(contains(refusal(ErrorKind::usage, "2,5\n3,5\n", labelled("last")),
                 "every label is 5: wrong column? Try --label 1"));
  CHECK(read("7,1\n").train.samples() == 1);
}

TEST_CASE("a wrong line is named with file, line and column") {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"", "the file is empty"},
      {"1\n2\n", "line 1, column 1: expected a label and values"},
      {"1,2\n3,256\n", "line 2, column 2: expected an integer from 0 to 255"},
      {"1,2\n256,3\n", "line 2, column 1: expected an integer"},
      {"1,2\n-1,3\n", "found \"-1\""},
      {"1,2\n3, 4\n", "found \" 4\""},
      {"1,2\n3,\n", "found \"\""},
      {"1,2\n3,4.0\n", "found \"4.0\""},
      {"1,2\n3,+4\n", "found \"+4\""},
      {"1,2\n3,99999999999999999999\n", "line 2, column 2"},
      {"1,2\n\n3,4,5\n", "line 3, column 3: expected 2 columns, found 3"},
      {"1,2,3\n3,4\n", "line 2, column 3: expected 3 columns, found 2"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    std::string error = refusal(ErrorKind::corrupt, c.text);
    CHECK(contains(error, "f.csv: "));
    CHECK(contains(error, c.error));
  }
}

TEST_CASE("a file cut at any byte is refused or a shorter set") {
  const std::string text = "label,a,b\n1,2,3\n4,5,6\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    try {
      DatasetSource source = read(text.substr(0, size));
      CHECK(source.train.samples() <= 2);
      CHECK(source.train.images.size() == 2 * source.train.samples());
    } catch (const Error& error) {
      CHECK(name_of(error.kind()) == name_of(ErrorKind::corrupt));
    }
  }
}

TEST_CASE("files of one set have one shape") {
  TemporaryFolder folder;
  fs::path train = write_file(folder / "a.csv", as_bytes("1,2,3\n"));
  fs::path test = write_file(folder / "test.csv", as_bytes("1,2,3,4,5\n"));
  CHECK(contains(error_of(ErrorKind::corrupt,
                          [&] {
                            (void)read_csv_set({{train}, {test}}, {}, {});
                          }),
                 "samples of 2 x 2 x 1, but the earlier ones have 1 x 2 x 1"));
}

TEST_CASE("shapes are height x width x channels") {
  CHECK(parse_sample_shape("28x30x3") == SampleShape{28, 30, 3});
  CHECK(parse_sample_shape("28x30") == SampleShape{28, 30, 1});
  for (const char* bad :
       {"", "28", "0x3x1", "3x0x1", "3x3x17", "1x2x3x4", "3x3x", "x", "-3x3",
        "16385x1", "4294967297x1", "16384x16384x16", "8192x4096x1"}) {
    CAPTURE(bad);
    CHECK(contains(
        error_of(ErrorKind::usage, [&] { (void)parse_sample_shape(bad); }),
        "height x width"));
  }
}

TEST_CASE("--label and --shape are for CSV") {
  SourceSpec spec = golden_spec("cifar");
  spec.label_column = "last";
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "--max-value are for CSV, but these files are cifar"));
}

TEST_CASE("the optical digits are read as their publishers wrote them") {
  std::optional<fs::path> folder = test::data_path("optdigits");
  if (!folder) {
    MESSAGE("skipped: no optdigits in QUORATE_DATA");
    return;
  }
  SourceSpec spec{{folder->string()}};
  spec.label_column = "last";
  DatasetSource source = open_source(spec);
  CHECK(source.shape == SampleShape{8, 8, 1});
  CHECK(source.classes == 10);
  CHECK(source.train.samples() == 3823);
  CHECK(source.test.samples() == 1797);
  CHECK(*std::max_element(source.train.images.begin(),
                          source.train.images.end()) == 255);
  CHECK(std::count(source.train.labels.begin(), source.train.labels.end(), 0) ==
        376);
}

}  // namespace
}  // namespace quorate
