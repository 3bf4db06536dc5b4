#include "server/doors/boinc/scheduling/scheduler_route.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/doors/boinc/accounts/urls.h"
#include "server/doors/boinc/files/names.h"
#include "server/doors/boinc/scheduling/sticky_files.h"
#include "server/doors/refusals.h"
#include "server/hosts/credit.h"
#include "server/http/clients/places.h"
#include "server/http/text.h"
#include "server/making/work_generator.h"
#include "server/units/sealed_tasks.h"

namespace quorate::boinc {
namespace {

// A stock client sends 8 to 13 kB; see protocol/boinc/limits.
constexpr std::uint64_t kMaxRequest = 1 << 20;
// To read a larger one takes long enough that other connections would notice.
constexpr std::size_t kLargeRequest = 64 << 10;
// As often as a client can make requests at all.
constexpr Seconds kRequestDelay{5};
constexpr Seconds kClosing{60};

}  // namespace

struct Rpc {
  explicit Rpc(Responder whom) : responder(std::move(whom)) {}

  SchedulerRequest request;
  Responder responder;
  std::string master;
  Places places;
  std::string address;
  std::shared_ptr<const AppVersions> versions;
  HostId host = 0;
  std::vector<Hash> shards;  // that it has
  std::vector<Reported> reported;
  std::vector<Shipment> shipments;
  double clock = 0;            // ours, if the client does not say its own
  std::size_t unanswered = 0;  // questions to the scheduler
  SchedulerReply reply;
};

namespace {

void refuse(Rpc& rpc, std::string why) {
  rpc.reply.messages.push_back({std::move(why), true});
  rpc.reply.request_delay = kRefusedRetry;
}

// A client that trusts another key could not start our programs.
bool settle_key(Rpc& rpc) {
  const auto& ours = rpc.versions->code_sign_key();
  const auto& theirs = rpc.request.code_sign_key;
  if (!ours) return true;  // nothing is published yet
  if (!theirs) {
    rpc.reply.code_sign_key = ours;
    return true;
  }
  if (*theirs == *ours) return true;
  std::optional<Successor> next = rpc.versions->successor_of(*theirs);
  if (!next) {
    refuse(
        rpc,
        "The project signs its programs with a key that this client does not "
        "know, and the old key did not sign the new one. If the project's "
        "people say that this is right, remove the project and add it again.");
    return false;
  }
  rpc.reply.code_sign_key = next->key;
  rpc.reply.code_sign_key_signature = next->signature;
  return next->key == *ours;
}

WorkWish question_of(const Rpc& rpc) {
  WorkWish question;
  for (const HeldResult& held : rpc.request.in_progress) {
    if (std::optional<ResultId> id = result_of(held.name)) {
      question.holding.push_back(*id);
    }
  }
  return question;
}

std::string device_text(const DeviceOrder& order) {
  std::string text = std::string(name_of(order.kind));
  return order.model.empty() ? text : text + ": " + order.model;
}

}  // namespace

SchedulerRoute::SchedulerRoute(Project& project, BoincAccounts& accounts,
                               PublishedApps& apps, const UploadKey& upload_key,
                               bool is_tls)
    : project_(project),
      state_(project.state()),
      accounts_(accounts),
      apps_(apps),
      is_tls_(is_tls),
      hosts_(state_),
      intake_(project, hosts_),
      maker_(state_, upload_key) {}

void SchedulerRoute::add_routes(Router& router) {
  router.add(
      Method::post, "/boinc/cgi",
      [this](Request& request, Responder responder) {
        post(std::move(request), std::move(responder));
      },
      kMaxRequest);
}

void SchedulerRoute::post(Request request, Responder responder) {
  auto rpc = std::make_shared<Rpc>(std::move(responder));
  rpc->master = master_url(state_.settings, request, is_tls_);
  rpc->places = places_of(request.remote_address);
  rpc->address = request.remote_address;
  rpc->versions = apps_.current();
  // Read before it is known who asks: 20 us for what clients send, 6 ms for the
  // worst that the limits let in; and anybody can have an account.
  if (request.body.size() < kLargeRequest) return read(rpc, request.body);
  large_.post([this, rpc, body = std::move(request.body)] {
    try {
      read(rpc, body);
    } catch (const Error& error) {
      rpc->responder.send(error_response(error.kind(), error.what()));
    }
  });
}

void SchedulerRoute::read(const RpcPtr& rpc, ByteView body) {
  rpc->request = parse_scheduler_request(body);
  project_.daemons().post([this, rpc] { identify(rpc); });
}

void SchedulerRoute::identify(const RpcPtr& rpc) {
  rpc->clock = static_cast<double>(state_.clock.unix_ms()) * 1e-3;
  rpc->reply.project_name = state_.settings.name;
  rpc->reply.master_url = rpc->master;
  rpc->reply.request_delay = kRequestDelay;
  rpc->reply.next_rpc_delay = state_.settings.boinc_contact;
  std::optional<UserId> user = accounts_.find(rpc->request.authenticator);
  if (!user) {
    refuse(*rpc,
           "There is no account with this key. Remove the project and "
           "add it again with the right one.");
    return reply_later(rpc);
  }
  Host* host = host_of(rpc, *user);
  if (host == nullptr) return reply_later(rpc);
  rpc->host = host->id;
  if (rpc->request.results.empty()) return finish(rpc);
  rpc->reported = intake_.read(*host, rpc->request);
  screening_.post([this, rpc] {
    try {
      intake_.screen(rpc->host, rpc->reported);
    } catch (const std::exception& error) {
      // The client reports again.
      log_error("screening_failed",
                {{"host", rpc->host}, {"error", error.what()}});
      return;
    }
    project_.daemons().post([this, rpc] { finish(rpc); });
  });
}

Host* SchedulerRoute::host_of(const RpcPtr& rpc, UserId user) {
  Host* host = hosts_.find(user, rpc->request);
  if (host == nullptr) {
    if (auto wait = state_.new_hosts.join(rpc->places)) {
      refuse(*rpc, crowded_text("hosts", *wait));
      rpc->reply.request_delay = *wait;
      return nullptr;
    }
    try {
      host = &hosts_.add(user, rpc->request);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::denied) throw;
      refuse(*rpc, error.what());
      return nullptr;
    }
  }
  if (rpc->request.hostid != host->id) rpc->reply.hostid = host->id;
  hosts_.note(*host, rpc->request);
  if (!state_.is_banned(host->id)) {
    state_.known_clients.note(rpc->address);
    state_.hosts.note_block(host->id, block_of(rpc->address),
                            state_.clock.now());
  }
  return host;
}

void SchedulerRoute::finish(const RpcPtr& rpc) {
  Host& host = *state_.hosts.host(rpc->host);
  intake_.store(host, rpc->reported);
  // Also what is unknown or failed: else it is reported for ever. What is on
  // hold shall be.
  for (const ReportedResult& result : rpc->request.results) {
    std::optional<ResultId> id = result_of(result.name);
    if (id && state_.open_results.is_on_hold(*id, host.id)) continue;
    rpc->reply.acknowledged.push_back(result.name);
  }
  describe(*rpc, host);
  look_at_files(*rpc);
  rpc->reply.acknowledges_trickles = !rpc->request.trickles.empty();
  const bool may_have_some = may_work(*rpc, host);
  if (may_have_some) add_shipments(*rpc, host);
  state_.set_available(host, may_have_some);
  send_work(rpc);
  hosts_.flush();
}

void SchedulerRoute::add_shipments(Rpc& rpc, const Host& host) const {
  for (const DeviceOrder& order : order_work(rpc.request)) {
    const PublishedVersion* version =
        rpc.versions->find(rpc.request.platforms, order.kind);
    if (version == nullptr) {
      rpc.reply.messages.push_back(
          {fmt::format("The project has no program for {} on {}.",
                       device_text(order), rpc.request.platforms.front()),
           false});
      continue;
    }
    const double measured = hosts_.speed(host, order.plan_class);
    const double known = measured > 0 ? measured : order.claimed_flops;
    rpc.shipments.push_back(
        {order, known > 0 ? known : kUnknownSpeed, version, {}});
  }
}

void SchedulerRoute::describe(Rpc& rpc, const Host& host) const {
  constexpr double kMillis = 1e-3;
  const Millis now = state_.clock.unix_ms();
  const User& user = *state_.hosts.user(host.user_id);
  UserInfo info;
  info.userid = user.id;
  info.name = user.name;
  info.total_credit = user.credit;
  info.recent_credit = recent_credit(user.recent, now);
  info.created = static_cast<double>(user.created) * kMillis;
  rpc.reply.user = info;
  rpc.reply.host_credit =
      HostCredit{host.credit, recent_credit(host.recent, now)};
  std::string page = rpc.master.substr(
      0, rpc.master.size() - std::string_view(kMasterPath).size() + 1);
  rpc.reply.gui_urls = {
      {"Project page", "What the project is doing now", page}};
}

bool SchedulerRoute::may_work(Rpc& rpc, const Host& host) const {
  if (host.mark == HostMark::banned) {
    refuse(rpc, banned_text(host));
    return false;
  }
  if (!settle_key(rpc) || rpc.request.wants_no_work) return false;
  constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::cuda,
                                   DeviceKind::opencl};
  const bool has_program =
      std::any_of(std::begin(kKinds), std::end(kKinds), [&](DeviceKind kind) {
        return rpc.versions->find(rpc.request.platforms, kind) != nullptr;
      });
  if (has_program) return true;
  rpc.reply.messages.push_back(
      {fmt::format("The project has no program for {}.",
                   rpc.request.platforms.front()),
       false});
  return false;
}

void SchedulerRoute::look_at_files(Rpc& rpc) const {
  StickyShards shards =
      sort_sticky(rpc.request.files, [this](const Hash& hash) {
        return std::any_of(state_.runs.begin(), state_.runs.end(),
                           [&](const auto& entry) {
                             const TrainingRun& training = entry.second;
                             return training.is_active() &&
                                    training.shard_index.contains(hash);
                           });
      });
  rpc.shards = std::move(shards.kept);
  rpc.reply.deleted_files = std::move(shards.deleted);
}

void SchedulerRoute::send_work(const RpcPtr& rpc) {
  // Leases are renewed whether there is work or not.
  rpc->unanswered = 1 + rpc->shipments.size();
  project_.daemons().scheduler.heartbeat(
      rpc->host, question_of(*rpc), [this, rpc](const WorkAnswer& reply) {
        for (ResultId id : reply.cancel) {
          rpc->reply.aborted.push_back(result_name(id));
        }
        reply_if_complete(rpc);
      });
  for (Shipment& shipment : rpc->shipments) ask_scheduler(rpc, shipment);
}

void SchedulerRoute::ask_scheduler(const RpcPtr& rpc, Shipment& shipment) {
  Scheduler& scheduler = project_.daemons().scheduler;
  WorkWish question = question_of(*rpc);
  auto answer = [this, rpc, &shipment](const WorkAnswer& reply) {
    take_answer(rpc, shipment, reply);
  };
  question.want =
      std::min<std::uint32_t>(shipment.order.want, protocol::kMaxAssignments);
  question.shards = rpc->shards;
  question.device = device_text(shipment.order);
  question.speed_flops =
      hosts_.speed(*state_.hosts.host(rpc->host), shipment.order.plan_class);
  // Once is enough to send again what the client lost.
  if (&shipment == &rpc->shipments.front()) {
    scheduler.request_work(rpc->host, question, answer);
  } else {
    scheduler.request_more_work(rpc->host, question, answer);
  }
}

void SchedulerRoute::take_answer(const RpcPtr& rpc, Shipment& shipment,
                                 const WorkAnswer& answer) {
  if (answer.retry_after.count() > 0) {
    rpc->reply.request_delay = std::max(rpc->reply.request_delay, kClosing);
  }
  for (const Assignment& assignment : answer.assignments) {
    try {
      Bytes task = sealed_task_of(state_.store, state_.objects,
                                  assignment.objects.front().hash);
      shipment.results.push_back({assignment, md5(task)});
    } catch (const Error& error) {
      // Missing: another host gets it when it is there again.
      log_error("task_not_sent",
                {{"result", assignment.result}, {"why", error.what()}});
    }
  }
  reply_if_complete(rpc);
}

void SchedulerRoute::reply_if_complete(const RpcPtr& rpc) {
  if (--rpc->unanswered > 0) return;
  replies_.post([this, rpc] { reply(*rpc); });
}

void SchedulerRoute::reply_later(const RpcPtr& rpc) {
  project_.writer().after_commit(
      [this, rpc] { replies_.post([this, rpc] { reply(*rpc); }); });
}

void SchedulerRoute::reply(Rpc& rpc) {
  try {
    for (const Shipment& shipment : rpc.shipments) {
      maker_.add(rpc.reply, shipment, *rpc.versions, rpc.master,
                 rpc.request.clock > 0 ? rpc.request.clock : rpc.clock);
    }
    rpc.responder.send(text_response(200, "text/xml", write(rpc.reply)));
  } catch (const std::exception& error) {
    // Dropped, the responder answers 500; what was sent is sent again.
    log_error("boinc_reply_failed",
              {{"host", rpc.host}, {"error", error.what()}});
  }
}

}  // namespace quorate::boinc
