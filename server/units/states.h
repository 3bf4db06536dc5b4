// The states of units and results. Only this file assigns them, and it has the
// table of which state may follow which: a step that is not in it is a bug and
// aborts. (Checks, quorums and verdicts may change in any order.) The functions
// change a row in memory; the caller saves it.
//
//   unit    open -> validated -> assimilated
//           open -> credited | diverged | failed
//           open, validated -> cancelled
//           validated -> open: the operator rejects a result of it
//   result  unsent -> in_progress -> over
//           unsent -> over: nobody needs it any more
#pragma once

#include <string>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

bool may_become(WorkunitState from, WorkunitState to);
bool is_final(WorkunitState state);
// Also notes when.
void set_state(Workunit& unit, WorkunitState to, Millis now);

// What is to be found out about the unit beside its quorum, or was.
void set_check(Workunit& unit, UnitCheck check, Millis now);
// So many users' results are to agree, and so many results are made for that,
// with those that the operator wants beyond.
void set_quorum(Workunit& unit, std::uint32_t users);
// The operator wants so many results more than the quorum needs.
void want_more(Workunit& unit, std::uint32_t results);
// So many results that were given up do not count towards the most that it may
// have.
void allow_more(Workunit& unit, std::uint32_t results);
// A verdict is taken back: no result stands for the unit.
void reopen(Workunit& unit);
// Its update is not for the model any more.
void mark_late(Workunit& unit);
// It is decided on the operator's word, and nobody recomputed it.
void mark_unverified(Workunit& unit);

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

// The verdict. A witness is `inconclusive` while its proof waits for the
// payload, and `init` again once the proof was checked.
void set_verdict(Result& result, ValidateState verdict,
                 const std::string& reason = {});
// It was accepted, and must not have been: a witness's proof turned out to be
// wrong, or the operator rejects it.
void mark_refused(Result& result);

// Reported, screened and not yet judged.
bool may_count(const Result& result);
// The update that it claims is in the store.
bool has_payload(const Result& result);
// Its host may still report it: it is in progress, or its lease ran out, and
// its report is judged all the same.
bool may_report(const Result& result);

}  // namespace quorate
