// What handlers see of HTTP: the request that came and the response that goes.
// No socket, no parser: these are values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

namespace quorate {

enum class Method { get, head, post, put, del, other };

std::string_view name_of(Method method);

using NameValue = std::pair<std::string, std::string>;

struct Request {
  Method method = Method::other;
  std::string path;  // percent-decoded, without the query: "/v1/work"
  std::vector<NameValue> query;        // decoded, in order
  std::vector<NameValue> path_values;  // of the route's {names}
  std::vector<NameValue> headers;      // in order
  std::string remote_address;          // "192.0.2.1", "2001:db8::1" or "unix"
  // Of a unix socket: the user whose process is at the other end, as the
  // kernel says.
  std::optional<std::uint32_t> local_user;
  Bytes body;  // empty when a BodySink took it

  // The value, or "" when absent: of the first header of that name (without
  // regard to case), of the first query parameter, of a {name} in the path.
  std::string_view header(std::string_view name) const;
  std::string_view query_value(std::string_view name) const;
  std::string_view path_value(std::string_view name) const;
};

// Part of an open file.
struct FileBody {
  FileDescriptor file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// The connection adds Content-Length, Date and Connection; for a response with
// status 200 it answers If-None-Match from etag (304), and Range for files
// (206, 416).
struct Response {
  int status = 200;
  std::string content_type;
  std::string etag;  // with its quotes; empty: none
  std::vector<NameValue> headers;
  std::variant<std::string, Bytes, FileBody> body;
};

Response text_response(int status, std::string_view content_type,
                       std::string body);
Response json_response(int status, std::string json);

// The whole of a file, sent without copying where the system can.
// etag: without quotes, for example the content's hash; empty for none.
// Throws io if the file cannot be opened.
Response file_response(const fs::path& path, std::string_view content_type,
                       std::string_view etag);

// What it has of secrets is for whoever asked: no cache keeps it.
Response no_store(Response response);

// The JSON {"kind", "message", "retry_after"} that every error is told with,
// and a Retry-After header when there is one.
Response error_response(int status, ErrorKind kind, std::string_view message,
                        std::optional<Seconds> retry_after = {});
// With the status that fits the kind: unavailable 503, corrupt and usage 400,
// denied 403, unsupported 501, io 500.
Response error_response(ErrorKind kind, std::string_view message,
                        std::optional<Seconds> retry_after = {});

}  // namespace quorate
