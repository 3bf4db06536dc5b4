#include "tests/fuzz/targets.h"
#include "tests/protocol/samples.h"

namespace quorate::fuzz {
namespace {

// Each reader takes the same bytes or refuses them; what it took, it writes and
// reads again to the same bytes.
void read_as_each(const std::vector<protocol::Sample>& messages,
                  ByteView bytes) {
  std::string text(as_text(bytes));
  for (const protocol::Sample& message : messages) {
    may_refuse({ErrorKind::corrupt}, [&] {
      std::string written = message.rewrite(text);
      expect(message.rewrite(written) == written,
             "a message is read as it was written");
    });
  }
}

Target target(const std::string& name, std::vector<protocol::Sample> messages) {
  return {name, [messages = std::move(messages)](ByteView bytes) {
            read_as_each(messages, bytes);
          }};
}

}  // namespace

std::vector<Target> protocol_targets() {
  return {target("native_messages", protocol::native_samples()),
          target("worker_messages", protocol::worker_samples())};
}

}  // namespace quorate::fuzz
