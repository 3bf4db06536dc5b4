// Answers hosts that ask for work. Both doors come here; so do the server's own
// workers. Used by the writer's thread only.
//
// The room server/sending decides which host gets what: eligibility, the draw,
// making new units, waiting questions. It owns the questions that wait (memory;
// lost at a restart, then hosts ask again) and may include server/state and all
// before it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "server/objects/object_sizes.h"
#include "server/sending/eligibility.h"
#include "server/sending/unit_maker.h"
#include "server/sending/waiting_hosts.h"
#include "server/state/project_state.h"
#include "server/writer/writer.h"

namespace quorate {

class Scheduler {
 public:
  using Send = decltype(WaitingHost::send);

  Scheduler(ProjectState& state, UnitMaker& maker, Writer& writer);

  // Renews the leases of what the host holds, tells it what to drop, and sends
  // it work. With nothing to send, the answer waits up to wish.wait for
  // work. A result that the host should hold and does not name is sent again.
  // send is called once, after the commit.
  void request_work(HostId host, const WorkWish& wish, Send send);
  // For a host that has just asked and has another kind of device: only sends
  // work. What it should hold was looked at then.
  void request_more_work(HostId host, const WorkWish& wish, Send send);
  // Renews leases and tells what to drop, as above, without work.
  void heartbeat(HostId host, const WorkWish& wish, Send send);

  // One unit for a house worker. Ties that it has to break come first. If no
  // volunteer is active, or the run is at its end, it also gets whatever is
  // unsent or can be made. nullopt: there is nothing for it.
  std::optional<Assignment> work_for_house();
  // The unit's next result is a house worker's.
  void wants_house(WorkunitId unit) { house_units_.insert(unit); }
  bool is_wanted_by_house(WorkunitId unit) const {
    return house_units_.contains(unit);
  }

  // Draws a host for an unsent result and keeps it for that host. With nobody
  // to draw, a house worker gets it if it has to be an anchor's; else whoever
  // suits and asks first.
  void reserve(LiveUnit& live, ResultId result);

  // The unit was made for a proven host, and a host that is not proven has it
  // now: it gets as many results as the run's quorum wants.
  void demand_quorum(LiveUnit& live);

  // There may be work now for hosts that wait.
  void wake() { is_awake_ = true; }
  // Serves hosts that wait: call at the end of a batch of changes.
  void serve_waiting();
  // Draws again for replicas whose host did not come, and answers hosts that
  // waited long enough. Call now and then.
  void tick();
  // The server leaves: answers all who wait, and from now on nobody waits.
  void close();

 private:
  // Touches the host, renews the leases of what it holds, and sorts what it
  // should not hold into `cancel` and `closed`.
  void renew(const Host& host, const WorkWish& wish, WorkAnswer& answer);
  // As a host names its own; 0: unknown.
  struct Device {
    std::string name;
    double speed_flops = 0;
  };
  // Sends it what is kept for it, what anybody may have, or a new unit: until
  // it has `want` or as many as a host may have.
  void pick(Host& host, const WorkWish& wish, std::vector<Assignment>& out);
  // How many results it may hold.
  std::size_t most_results(HostId host) const;
  Seconds most_time(const LiveUnit& live, Seconds lease) const;
  void renew_lease(const LiveUnit& live, const Host& host, ResultId result);
  void resend_lost(const Host& host, const WorkWish& wish,
                   std::vector<Assignment>& out);
  std::optional<Assignment> send_next(const Host& host, const WorkWish& wish);
  std::optional<Assignment> send_new(LiveUnit& live, const Host& host,
                                     const Device& device);
  Result* unsent_for(const Host& host, const WorkWish& wish, Turn turn);
  template <class Suits>  // of a unit and its unsent result
  Result* first_of(const std::set<ResultId>& unsent, Turn turn, Suits suits);
  bool may_take_again(const LiveUnit& live, const Host& host,
                      const WorkWish& wish) const;
  LiveUnit* make_unit(const Host& host, const WorkWish& wish, Turn turn);
  bool is_witness(const LiveUnit& live) const;
  bool wants_anchor(const LiveUnit& live, ResultId result) const;
  Eligibility::From taker_of(const LiveUnit& live, ResultId result) const;
  Assignment assignment_of(const LiveUnit& live, const Result& result,
                           std::vector<ObjectRef> objects) const;
  // nullopt if an object of the unit is missing: then nothing is sent. device:
  // that will compute it.
  std::optional<Assignment> send(LiveUnit& live, Result& result,
                                 const Host& host, const Device& device);
  std::vector<ObjectRef> objects_of(const LiveUnit& live);
  void serve_each_waiting();
  void serve(HostId waiting);
  LiveUnit* house_unit();
  LiveUnit* house_unit(Turn turn);
  LiveUnit* most_wanted();
  bool is_house_needed() const;
  void send_later(Send send, WorkAnswer answer);

  ProjectState& state_;
  UnitMaker& maker_;
  Writer& writer_;
  WaitingHosts waiting_;
  std::uint64_t last_turn_ = 0;
  ObjectSizes sizes_;  // between two ticks
  std::set<WorkunitId> house_units_;
  bool is_awake_ = false;
  bool is_closed_ = false;
};

}  // namespace quorate
