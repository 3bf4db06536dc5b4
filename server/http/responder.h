// The right to answer one request, now or later, from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace quorate {

class Exchange;

// A stream of server-sent events to one client. Move-only; every method may be
// called from any thread. Destruction ends the stream.
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<Exchange> exchange);
  EventStream(EventStream&&) noexcept = default;
  EventStream& operator=(EventStream&& other) noexcept;
  ~EventStream();

  // Queues text that format_event() made. False if the client is gone, or so
  // slow that over 1 MB waits for it: then it is dropped.
  bool push(std::string_view text);
  bool is_open() const;

 private:
  std::shared_ptr<Exchange> exchange_;
};

// "event: name\ndata: ...\n\n", one data line for every line of `data`.
std::string format_event(std::string_view name, std::string_view data);

// Move-only and used once; every method may be called from any thread, also
// after the connection or the server is gone: then nothing happens. Destroyed
// unused, it answers 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange);
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();

  // These three use it up.
  void send(Response response);
  // `make` is called on the connection's I/O thread, unless it has gone: for
  // threads that have better to do than to write text. It must not throw.
  void send_made(std::function<Response()> make);
  EventStream start_events();

  // False once the client has gone: an answer would reach nobody. A client
  // that has only said that it will send no more counts as gone, too.
  bool is_open() const;
  // Calls `callback` once, on an I/O thread, if the connection ends before the
  // answer is given (or before the event stream is ended); at once if it has
  // ended already. It must not block.
  void on_close(std::function<void()> callback);

 private:
  // Shared with the connection: either may go first, on different threads.
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace quorate
