#include "server/http/connection.h"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/log.h"
#include "server/http/io_thread.h"
#include "server/http/server.h"

namespace quorate {
namespace {

// Steps of one turn, before the other connections have theirs. The longest is
// 1 MB of sendfile.
constexpr int kMaxStepsAtOnce = 8;

}  // namespace

Connection::Connection(IoThread& thread, const Listener& listener,
                       FileDescriptor socket, Remote remote)
    : thread_(thread),
      listener_(listener),
      remote_(std::move(remote)),
      socket_(thread.io(), socket.get()),
      transport_(socket.release(), listener.tls.get(), thread.shared().traffic),
      rate_(limits().min_bytes_per_second, limits().rate_window),
      body_share_(thread.shared().body_budget),
      answer_share_(thread.shared().answer_budget) {
  set_deadline(limits().head_deadline);
  if (!remote_.is_proxy || !thread.shared().options.proxy_protocol) return;
  proxy_header_.emplace();
  state_ = State::proxy_header;
}

Connection::~Connection() {
  if (exchange_) exchange_->abandon();
}

const HttpLimits& Connection::limits() const {
  return thread_.limits();
}

void Connection::set_deadline(Seconds from_now) {
  deadline_set_ = thread_.now();
  deadline_ = deadline_set_ + from_now;
}

bool Connection::is_idle() const {
  return state_ == State::proxy_header || state_ == State::handshake ||
         state_ == State::events || state_ == State::head;
}

// Steps until the socket or a handler must be waited for; failures end here.
void Connection::run() {
  try {
    int steps = 0;
    while (step()) {
      if (++steps == kMaxStepsAtOnce) return run_later();
    }
  } catch (const std::exception& error) {
    log_error("http_connection_failed",
              {{"client", remote_.address}, {"error", error.what()}});
    close();
  }
}

// True if another step can follow at once.
bool Connection::step() {
  switch (state_) {
    case State::proxy_header:
      return step_proxy_header();
    case State::handshake:
      return step_handshake();
    case State::head:
      return step_head();
    case State::body:
      return step_body();
    case State::answer:
      return step_answer();
    case State::write:
      return step_write();
    case State::events:
      return step_events();
    case State::linger:
      return step_linger();
    case State::closed:
      return false;
  }
  return false;
}

bool Connection::step_handshake() {
  IoStatus status = transport_.handshake().status;
  if (status != IoStatus::done) return wait(status);
  state_ = State::head;
  return true;
}

void Connection::call_handler() {
  state_ = State::answer;
  deadline_.reset();
  exchange_ = std::make_shared<Exchange>(thread_.io(), *this);
  try {
    if (sink_) {
      sink_->finish(parser_->request(), Responder(exchange_));
    } else {
      route_->handler(parser_->request(), Responder(exchange_));
    }
  } catch (const std::exception& error) {
    exchange_->fail(error_of(error));
  }
  sink_.reset();
  parser_.reset();
  exchange_->await_answer();
}

bool Connection::step_answer() {
  std::optional<Answer> answer = exchange_->take_answer();
  if (!answer) {
    // Reads on, to learn when the client goes; what it sends is kept.
    return input_.size() < limits().max_head_bytes && read_more();
  }
  if (auto* make = std::get_if<std::function<Response()>>(&*answer)) {
    answer = (*make)();
  }
  if (auto* response = std::get_if<Response>(&*answer)) {
    std::exchange(exchange_, nullptr)->complete();
    respond(std::move(*response));
    return true;
  }
  writer_.start_events(thread_.date());
  last_event_ = thread_.now();
  deadline_set_ = last_event_;
  state_ = State::events;
  if (conditions_.method == Method::head) {
    std::exchange(exchange_, nullptr)->complete();
    rate_.start(last_event_);
    state_ = State::write;
    after_write_ = State::linger;
  }
  return true;
}

Response Connection::fitting(Response response) {
  constexpr Seconds kLater{5};
  const std::uint64_t small = limits().small_body_bytes;
  const std::uint64_t bytes = bytes_in_memory(response.body);
  answer_share_.clear();
  if (bytes <= small || answer_share_.grow_to(bytes - small)) return response;
  return error_response(
      ErrorKind::unavailable,
      "too many large answers are under way: try again in 5 seconds", kLater);
}

void Connection::respond(Response response) {
  // A body that is not read to its end hides where the next request begins.
  bool is_read = !parser_ || parser_->is_complete();
  keep_alive_ = keep_alive_ && is_read && !is_stopping_;
  sink_.reset();
  parser_.reset();
  body_share_.clear();
  deadline_.reset();
  rate_.start(thread_.now());
  writer_.start(fitting(std::move(response)), conditions_, thread_.date(),
                keep_alive_);
  state_ = State::write;
  after_write_ = keep_alive_ ? State::head : State::linger;
}

void Connection::refuse(const std::exception& error) {
  respond(error_of(error));
}

Response Connection::error_of(const std::exception& error) const {
  if (route_ && body_bytes_ > route_->max_body_bytes) {
    return error_response(413, ErrorKind::denied, error.what());
  }
  auto* known = dynamic_cast<const Error*>(&error);
  if (known && (known->kind() != ErrorKind::io || listener_.is_unix)) {
    return error_response(known->kind(), known->what());
  }
  // What went wrong inside, with its paths, is the operator's business.
  log_error("http_request_failed", {{"error", error.what()}});
  return error_response(ErrorKind::io, "the server failed; its log says why");
}

bool Connection::step_write() {
  IoResult result = writer_.write_some(transport_, thread_.scratch());
  if (result.status != IoStatus::done) return wait(result.status);
  rate_.add(result.bytes);
  if (!writer_.is_empty()) return true;
  answer_share_.clear();
  switch (after_write_) {
    case State::body:
      rate_.start(thread_.now());
      state_ = State::body;
      break;
    case State::head:
      next_request();
      // Most clients now wait for the answer: reading at once would fail.
      if (state_ == State::head && input_.empty() &&
          !transport_.has_buffered()) {
        return wait(IoStatus::want_read);
      }
      break;
    default:
      linger();
  }
  return true;
}

void Connection::next_request() {
  if (is_stopping_) return linger();
  state_ = State::head;
  set_deadline(input_.empty() ? limits().idle_deadline
                              : limits().head_deadline);
}

bool Connection::step_events() {
  Exchange::Events events = exchange_->take_events(writer_.unsent_bytes());
  if (events.is_too_slow) return wait(IoStatus::closed);
  writer_.queue(events.text);
  if (!writer_.is_empty()) {
    IoStatus written = writer_.write_some(transport_, thread_.scratch()).status;
    if (written == IoStatus::done) {
      last_event_ = thread_.now();
      return true;
    }
    wait(written);
    if (state_ == State::closed) return false;
  } else if (events.is_ended) {
    std::exchange(exchange_, nullptr)->complete();
    linger();
    return true;
  }
  // Nothing is expected, but this tells when the client goes.
  IoStatus read = transport_.read(thread_.scratch()).status;
  return read == IoStatus::done || wait(read);
}

bool Connection::step_linger() {
  IoResult read = transport_.read(thread_.scratch());
  return read.status == IoStatus::done || wait(read.status);
}

// Ends in two moves: closing at once, with bytes of the client unread, would
// make its system throw our answer away before it is read.
void Connection::linger() {
  transport_.close_write();
  set_deadline(limits().linger);
  state_ = State::linger;
}

void Connection::sweep(Instant now) {
  if (state_ == State::closed) return;
  bool is_late = deadline_ && now >= *deadline_;
  const bool may_make_room = is_idle() && !listener_.is_unix &&
                             now - deadline_set_ >= limits().crowded_deadline;
  is_late =
      is_late || (may_make_room && thread_.shared().admission.is_crowded());
  bool is_transfer = state_ == State::write || (state_ == State::body && sink_);
  if (is_late || (is_transfer && rate_.is_too_slow(now))) {
    if (state_ != State::linger) ++thread_.shared().connections_timed_out;
    return close();
  }
  if (state_ == State::events && writer_.is_empty() &&
      now - last_event_ >= limits().event_keep_alive) {
    writer_.queue(": still here\n\n");
    run();
  }
}

void Connection::stop_gracefully() {
  is_stopping_ = true;
  if (is_idle() && (state_ != State::head || input_.empty())) close();
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  sink_.reset();
  if (exchange_) std::exchange(exchange_, nullptr)->abandon();
  boost::system::error_code ignored;
  socket_.close(ignored);  // the waits under way are cancelled
  if (pending_ == 0) thread_.retire(*this);
}

// Appends to input_, up to the limit of a head.
bool Connection::read_more() {
  std::size_t room = limits().max_head_bytes - input_.size();
  std::span<std::uint8_t> scratch = thread_.scratch();
  IoResult read =
      transport_.read(scratch.first(std::min(room, scratch.size())));
  if (read.status != IoStatus::done) {
    // An idle connection should own no buffers.
    if (input_.empty()) std::string().swap(input_);
    return wait(read.status);
  }
  // The first byte ends the idle time; it gives a new connection no more.
  if (state_ == State::head && input_.empty()) {
    deadline_ = std::min(*deadline_, thread_.now() + limits().head_deadline);
  }
  input_ += as_text(scratch.first(read.bytes));
  return true;
}

// Always false: there is nothing to do until a callback comes.
bool Connection::wait(IoStatus status) {
  switch (status) {
    case IoStatus::done:
      break;
    case IoStatus::want_read:
      wait_readable();
      break;
    case IoStatus::want_write:
      wait_writable();
      break;
    case IoStatus::closed:
      close();
      break;
  }
  return false;
}

void Connection::wait_readable() {
  if (std::exchange(is_waiting_readable_, true)) return;
  ++pending_;
  socket_.async_wait(Descriptor::wait_read,
                     [this](const boost::system::error_code&) {
                       is_waiting_readable_ = false;
                       on_ready();
                     });
}

void Connection::wait_writable() {
  if (std::exchange(is_waiting_writable_, true)) return;
  ++pending_;
  socket_.async_wait(Descriptor::wait_write,
                     [this](const boost::system::error_code&) {
                       is_waiting_writable_ = false;
                       on_ready();
                     });
}

void Connection::run_later() {
  ++pending_;
  boost::asio::post(thread_.io(), [this] { on_ready(); });
}

void Connection::on_ready() {
  --pending_;
  if (state_ != State::closed) return run();
  if (pending_ == 0) thread_.retire(*this);
}

}  // namespace quorate
