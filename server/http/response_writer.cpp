#include "server/http/response_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace quorate {
namespace {

// A body up to this size is copied behind its head: one packet, one call.
constexpr std::size_t kMaxCopiedBytes = 32 << 10;

ByteView memory_of(const std::variant<std::string, Bytes, FileBody>& body) {
  if (auto* text = std::get_if<std::string>(&body)) return as_bytes(*text);
  if (auto* bytes = std::get_if<Bytes>(&body)) return *bytes;
  return {};
}

std::uint64_t size_of(const std::variant<std::string, Bytes, FileBody>& body) {
  if (auto* file = std::get_if<FileBody>(&body)) return file->length;
  return memory_of(body).size();
}

// A line break in a value that came from outside would let it write headers of
// its own, or a whole response.
void append_field(std::string& head, std::string_view name,
                  std::string_view value) {
  std::size_t begin = head.size();
  head += name;
  head += ": ";
  head += value;
  for (std::size_t i = begin; i < head.size(); ++i) {
    auto c = static_cast<unsigned char>(head[i]);
    if ((c < 0x20 && c != '\t') || c == 0x7f) head[i] = '_';
  }
  head += "\r\n";
}

bool has_no_body(int status) {
  return status == 204 || status == 304;
}

}  // namespace

std::uint64_t bytes_in_memory(
    const std::variant<std::string, Bytes, FileBody>& body) {
  return memory_of(body).size();
}

// Sets status, body_at_ and body_left_.
void ResponseWriter::choose_part(Response& response,
                                 const Conditions& conditions) {
  std::uint64_t size = size_of(response.body);
  body_at_ = 0;
  body_left_ = size;
  if (response.status == 200 && is_known(conditions, response.etag)) {
    response.status = 304;
  }
  auto* file = std::get_if<FileBody>(&response.body);
  if (!file) return;
  body_at_ = file->offset;
  response.headers.emplace_back("Accept-Ranges", "bytes");
  if (response.status != 200) return;
  ContentRange part = content_range(conditions, response.etag, size);
  if (part.status == 200) return;
  response.status = part.status;
  response.headers.emplace_back(
      "Content-Range", part.status == 416
                           ? fmt::format("bytes */{}", size)
                           : fmt::format("bytes {}-{}/{}", part.first,
                                         part.first + part.length - 1, size));
  body_at_ += part.first;
  body_left_ = part.length;
}

void ResponseWriter::start(Response response, const Conditions& conditions,
                           std::string_view date, bool keep_alive) {
  choose_part(response, conditions);
  head_.reserve(head_.size() + 256);
  head_ += fmt::format("HTTP/1.1 {} {}\r\n", response.status,
                       reason_of(response.status));
  append_field(head_, "Date", date);
  if (!response.content_type.empty()) {
    append_field(head_, "Content-Type", response.content_type);
  }
  if (!response.etag.empty()) append_field(head_, "ETag", response.etag);
  for (const auto& [name, value] : response.headers) {
    append_field(head_, name, value);
  }
  if (!has_no_body(response.status)) {
    append_field(head_, "Content-Length", std::to_string(body_left_));
  }
  append_field(head_, "Connection", keep_alive ? "keep-alive" : "close");
  head_ += "\r\n";

  if (conditions.method == Method::head || has_no_body(response.status)) {
    body_left_ = 0;
    return;
  }
  ByteView memory = memory_of(response.body);
  if (memory.size() > kMaxCopiedBytes ||
      std::holds_alternative<FileBody>(response.body)) {
    body_ = std::move(response.body);
    return;
  }
  head_ += as_text(memory);
  body_left_ = 0;
}

void ResponseWriter::start_events(std::string_view date) {
  head_ +=
      "HTTP/1.1 200 OK\r\n"
      "Content-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\n"
      "X-Accel-Buffering: no\r\n"  // nginx would hold the events back
      "Connection: close\r\n";
  append_field(head_, "Date", date);
  head_ += "\r\n";
}

std::uint64_t ResponseWriter::unsent_bytes() const {
  return head_.size() - head_sent_ + body_left_;
}

IoResult ResponseWriter::write_some(Transport& transport,
                                    std::span<std::uint8_t> scratch) {
  IoResult result;
  if (head_sent_ < head_.size()) {
    ByteView rest = as_bytes(head_).subspan(head_sent_);
    result = transport.write(rest, body_left_ > 0);
    head_sent_ += result.bytes;
  } else {
    if (auto* file = std::get_if<FileBody>(&body_)) {
      result =
          transport.send_file(file->file.get(), body_at_, body_left_, scratch);
    } else {
      result = transport.write(memory_of(body_).subspan(body_at_, body_left_),
                               false);
    }
    body_at_ += result.bytes;
    body_left_ -= result.bytes;
  }
  free_when_empty();
  return result;
}

// An idle connection should own no buffers.
void ResponseWriter::free_when_empty() {
  if (head_sent_ == head_.size() && head_sent_ > 0) {
    head_ = std::string();
    head_sent_ = 0;
  }
  if (is_empty()) body_ = std::string();
}

}  // namespace quorate
