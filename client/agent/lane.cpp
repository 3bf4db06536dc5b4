#include "client/agent/lane.h"

namespace quorate::client {

Lane::Lane(std::unique_ptr<Transfer> transfer, const Identity& identity,
           Session& session, Mailbox& mailbox)
    : transfer_(std::move(transfer)),
      identity_(identity),
      session_(session),
      mailbox_(mailbox),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Lane::~Lane() = default;

void Lane::enqueue(Job job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Lane::work(const std::stop_token& stop) {
  ProjectApi api(*transfer_, identity_, session_, stop);
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !jobs_.empty(); });
      if (stop.stop_requested()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    News news = job(api);
    if (stop.stop_requested()) return;
    mailbox_.post(std::move(news));
  }
}

}  // namespace quorate::client
