#include "client/worker/inbox.h"

#include <cerrno>
#include <limits>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::worker {
namespace {

// Longer than any request: whoever sends more speaks something else.
constexpr std::size_t kMaxLine = 1 << 20;

}  // namespace

Inbox::Inbox(int fd) : fd_(fd), wakeup_(::eventfd(0, EFD_CLOEXEC)) {
  if (!wakeup_) throw_errno("eventfd");
  thread_ = std::thread([this] { read_until_end(); });
}

Inbox::~Inbox() {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = ::write(wakeup_.get(), &one, sizeof one);
  thread_.join();
}

std::optional<Received> Inbox::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_ended_ || !requests_.empty(); });
  if (requests_.empty()) return std::nullopt;
  Received first = std::move(requests_.front());
  requests_.pop_front();
  return first;
}

void Inbox::read_until_end() {
  std::string buffer;
  while (read_some(buffer)) {
    std::size_t begin = 0;
    for (std::size_t end = buffer.find('\n'); end != std::string::npos;
         end = buffer.find('\n', begin)) {
      take(buffer.substr(begin, end - begin));
      begin = end + 1;
    }
    buffer.erase(0, begin);
    if (buffer.size() > kMaxLine) break;
  }
  end();
}

// False at the end of the input, or when the destructor waits.
bool Inbox::read_some(std::string& buffer) {
  for (;;) {
    pollfd sources[] = {{fd_, POLLIN, 0}, {wakeup_.get(), POLLIN, 0}};
    if (::poll(sources, 2, -1) < 0 && errno != EINTR) return false;
    if (sources[1].revents != 0) return false;
    if (sources[0].revents == 0) continue;
    char chunk[4096];
    ssize_t got = ::read(fd_, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    buffer.append(chunk, static_cast<std::size_t>(got));
    return true;
  }
}

void Inbox::take(const std::string& line) {
  Received received;
  received.number = ++lines_;
  try {
    received.request = protocol::parse_worker_request(line);
  } catch (const Error& error) {
    received.error = error.what();
  }
  if (received.request &&
      std::holds_alternative<protocol::StopRequest>(*received.request)) {
    stopped_through_.store(received.number, std::memory_order_release);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(received));
  }
  changed_.notify_one();
}

void Inbox::end() {
  stopped_through_.store(std::numeric_limits<std::uint64_t>::max(),
                         std::memory_order_release);
  {
    std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_one();
}

}  // namespace quorate::worker
