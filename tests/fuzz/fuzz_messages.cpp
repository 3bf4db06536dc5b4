// Every message of protocol/ on the same bytes: each reader takes them or
// throws corrupt; what it took, it writes and reads again to the same bytes.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "tests/protocol/samples.h"

namespace {

using quorate::protocol::Sample;

const std::vector<Sample>& readers() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> samples = quorate::protocol::native_samples();
    for (Sample& sample : quorate::protocol::worker_samples()) {
      samples.push_back(std::move(sample));
    }
    return samples;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const Sample& reader : readers()) {
    std::string written;
    try {
      written = reader.rewrite(bytes);
    } catch (const quorate::Error& error) {
      quorate::check(error.kind() == quorate::ErrorKind::corrupt,
                     "outside bytes are corrupt or fine");
      continue;
    }
    quorate::check(reader.rewrite(written) == written,
                   "what was written is read as it was");
  }
  return 0;
}
