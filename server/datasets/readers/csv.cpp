#include "server/datasets/readers/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kChunk = 1 << 16;
constexpr int kEnd = -1;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool ends_field(int c) {
  return c == ',' || c == '\n' || c == kEnd;
}

}  // namespace

CsvReader::CsvReader(DataFile& file) : file_(file) {
  buffer_.resize(kChunk);
  buffer_.resize(file_.read(buffer_));
  if (as_text(buffer_).starts_with(kByteOrderMark)) {
    buffer_at_ = kByteOrderMark.size();
  }
}

void CsvReader::fail(std::size_t column, const std::string& why) const {
  file_.fail(
      fmt::format("line {}, column {}: {}", record_line_, column + 1, why));
}

int CsvReader::get() {
  if (buffer_at_ == buffer_.size()) {
    buffer_.resize(kChunk);
    buffer_.resize(file_.read(buffer_));
    buffer_at_ = 0;
    if (buffer_.empty()) return kEnd;
  }
  if (++record_bytes_ > kMaxRecord) {
    fail(ends_.size(),
         fmt::format("the line is longer than {} bytes", kMaxRecord));
  }
  int c = buffer_[buffer_at_++];
  if (c == '\n') ++next_line_;
  return c;
}

bool CsvReader::next() {
  do {
    if (!read_record()) return false;
  } while (record_bytes_ <= 2 && fields_.size() == 1 && fields_[0].empty());
  return true;
}

bool CsvReader::read_record() {
  text_.clear();
  ends_.clear();
  record_line_ = next_line_;
  record_bytes_ = 0;
  int c = get();
  if (c == kEnd) return false;
  for (;;) {
    c = c == '"' ? read_quoted() : read_plain(c);
    ends_.push_back(text_.size());
    if (c != ',') break;
    c = get();
  }
  fields_.clear();
  std::size_t begin = 0;
  for (std::size_t end : ends_) {
    fields_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  return true;
}

// What ends the field that begins with c: a comma, a line end, or the end.
int CsvReader::read_plain(int c) {
  while (!ends_field(c) && c != '\r') {
    if (c == '"') fail(ends_.size(), "a quote within a field without quotes");
    text_.push_back(static_cast<char>(c));
    c = get();
  }
  return end_of_line(c);
}

int CsvReader::read_quoted() {
  for (;;) {
    int c = get();
    if (c == kEnd) fail(ends_.size(), "the quoted field is not closed");
    if (c == '"') {
      c = end_of_line(get());
      if (ends_field(c)) return c;
      if (c != '"') fail(ends_.size(), "text after the closing quote");
    }
    text_.push_back(static_cast<char>(c));
  }
}

// LF for CR LF; any other c as it is.
int CsvReader::end_of_line(int c) {
  if (c != '\r') return c;
  if (get() != '\n') fail(ends_.size(), "a carriage return without line feed");
  return '\n';
}

}  // namespace quorate
