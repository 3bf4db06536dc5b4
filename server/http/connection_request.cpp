// How a connection reads: who its client is, then requests, head and body.
#include <algorithm>
#include <utility>

// Asio 1.74 needs <utility> first.
#include <fmt/format.h>

#include "base/log.h"
#include "server/http/clients/forwarded.h"
#include "server/http/clients/places.h"
#include "server/http/connection.h"
#include "server/http/io_thread.h"
#include "server/http/server.h"

namespace quorate {
namespace {

// What a read may bring beyond the end of a body that has no stated length.
constexpr std::size_t kMaxChunkedRead = 16 << 10;

// As the handshake of TLS begins: told at once, who mistook the door need not
// wait until the time for a head is over.
bool is_no_method(char first) {
  auto byte = static_cast<unsigned char>(first);
  return (byte < 0x20 && byte != '\r') || byte >= 0x7f;
}

constexpr Seconds kBusyRetry{30};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

// Of the bytes of the header alone: the next ones are for TLS or HTTP.
bool Connection::step_proxy_header() {
  const std::span<std::uint8_t> room =
      thread_.scratch().first(proxy_header_->wanted());
  const IoResult read = transport_.read_plain(room);
  if (read.status != IoStatus::done) return wait(read.status);
  try {
    proxy_header_->take(room.first(read.bytes));
  } catch (const Error& error) {
    log_warning("http_proxy_refused",
                {{"proxy", remote_.address}, {"error", error.what()}});
    close();
    return false;
  }
  if (proxy_header_->wanted() > 0) return true;
  state_ = State::handshake;
  if (const auto& client = proxy_header_->client()) meet(text_of(*client));
  proxy_header_.reset();
  return state_ != State::closed;
}

// The connection is this client's; it may have too many.
void Connection::meet(std::string client) {
  HttpShared& shared = thread_.shared();
  remote_.address = std::move(client);
  remote_.is_proxy = shared.is_trusted(remote_.address);
  if (remote_.is_proxy) return;
  if (shared.admission.settle(remote_.ticket, places_of(remote_.address))) {
    return;
  }
  ++shared.connections_refused;
  if (listener_.tls) return close();
  keep_alive_ = false;
  respond(error_response(503, ErrorKind::unavailable,
                         "too many connections from this address", kBusyRetry));
}

bool Connection::step_head() {
  // RFC 9112, section 2.2: empty lines before a request mean nothing.
  while (input_.starts_with("\r\n")) input_.erase(0, 2);
  if (!input_.empty() && is_no_method(input_.front())) {
    refuse_head(400, ErrorKind::corrupt,
                "expected plain HTTP, not TLS: does the address begin with "
                "https:// where it should be http://?");
    return true;
  }
  std::size_t end = input_.find("\r\n\r\n", searched_);
  bool is_whole = end != std::string::npos;
  if (is_whole ? end + 4 > limits().max_head_bytes
               : input_.size() >= limits().max_head_bytes) {
    refuse_head(431, ErrorKind::denied,
                fmt::format("the request's head is longer than {} bytes",
                            limits().max_head_bytes));
  } else if (is_whole) {
    start_request(end + 4);
  } else {
    searched_ = std::max<std::size_t>(input_.size(), 3) - 3;
    return read_more();
  }
  return true;
}

void Connection::refuse_head(int status, ErrorKind kind,
                             const std::string& message) {
  keep_alive_ = false;
  conditions_ = {};
  respond(error_response(status, kind, message));
}

void Connection::start_request(std::size_t head_size) {
  ++thread_.shared().requests;
  keep_alive_ = false;  // until all is understood
  conditions_ = {};
  route_ = nullptr;
  body_bytes_ = 0;
  searched_ = 0;
  parser_.emplace(static_cast<BodyReceiver&>(*this));
  try {
    parser_->parse_head(std::string_view(input_).substr(0, head_size));
    input_.erase(0, head_size);
    Request& request = parser_->request();
    conditions_ = conditions_of(request);
    auto target = parse_target(parser_->target());
    if (!target) {
      throw Error(ErrorKind::corrupt,
                  "reading the request's path: expected /A/B?NAME=VALUE "
                  "without \"..\", broken %-signs, control characters, or "
                  "more than 64 values");
    }
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    request.remote_address = client_of(request);
    request.local_user = remote_.user;
    keep_alive_ = parser_->wants_keep_alive();
    RouteMatch match = listener_.router.match(request.method, target->segments,
                                              request.path_values);
    route_ = match.route;
    if (route_) return expect_body();
    Response response = error_response(
        match.allow.empty() ? 404 : 405, ErrorKind::unsupported,
        fmt::format(
            "{}: {}", request.path,
            match.allow.empty() ? "no such page" : "not with this method"));
    if (!match.allow.empty()) {
      response.headers.emplace_back("Allow", match.allow);
    }
    respond(std::move(response));
  } catch (const std::exception& error) {
    refuse(error);
  }
}

std::string Connection::client_of(const Request& request) const {
  if (!remote_.is_proxy) return remote_.address;
  return forwarded_address(joined_values(request, "x-forwarded-for"),
                           remote_.address,
                           thread_.shared().options.trusted_proxies);
}

// Decides from the head whether the body may come, and where it goes.
void Connection::expect_body() {
  Request& request = parser_->request();
  if (parser_->body_left().value_or(0) > route_->max_body_bytes) {
    return respond(error_response(
        413, ErrorKind::denied,
        fmt::format("{}: the body has {} bytes, allowed are {}", request.path,
                    *parser_->body_left(), route_->max_body_bytes)));
  }
  std::string_view expect = request.header("expect");
  bool asks_first = equal_without_case(expect, "100-continue");
  if (!expect.empty() && !asks_first) {
    return respond(error_response(417, ErrorKind::unsupported,
                                  "only 100-continue can be expected"));
  }
  if (route_->open_sink) {
    auto opened = route_->open_sink(request);
    if (auto* response = std::get_if<Response>(&opened)) {
      return respond(std::move(*response));
    }
    sink_ = std::move(std::get<std::unique_ptr<BodySink>>(opened));
  }
  if (parser_->is_complete()) return call_handler();
  // A large body takes as long as it takes: its rate is watched instead.
  deadline_.reset();
  if (!sink_) set_deadline(limits().body_deadline);
  rate_.start(thread_.now());
  state_ = State::body;
  if (asks_first && input_.empty() && !parser_->is_http_1_0()) {
    writer_.queue(kContinue);
    state_ = State::write;
    after_write_ = State::body;
  }
}

bool Connection::step_body() {
  if (!input_.empty()) {
    std::string bytes = std::exchange(input_, {});
    take_body(bytes);
    if (state_ != State::body) return true;
  }
  // No more than belongs to this body: what follows must stay in the socket.
  auto left = parser_->body_left();
  std::span<std::uint8_t> room = thread_.scratch();
  room = room.first(
      std::min<std::uint64_t>(left.value_or(kMaxChunkedRead), room.size()));
  IoResult read = transport_.read(room);
  if (read.status != IoStatus::done) return wait(read.status);
  rate_.add(read.bytes);
  std::string_view bytes = as_text(room.first(read.bytes));
  if (input_.empty()) {
    take_body(bytes);
  } else {
    input_ += bytes;
  }
  return true;
}

// Parses a part of the body; keeps in input_ what the parser leaves.
void Connection::take_body(std::string_view bytes) {
  try {
    bytes.remove_prefix(parser_->parse_body(bytes));
    input_ = bytes;
    if (parser_->is_complete()) return call_handler();
    if (input_.size() >= limits().max_head_bytes) {
      throw Error(ErrorKind::corrupt, "the head of a chunk is too long");
    }
  } catch (const std::exception& error) {
    refuse(error);
  }
}

void Connection::receive_body(ByteView bytes) {
  body_bytes_ += bytes.size();
  if (body_bytes_ > route_->max_body_bytes) {
    throw Error(ErrorKind::denied, fmt::format("the body is over {} bytes",
                                               route_->max_body_bytes));
  }
  if (sink_) return sink_->write(bytes);
  const std::uint64_t small = limits().small_body_bytes;
  if (body_bytes_ > small && !body_share_.grow_to(body_bytes_ - small)) {
    throw Error(ErrorKind::unavailable,
                "too many large requests are under way: try again");
  }
  Bytes& body = parser_->request().body;
  // Growing by doubling would take up to twice as much, besides what it left.
  if (body_bytes_ > small && body.size() <= small) {
    body.reserve(body.size() +
                 std::min(parser_->body_left().value_or(bytes.size()),
                          route_->max_body_bytes));
  }
  body.insert(body.end(), bytes.begin(), bytes.end());
}

}  // namespace quorate
