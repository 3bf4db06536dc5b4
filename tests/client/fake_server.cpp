#include "tests/client/fake_server.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/error.h"
#include "protocol/native/messages.h"
#include "tests/support/samples.h"
#include "workunits/task.h"

namespace quorate::test {

namespace {

HttpReply status(int code, std::string body = "") {
  HttpReply reply;
  reply.status = code;
  reply.body = std::move(body);
  return reply;
}

std::string token(int session) {
  return std::string(63, 'f') + std::to_string(session);
}

ResultId result_of(const std::string& path) {
  return std::stoll(path.substr(std::string("/v1/results/").size()));
}

}  // namespace

class FakeConnection final : public Transfer {
 public:
  explicit FakeConnection(FakeServer& server) : server_(server) {}
  HttpReply send(const HttpRequest& request,
                 const std::stop_token& stop) override {
    return server_.handle(request, stop);
  }

 private:
  FakeServer& server_;
};

FakeServer::FakeServer() {
  snapshot_ = put(ObjectKind::snapshot, Bytes(1000, 7));
}

std::unique_ptr<Transfer> FakeServer::connect() {
  return std::make_unique<FakeConnection>(*this);
}

client::Project FakeServer::project() const {
  protocol::ProjectStatement statement;
  statement.name = "fake";
  statement.keys = keyring_of(sample_key(1).public_key());
  statement.arithmetic = kArithmeticVersion;
  std::string text = protocol::write(statement);
  client::Project project = client::open_statement(
      seal(as_bytes(text), SealKind::project, sample_project(), sample_key(1)));
  project.url = "http://fake";
  return project;
}

ObjectRef FakeServer::put(ObjectKind kind, Bytes bytes) {
  ObjectRef ref{kind, sha256(bytes), bytes.size()};
  objects_[ref.hash.hex()] = std::move(bytes);
  return ref;
}

void FakeServer::add_unit(ResultId result, std::uint8_t key,
                          std::uint64_t unit_index) {
  std::lock_guard lock(mutex_);
  ObjectRef shard = put(ObjectKind::shard, sample_shard());
  TrainingTask task = sample_task();
  task.unit_index =
      unit_index == 0 ? static_cast<std::uint64_t>(result) : unit_index;
  task.unit_seed = unit_seed(task.run, task.unit_index);
  task.snapshot = snapshot_.hash;
  task.shard = shard.hash;
  ObjectRef unit =
      put(ObjectKind::workunit, seal(encode(task), SealKind::workunit,
                                     sample_project(), sample_key(key)));
  Assignment assignment;
  assignment.result = result;
  assignment.nonce = filled<Nonce>(static_cast<std::uint8_t>(result));
  assignment.objects = {unit, snapshot_, shard};
  assignment.lease = Seconds(60);
  waiting_.push_back(assignment);
  changed_.notify_all();
}

void FakeServer::spoil_snapshot() {
  std::lock_guard lock(mutex_);
  objects_[snapshot_.hash.hex()][0] ^= 1;
}

void FakeServer::cancel(ResultId result) {
  std::lock_guard lock(mutex_);
  cancelled_.insert(result);
  changed_.notify_all();
}

void FakeServer::close_reported() {
  std::lock_guard lock(mutex_);
  for (const auto& [result, header] : reports_) closed_.insert(result);
  changed_.notify_all();
}

void FakeServer::restart() {
  std::lock_guard lock(mutex_);
  ++sessions_;
  uploads_.clear();
}

void FakeServer::set_reachable(bool reachable) {
  std::lock_guard lock(mutex_);
  is_reachable_ = reachable;
}

void FakeServer::set_refuses_reports(bool refuses) {
  std::lock_guard lock(mutex_);
  refuses_reports_ = refuses;
}

void FakeServer::set_rejects(bool rejects) {
  std::lock_guard lock(mutex_);
  rejects_ = rejects;
}

void FakeServer::set_keys(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  keys_ = number;
}

void FakeServer::set_bans(bool bans) {
  std::lock_guard lock(mutex_);
  bans_ = bans;
}

void FakeServer::finish() {
  std::lock_guard lock(mutex_);
  is_finished_ = true;
}

std::size_t FakeServer::requests(const std::string& path) const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      paths_.begin(), paths_.end(),
      [&](const std::string& seen) { return seen.rfind(path, 0) == 0; }));
}

bool FakeServer::has_report(ResultId result) const {
  std::lock_guard lock(mutex_);
  return reports_.contains(result);
}

ResultHeader FakeServer::header(ResultId result) const {
  std::lock_guard lock(mutex_);
  return decode_result_header(reports_.at(result).bytes);
}

bool FakeServer::is_signed_by(ResultId result, const PublicKey& host) const {
  std::lock_guard lock(mutex_);
  return verify_header(reports_.at(result), sample_project(), host);
}

Bytes FakeServer::uploaded(ResultId result) const {
  std::lock_guard lock(mutex_);
  auto found = uploads_.find(result);
  return found == uploads_.end() ? Bytes{} : found->second;
}

std::vector<std::string> FakeServer::failures() const {
  std::lock_guard lock(mutex_);
  return failures_;
}

std::size_t FakeServer::questions() const {
  std::lock_guard lock(mutex_);
  return questions_;
}

double FakeServer::last_speed() const {
  std::lock_guard lock(mutex_);
  return last_speed_;
}

std::vector<Hash> FakeServer::told_shards() const {
  std::lock_guard lock(mutex_);
  return told_shards_;
}

HttpReply FakeServer::handle(const HttpRequest& request,
                             const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  paths_.push_back(request.path);
  if (!is_reachable_) throw Error(ErrorKind::unavailable, "no route to host");
  if (request.path == "/v1/project") {
    Bytes sealed = project().sealed;
    return status(200, std::string(as_text(sealed)));
  }
  if (request.path == "/v1/accounts") return status(200, "{}");
  if (request.path == "/v1/hosts") return status(200, "{\"host\":1}");
  if (request.path == "/v1/sessions") return open_session(request);
  if (request.bearer != token(sessions_)) {
    return status(401, "{\"kind\":\"new session\",\"message\":\"\"}");
  }
  if (request.path == "/v1/work" || request.path == "/v1/heartbeat") {
    if (bans_) {
      return status(403, protocol::write(protocol::ErrorReply{
                             "denied", "this host is banned", Seconds(3600)}));
    }
    lock.unlock();
    return work(request, stop, request.path == "/v1/heartbeat");
  }
  if (request.path == "/v1/hosts/me") return standing();
  if (request.path.rfind("/v1/objects/", 0) == 0) return object(request);
  if (request.path.ends_with("/update")) return update(request);
  return report(request);
}

HttpReply FakeServer::open_session(const HttpRequest& request) {
  auto asked = protocol::parse_session_request(request.body);
  protocol::SessionReply reply;
  reply.keys = keys_;
  reply.heartbeat = Seconds(0.05);
  if (!asked.is_signed) {
    reply.challenge = std::string(64, 'a');
  } else {
    reply.token = token(sessions_);
  }
  return status(200, protocol::write(reply));
}

// Waits like the real one: until there is something to say, time is over, or
// the host asks again.
HttpReply FakeServer::work(const HttpRequest& request,
                           const std::stop_token& stop, bool is_heartbeat) {
  auto asked = protocol::parse_work_request(request.body);
  std::unique_lock lock(mutex_);
  if (!is_heartbeat) {
    told_shards_ = asked.shards;
    last_speed_ = asked.speed_flops;
    ++questions_;
    changed_.notify_all();
  }
  for (const auto& failure : asked.failed) failures_.push_back(failure.why);
  protocol::WorkReply reply;
  reply.is_finished = is_finished_;
  auto has_news = [&, question = questions_] {
    if (!is_heartbeat && question != questions_) return true;
    for (const auto& [id, step, steps] : asked.holding) {
      if (cancelled_.contains(id)) reply.cancel.push_back(id);
      if (closed_.contains(id)) reply.closed.push_back(id);
    }
    while (!is_heartbeat && !waiting_.empty() &&
           reply.assignments.size() < asked.want) {
      reply.assignments.push_back(waiting_.front());
      waiting_.erase(waiting_.begin());
    }
    return !reply.cancel.empty() || !reply.closed.empty() ||
           !reply.assignments.empty();
  };
  if (is_heartbeat) {
    has_news();
  } else {
    // Nobody waits for the end of a test; a real server takes its time.
    const Seconds wait = is_finished_ ? Seconds(0) : asked.wait;
    changed_.wait_for(lock, stop, wait, has_news);
  }
  if (stop.stop_requested()) throw Error(ErrorKind::unavailable, "given up");
  return status(200, protocol::write(reply));
}

HttpReply FakeServer::standing() {
  protocol::StandingReply reply;
  reply.host = 1;
  reply.pending = reports_.size();
  reply.runs = {{"first", 38, 2, 90}};
  return status(200, protocol::write(reply));
}

HttpReply FakeServer::object(const HttpRequest& request) {
  auto found =
      objects_.find(request.path.substr(std::string("/v1/objects/").size()));
  if (found == objects_.end()) return status(404);
  HttpReply head = status(request.from > 0 ? 206 : 200);
  head.first_byte = request.from;
  request.sink(head, ByteView(found->second).subspan(request.from));
  return head;
}

HttpReply FakeServer::update(const HttpRequest& request) {
  Bytes& there = uploads_[result_of(request.path)];
  HttpReply reply = status(200);
  if (request.method == HttpMethod::put) {
    if (request.from == 0) there.clear();
    if (request.from == there.size()) {
      there.insert(there.end(), request.body.begin(), request.body.end());
    } else {
      reply.status = 409;
    }
  }
  reply.upload_offset = there.size();
  return reply;
}

HttpReply FakeServer::report(const HttpRequest& request) {
  if (refuses_reports_) return status(503);
  protocol::ReportReply reply;
  ResultId result = result_of(request.path);
  SignedHeader header = protocol::parse_signed_header(request.body);
  const Claim& claim = decode_result_header(header.bytes).claim;
  auto upload = uploads_.find(result);
  bool has_payload =
      upload != uploads_.end() && sha256(upload->second) == claim.update;
  reply.accepted = !rejects_ && (has_payload || claim.update.is_zero());
  reply.reason = reply.accepted ? "" : "the fake server rejects it";
  if (reply.accepted) reports_[result] = std::move(header);
  return status(200, protocol::write(reply));
}

}  // namespace quorate::test
