// A blocking HTTP client that sends exactly the bytes it is told to, good or
// bad, over TCP or a unix-domain socket.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/file.h"

namespace quorate::test {

struct RawResponse {
  int status = 0;  // 0: the connection ended before a whole head
  std::map<std::string, std::string> headers;  // names as sent
  std::string body;
  bool is_whole = false;
};

class RawHttp {
 public:
  // from: the client's own address.
  explicit RawHttp(std::uint16_t port, const char* from = "127.0.0.1")
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own = loopback(from, 0), server = loopback("127.0.0.1", port);
    ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own);
    connect(reinterpret_cast<const sockaddr*>(&server), sizeof server);
  }
  explicit RawHttp(const std::string& unix_path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    unix_path.copy(to.sun_path, sizeof to.sun_path - 1);
    connect(reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }

  // False once the other side refuses bytes.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // No more bytes will be sent.
  void finish() { ::shutdown(fd_.get(), SHUT_WR); }

  // Reads a head and the body that its Content-Length announces.
  RawResponse receive(bool has_body = true) {
    RawResponse response;
    std::string head = receive_until("\r\n\r\n");
    if (head.size() < 12) return response;
    response.status = std::stoi(head.substr(9, 3));
    std::size_t line = head.find("\r\n") + 2;
    while (line + 2 < head.size()) {
      std::size_t end = head.find("\r\n", line);
      std::size_t colon = head.find(": ", line);
      response.headers[head.substr(line, colon - line)] =
          head.substr(colon + 2, end - colon - 2);
      line = end + 2;
    }
    auto length = response.headers.find("Content-Length");
    std::size_t size = has_body && length != response.headers.end()
                           ? std::stoul(length->second)
                           : 0;
    while (buffer_.size() < size && receive_some()) {
    }
    response.is_whole = buffer_.size() >= size;
    response.body = take(std::min(size, buffer_.size()));
    return response;
  }

  RawResponse exchange(std::string_view request, bool has_body = true) {
    send(request);
    return receive(has_body);
  }

  // All bytes up to and including `mark`, or up to the end.
  std::string receive_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos) {
      if (!receive_some()) return take(buffer_.size());
    }
    return take(buffer_.find(mark) + mark.size());
  }
  std::string receive_all() {
    while (receive_some()) {
    }
    return take(buffer_.size());
  }

 private:
  static sockaddr_in loopback(const char* address, std::uint16_t port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &out.sin_addr);
    return out;
  }

  void connect(const sockaddr* to, socklen_t size) {
    // A server that says nothing fails the test instead of stopping it.
    timeval patience{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof patience);
    if (::connect(fd_.get(), to, size) != 0) {
      throw std::runtime_error("the test client cannot connect");
    }
  }

  bool receive_some() {
    char bytes[16 << 10];
    ssize_t n = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      throw std::runtime_error("the server said nothing for 20 s");
    }
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  std::string take(std::size_t size) {
    std::string taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return taken;
  }

  FileDescriptor fd_;
  std::string buffer_;
};

}  // namespace quorate::test
