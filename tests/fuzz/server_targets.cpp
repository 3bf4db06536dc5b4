#include "server/daemons.h"
#include "server/settings.h"
#include "tests/fuzz/targets.h"

namespace quorate::fuzz {
namespace {

void read_settings(ByteView bytes) {
  may_refuse({ErrorKind::usage}, [&] {
    ServerSettings settings = parse_settings(as_text(bytes), "file");
    std::string written = settings_template(settings);
    expect(settings_template(parse_settings(written, "file")) == written,
           "settings are read as they were written");
  });
}

void read_roles(ByteView bytes) {
  may_refuse({ErrorKind::usage},
             [&] { parse_roles(std::string(as_text(bytes))); });
}

}  // namespace

std::vector<Target> server_targets() {
  return {{"server_settings", read_settings}, {"server_roles", read_roles}};
}

}  // namespace quorate::fuzz
