// The states of units and results: the only place that assigns them, and the
// table of what may follow what. A step that the table does not have is a bug
// and aborts. Changes the row in memory only: whoever calls saves it.
//
//   unit    open -> validated -> assimilated
//           open -> credited | diverged | failed
//           open, validated -> cancelled
//   result  unsent -> in_progress -> over
//           unsent -> over: nobody needs it any more
#pragma once

#include <string>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

bool may_become(WorkunitState from, WorkunitState to);
void set_state(Workunit& unit, WorkunitState to);

// A result goes out to a host.
void mark_sent(Result& result, const Host& host, Millis now);
// It ends without a report: given up, lost, or not needed. `reason` is for
// people.
void mark_ended(Result& result, ResultOutcome outcome,
                const std::string& reason);
// Its report came, perhaps after its lease had ended. accepted: screening let
// it through; it counts once it is compared.
void mark_reported(Result& result, Millis now, bool accepted);
// The host is not to blame for giving it up.
void mark_forgiven(Result& result, const std::string& reason);

// The verdict. `inconclusive` is of a witness whose proof waits for the
// payload, `init` of one whose proof was checked since.
void set_verdict(Result& result, ValidateState verdict,
                 const std::string& reason = {});
// A witness's proof turned out to be wrong.
void mark_false_proof(Result& result);

// Reported, screened and not yet judged.
bool may_count(const Result& result);
// Its host may report it still: it is in progress, or its lease ran out, and it
// is judged all the same.
bool may_report(const Result& result);

}  // namespace quorate
