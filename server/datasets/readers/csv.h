// Records of comma-separated values, one after another, as RFC 4180 has them:
// fields between commas; in double quotes, "" standing for one of them, also
// commas and line ends; lines end with LF or CR LF. Empty lines are passed
// over, and a UTF-8 byte order mark at the beginning. Nothing is guessed:
// a quote within a bare field is an error.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/datasets/readers/data_file.h"

namespace quorate {

class CsvReader {
 public:
  // Bytes of one record; more is an error.
  static constexpr std::size_t kMaxRecord = 4 << 20;

  explicit CsvReader(DataFile& file);

  // Goes to the next record; false at the end. Throws corrupt, naming file,
  // line and column, and what DataFile throws.
  bool next();
  // Of this record, valid until the next call.
  std::span<const std::string_view> fields() const { return fields_; }
  // Throws corrupt, naming the record's line, and the column, from 0.
  [[noreturn]] void fail(std::size_t column, const std::string& why) const;

 private:
  int get();
  bool read_record();
  int read_plain(int c);
  int read_quoted();
  int end_of_line(int c);

  DataFile& file_;
  Bytes buffer_;
  std::size_t buffer_at_ = 0;
  std::uint64_t next_line_ = 1;
  std::uint64_t record_line_ = 1;
  std::size_t record_bytes_ = 0;
  std::string text_;               // of all fields, one after another
  std::vector<std::size_t> ends_;  // of each field in text_
  std::vector<std::string_view> fields_;
};

}  // namespace quorate
