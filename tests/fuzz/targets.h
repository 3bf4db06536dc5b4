// Everything that reads bytes of others, by name, for two programs:
// quorate_fuzz looks for bytes that break it, fuzz_test reads again all that
// were ever found (tests/fuzz/corpus/NAME).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace quorate::fuzz {

struct Target {
  std::string name;
  // Must refuse the bytes in the way that its reader documents or take them;
  // anything else ends the process: a finding.
  std::function<void(ByteView)> read;
};

// All of them.
std::vector<Target> targets();

// By folder.
std::vector<Target> boinc_targets();
std::vector<Target> client_targets();
std::vector<Target> dataset_targets();
std::vector<Target> http_targets();
std::vector<Target> protocol_targets();
std::vector<Target> server_targets();
std::vector<Target> workunit_targets();

// Ends the process, saying what should have been.
void expect(bool is_so, const char* what);

// Runs `read`, which may take its bytes or throw an Error of one of the kinds.
template <class Read>
void may_refuse(std::initializer_list<ErrorKind> kinds, Read read) {
  try {
    read();
  } catch (const Error& error) {
    bool is_expected = false;
    for (ErrorKind kind : kinds) is_expected |= error.kind() == kind;
    expect(is_expected, error.what());
  }
}

}  // namespace quorate::fuzz
