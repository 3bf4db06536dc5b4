#include "client/exchange/object_transfer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "client/machine/settings.h"
#include "protocol/transfer/download.h"
#include "protocol/transfer/refusal.h"

namespace quorate::client {
namespace {

// A server that moves the start of an upload this often is not making sense.
constexpr int kMostUploadStarts = 5;

std::string describe(const ObjectRef& object) {
  return fmt::format("download {} {}", name_of(object.kind),
                     object.hash.hex().substr(0, 16));
}

HttpRequest update_request(HttpMethod method, ResultId result) {
  HttpRequest request;
  request.method = method;
  request.path = fmt::format("/v1/results/{}/update", result);
  return request;
}

bool is_gone(const HttpReply& reply) {
  return reply.status == 404 || reply.status == 410;
}

// How much of the payload the server has; nothing if it knows of none.
std::uint64_t uploaded_size(ProjectApi& api, ResultId result) {
  HttpReply reply = api.exchange(update_request(HttpMethod::head, result));
  if (is_gone(reply)) return 0;
  if (reply.status >= 300) {
    throw_refusal(reply, fmt::format("resume the upload of result {}", result));
  }
  return reply.upload_offset.value_or(0);
}

}  // namespace

std::string little_disk_text(const fs::path& folder, std::uint64_t room,
                             std::uint64_t needed) {
  constexpr std::uint64_t kMega = 1'000'000;
  return fmt::format(
      "too little disk at {}: {} MB free, {} MB are needed and {} MB kept "
      "free: free some, or use --dir elsewhere",
      folder.string(), room / kMega, (needed + kMega - 1) / kMega,
      kDiskReserveBytes / kMega);
}

void expect_room(const ObjectRef& object, const fs::path& part) {
  std::uint64_t room = free_space(part.parent_path());
  if (room < object.size || room - object.size < kDiskReserveBytes) {
    throw Error(ErrorKind::io,
                little_disk_text(part.parent_path(), room, object.size));
  }
}

void download_object(ProjectApi& api, const ObjectRef& object,
                     const fs::path& part) {
  expect_room(object, part);
  download(
      [&api](HttpRequest request) { return api.exchange(std::move(request)); },
      {"/v1/objects/" + object.hash.hex(), object.hash, object.size,
       describe(object)},
      part);
}

UploadAnswer upload_update(ProjectApi& api, ResultId result, ByteView payload,
                           bool resumes) {
  std::uint64_t from = resumes ? uploaded_size(api, result) : 0;
  for (int start = 0; start < kMostUploadStarts; ++start) {
    if (from > payload.size()) from = 0;
    if (from == payload.size()) return {true, api.last_session()};
    HttpRequest request = update_request(HttpMethod::put, result);
    request.content_type = "application/octet-stream";
    request.body = payload.subspan(from);
    request.from = from;
    request.total = payload.size();
    HttpReply reply = api.exchange(std::move(request));
    if (is_gone(reply)) return {false, ""};
    if (reply.status < 300) return {true, api.last_session()};
    if (reply.status != 409 && reply.status != 416) {
      throw_refusal(reply, fmt::format("upload result {}", result));
    }
    from = uploaded_size(api, result);  // the server is elsewhere
  }
  throw Error(ErrorKind::unavailable,
              fmt::format("upload result {}: the server moved its start {} "
                          "times",
                          result, kMostUploadStarts));
}

}  // namespace quorate::client
