#include "server/http/request_parser.h"

#include <limits>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "base/error.h"
#include "server/http/text.h"

namespace quorate {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxFields = 100;
// The connection bounds heads itself, before it calls.
constexpr std::uint32_t kNoLimit = 1U << 30;

std::string text(boost::beast::string_view view) {
  return std::string(view.data(), view.size());
}

ByteView bytes_of(boost::beast::string_view view) {
  return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
}

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::get;
    case http::verb::head:
      return Method::head;
    case http::verb::post:
      return Method::post;
    case http::verb::put:
      return Method::put;
    case http::verb::delete_:
      return Method::del;
    default:
      return Method::other;
  }
}

}  // namespace

RequestParser::RequestParser(BodyReceiver& receiver) : receiver_(receiver) {
  header_limit(kNoLimit);
  // Not boost::none: Beast compares with it, and every length is more.
  body_limit(std::numeric_limits<std::uint64_t>::max());
}

std::size_t RequestParser::parse(std::string_view bytes, const char* what) {
  Code error;
  std::size_t used =
      put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) {
    throw Error(ErrorKind::corrupt, std::string(what) + error.message());
  }
  return used;
}

std::size_t RequestParser::parse_head(std::string_view bytes) {
  // RFC 9112, section 5.2. Beast would join the lines; a proxy in front that
  // reads them otherwise has let another request pass than we see.
  if (bytes.find("\r\n ") != bytes.npos || bytes.find("\r\n\t") != bytes.npos) {
    throw Error(ErrorKind::corrupt,
                "reading the request's head: a header line is folded: send it "
                "as one line");
  }
  eager(false);
  std::size_t used = parse(bytes, "reading the request's head: ");
  if (!is_head_done_) {
    throw Error(ErrorKind::corrupt, "reading the request's head: incomplete");
  }
  // Only "chunked" alone: what else a body is wrapped in nobody would undo,
  // and a length that two readers see differently smuggles requests.
  const std::string encoding = joined_values(request_, "transfer-encoding");
  if (!encoding.empty() && !equal_without_case(encoding, "chunked")) {
    throw Error(ErrorKind::corrupt,
                "reading the request's head: unknown Transfer-Encoding");
  }
  eager(true);
  return used;
}

std::size_t RequestParser::parse_body(std::string_view bytes) {
  return parse(bytes, "reading the request's body: ");
}

std::optional<std::uint64_t> RequestParser::body_left() const {
  if (is_done()) return 0;
  if (chunked()) return {};
  return content_length_remaining().value_or(0);
}

void RequestParser::on_request_impl(Verb verb, Text, Text target, int version,
                                    Code&) {
  request_.method = method_of(verb);
  target_ = text(target);
  is_http_1_0_ = version < 11;
}

void RequestParser::on_field_impl(Field, Text name, Text value, Code& error) {
  if (is_head_done_) return;  // trailers
  if (request_.headers.size() == kMaxFields) {
    error = http::error::header_limit;
    return;
  }
  request_.headers.emplace_back(text(name), text(value));
}

std::size_t RequestParser::on_body_impl(Text body, Code&) {
  receiver_.receive_body(bytes_of(body));
  return body.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, Text body, Code&) {
  receiver_.receive_body(bytes_of(body));
  return body.size();
}

}  // namespace quorate
