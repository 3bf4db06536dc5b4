// The command line of the client: what every command does.
#pragma once

#include "client/exchange/result_signing.h"

namespace quorate::client {

// Runs the program `name` ("quorate-client") with these arguments; errors go to
// standard error. tamper: for test programs, null in the shipped one.
// Returns the exit code: 0 done, 1 failed, 2 wrong usage.
// Called by main() of the client and of the test programs. Catches everything.
int run_program(const char* name, int argc, char** argv, ResultTamper* tamper);

}  // namespace quorate::client
