#include "server/http/message.h"

#include <algorithm>
#include <cmath>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "server/http/text.h"

namespace quorate {
namespace {

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable:
      return 503;
    case ErrorKind::corrupt:
      return 400;
    case ErrorKind::denied:
      return 403;
    case ErrorKind::unsupported:
      return 501;
    case ErrorKind::usage:
      return 400;
    case ErrorKind::io:
      return 500;
  }
  return 500;
}

template <class Equal>
std::string_view find_value(const std::vector<NameValue>& pairs, Equal equal) {
  auto found = std::find_if(pairs.begin(), pairs.end(), equal);
  return found == pairs.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::del:
      return "DELETE";
    case Method::other:
      return "other";
  }
  return "other";
}

std::string_view Request::header(std::string_view name) const {
  return find_value(headers, [name](const NameValue& pair) {
    return equal_without_case(pair.first, name);
  });
}

std::string_view Request::query_value(std::string_view name) const {
  return find_value(
      query, [name](const NameValue& pair) { return pair.first == name; });
}

std::string_view Request::path_value(std::string_view name) const {
  return find_value(path_values, [name](const NameValue& pair) {
    return pair.first == name;
  });
}

Response no_store(Response response) {
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

Response text_response(int status, std::string_view content_type,
                       std::string body) {
  Response response;
  response.status = status;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

Response json_response(int status, std::string json) {
  return text_response(status, "application/json", std::move(json));
}

Response file_response(const fs::path& path, std::string_view content_type,
                       std::string_view etag) {
  FileBody body;
  body.file = open_file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(body.file.get(), &status) != 0) {
    throw_errno("reading the size of " + path.string());
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io,
                "sending " + path.string() + ": it is not a regular file");
  }
  body.length = static_cast<std::uint64_t>(status.st_size);
  Response response;
  response.content_type = content_type;
  if (!etag.empty()) response.etag = '"' + std::string(etag) + '"';
  response.body = std::move(body);
  return response;
}

Response error_response(int status, ErrorKind kind, std::string_view message,
                        std::optional<Seconds> retry_after) {
  Response response;
  nlohmann::ordered_json body{
      {"kind", name_of(kind)}, {"message", message}, {"retry_after", nullptr}};
  if (retry_after) {
    // Whole seconds, because the header knows no others; rounded up, because
    // a client that comes early is only sent away again.
    const auto seconds = static_cast<std::uint64_t>(
        std::clamp(std::ceil(retry_after->count()), 0.0, 1e9));
    body["retry_after"] = seconds;
    response.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
  response.status = status;
  response.content_type = "application/json";
  // The message may have a client's bytes in it, which need not be text.
  response.body =
      body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return response;
}

Response error_response(ErrorKind kind, std::string_view message,
                        std::optional<Seconds> retry_after) {
  return error_response(status_of(kind), kind, message, retry_after);
}

}  // namespace quorate
