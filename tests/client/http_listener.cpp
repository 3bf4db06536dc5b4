#include "tests/client/http_listener.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::test {
namespace {

std::size_t body_length(const std::string& head) {
  std::size_t at = head.find("Content-Length: ");
  return at == std::string::npos
             ? 0
             : std::stoul(
                   head.substr(at + std::string("Content-Length: ").size()));
}

std::string read_request(int fd) {
  std::string text;
  char chunk[4096];
  for (;;) {
    std::size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos &&
        text.size() >= end + 4 + body_length(text.substr(0, end))) {
      return text;
    }
    ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace

HttpListener::HttpListener(
    std::function<std::string(const std::string&)> answer)
    : answer_(std::move(answer)),
      socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.get(), plain, size) != 0 ||
      ::listen(socket_.get(), 8) != 0 ||
      ::getsockname(socket_.get(), plain, &size) != 0) {
    throw_errno("listen on loopback");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

HttpListener::~HttpListener() = default;

std::string HttpListener::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<std::string> HttpListener::seen() const {
  std::lock_guard lock(mutex_);
  return seen_;
}

void HttpListener::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 20) > 0) {
      serve_one(FileDescriptor(
          ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    }
  }
}

void HttpListener::serve_one(FileDescriptor connection) {
  std::string request = read_request(connection.get());
  {
    std::lock_guard lock(mutex_);
    seen_.push_back(request);
  }
  std::string reply = answer_(request);
  if (reply.empty()) {
    open_.push_back(std::move(connection));
  } else {
    write_all(connection.get(), as_bytes(reply), "socket");
  }
}

}  // namespace quorate::test
