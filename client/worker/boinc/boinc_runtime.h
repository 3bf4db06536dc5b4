// A job under a BOINC client: a thread hears its orders and tells it how far
// the job is, whatever the job does meanwhile; the job waits, saves and ends
// between steps.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "client/worker/boinc/boinc_channels.h"
#include "client/worker/boinc/boinc_control.h"
#include "client/worker/units/job.h"
#include "protocol/boinc/app_messages.h"

namespace quorate::worker {

class BoincRuntime final : public Job {
 public:
  // channels, clock: must live as long as this object.
  BoincRuntime(const boinc::InitData& init_data, BoincChannels& channels,
               const Clock& clock);
  ~BoincRuntime() override;

  // The job's side, on the thread that computes. All wait while the client
  // wants nothing computed.
  void step_done(std::uint32_t step, std::uint32_t steps) override;
  bool should_stop() override;
  bool is_checkpoint_due() override;

  // Why the job was stopped, or running.
  BoincState state() const;

 private:
  void listen();
  void hear(Instant now);
  void look_for_client(Instant now);
  void tell(Instant now);
  void wait_while_suspended();

  const boinc::InitData init_data_;
  BoincChannels& channels_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  BoincControl control_;
  boinc::AppStatus status_;
  bool is_over_ = false;  // the destructor's word to the thread

  // Of the thread that computes.
  Instant last_checkpoint_;
  bool has_saved_ = false;

  // Of the thread that listens.
  Instant last_told_{};
  Instant last_looked_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace quorate::worker
