// Objects (snapshots, shards, updates, sealed workunits) in a folder, named by
// their SHA-256: DIR/ab/HASH. What is there is whole: objects are moved in.
#pragma once

#include <optional>

#include "base/crypto.h"
#include "base/file.h"

namespace quorate {

// Reads only; may be used beside a process that holds the store.
class ObjectReader {
 public:
  explicit ObjectReader(fs::path objects) : objects_(std::move(objects)) {}

  bool contains(const Hash& hash) const;
  fs::path path(const Hash& hash) const;
  std::optional<std::uint64_t> size(const Hash& hash) const;
  // Throws corrupt if it is missing. Does not hash: see read().
  MappedFile map(const Hash& hash) const;
  // The bytes, hashed: throws corrupt if it is missing or changed on disk.
  Bytes read(const Hash& hash) const;

 protected:
  fs::path objects_;
};

class ObjectStore : public ObjectReader {
 public:
  // objects and temporary files; both are made, on one file system. Leftover
  // temporary files of a killed process are removed: one process at a time
  // may hold a store. Safe to use from several threads.
  ObjectStore(fs::path objects, fs::path temporary);

  // Durable on return. Putting what is there already does nothing.
  Hash put(ByteView bytes);
  // Takes over a finished temporary file whose bytes have this hash; durable
  // on return.
  void adopt(const fs::path& temporary, const Hash& hash);
  // A new name for a file to be adopted later.
  fs::path temporary_path(std::string_view purpose) const;
  // Removing what is not there does nothing.
  void remove(const Hash& hash);

 private:
  fs::path temporary_;
};

}  // namespace quorate
