// A small run with its objects and its ledger, made without the code under
// test: the rules' equations stand here once more, as plain lines.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "validator/replay.h"

namespace quorate {

class SyntheticRun {
 public:
  SyntheticRun();

  // One result of a unit based on `base_version`, made part of the model by
  // vc-asgd with alpha 0.7.
  void assimilate_vc_asgd(std::uint64_t base_version, int host = 0);
  // The same by an assimilator that read `read`, a version before the newest.
  void overwrite_from(std::uint64_t read, std::uint64_t base_version,
                      int host = 0);
  // The results of a round of diloco on the newest version; the unit indices
  // descend in order of arrival.
  void assimilate_round(std::size_t results, int host = 0);
  // The same on an older version.
  void assimilate_old_round(std::size_t results, std::uint64_t base_version,
                            int host = 0);
  // One result of a round that does not close.
  void assimilate_in_open_round();
  // Takes the results of `host` out of the model and goes on from what is left.
  // Returns the entry's results.
  std::vector<ResultId> revoke(int host);
  // Mixes in a model that another project offers, with weight 0.25.
  void mix_peer(std::uint64_t peer_version);
  static PrivateKey peer_key();
  void publish();
  void end();

  // Chained and sealed with the project's key: an entry changed by hand is
  // what a cheating owner of the key could write.
  std::vector<LedgerRecord> records() const;
  // Callbacks into this object and `of`, which must outlive them.
  LedgerSources sources(const std::vector<LedgerRecord>& of) const;

  std::uint64_t version() const { return version_; }
  Hash parameters_hash() const { return hash_of(parameters_); }
  Hash published_hash() const { return hash_of(published_); }
  const std::vector<float>& parameters_at(std::uint64_t version) const {
    return versions_.at(version);
  }
  static PublicKey host_key(int host);
  // Model and average that all other results make, from the beginning; what was
  // revoked is left out, too.
  struct Model {
    std::uint64_t version = 0;
    std::vector<float> parameters;
    std::vector<float> published;
    std::vector<float> momentum;
    std::vector<std::vector<float>> versions;
  };
  Model without(const std::set<PublicKey>& hosts) const;
  Hash hash_of(const std::vector<float>& values) const;

  std::vector<LedgerEntry> entries;
  std::map<Hash, Bytes> objects;

 private:
  Hash store(Bytes bytes);
  Hash snapshot(const std::vector<float>& values);
  void append(LedgerBody body);
  ResultAssimilated new_result(std::uint64_t base_version, int host,
                               std::uint64_t unit_index);
  std::vector<float> make_delta(ResultAssimilated& entry);
  void average(float one_minus_c);
  // The equations of a peer's model, once more.
  void mix(const PeerMixed& entry, Model& model) const;
  void merge(const ResultAssimilated& closing,
             std::map<std::uint64_t, std::vector<float>>& round,
             Model& model) const;

  PrivateKey key_;
  ProjectId project_;
  ModelSpec model_{"mlp", {2, 3, 2}};
  RunId run_;
  std::uint64_t next_unit_ = 0;
  std::uint64_t version_ = 0;
  std::vector<float> parameters_;
  std::vector<float> published_;
  std::vector<float> momentum_;  // empty before the first round
  std::set<ResultId> revoked_;
  std::vector<std::vector<float>> versions_;
};

// 18 entries: host 1 is revoked in the middle, host 2 later; units go on from
// what is left.
SyntheticRun run_with_revocations();

// 14 entries: the first version is a peer's, units have bases from before and
// after such a version, one is revoked around it.
SyntheticRun run_with_peers();

}  // namespace quorate
