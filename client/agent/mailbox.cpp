#include "client/agent/mailbox.h"

#include <utility>

namespace quorate::client {

void Mailbox::post(std::function<void()> news) {
  {
    std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
  }
  arrived_.notify_one();
}

void Mailbox::deliver(Seconds patience) {
  std::deque<std::function<void()>> taken;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, patience, [this] { return !news_.empty(); });
    taken.swap(news_);
  }
  for (auto& news : taken) news();
}

}  // namespace quorate::client
