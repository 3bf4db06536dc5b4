// What the client reads from files and from its page: taken, or refused with
// an error; what was taken is written and read again as the same.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "client/pause.h"
#include "client/prefs.h"
#include "client/schedule.h"
#include "client/state_file.h"

namespace {

using namespace quorate;
using namespace quorate::client;

template <class Read>
void read(Read read, ErrorKind refusal) {
  try {
    read();
  } catch (const Error& error) {
    check(error.kind() == refusal, "a refusal is of its kind");
  }
}

void read_prefs(const std::string& text) {
  Prefs prefs = parse_prefs(text, "file");
  check(parse_prefs(write_prefs(prefs), "file") == prefs,
        "preferences are read as they were written");
}

void read_schedule(const std::string& text) {
  Schedule schedule = parse_schedule(text);
  for (int day = 0; day < 7; ++day) {
    is_within(schedule, {day, static_cast<int>(text.size()) % 1440});
  }
}

void read_pause(const std::string& text) {
  Pause pause = parse_pause(text);
  Pause again = parse_pause(write_pause(pause));
  check(again.since == pause.since && again.until == pause.until,
        "a pause is read as it was written");
  pause_text(pause, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  read([&] { read_prefs(text); }, ErrorKind::corrupt);
  read([&] { read_schedule(text); }, ErrorKind::usage);
  read([&] { parse_duration(text); }, ErrorKind::usage);
  read([&] { read_pause(text); }, ErrorKind::corrupt);
  read([&] { parse_state(text); }, ErrorKind::corrupt);
  return 0;
}
