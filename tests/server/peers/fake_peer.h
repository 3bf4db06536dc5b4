// A peer's server in memory, reached through Transfer. Scripted by its public
// members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/transfer/curl_transfer.h"
#include "workunits/model_offer.h"

namespace quorate::test {

class FakePeer {
 public:
  explicit FakePeer(const ModelSpec& model);

  TransferMaker maker();
  std::string fingerprint() const;
  // A new version with these parameters, all of which are `fill`; published.
  void publish(float fill);

  PrivateKey key = PrivateKey::generate();  // of the project
  ModelOffer offer;
  Bytes parameters;
  // What is sent after so many bytes of them is nothing; then it is whole
  // again.
  std::optional<std::size_t> breaks_after;
  bool is_away = false;
  bool lets_in = true;
  Millis expires = 0;                 // of its statement
  bool has_model = true;              // of the last offer; else it was removed
  std::optional<Bytes> sent_offer;    // instead of one that it sealed
  std::vector<std::string> requests;  // "GET /v1/project"
  std::vector<std::uint64_t> from;    // of requests for parameters

 private:
  friend class FakePeerTransfer;
  HttpReply handle(const HttpRequest& request);
  HttpReply open_session(const HttpRequest& request) const;
  HttpReply send_offer(const HttpRequest& request) const;
  HttpReply send_model(const HttpRequest& request);
};

}  // namespace quorate::test
