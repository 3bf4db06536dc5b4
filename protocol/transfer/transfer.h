// The seam to the network of those who ask a server: one HTTP request, one
// reply. Clients ask their projects, and servers their peers. The shipped one
// is curl_transfer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"

namespace quorate {

// Limits that the connections of one program keep, also for what is under way,
// and what they have moved. Shared by several threads.
struct Network {
  std::atomic<std::uint64_t> down_limit{0};  // bytes a second; 0: none
  std::atomic<std::uint64_t> up_limit{0};
  std::atomic<std::uint64_t> received{0};  // bytes of bodies
  std::atomic<std::uint64_t> sent{0};
};

enum class HttpMethod { get, head, put, post };

struct HttpReply {
  int status = 0;
  std::string body;                            // empty if a sink took it
  std::uint64_t first_byte = 0;                // of Content-Range; 0 without
  std::optional<std::uint64_t> upload_offset;  // header Upload-Offset
  Seconds retry_after{0};                      // header Retry-After
};

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string path;          // "/v1/work"
  std::string bearer;        // token; empty: none
  std::string content_type;  // of the body
  ByteView body;             // borrowed until send() returns
  // GET: bytes from here on. PUT: where the body stands in a file of `total`.
  std::uint64_t from = 0;
  std::optional<std::uint64_t> total;
  // GET: with its quotes. The reply is 304 if the content is still that one;
  // empty: unknown.
  std::string known_etag;
  // Takes the body of a reply with status 200 or 206, piece by piece; what it
  // throws ends the request and leaves send(). Without it, and for every other
  // status, the body is collected, up to 1 MiB.
  std::function<void(const HttpReply& head, ByteView piece)> sink;
  // For the whole exchange; 0: as long as bytes flow.
  Seconds timeout{0};
};

// Used by one thread.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // The reply, whatever its status. Throws unavailable when there is none
  // (also when `stop` was requested: then at once), denied when the server is
  // not the one that we trust, corrupt for a body beyond bounds.
  virtual HttpReply send(const HttpRequest& request,
                         const std::stop_token& stop) = 0;
};

using TransferFactory = std::function<std::unique_ptr<Transfer>()>;

}  // namespace quorate
