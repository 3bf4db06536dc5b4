#include "server/datasets/readers/csv.h"

#include <vector>

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"

namespace quorate {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records read(const std::string& text) {
  TemporaryFolder folder;
  DataFile file(write_file(folder / "f.csv", as_bytes(text)), 1 << 26);
  CsvReader csv(file);
  Records records;
  while (csv.next()) {
    records.emplace_back(csv.fields().begin(), csv.fields().end());
  }
  return records;
}

TEST_CASE("records are as RFC 4180 has them") {
  struct Case {
    const char* text;
    Records records;
  };
  const Case cases[] = {
      {"", {}},
      {"\n\r\n", {}},
      {"a", {{"a"}}},
      {"a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}},
      {"a,b\r\nc,d", {{"a", "b"}, {"c", "d"}}},
      {"a\n\n\nb\n", {{"a"}, {"b"}}},
      {",\n", {{"", ""}}},
      {"a,", {{"a", ""}}},
      {"\"\"\n", {{""}}},
      {"\"a,b\",\"c\"\"d\",\"e\nf\"\r\n1", {{"a,b", "c\"d", "e\nf"}, {"1"}}},
      {"\"a\rb\",c\n", {{"a\rb", "c"}}},
      {" a , b\n", {{" a ", " b"}}},
      {"\xEF\xBB\xBF"
       "a,b\n",
       {{"a", "b"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(read(c.text) == c.records);
  }
}

TEST_CASE("what is no CSV is refused with its line and column") {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"a,b\"c\n", "line 1, column 2: a quote within"},
      {"a\nb,\"c\"d\n", "line 2, column 2: text after the closing quote"},
      {"a\n\n\"b", "line 3, column 1: the quoted field is not closed"},
      {"a\rb\n", "line 1, column 1: a carriage return without line feed"},
      {"\"x\ny\"\n\"a\"\r,b", "line 3, column 1: a carriage return"},
      {"a\r", "line 1, column 1: a carriage return"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)read(c.text); }),
                   c.error));
  }
}

TEST_CASE("a line is bounded, whatever it is made of") {
  std::size_t most = CsvReader::kMaxRecord;
  CHECK(
      read(std::string(most - 1, '7') + "\n" + std::string(most, '7')).size() ==
      2);
  for (char c : {'7', ',', '\n'}) {
    std::string text = "\"" + std::string(most, c) + "\"";
    if (c == ',') text = std::string(most + 1, c);
    CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)read(text); }),
                   "longer than"));
  }
}

}  // namespace
}  // namespace quorate
