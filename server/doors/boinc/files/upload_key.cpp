#include "server/doors/boinc/files/upload_key.h"

namespace quorate::boinc {

UploadKey open_upload_key(const fs::path& path) {
  UploadKey key;
  if (!fs::exists(path)) {
    fill_secret_random(key.bytes);
    // Renamed into place: a power cut leaves none or all of it.
    write_file_durably(path, as_bytes(key.hex() + "\n"), 0600);
  }
  std::string text = read_secret_file(path, 1024);
  if (text.ends_with('\n')) text.pop_back();
  return parse_hex<UploadKey>(text, "key " + path.string());
}

}  // namespace quorate::boinc
