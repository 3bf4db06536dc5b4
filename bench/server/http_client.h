// A client of a thousand connections on one thread: just enough HTTP/1.1 to
// load a server with, and as little work as that takes. For loopback only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"

namespace quorate::bench {

struct HttpReply {
  int status = 0;
  std::string body;
};

// The text of a request; token: of the session, or "".
std::string http_request(std::string_view method, std::string_view path,
                         std::string_view token, ByteView body);

// Keep-alive connections; each carries one request at a time.
class HttpClient {
 public:
  // Throws io if nobody listens there.
  HttpClient(std::string address, std::uint16_t port);
  ~HttpClient();

  std::size_t connect();  // a connection's number
  // From now on a connection that the server closes is made anew, and a
  // request that was under way on it is answered with status 0.
  void outlive_closing() { outlives_closing_ = true; }
  using Done = std::function<void(HttpReply)>;
  // Calls `done` from run() when the reply is there. Throws io if the server
  // closes the connection.
  void send(std::size_t connection, std::string request, Done done);
  // Until no reply is awaited.
  void run();

  // One request, there and back.
  HttpReply exchange(std::size_t connection, std::string request);

 private:
  struct Connection {
    FileDescriptor socket;
    std::string out;
    std::size_t sent = 0;
    std::string in;
    std::size_t whole = 0;  // bytes of the reply, once its head is read
    std::size_t body_at = 0;
    Done done;
  };

  void open(std::size_t number);
  void on_closed(std::size_t number);
  bool write_all(Connection& connection);
  void read_some(std::size_t number);
  bool read_head(Connection& connection);
  void finish(Connection& connection);

  std::string address_;
  std::uint16_t port_;
  FileDescriptor epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t awaited_ = 0;
  bool outlives_closing_ = false;
};

}  // namespace quorate::bench
