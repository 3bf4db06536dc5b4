#include "server/apps/app_manifest.h"
#include "server/apps/elf_file.h"
#include "server/backup/list.h"
#include "server/cli/auditing/audit_state.h"
#include "server/project/daemons.h"
#include "server/settings/settings.h"
#include "server/simulator/scenario/scenario.h"
#include "server/simulator/trace.h"
#include "server/web/logins.h"
#include "server/web/web_request.h"
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

void read_scenario(ByteView bytes) {
  may_refuse({ErrorKind::usage}, [&] {
    const Scenario scenario =
        parse_scenario(std::string(as_text(bytes)), "file");
    expect(scenario.trace || !scenario.hosts.empty(), "somebody comes");
  });
}

void read_trace(ByteView bytes) {
  may_refuse({ErrorKind::usage}, [&] {
    Seconds last{0};
    for (const TraceEvent& event :
         parse_trace(std::string(as_text(bytes)), "file")) {
      expect(event.time >= last, "events are in order of time");
      last = event.time;
    }
  });
}

void read_roles(ByteView bytes) {
  may_refuse({ErrorKind::usage},
             [&] { parse_roles(std::string(as_text(bytes))); });
}

void read_backup_list(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(
        write_backup_list(parse_backup_list(as_text(bytes))) == as_text(bytes),
        "the list of a backup is read as it was written");
  });
}

void read_audit_state(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    const AuditState state = parse_audit_state(as_text(bytes));
    expect(parse_audit_state(write_audit_state(state)) == state,
           "the state of an audit is read as it was written");
  });
}

void read_boinc_apps(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    const boinc::AppManifest manifest =
        boinc::parse_app_manifest(as_text(bytes), "file");
    expect(
        boinc::parse_app_manifest(boinc::write(manifest), "file") == manifest,
        "a manifest of app versions is read as it was written");
  });
}

void read_elf(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    for (const std::string& name : boinc::read_elf(bytes, "file").needed) {
      expect(name.size() < 256, "names of libraries are bounded");
    }
  });
}

void read_web_operators(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(write_web_operators(parse_web_operators(as_text(bytes))) ==
               as_text(bytes),
           "accounts are read as they were written");
  });
}

// A login, an order, and a Cookie header.
void read_web_requests(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(parse_login(as_text(bytes)).password.size() <= kMostPasswordBytes,
           "a password is bounded");
  });
  may_refuse({ErrorKind::corrupt}, [&] {
    expect(parse_web_order(as_text(bytes)).arguments.is_object(),
           "an order has arguments");
  });
  const auto token = session_token(as_text(bytes), "quorate-admin");
  expect(!token || token->size() == 64, "a token has a length");
}

}  // namespace

std::vector<Target> server_targets() {
  return {{"server_settings", read_settings},
          {"server_scenario", read_scenario},
          {"server_trace", read_trace},
          {"server_roles", read_roles},
          {"server_backup_list", read_backup_list},
          {"server_audit_state", read_audit_state},
          {"server_boinc_apps", read_boinc_apps},
          {"server_elf", read_elf},
          {"server_web_operators", read_web_operators},
          {"server_web_requests", read_web_requests}};
}

}  // namespace quorate::fuzz
