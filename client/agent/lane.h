// A thread with a connection of its own to the project, for one kind of
// exchange: jobs run there one after another, what they found is told to the
// agent's thread. Several lanes let uploads, downloads, heartbeats and the wait
// for work go on side by side.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "client/agent/mailbox.h"
#include "client/exchange/project_api.h"

namespace quorate::client {

// What a job returned, or why it failed.
template <class T>
struct Outcome {
  std::optional<T> value;
  std::optional<Error> error;
  Seconds asked_delay{0};  // what the server asked for
};

class Lane {
 public:
  // identity, session and mailbox outlive the lane.
  Lane(std::unique_ptr<Transfer> transfer, const Identity& identity,
       Session& session, Mailbox& mailbox);
  // Abandons the job under way and those that wait; their ends are not told.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // job: ProjectApi& -> T, on the lane's thread. done: Outcome<T> -> void, on
  // the agent's thread.
  // Returns at once. T must be movable; `done` must not throw.
  template <class T, class Job, class Done>
  void run(Job job, Done done) {
    enqueue([job = std::move(job), done = std::move(done)](ProjectApi& api) {
      Outcome<T> outcome;
      try {
        outcome.value.emplace(job(api));
      } catch (const Error& e) {
        outcome.error = e;
      } catch (const std::exception& e) {  // file system, memory
        outcome.error = Error(ErrorKind::io, e.what());
      }
      outcome.asked_delay = api.asked_delay();
      return [done, outcome = std::move(outcome)]() mutable {
        done(std::move(outcome));
      };
    });
  }

 private:
  using News = std::function<void()>;
  using Job = std::function<News(ProjectApi&)>;
  void enqueue(Job job);
  void work(const std::stop_token& stop);

  std::unique_ptr<Transfer> transfer_;
  const Identity& identity_;
  Session& session_;
  Mailbox& mailbox_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace quorate::client
