// Requests of BOINC clients: as one recorded from a client 7.20.5 (golden/, the
// machine's own data replaced), and as one written from a structure.
#pragma once

#include <string>

#include "protocol/boinc/scheduler_reply.h"
#include "protocol/boinc/scheduler_request.h"

namespace quorate::boinc {

// A file of golden/.
std::string golden(const std::string& name);

// With every member set.
SchedulerRequest sample_request();

SchedulerReply sample_reply();

// The request in the words of a client; what parse_scheduler_request makes of
// it is `request` again.
std::string write_request(const SchedulerRequest& request);

// A request with these elements and those that may not be missing.
std::string request_with(const std::string& elements);

}  // namespace quorate::boinc
