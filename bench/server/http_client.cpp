#include "bench/server/http_client.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::bench {
namespace {

constexpr std::string_view kLength = "Content-Length: ";

[[noreturn]] void throw_closed() {
  throw Error(ErrorKind::io, "the server closed a connection of the benchmark");
}

}  // namespace

std::string http_request(std::string_view method, std::string_view path,
                         std::string_view token, ByteView body) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: bench\r\nContent-Length: {}\r\n",
                  method, path, body.size());
  if (!token.empty())
    text += fmt::format("Authorization: Bearer {}\r\n", token);
  text += "\r\n";
  text.append(reinterpret_cast<const char*>(body.data()), body.size());
  return text;
}

HttpClient::HttpClient(std::string address, std::uint16_t port)
    : address_(std::move(address)),
      port_(port),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.get() < 0) throw_errno("epoll");
}

HttpClient::~HttpClient() = default;

std::size_t HttpClient::connect() {
  connections_.push_back(std::make_unique<Connection>());
  open(connections_.size() - 1);
  return connections_.size() - 1;
}

void HttpClient::open(std::size_t number) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  if (::inet_pton(AF_INET, address_.c_str(), &to.sin_addr) != 1) {
    throw Error(ErrorKind::usage, address_ + ": expected an IPv4 address");
  }
  int fd = socket.get();
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    throw_errno(fmt::format("connect to {}:{}", address_, port_));
  }
  int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw_errno("epoll");
  }
  connections_[number]->socket = std::move(socket);
}

void HttpClient::send(std::size_t connection, std::string request, Done done) {
  Connection& at = *connections_.at(connection);
  at.out = std::move(request);
  at.sent = 0;
  at.done = std::move(done);
  ++awaited_;
  if (!write_all(at)) on_closed(connection);
}

// Requests are small beside a socket's buffer: writing may block for a moment.
bool HttpClient::write_all(Connection& at) {
  while (at.sent < at.out.size()) {
    ssize_t n = ::send(at.socket.get(), at.out.data() + at.sent,
                       at.out.size() - at.sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at.sent += static_cast<std::size_t>(n);
  }
  return true;
}

void HttpClient::on_closed(std::size_t number) {
  if (!outlives_closing_) throw_closed();
  open(number);
  Connection& at = *connections_[number];
  at.in.clear();
  at.whole = 0;
  if (!at.done) return;
  --awaited_;
  std::exchange(at.done, nullptr)(HttpReply{});
}

void HttpClient::run() {
  std::array<epoll_event, 256> events;
  while (awaited_ > 0) {
    int n = ::epoll_wait(epoll_.get(), events.data(), events.size(), -1);
    if (n < 0 && errno != EINTR) throw_errno("epoll");
    for (int i = 0; i < n; ++i) {
      read_some(events[static_cast<std::size_t>(i)].data.u64);
    }
  }
}

void HttpClient::read_some(std::size_t number) {
  Connection& at = *connections_[number];
  std::array<char, 64 << 10> buffer;
  ssize_t n = ::recv(at.socket.get(), buffer.data(), buffer.size(), 0);
  if (n <= 0) return on_closed(number);
  at.in.append(buffer.data(), static_cast<std::size_t>(n));
  if (at.whole == 0 && !read_head(at)) return;
  if (at.in.size() >= at.whole) finish(at);
}

bool HttpClient::read_head(Connection& at) {
  std::size_t end = at.in.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  std::size_t length = 0;
  std::size_t found = at.in.find(kLength);
  if (found < end) {
    const char* text = at.in.data() + found + kLength.size();
    std::from_chars(text, at.in.data() + end, length);
  }
  at.body_at = end + 4;
  at.whole = at.body_at + length;
  return true;
}

void HttpClient::finish(Connection& at) {
  HttpReply reply;
  std::from_chars(at.in.data() + 9, at.in.data() + 12, reply.status);
  reply.body = at.in.substr(at.body_at, at.whole - at.body_at);
  at.in.clear();
  at.whole = 0;
  --awaited_;
  std::exchange(at.done, nullptr)(std::move(reply));
}

HttpReply HttpClient::exchange(std::size_t connection, std::string request) {
  HttpReply answer;
  send(connection, std::move(request),
       [&](HttpReply reply) { answer = std::move(reply); });
  run();
  return answer;
}

}  // namespace quorate::bench
