// The samples of one shard, and how a batch of them gets to a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workunits/models/model_spec.h"
#include "workunits/objects/shard.h"
#include "workunits/training/model.h"

namespace quorate {

class Samples {
 public:
  // The shard's bytes must live as long as this.
  Samples(const ShardView& images)  // NOLINT: a shard of images is samples
      : images_(images), count_(images.samples) {}
  // tokens: below `symbols`.
  static Samples of_text(ByteView tokens, std::uint32_t symbols,
                         std::uint32_t context);

  // Of the objects that a task or an evaluation names. Throws corrupt, naming
  // `what`, if the bytes are no shard for such a model.
  static Samples read(const ModelSpec& model, ByteView shard,
                      const std::string& what);

  std::uint32_t count() const { return count_; }
  // Throws corrupt, naming `what`, unless the model can take them.
  void check_fit(const ModelSpec& model, const std::string& what) const;

  // Puts samples into the model's input, and their targets into `targets`.
  // indices: below count(). shift: of the windows of a text.
  void load(std::span<const std::uint32_t> indices, std::uint32_t shift,
            Backend& backend, Model& model,
            std::vector<std::uint32_t>& targets);

 private:
  Samples() = default;
  void load_images(std::span<const std::uint32_t> indices, Backend& backend,
                   Model& model, std::vector<std::uint32_t>& targets);
  void load_text(std::span<const std::uint32_t> indices, std::uint32_t shift,
                 Model& model, std::vector<std::uint32_t>& targets) const;

  ShardView images_{};
  ByteView tokens_{};  // of a text
  std::uint32_t symbols_ = 0;
  std::uint32_t context_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint8_t> pixels_;  // of a batch
};

// How far the windows of a shard of text are shifted in an epoch:
// docs/numerics.md, section 12. 0 if the model takes no text.
std::uint32_t window_shift(const ModelSpec& model, std::uint64_t run_seed,
                           std::uint32_t shard, std::uint32_t epoch);

}  // namespace quorate
