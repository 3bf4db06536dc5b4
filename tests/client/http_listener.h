// A tiny HTTP server on a loopback port: reads one request per connection and
// answers with the bytes that a test gives, so that the real client meets a
// real socket.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"

namespace quorate::test {

class HttpListener {
 public:
  // answer: request text (head and body) -> reply text; "" leaves the
  // connection open without an answer until the listener ends.
  explicit HttpListener(std::function<std::string(const std::string&)> answer);
  ~HttpListener();

  std::string url() const;
  // The requests so far.
  std::vector<std::string> seen() const;

 private:
  void serve(const std::stop_token& stop);
  void serve_one(FileDescriptor connection);

  std::function<std::string(const std::string&)> answer_;
  FileDescriptor socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> seen_;
  std::vector<FileDescriptor> open_;
  std::jthread thread_;
};

}  // namespace quorate::test
