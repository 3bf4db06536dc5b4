#include "server/datasets/text_shards.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/token_shard.h"

namespace quorate {
namespace {

constexpr std::size_t kBytes = 256;  // values of a byte
using ByteCounts = std::array<std::uint64_t, kBytes>;

ByteCounts counts_of(ByteView text) {
  ByteCounts counts{};
  for (std::uint8_t byte : text) ++counts[byte];
  return counts;
}

void take_symbols(ByteView train, ByteView test, DatasetManifest& manifest) {
  ByteCounts of_train = counts_of(train);
  ByteCounts of_test = counts_of(test);
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    if (of_train[byte] + of_test[byte] == 0) continue;
    manifest.symbols.push_back(static_cast<std::uint8_t>(byte));
    manifest.class_counts.push_back(of_train[byte]);
  }
  manifest.classes = static_cast<std::uint32_t>(manifest.symbols.size());
}

// Writes texts of the given symbols as shards.
class TokenWriter {
 public:
  TokenWriter(ByteView symbols, std::uint64_t all_tokens, ObjectStore& objects,
              const DatasetProgress& progress)
      : all_tokens_(all_tokens), objects_(objects), progress_(progress) {
    for (std::size_t token = 0; token < symbols.size(); ++token) {
      token_of_[symbols[token]] = static_cast<std::uint8_t>(token);
    }
  }

  std::vector<ShardEntry> write(ByteView text) {
    std::vector<ShardEntry> shards;
    while (!text.empty()) {
      ByteView part =
          text.first(std::min<std::size_t>(text.size(), kShardTokens));
      shards.push_back(write_one(part));
      text = text.subspan(part.size());
    }
    return shards;
  }

 private:
  ShardEntry write_one(ByteView text) {
    Bytes tokens(text.size());
    std::transform(text.begin(), text.end(), tokens.begin(),
                   [this](std::uint8_t byte) { return token_of_[byte]; });
    ShardEntry entry{objects_.put(write_token_shard(tokens)),
                     static_cast<std::uint32_t>(tokens.size())};
    done_ += tokens.size();
    if (progress_) progress_(done_, all_tokens_);
    return entry;
  }

  std::array<std::uint8_t, kBytes> token_of_{};
  std::uint64_t all_tokens_;
  std::uint64_t done_ = 0;
  ObjectStore& objects_;
  const DatasetProgress& progress_;
};

}  // namespace

std::size_t end_of_training(ByteView text, std::uint32_t hold_out) {
  std::size_t end = text.size() * (100 - hold_out) / 100;
  // The bytes of a character after its first are 80 to bf.
  while (end > 0 && (text[end] & 0xc0U) == 0x80) --end;
  return end;
}

void write_text_shards(const DatasetSource& source, std::uint32_t hold_out,
                       ObjectStore& objects, const DatasetProgress& progress,
                       DatasetManifest& manifest) {
  ByteView train(source.train.text);
  ByteView test(source.test.text);
  if (!manifest.has_own_test) {
    std::size_t end = end_of_training(train, hold_out);
    test = train.subspan(end);
    train = train.first(end);
  }
  if (train.size() < 2) {
    throw Error(ErrorKind::usage,
                fmt::format("data set \"{}\": the training part has {} bytes "
                            "of text: there is nothing to train on",
                            manifest.name, train.size()));
  }
  take_symbols(train, test, manifest);
  TokenWriter writer(manifest.symbols, train.size() + test.size(), objects,
                     progress);
  manifest.train = writer.write(train);
  manifest.test = writer.write(test);
}

}  // namespace quorate
