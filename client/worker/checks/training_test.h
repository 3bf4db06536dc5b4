// A tiny training unit with a known claim: the whole step, from pixels to the
// hash of an update.
#pragma once

#include "client/worker/checks/self_test.h"

namespace quorate::worker {

TestResult test_training(Backend& backend);

}  // namespace quorate::worker
