// One client's connection: a state machine with one dispatcher, step().
// Internal to server/http.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// Asio 1.74 needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "server/http/admission.h"
#include "server/http/body_budget.h"
#include "server/http/clients/proxy_header.h"
#include "server/http/exchange.h"
#include "server/http/rate_guard.h"
#include "server/http/request_parser.h"
#include "server/http/response_writer.h"
#include "server/http/router.h"
#include "server/http/text.h"
#include "server/http/tls/transport.h"

namespace quorate {

class IoThread;
struct HttpLimits;
struct Listener;

struct Remote {
  std::string address;
  bool is_proxy = false;              // whose word for a client is believed
  std::optional<std::uint32_t> user;  // Request::local_user
  Admission::Ticket ticket;
};

// Callbacks instead of coroutines, which clang 14 cannot compile with
// libstdc++. Asio only says when the socket is ready (async_wait); reading and
// writing are plain system calls, so that a state can be tried again at any
// time and nothing is ever half done inside a library.
class Connection final : private BodyReceiver {
 public:
  Connection(IoThread& thread, const Listener& listener, FileDescriptor socket,
             Remote remote);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() { run(); }
  // Enforces deadlines and rates.
  void sweep(Instant now);
  // Ends now if no request is under way, else after its answer.
  void stop_gracefully();
  // The exchange has an answer or events.
  void on_answer() { run(); }

 private:
  using Descriptor = boost::asio::posix::basic_stream_descriptor<
      boost::asio::io_context::executor_type>;
  enum class State {
    proxy_header,  // of a trusted proxy
    handshake,     // of TLS
    head,          // reads a request's head, or is idle
    body,          // reads its body
    answer,        // waits for the handler's answer
    write,         // writes it
    events,        // writes an event stream
    linger,        // reads what the client still sends, before closing
    closed,
  };

  // Steps until something must be waited for; what throws ends the connection.
  void run();
  // True if another step can follow at once.
  bool step();
  bool step_proxy_header();
  bool step_handshake();
  bool step_head();
  bool step_body();
  bool step_answer();
  bool step_write();
  bool step_events();
  bool step_linger();

  void meet(std::string client);
  std::string client_of(const Request& request) const;
  // Before there is a request: what the one before it asked for is over.
  void refuse_head(int status, ErrorKind kind, const std::string& message);
  void start_request(std::size_t head_size);
  void expect_body();
  void take_body(std::string_view bytes);
  void receive_body(ByteView bytes) override;
  void call_handler();
  // The answer, or why it must wait.
  Response fitting(Response response);
  // Queues the answer and decides whether the connection stays open.
  void respond(Response response);
  void refuse(const std::exception& error);
  Response error_of(const std::exception& error) const;
  void next_request();
  // Closes in two moves, so that the client can read the last answer.
  void linger();
  void close();

  bool read_more();
  bool wait(IoStatus status);
  void wait_readable();
  void wait_writable();
  void on_ready();
  void run_later();
  const HttpLimits& limits() const;
  void set_deadline(Seconds from_now);
  // Waits for somebody who need not be connected.
  bool is_idle() const;

  IoThread& thread_;
  const Listener& listener_;
  Remote remote_;
  Descriptor socket_;
  Transport transport_;
  State state_ = State::handshake;
  std::optional<ProxyHeader> proxy_header_;  // until it is whole
  State after_write_ = State::head;
  bool keep_alive_ = true;
  bool is_stopping_ = false;
  bool is_waiting_readable_ = false;
  bool is_waiting_writable_ = false;
  int pending_ = 0;  // callbacks that will still come
  std::optional<Instant> deadline_;
  Instant deadline_set_{};
  RateGuard rate_;
  Instant last_event_{};

  std::string input_;         // read, but not parsed
  std::size_t searched_ = 0;  // of input_, without an end of the head

  // Of the current request:
  std::optional<RequestParser> parser_;
  const Route* route_ = nullptr;
  std::unique_ptr<BodySink> sink_;
  std::uint64_t body_bytes_ = 0;
  BodyBudget::Share body_share_;
  Conditions conditions_;
  // Shared with the Responder, which may outlive the connection.
  std::shared_ptr<Exchange> exchange_;
  BodyBudget::Share answer_share_;
  ResponseWriter writer_;
};

}  // namespace quorate
