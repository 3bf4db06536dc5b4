#include <utility>

// Asio 1.74 needs <utility> first.
#include "base/log.h"
#include "server/http/io_thread.h"
#include "server/http/listen_socket.h"
#include "server/http/server.h"

namespace quorate {

HttpServer::HttpServer(HttpOptions options)
    : shared_(std::make_unique<HttpShared>(std::move(options))) {
  check(shared_->options.threads > 0, "an HTTP server has threads");
  for (std::size_t i = 0; i < shared_->options.threads; ++i) {
    io_threads_.push_back(std::make_unique<IoThread>(*shared_));
  }
}

HttpServer::~HttpServer() {
  stop(Seconds(0));
}

std::uint16_t HttpServer::listen(const TcpListener& listener, Router router) {
  check(threads_.empty(), "listeners are added before start()");
  auto added = std::make_unique<Listener>();
  added->router = std::move(router);
  if (listener.tls) added->tls = make_tls_context(*listener.tls);
  TcpSockets bound =
      listen_tcp(listener.address, listener.port, io_threads_.size());
  for (std::size_t i = 0; i < io_threads_.size(); ++i) {
    io_threads_[i]->add_listener(std::move(bound.sockets[i]), *added);
  }
  listeners_.push_back(std::move(added));
  log_info("http_listening", {{"address", listener.address},
                              {"port", bound.port},
                              {"tls", listener.tls.has_value()}});
  return bound.port;
}

void HttpServer::listen_unix(const fs::path& path, Router router,
                             bool is_for_all) {
  check(threads_.empty(), "listeners are added before start()");
  auto added = std::make_unique<Listener>();
  added->router = std::move(router);
  added->is_unix = true;
  // One thread is enough for the few who may use it.
  io_threads_[0]->add_listener(
      quorate::listen_unix(
          path, is_for_all ? SocketUsers::anybody : SocketUsers::owner),
      *added);
  listeners_.push_back(std::move(added));
  unix_paths_.push_back(path);
}

void HttpServer::start() {
  check(threads_.empty(), "an HTTP server starts once");
  for (auto& io_thread : io_threads_) {
    threads_.emplace_back([&thread = *io_thread] { thread.run(); });
  }
}

void HttpServer::stop(Seconds grace) {
  for (const fs::path& path : std::exchange(unix_paths_, {})) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  if (!threads_.empty()) {
    for (auto& io_thread : io_threads_) io_thread->begin_stop();
    if (!shared_->admission.wait_until_empty(grace) && grace > Seconds(0)) {
      log_info("http_requests_cut_off", {{"open", shared_->admission.open()}});
    }
    for (auto& io_thread : io_threads_) io_thread->end();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  for (auto& io_thread : io_threads_) io_thread->clear();
}

HttpCounters HttpServer::counters() const {
  HttpCounters counters;
  counters.connections = shared_->connections;
  counters.connections_open = shared_->admission.open();
  counters.connections_refused = shared_->connections_refused;
  counters.connections_timed_out = shared_->connections_timed_out;
  counters.requests = shared_->requests;
  counters.bytes_in = shared_->traffic.in;
  counters.bytes_out = shared_->traffic.out;
  return counters;
}

}  // namespace quorate
