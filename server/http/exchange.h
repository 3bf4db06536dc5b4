// One request and its answer, between the connection on its I/O thread and
// whoever answers on any thread. Internal to server/http.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "server/http/message.h"

namespace quorate {

class Connection;

struct StartEvents {};
using Answer = std::variant<Response, std::function<Response()>, StartEvents>;

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(boost::asio::io_context& io, Connection& connection)
      : io_(&io), connection_(&connection) {}

  // For the answering side; any thread. The first answer counts.
  void answer(Answer answer);
  // The Responder is gone unused: 500, unless fail() knows better.
  void drop();
  bool push(std::string_view text);
  void end_events();
  bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
  void on_close(std::function<void()> callback);

  // For the connection; its own thread only.

  // The handler threw: `response` is the answer unless one was given.
  void fail(Response response);
  // The handler has returned or thrown; later answers wake the connection.
  void await_answer();
  std::optional<Answer> take_answer();
  struct Events {
    std::string text;
    bool is_ended = false;
    bool is_too_slow = false;
  };
  // What was pushed since the last call, of which unsent_bytes still wait.
  Events take_events(std::size_t unsent_bytes);
  // The answer is under way (and no stream), or the stream is ended.
  void complete();
  // The connection is gone; runs the on_close callback unless complete.
  void abandon();

 private:
  void wake_locked();
  std::function<void()> detach();

  std::atomic<bool> is_open_{true};
  std::mutex mutex_;
  boost::asio::io_context* io_;  // null once nobody listens
  std::optional<Answer> answer_;
  std::function<void()> on_close_;
  Events events_;
  std::size_t unsent_bytes_ = 0;  // taken, but not written
  bool is_answered_ = false;
  bool is_dropped_ = false;
  bool is_awaited_ = false;
  bool is_wake_posted_ = false;
  bool is_abandoned_ = false;

  Connection* connection_;  // its thread only
};

}  // namespace quorate
