#include "server/doors/boinc/files/names.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::boinc {
namespace {

constexpr std::string_view kHeader = "_header";
constexpr std::string_view kUpdate = "_update";

std::string_view prefix_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::workunit:
      return "unit-";
    case ObjectKind::snapshot:
      return "snapshot-";
    case ObjectKind::shard:
      return "shard-";
    case ObjectKind::update:
    case ObjectKind::program:
    case ObjectKind::delta:
      break;
  }
  check(false, "BOINC clients download a task's inputs only");
  return {};
}

std::string code_of(const UploadKey& key, std::string_view name) {
  constexpr std::size_t kDigits = 16;
  std::string what = fmt::format("quorate boinc output v1\n{}\n", name);
  return hmac_sha256(key, as_bytes(what)).hex().substr(0, kDigits);
}

// What a name says, whoever made it.
std::optional<Output> claimed_output(std::string_view name) {
  name = name.substr(0, name.rfind('_'));
  OutputKind kind = OutputKind::header;
  if (name.ends_with(kUpdate)) {
    kind = OutputKind::update;
  } else if (!name.ends_with(kHeader)) {
    return std::nullopt;
  }
  static_assert(kHeader.size() == kUpdate.size());
  name.remove_suffix(kHeader.size());
  std::optional<ResultId> result = result_of(name);
  if (!result) return std::nullopt;
  return Output{*result, kind};
}

}  // namespace

std::string result_name(ResultId result) {
  return fmt::format("r{}", result);
}

std::optional<ResultId> result_of(std::string_view name) {
  if (!name.starts_with('r')) return std::nullopt;
  ResultId id = 0;
  const char* end = name.data() + name.size();
  auto [at, error] = std::from_chars(name.data() + 1, end, id);
  // One way to write each: no zeros in front, no signs.
  if (error != std::errc() || at != end || id < 1 || result_name(id) != name) {
    return std::nullopt;
  }
  return id;
}

std::string output_name(const UploadKey& key, const Output& output) {
  std::string name = result_name(output.result);
  name += output.kind == OutputKind::header ? kHeader : kUpdate;
  return name + '_' + code_of(key, name);
}

std::optional<Output> output_of(const UploadKey& key, std::string_view name) {
  std::optional<Output> output = claimed_output(name);
  if (!output) return std::nullopt;
  // By their hashes: how long it takes says nothing about the right one.
  const bool is_ours = is_equal_secret(
      sha256(as_bytes(name)), sha256(as_bytes(output_name(key, *output))));
  return is_ours ? output : std::nullopt;
}

std::string object_name(ObjectKind kind, const Hash& hash) {
  return std::string(prefix_of(kind)) + hash.hex();
}

std::optional<Hash> object_of(std::string_view name) {
  for (ObjectKind kind :
       {ObjectKind::workunit, ObjectKind::snapshot, ObjectKind::shard}) {
    std::string_view prefix = prefix_of(kind);
    if (!name.starts_with(prefix)) continue;
    try {
      Hash hash = parse_hex<Hash>(name.substr(prefix.size()), "object");
      if (object_name(kind, hash) == name) return hash;
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace quorate::boinc
