#include "workunits/training/samples.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "workunits/objects/token_shard.h"

namespace quorate {

Samples Samples::of_text(ByteView tokens, std::uint32_t symbols,
                         std::uint32_t context) {
  Samples samples;
  samples.tokens_ = tokens;
  samples.symbols_ = symbols;
  samples.context_ = context;
  samples.count_ = token_windows(tokens.size(), context);
  return samples;
}

Samples Samples::read(const ModelSpec& model, ByteView shard,
                      const std::string& what) {
  std::uint32_t classes = classes_of(model);
  if (!takes_text(model)) return read_shard(shard, classes, what);
  return of_text(read_token_shard(shard, classes, what), classes,
                 targets_of(model));
}

void Samples::check_fit(const ModelSpec& model, const std::string& what) const {
  auto expect = [&](bool holds, const std::string& why) {
    if (!holds) throw Error(ErrorKind::corrupt, what + ": shard: " + why);
  };
  if (context_ != 0) {
    expect(takes_text(model) && targets_of(model) == context_ &&
               symbols_ <= classes_of(model),
           "a text, of another length or other symbols than the model's");
    return;
  }
  expect(!takes_text(model), "expected a text, found images");
  expect(misfit_of(model, images_.shape).empty(),
         misfit_of(model, images_.shape));
  check(images_.labels.size() == count_ &&
            images_.images.size() == std::size_t{count_} * inputs_of(model),
        "a shard view has the bytes that it says");
  std::uint32_t classes = classes_of(model);
  for (std::uint8_t label : images_.labels) {
    if (label < classes) continue;
    expect(false,
           fmt::format("expected labels below {}, found {}", classes, label));
  }
}

void Samples::load(std::span<const std::uint32_t> indices, std::uint32_t shift,
                   Backend& backend, Model& model,
                   std::vector<std::uint32_t>& targets) {
  targets.clear();
  if (context_ != 0) {
    load_text(indices, shift, model, targets);
  } else {
    load_images(indices, backend, model, targets);
  }
}

void Samples::load_images(std::span<const std::uint32_t> indices,
                          Backend& backend, Model& model,
                          std::vector<std::uint32_t>& targets) {
  std::size_t size = images_.shape.size();
  pixels_.resize(indices.size() * size);
  auto to = pixels_.begin();
  for (std::uint32_t sample : indices) {
    ByteView image = images_.images.subspan(sample * size, size);
    to = std::copy(image.begin(), image.end(), to);
    targets.push_back(images_.labels[sample]);
  }
  backend.upload_pixels(model.input(indices.size()), pixels_);
}

void Samples::load_text(std::span<const std::uint32_t> indices,
                        std::uint32_t shift, Model& model,
                        std::vector<std::uint32_t>& targets) const {
  std::vector<std::uint32_t> tokens;
  for (std::uint32_t sample : indices) {
    ByteView window = tokens_.subspan(std::size_t{sample} * context_ + shift,
                                      std::size_t{context_} + 1);
    tokens.insert(tokens.end(), window.begin(), window.end() - 1);
    targets.insert(targets.end(), window.begin() + 1, window.end());
  }
  model.set_tokens(std::move(tokens));
}

std::uint32_t window_shift(const ModelSpec& model, std::uint64_t run_seed,
                           std::uint32_t shard, std::uint32_t epoch) {
  if (!takes_text(model)) return 0;
  return integer_below(
      random_word(run_seed, stream_of(RandomUse::window_shift, shard), epoch,
                  0),
      targets_of(model));
}

}  // namespace quorate
