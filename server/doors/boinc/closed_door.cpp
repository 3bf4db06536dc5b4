#include "server/doors/boinc/closed_door.h"

#include "server/doors/refusals.h"

namespace quorate::boinc {
namespace {

constexpr const char* kText =
    "This project does not take BOINC clients yet. Volunteers can take part "
    "with\nquorate-client.\n\n"
    "To its operator: BOINC clients run every program that the project's "
    "code-sign\nkey signs, and this project has no such key. Make one on "
    "another machine, or on\na medium that you take away afterwards:\n\n"
    "  quorate -C PROJECT boinc key new --key /media/stick/code_sign.pem\n"
    "  quorate -C PROJECT boinc app add --key /media/stick/code_sign.pem "
    "quorate-worker\n\n"
    "and start the server again. Without --key the private key stays on the "
    "server,\nwhich then publishes its own worker by itself; but whoever "
    "breaks "
    "into the\nserver can send programs to every volunteer's machine.\n";

}  // namespace

void add_closed_door(Router& router) {
  const auto refuse = [](Request&, Responder responder) {
    responder.send(text_response(503, "text/plain; charset=utf-8", kText));
  };
  for (const char* path : {"/boinc", "/boinc/", "/boinc/{path...}"}) {
    router.add(Method::get, path, refuse);
  }
}

}  // namespace quorate::boinc
