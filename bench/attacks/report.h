// What a host of the bench is about to report, honest until an attack changes
// it, and what the false hosts of one machine tell each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/attacks/unit_book.h"
#include "bench/server/volunteers.h"
#include "workunits/assignment.h"
#include "workunits/result_header.h"

namespace quorate::bench {

// A request beside the report, sent before it.
struct Request {
  std::string method;
  std::string path;
  Bytes body;
};

struct Report {
  ResultHeader header;                // its proof is made when it is signed
  Bytes update;                       // that the proof is made of
  Bytes payload;                      // that goes up, if one is asked for
  bool is_pushed = false;             // it goes up even so
  std::optional<Hash> proof;          // another than that
  std::optional<Bytes> signed_bytes;  // the whole report, made elsewhere
  std::vector<Request> extra;
  // Ground truth: this result must not become part of a model; nor, if an
  // attack aims at another host's, that one with this update.
  bool is_false = false;
  ResultId victim = 0;
  Hash victim_update;
};

// A result that some host holds.
struct Held {
  ResultId result = 0;
  Nonce nonce;
  Hash workunit;
};

// What a report was, once it was sent.
struct SentReport {
  ResultId result = 0;
  Hash workunit;
  Hash proof;
  Bytes signed_bytes;
  Bytes update;
};

// Shared by all hosts of the bench. That attackers know what honest hosts hold
// and sent is more than any real one could.
struct Notes {
  std::map<HostId, Held> held;
  std::map<HostId, SentReport> sent;      // the last of each
  std::map<Hash, SentReport> by_unit;     // the last of each unit
  std::map<HostId, std::uint64_t> grown;  // false reports of each, so far
  std::shared_ptr<const std::vector<float>> old_parameters;
  std::uint64_t old_version = 0;
};

struct Scene {
  const Unit& unit;
  const Volunteer& who;
  ProjectId project;
  Notes& notes;
  Backend& backend;
};

// The report of a host that does what it was asked to.
Report honest_report(const Unit& unit, const Assignment& assignment,
                     const Volunteer& who);

// As it goes over the wire.
Bytes signed_report(const Report& report, const Scene& scene);

}  // namespace quorate::bench
