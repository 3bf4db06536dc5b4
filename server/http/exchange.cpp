#include <utility>

#include <boost/asio/post.hpp>

// Asio 1.74 needs <utility> first.
#include "base/log.h"
#include "server/http/connection.h"
#include "server/http/exchange.h"

namespace quorate {
namespace {

constexpr std::size_t kMaxQueuedEventBytes = 1 << 20;

}  // namespace

// Posts even when called on the connection's own thread: running the
// connection inside the caller would run other handlers under the caller's
// locks.
void Exchange::wake_locked() {
  if (!io_ || !is_awaited_ || is_wake_posted_) return;
  is_wake_posted_ = true;
  boost::asio::post(io_->get_executor(), [self = shared_from_this()] {
    {
      std::lock_guard lock(self->mutex_);
      self->is_wake_posted_ = false;
    }
    if (self->connection_) self->connection_->on_answer();
  });
}

void Exchange::answer(Answer answer) {
  std::lock_guard lock(mutex_);
  if (is_answered_) return;
  is_answered_ = true;
  if (!io_) return;
  answer_ = std::move(answer);
  wake_locked();
}

void Exchange::drop() {
  {
    std::lock_guard lock(mutex_);
    is_dropped_ = !is_answered_;
  }
  answer(error_response(ErrorKind::io,
                        "the server forgot to answer this request"));
}

void Exchange::fail(Response response) {
  std::lock_guard lock(mutex_);
  if (is_answered_ && !is_dropped_) return;
  is_answered_ = true;
  answer_ = std::move(response);
}

bool Exchange::push(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (!io_ || events_.is_too_slow || events_.is_ended) return false;
  if (unsent_bytes_ + events_.text.size() + text.size() >
      kMaxQueuedEventBytes) {
    events_.is_too_slow = true;
    is_open_ = false;
  } else {
    events_.text += text;
  }
  wake_locked();
  return !events_.is_too_slow;
}

void Exchange::end_events() {
  std::lock_guard lock(mutex_);
  events_.is_ended = true;
  wake_locked();
}

void Exchange::on_close(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!is_abandoned_) {
      if (io_) on_close_ = std::move(callback);
      return;
    }
  }
  callback();
}

void Exchange::await_answer() {
  std::lock_guard lock(mutex_);
  is_awaited_ = true;
}

std::optional<Answer> Exchange::take_answer() {
  std::lock_guard lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

Exchange::Events Exchange::take_events(std::size_t unsent_bytes) {
  std::lock_guard lock(mutex_);
  Events taken = std::move(events_);
  events_ = {std::string(), taken.is_ended, taken.is_too_slow};
  unsent_bytes_ = unsent_bytes + taken.text.size();
  return taken;
}

std::function<void()> Exchange::detach() {
  connection_ = nullptr;
  is_open_ = false;
  std::lock_guard lock(mutex_);
  io_ = nullptr;
  return std::exchange(on_close_, nullptr);
}

void Exchange::complete() {
  // The callback is destroyed here, outside the lock: it may own anything.
  std::function<void()> unused = detach();
}

void Exchange::abandon() {
  {
    std::lock_guard lock(mutex_);
    is_abandoned_ = true;
  }
  std::function<void()> callback = detach();
  if (!callback) return;
  try {
    callback();
  } catch (const std::exception& error) {
    log_error("http_on_close_failed", {{"error", error.what()}});
  }
}

}  // namespace quorate
