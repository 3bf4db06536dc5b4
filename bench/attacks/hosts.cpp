// bench-attack-hosts: honest and false hosts of a running server, played from
// one thread. Started by bench/attacks/attacks_bench.py and
// tests/pipeline/faults/attacks_test.py; prints one line of JSON for every
// report.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "bench/attacks/swarm.h"

namespace {

void print_attacks() {
  for (const quorate::bench::Attack& attack : quorate::bench::attacks()) {
    std::puts(fmt::format("{:18}{}", attack.name, attack.meaning).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  quorate::bench::SwarmOptions options;
  std::size_t flood = 0;
  bool is_list_wanted = false;
  CLI::App app("Plays honest and false hosts of a server on this machine");
  app.add_option("--port", options.port);
  app.add_option("--honest", options.honest, "honest hosts");
  app.add_option("--attackers", options.attackers, "false hosts");
  app.add_option("--attack", options.attacks,
                 "what they do, one or several with commas; see --list")
      ->delimiter(',');
  app.add_option("--share", options.share, "of their units, 0 to 1");
  app.add_option("--after", options.after, "units that they do honestly first");
  app.add_option("--units-each", options.units_each,
                 "after which a false host leaves; 0: it stays");
  app.add_flag("--conspire", options.conspires,
               "false only for units that two false hosts have");
  app.add_option("--unproven", options.unproven,
                 "of the conspirators, who avoid being proven");
  app.add_option("--flood", flood,
                 "instead: register accounts on so many connections");
  app.add_flag("--list", is_list_wanted, "the attacks");
  CLI11_PARSE(app, argc, argv);
  if (is_list_wanted) {
    print_attacks();
    return 0;
  }
  try {
    if (flood > 0) {
      quorate::bench::flood_with_registrations(options.port, flood);
    } else {
      quorate::bench::Swarm(options).run();
    }
  } catch (const quorate::Error& error) {
    std::fprintf(stderr, "bench-attack-hosts: %s\n", error.what());
    return 1;
  }
  return 0;
}
