// A project server in memory, reached through Transfer: accounts and hosts are
// taken on trust, everything else as docs/protocol.md has it. Scripted by its
// public switches; safe to use from several threads.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/folder/project.h"
#include "protocol/transfer/transfer.h"
#include "workunits/assignment.h"
#include "workunits/result_header.h"

namespace quorate::test {

class FakeServer {
 public:
  FakeServer();

  std::unique_ptr<Transfer> connect();
  // The project as `attach` would have found it.
  client::Project project() const;

  // A sealed unit to be handed out; several may share snapshot and shard.
  // key: that seals it, sample_key(1) for an honest one. unit_index: 0 for the
  // result's number.
  void add_unit(ResultId result, std::uint8_t key = 1,
                std::uint64_t unit_index = 0);
  // Other bytes under an object's hash from now on.
  void spoil_snapshot();
  void cancel(ResultId result);
  // Closes every reported result.
  void close_reported();
  // Sessions and uploads are forgotten.
  void restart();
  void set_reachable(bool reachable);
  // Reports are answered with 503.
  void set_refuses_reports(bool refuses);
  // Reports are answered with accepted: false.
  void set_rejects(bool rejects);

  // Work and heartbeats are answered as a banned host's, with an hour to wait.
  void set_bans(bool bans);

  // The number of the project's keyring, as sessions that open now say it.
  void set_keys(std::uint64_t number);

  // Every run is over.
  void finish();

  // Requests so far whose path begins so.
  std::size_t requests(const std::string& path) const;
  bool has_report(ResultId result) const;
  // Of a reported result.
  ResultHeader header(ResultId result) const;
  bool is_signed_by(ResultId result, const PublicKey& host) const;
  // What was uploaded for a result; empty if nothing.
  Bytes uploaded(ResultId result) const;
  std::vector<std::string> failures() const;
  // Questions for work so far.
  std::size_t questions() const;
  // Of the device that the last of them was for; 0: it said none.
  double last_speed() const;
  // Shards in the last of them.
  std::vector<Hash> told_shards() const;

 private:
  friend class FakeConnection;
  HttpReply handle(const HttpRequest& request, const std::stop_token& stop);
  HttpReply open_session(const HttpRequest& request);
  HttpReply work(const HttpRequest& request, const std::stop_token& stop,
                 bool is_heartbeat);
  HttpReply standing();
  HttpReply object(const HttpRequest& request);
  HttpReply update(const HttpRequest& request);
  HttpReply report(const HttpRequest& request);
  ObjectRef put(ObjectKind kind, Bytes bytes);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_reachable_ = true;
  bool refuses_reports_ = false;
  bool rejects_ = false;
  bool bans_ = false;
  bool is_finished_ = false;
  std::uint64_t keys_ = 0;
  int sessions_ = 0;
  std::map<std::string, Bytes> objects_;  // by hash
  ObjectRef snapshot_;
  std::vector<Assignment> waiting_;
  std::set<ResultId> cancelled_;
  std::set<ResultId> closed_;
  std::size_t questions_ = 0;
  double last_speed_ = 0;
  std::vector<Hash> told_shards_;
  std::map<ResultId, Bytes> uploads_;
  std::map<ResultId, SignedHeader> reports_;
  std::vector<std::string> failures_;
  std::vector<std::string> paths_;
};

}  // namespace quorate::test
