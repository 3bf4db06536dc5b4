// Many hosts on one thread: real keys, sessions, signatures and uploads over
// the real wire. The honest ones compute; the false ones attack. Every report
// becomes a line of JSON on standard output: the ground truth that a project's
// ledger is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/attacks/attacks.h"
#include "bench/attacks/unit_book.h"
#include "bench/server/http_client.h"

namespace quorate::bench {

struct SwarmOptions {
  std::uint16_t port = 0;
  std::size_t honest = 13;
  std::size_t attackers = 7;
  std::vector<std::string> attacks = {"none"};  // taken in turn
  double share = 1;              // of their units that attackers falsify
  std::uint64_t after = 0;       // honest for so many units before that
  std::uint64_t units_each = 0;  // an attacker then leaves; 0: it stays
  // False only when two attackers have the unit. The first so many of them
  // name another device with every result, never become proven, and wait for
  // the others; if there are none, all wait.
  bool conspires = false;
  std::size_t unproven = 0;
  Seconds patience{2};  // how long one waits for another
};

class Swarm {
 public:
  // Enrols all hosts. Throws denied if the server refuses one.
  explicit Swarm(SwarmOptions options);
  // Until every host has been refused, or left.
  void run();

 private:
  struct Player {
    Volunteer who;
    std::string name;
    const Attack* attack = nullptr;  // none if honest
    bool is_unproven = false;        // by choice
    std::uint64_t units = 0;         // reported so far
    bool is_parked = false;          // waits for an accomplice, with this
    Assignment assignment;
    std::shared_ptr<const Unit> unit;  // of it, once it is here
    Instant parked{};
  };

  void enrol_host(const std::string& name, const Attack* attack,
                  bool is_unproven);
  void ask(std::size_t player, std::optional<ResultId> failed = {});
  void fetch(std::size_t player, std::size_t object);
  void work_on(std::size_t player);
  bool is_to_falsify(const Player& who, const Unit& unit) const;
  void park(std::size_t player);
  void release_the_impatient();
  void send_report(std::size_t player, bool is_false);
  // A report's requests, the next one last, and how the others were answered.
  struct Sending {
    Report report;
    std::vector<Request> rest;
    std::string answers;
  };
  void send_next(std::size_t player, std::shared_ptr<Sending> sending);
  void finish(std::size_t player, const Sending& sending, const Bytes& sent,
              const HttpReply& reply);
  void send(std::size_t player, const Request& request, HttpClient::Done done);

  SwarmOptions options_;
  SystemClock clock_;
  HttpClient http_;
  ProjectId project_;
  std::unique_ptr<UnitBook> book_;
  std::vector<Player> players_;
  Notes notes_;
};

// Registers accounts and hosts on this many connections, one after the other,
// as fast as the server answers. Prints how many it took and refused, once a
// second, until the server has gone.
void flood_with_registrations(std::uint16_t port, std::size_t connections);

}  // namespace quorate::bench
