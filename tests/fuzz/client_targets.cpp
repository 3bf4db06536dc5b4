#include <algorithm>

#include "client/control/frames.h"
#include "client/folder/pause.h"
#include "client/machine/device_speeds.h"
#include "client/permission/prefs.h"
#include "client/permission/schedule.h"
#include "client/site/mates.h"
#include "client/site/site.h"
#include "client/units/state_file.h"
#include "protocol/transfer/project_address.h"
#include "tests/fuzz/targets.h"

namespace quorate::fuzz {
namespace {

using namespace client;

void read_prefs(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    Prefs prefs = parse_prefs(std::string(as_text(bytes)), "file");
    expect(parse_prefs(write_prefs(prefs), "file") == prefs,
           "preferences are read as they were written");
  });
}

void read_schedule(ByteView bytes) {
  may_refuse({ErrorKind::usage}, [&] {
    Schedule schedule = parse_schedule(as_text(bytes));
    for (int day = 0; day < 7; ++day) {
      is_within(schedule, {day, static_cast<int>(bytes.size()) % 1440});
    }
  });
}

void read_pause(ByteView bytes) {
  std::string text(as_text(bytes));
  may_refuse({ErrorKind::usage}, [&] { parse_duration(text); });
  may_refuse({ErrorKind::corrupt}, [&] {
    Pause pause = parse_pause(text);
    Pause again = parse_pause(write_pause(pause));
    expect(again.since == pause.since && again.until == pause.until,
           "a pause is read as it was written");
    pause_text(pause, 0);
  });
}

void read_devices(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    DeviceSpeeds speeds = parse_speeds(std::string(as_text(bytes)));
    expect(parse_speeds(write_speeds(speeds)).all() == speeds.all(),
           "measurements are read as they were written");
  });
}

void read_state(ByteView bytes) {
  may_refuse({ErrorKind::corrupt},
             [&] { parse_state(std::string(as_text(bytes))); });
}

void read_address(ByteView bytes) {
  may_refuse({ErrorKind::usage}, [&] {
    ProjectAddress address = parse_project_address(as_text(bytes));
    ProjectAddress again =
        parse_project_address(address.url + "#" + address.fingerprint);
    expect(again.url == address.url, "an address is read as it was written");
  });
}

void read_site_file(ByteView bytes) {
  const std::string text(as_text(bytes));
  may_refuse({ErrorKind::usage}, [&] { SiteSecret::parse(text); });
  may_refuse({ErrorKind::corrupt}, [&] {
    const std::string written = write_site_settings(parse_site(text, "file"));
    expect(write_site_settings(parse_site(written, "file")) == written,
           "a site is read as it was written");
  });
  may_refuse({ErrorKind::corrupt}, [&] { parse_site_activity(text); });
}

// Messages of mates: as they come, and as if a mate had sealed the bytes.
void read_mate(ByteView bytes) {
  static const SiteSecret kSecret = SiteSecret::parse(
      "quorate-site-cb2e605fa2b38bc226160d40585d64a856f99dd6");
  open_contact(kSecret, as_text(bytes));
  using enum MateMessage;
  for (MateMessage kind : {contact, request, reply}) {
    kSecret.open(kind, bytes, {});
  }
  const auto told = open_contact(kSecret, to_hex(kSecret.seal(contact, bytes)));
  expect(!told || std::ranges::equal(protocol::write(*told), bytes),
         "a contact is written as it was read");
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(std::ranges::equal(
               protocol::write(protocol::parse_mate_request(bytes)), bytes),
           "a request is written as it was read");
  });
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(std::ranges::equal(
               protocol::write(protocol::parse_mate_chunk(bytes)), bytes),
           "a reply is written as it was read");
  });
}

// The control socket, at both of its ends.
void read_frames(ByteView bytes) {
  FrameReader reader;
  std::string again;
  may_refuse({ErrorKind::corrupt}, [&] {
    for (const std::uint8_t byte : bytes) {
      reader.take({reinterpret_cast<const char*>(&byte), 1});
      while (const auto frame = reader.next()) {
        again += encode_frame(frame->kind, frame->bytes);
      }
    }
  });
  expect(as_text(bytes).starts_with(again),
         "frames are written as they were read");
}

}  // namespace

std::vector<Target> client_targets() {
  return {{"client_prefs", read_prefs},    {"client_schedule", read_schedule},
          {"client_pause", read_pause},    {"client_devices", read_devices},
          {"client_state", read_state},    {"client_address", read_address},
          {"client_site", read_site_file}, {"client_mate", read_mate},
          {"client_frames", read_frames}};
}

}  // namespace quorate::fuzz
