// From bytes to a request, on top of Beast's parser, which calls back for every
// part. Internal to server/http.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/beast/http/basic_parser.hpp>

#include "base/bytes.h"
#include "server/http/message.h"

namespace quorate {

// Where the parts of a body go.
class BodyReceiver {
 public:
  virtual ~BodyReceiver() = default;
  // What this throws comes out of parse_body().
  virtual void receive_body(ByteView bytes) = 0;
};

// For one request. The whole head is parsed at once: given in pieces, Beast
// would take a head of any length, field by field.
class RequestParser final
    : private boost::beast::http::basic_parser</*isRequest=*/true> {
 public:
  explicit RequestParser(BodyReceiver& receiver);

  // bytes: begins with a head that ends in an empty line. Returns how many of
  // them the head has. Throws corrupt.
  std::size_t parse_head(std::string_view bytes);
  // Takes what it can of a body; what it leaves must be given again, in front
  // of more. Throws corrupt, and what the receiver throws.
  std::size_t parse_body(std::string_view bytes);

  // After parse_head():
  Request& request() { return request_; }
  const std::string& target() const { return target_; }
  bool is_complete() const { return is_done(); }
  bool wants_keep_alive() const { return keep_alive(); }
  bool is_http_1_0() const { return is_http_1_0_; }
  // How many bytes of the body are still to come; nullopt if it is chunked.
  std::optional<std::uint64_t> body_left() const;

 private:
  using Text = boost::beast::string_view;
  using Code = boost::beast::error_code;
  using Verb = boost::beast::http::verb;
  using Field = boost::beast::http::field;

  std::size_t parse(std::string_view bytes, const char* what);

  void on_request_impl(Verb verb, Text method, Text target, int version,
                       Code& error) override;
  void on_response_impl(int, Text, int, Code&) override {}
  void on_field_impl(Field field, Text name, Text value, Code& error) override;
  void on_header_impl(Code&) override { is_head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&,
                         Code&) override {}
  std::size_t on_body_impl(Text body, Code& error) override;
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t left, Text body,
                                 Code& error) override;
  void on_finish_impl(Code&) override {}

  BodyReceiver& receiver_;
  Request request_;
  std::string target_;
  bool is_http_1_0_ = false;
  bool is_head_done_ = false;
};

}  // namespace quorate
