#include "validator/past_version.h"

#include <utility>

#include <fcntl.h>

namespace quorate {

PastVersion::PastVersion(std::vector<float> parameters,
                         std::optional<Hash> known)
    : hash(known), in_memory_(std::move(parameters)) {}

PastVersion::PastVersion(std::span<const float> parameters,
                         std::optional<Hash> known, const fs::path& folder)
    : hash(known) {
  const fs::path path = folder / "past_version";
  const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(file.get(),
            {reinterpret_cast<const std::uint8_t*>(parameters.data()),
             parameters.size_bytes()},
            path);
  in_file_ = MappedFile(path);
  fs::remove(path);
}

std::span<const float> PastVersion::parameters() const {
  if (is_in_memory()) return in_memory_;
  const ByteView bytes = in_file_.bytes();
  return {reinterpret_cast<const float*>(bytes.data()),
          bytes.size() / sizeof(float)};
}

}  // namespace quorate
