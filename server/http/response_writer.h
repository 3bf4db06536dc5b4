// Puts responses on the wire. Internal to server/http.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "server/http/message.h"
#include "server/http/text.h"
#include "server/http/tls/transport.h"

namespace quorate {

// Of a body that lies in memory; 0 of a file.
std::uint64_t bytes_in_memory(
    const std::variant<std::string, Bytes, FileBody>& body);

class ResponseWriter {
 public:
  // Queues a whole response, with 304, 206 or 416 in place of 200 where
  // `conditions` call for it. date: the value of the Date header.
  void start(Response response, const Conditions& conditions,
             std::string_view date, bool keep_alive);
  // Queues the head of an event stream; its events follow with queue().
  void start_events(std::string_view date);
  void queue(std::string_view text) { head_ += text; }

  bool is_empty() const { return unsent_bytes() == 0; }
  std::uint64_t unsent_bytes() const;
  // Writes once. Not to be called when empty.
  IoResult write_some(Transport& transport, std::span<std::uint8_t> scratch);

 private:
  void choose_part(Response& response, const Conditions& conditions);
  void free_when_empty();

  std::string head_;  // and what fits behind it
  std::size_t head_sent_ = 0;
  std::variant<std::string, Bytes, FileBody> body_;
  std::uint64_t body_at_ = 0;
  std::uint64_t body_left_ = 0;
};

}  // namespace quorate
