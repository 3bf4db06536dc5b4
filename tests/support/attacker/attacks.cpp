#include "tests/support/attacker/attacks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "workunits/objects/safetensors.h"

namespace quorate::test {
namespace {

constexpr float kScale = 1.5F;
constexpr float kLarge = 30.0F;
constexpr float kGrowth = 1.3F;
// Finite as a scale of codes, too.
constexpr float kHuge = 1e37F;

float root_mean_square(std::span<const float> values) {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * value;
  auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  return static_cast<float>(std::sqrt(sum / count));
}

void change_values(std::span<float> values, Change change, std::uint64_t seed,
                   RandomStream& random) {
  // Uniform in [-a, a) has the root mean square a / sqrt(3).
  constexpr std::uint64_t kMost = 100;
  float range = root_mean_square(values) * std::sqrt(3.0F);
  for (float& value : values) {
    switch (change) {
      case Change::random:
        value = range * uniform11(random.next());
        break;
      case Change::scaled:
        value *= kScale;
        break;
      case Change::large:
        value *= kLarge;
        break;
      case Change::growing:
        value *= std::pow(kGrowth, static_cast<float>(std::min(seed, kMost)));
        break;
      case Change::huge:
        value = kHuge;
        break;
      case Change::sign_flip:
        value = -value;
        break;
      case Change::not_finite:
        value = std::numeric_limits<float>::quiet_NaN();
        return;
    }
  }
}

std::uint64_t number_of(const Hash& hash) {
  std::uint64_t number = 0;
  std::memcpy(&number, hash.bytes.data(), sizeof number);
  return number;
}

// Signs a changed update as if it had been computed.
class ChangedUpdate final : public client::ResultTamper {
 public:
  // is_agreed: drawn by the unit, which the honest update stands for.
  explicit ChangedUpdate(Change change, bool is_agreed = false)
      : change_(change), is_agreed_(is_agreed) {}

  void before_signing(ResultId result, Claim& claim,
                      const fs::path& update) override {
    if (claim.update.is_zero()) return;
    Bytes bytes = read_file(update);
    change_update(bytes, change_,
                  is_agreed_ ? number_of(claim.update)
                             : static_cast<std::uint64_t>(result));
    write_file_durably(update, bytes);
    claim.update = sha256(bytes);
    log_info("attack", {{"result", result}});
  }
  void after_signing(ResultId, const fs::path&) override {}

 private:
  Change change_;
  bool is_agreed_;
};

// Signs the honest update with digests of a state that never was.
class FalseDigests final : public client::ResultTamper {
 public:
  void before_signing(ResultId result, Claim& claim, const fs::path&) override {
    for (Hash& digest : claim.digests) digest = sha256(digest.bytes);
    log_info("attack", {{"result", result}});
  }
  void after_signing(ResultId, const fs::path&) override {}
};

class Sometimes final : public client::ResultTamper {
 public:
  Sometimes(std::unique_ptr<client::ResultTamper> attack, double share,
            std::uint64_t honest)
      : attack_(std::move(attack)), share_(share), honest_(honest) {}

  void before_signing(ResultId result, Claim& claim,
                      const fs::path& update) override {
    RandomStream random(static_cast<std::uint64_t>(result),
                        stream_of(RandomUse::augmentation, 1), 0);
    is_false_ = results_++ >= honest_ && uniform01(random.next()) < share_;
    if (is_false_) attack_->before_signing(result, claim, update);
  }
  void after_signing(ResultId result, const fs::path& update) override {
    if (is_false_) attack_->after_signing(result, update);
  }
  fs::path before_giving(const fs::path& object) override {
    return attack_->before_giving(object);
  }

 private:
  std::unique_ptr<client::ResultTamper> attack_;
  double share_;
  std::uint64_t honest_;
  std::uint64_t results_ = 0;
  bool is_false_ = false;  // the one that is being signed
};

// Signs the honest update and sends another.
class WrongPayload final : public client::ResultTamper {
 public:
  void before_signing(ResultId, Claim&, const fs::path&) override {}
  void after_signing(ResultId result, const fs::path& update) override {
    if (!fs::exists(update)) return;
    Bytes bytes = read_file(update);
    change_update(bytes, Change::sign_flip, 0);
    write_file_durably(update, bytes);
    log_info("attack", {{"result", result}});
  }
};

// Computes one unit and hands it in for every other.
class OtherUnit final : public client::ResultTamper {
 public:
  void before_signing(ResultId result, Claim& claim,
                      const fs::path& update) override {
    if (claim.update.is_zero()) return;
    if (!claim_) {
      claim_ = claim;
      update_ = read_file(update);
      return;
    }
    claim = *claim_;
    write_file_durably(update, update_);
    log_info("attack", {{"result", result}});
  }
  void after_signing(ResultId, const fs::path&) override {}

 private:
  std::optional<Claim> claim_;
  Bytes update_;
};

// Gives its mates other replicas than they ask for.
class SpoiltReplicas final : public client::ResultTamper {
 public:
  void before_signing(ResultId, Claim&, const fs::path&) override {}
  void after_signing(ResultId, const fs::path&) override {}
  fs::path before_giving(const fs::path& object) override {
    Bytes bytes = read_file(object);
    change_update(bytes, Change::sign_flip, 0);
    const fs::path spoilt = object.string() + ".spoilt";
    write_file_durably(spoilt, bytes);
    log_info("attack", {{"object", object.filename().string()}});
    return spoilt;
  }
};

}  // namespace

void change_update(Bytes& update, Change change, std::uint64_t seed) {
  struct Range {
    std::size_t offset;
    std::size_t bytes;
  };
  std::vector<Range> ranges;
  Safetensors container(update, "update");
  for (const TensorView& tensor : container.tensors()) {
    if (tensor.dtype != DType::f32) continue;
    ranges.push_back(
        {static_cast<std::size_t>(tensor.data.data() - update.data()),
         tensor.data.size()});
  }
  RandomStream random(seed, stream_of(RandomUse::augmentation), 0);
  for (const Range& range : ranges) {
    std::vector<float> values(range.bytes / sizeof(float));
    std::memcpy(values.data(), update.data() + range.offset, range.bytes);
    change_values(values, change, seed, random);
    std::memcpy(update.data() + range.offset, values.data(), range.bytes);
  }
}

std::unique_ptr<client::ResultTamper> make_attack(const std::string& name) {
  if (name == "random") return std::make_unique<ChangedUpdate>(Change::random);
  if (name == "scaled") return std::make_unique<ChangedUpdate>(Change::scaled);
  if (name == "large") return std::make_unique<ChangedUpdate>(Change::large);
  if (name == "huge") return std::make_unique<ChangedUpdate>(Change::huge);
  if (name == "sign-flip") {
    return std::make_unique<ChangedUpdate>(Change::sign_flip);
  }
  if (name == "agreed") {
    return std::make_unique<ChangedUpdate>(Change::random, true);
  }
  if (name == "non-finite") {
    return std::make_unique<ChangedUpdate>(Change::not_finite);
  }
  if (name == "false-digests") return std::make_unique<FalseDigests>();
  if (name == "wrong-payload") return std::make_unique<WrongPayload>();
  if (name == "spoilt-replicas") return std::make_unique<SpoiltReplicas>();
  if (name == "other-unit") return std::make_unique<OtherUnit>();
  return nullptr;
}

std::unique_ptr<client::ResultTamper> sometimes(
    std::unique_ptr<client::ResultTamper> attack, double share,
    std::uint64_t honest) {
  return std::make_unique<Sometimes>(std::move(attack), share, honest);
}

}  // namespace quorate::test
