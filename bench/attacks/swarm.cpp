#include "bench/attacks/swarm.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/native/messages.h"

namespace quorate::bench {
namespace {

constexpr double kWait = 5;  // for work, in seconds
constexpr int kAccepted = 200;

const Attack& attack_named(const std::string& name) {
  if (const Attack* attack = find_attack(name)) return *attack;
  std::string known;
  for (const Attack& attack : attacks()) {
    known += (known.empty() ? "" : ", ") + std::string(attack.name);
  }
  throw Error(ErrorKind::usage, "--attack " + name + ": known are " + known);
}

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

// A coin that the same host throws alike for the same unit.
double coin(const Volunteer& who, const Unit& unit) {
  Sha256 hash;
  hash.update(who.host.public_key().view());
  hash.update(unit.hash.view());
  Hash thrown = hash.finish();
  std::uint32_t number = 0;
  std::memcpy(&number, thrown.bytes.data(), sizeof number);
  return number / 4294967296.0;
}

void print_line(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace

Swarm::Swarm(SwarmOptions options)
    : options_(std::move(options)), http_("127.0.0.1", options_.port) {
  std::size_t hosts = options_.honest + options_.attackers;
  for (std::size_t i = 0; i < hosts; ++i) http_.connect();
  protocol::ProjectStatement statement = fetch_statement(http_, 0);
  project_ = statement.keys.project;
  book_ = std::make_unique<UnitBook>(project_, statement.keys.current().key);
  http_.outlive_closing();
  for (std::size_t i = 1; i <= options_.honest; ++i) {
    enrol_host(fmt::format("honest-{}", i), nullptr, false);
  }
  const std::vector<std::string>& names = options_.attacks;
  for (std::size_t i = 1; i <= options_.attackers; ++i) {
    enrol_host(fmt::format("attacker-{}", i),
               &attack_named(names[(i - 1) % names.size()]),
               i <= options_.unproven);
  }
}

void Swarm::enrol_host(const std::string& name, const Attack* attack,
                       bool is_unproven) {
  Player player;
  player.who = enrol(http_, players_.size(), project_, name);
  player.attack = attack;
  player.is_unproven = is_unproven;
  print_line(fmt::format(R"({{"enrolled":{},"attack":"{}"}})", player.who.id,
                         attack == nullptr ? "" : attack->name));
  players_.push_back(std::move(player));
}

void Swarm::run() {
  for (std::size_t i = 0; i < players_.size(); ++i) ask(i);
  http_.run();
}

void Swarm::send(std::size_t player, const Request& request,
                 HttpClient::Done done) {
  http_.send(player,
             http_request(request.method, request.path,
                          players_[player].who.token, request.body),
             [this, done = std::move(done)](HttpReply reply) {
               done(std::move(reply));
               release_the_impatient();
             });
}

void Swarm::ask(std::size_t player, std::optional<ResultId> failed) {
  protocol::WorkRequest request;
  request.want = 1;
  request.wait = Seconds(kWait);
  request.device = "cpu:bench";
  request.speed_flops = 1e9;
  if (failed) request.failed.push_back({*failed, "not computed"});
  send(player, {"POST", "/v1/work", bytes_of(protocol::write(request))},
       [this, player](const HttpReply& reply) {
         Player& who = players_[player];
         if (reply.status == 0) return ask(player);
         if (reply.status != kAccepted) {
           return print_line(
               fmt::format(R"({{"left":{},"units":{},"reply":{}}})", who.who.id,
                           who.units, reply.body));
         }
         auto work = protocol::parse_work_reply(as_bytes(reply.body));
         if (work.assignments.empty()) return ask(player);
         who.assignment = work.assignments[0];
         notes_.held[who.who.id] = {who.assignment.result, who.assignment.nonce,
                                    who.assignment.objects.at(0).hash};
         fetch(player, 0);
       });
}

void Swarm::fetch(std::size_t player, std::size_t object) {
  const Player& who = players_[player];
  if (object == who.assignment.objects.size()) return work_on(player);
  Hash hash = who.assignment.objects[object].hash;
  if (book_->has_object(hash)) return fetch(player, object + 1);
  send(player, {"GET", "/v1/objects/" + hash.hex(), {}},
       [this, player, object, hash](const HttpReply& reply) {
         if (reply.status != kAccepted) {  // cancelled meanwhile
           return ask(player, players_[player].assignment.result);
         }
         book_->add_object(hash, bytes_of(reply.body));
         fetch(player, object + 1);
       });
}

bool Swarm::is_to_falsify(const Player& who, const Unit& unit) const {
  return who.attack != nullptr && who.units >= options_.after &&
         !unit.honest.update.empty() && coin(who.who, unit) < options_.share;
}

void Swarm::work_on(std::size_t player) {
  Player& who = players_[player];
  for (const auto& object : who.assignment.objects) {
    // The book may have forgotten an old one while the others came.
    if (!book_->has_object(object.hash)) return fetch(player, 0);
  }
  who.unit = book_->unit(who.assignment.objects.at(0).hash);
  bool is_false = is_to_falsify(who, *who.unit);
  if (is_false && options_.conspires) return park(player);
  send_report(player, is_false);
}

void Swarm::park(std::size_t player) {
  Player& who = players_[player];
  Hash unit = who.assignment.objects[0].hash;
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (players_[i].is_parked &&
        players_[i].assignment.objects[0].hash == unit) {
      players_[i].is_parked = false;
      send_report(i, true);
      return send_report(player, true);
    }
  }
  if (options_.unproven > 0 && !who.is_unproven) {
    return send_report(player, false);
  }
  who.is_parked = true;
  who.parked = clock_.now();
}

void Swarm::release_the_impatient() {
  if (!options_.conspires) return;
  Instant now = clock_.now();
  for (std::size_t i = 0; i < players_.size(); ++i) {
    Player& who = players_[i];
    if (!who.is_parked || now < who.parked + options_.patience) continue;
    who.is_parked = false;
    send_report(i, false);
  }
}

void Swarm::send_report(std::size_t player, bool is_false) {
  Player& who = players_[player];
  const std::shared_ptr<const Unit> unit = who.unit;
  Scene scene{*unit, who.who, project_, notes_, book_->backend()};
  Report report = honest_report(*unit, who.assignment, who.who);
  if (who.is_unproven) {
    report.header.device = fmt::format("cpu:{}", who.units);
  }
  if (is_false) who.attack->apply(report, scene);
  if (!who.assignment.upload && !report.is_pushed) report.payload.clear();
  std::vector<Request> requests = report.extra;
  std::string path = fmt::format("/v1/results/{}", who.assignment.result);
  if (!report.payload.empty()) {
    requests.push_back({"PUT", path + "/update", report.payload});
  }
  requests.push_back({"POST", path, signed_report(report, scene)});
  std::reverse(requests.begin(), requests.end());
  send_next(player, std::make_shared<Sending>(
                        Sending{std::move(report), std::move(requests), {}}));
}

void Swarm::send_next(std::size_t player, std::shared_ptr<Sending> sending) {
  Request request = std::move(sending->rest.back());
  sending->rest.pop_back();
  send(player, request,
       [this, player, sending, body = request.body](const HttpReply& reply) {
         if (sending->rest.empty()) {
           return finish(player, *sending, body, reply);
         }
         std::string& answers = sending->answers;
         answers +=
             fmt::format("{}{}", answers.empty() ? "" : ",", reply.status);
         send_next(player, sending);
       });
}

void Swarm::finish(std::size_t player, const Sending& sending,
                   const Bytes& sent, const HttpReply& reply) {
  const Report& report = sending.report;
  Player& who = players_[player];
  ++who.units;
  const Hash& unit = who.assignment.objects[0].hash;
  print_line(fmt::format(
      R"({{"host":{},"result":{},"unit":"{}","honest":"{}","false":{},)"
      R"("witness":{},)"
      R"("victim":{},"victim_update":"{}","uploaded":{},"reported":{},)"
      R"("answers":[{}],"status":{},"reply":{}}})",
      who.who.id, who.assignment.result, unit.hex(),
      who.unit->honest.claim.update.hex(), report.is_false,
      !who.assignment.upload, report.victim, report.victim_update.hex(),
      report.payload.size(), sent.size(), sending.answers, reply.status,
      reply.status == 0 ? "null" : reply.body));
  SentReport note;
  note.result = who.assignment.result;
  note.workunit = unit;
  note.signed_bytes = sent;
  note.proof =
      decode_result_header(protocol::parse_signed_header(sent).bytes).proof;
  note.update = report.update;
  if (!report.signed_bytes) {
    notes_.sent[who.who.id] = note;
    notes_.by_unit[unit] = std::move(note);
  }
  notes_.held.erase(who.who.id);
  if (who.attack != nullptr && options_.units_each > 0 &&
      who.units >= options_.units_each) {
    return;
  }
  ask(player);
}

}  // namespace quorate::bench
