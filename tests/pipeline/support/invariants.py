"""What must hold of a project whatever was killed, cut off or refused.

The tables are read through the operator's commands, so that all of this works
with the server up or down.
"""

import collections

from support.project import RUN, expect

FINAL_UNITS = {"assimilated", "credited", "cancelled"}


def check_acknowledged(project, volunteers, rows):
    """Acknowledged means stored, once and for that host; how many there are.
    The rows must have been read after this: see check_results()."""
    by_id = {row["id"]: row for row in rows}
    expect(len(by_id) == len(rows), "a result id stands in two rows")
    acknowledged = 0
    for volunteer, results in volunteers.items():
        if not results:
            continue
        host = project.host_of(volunteer)
        for result in results:
            row = by_id.get(result)
            expect(row and row["outcome"] == "success" and
                   row["host"] == host["id"],
                   f"{volunteer.name}: result {result} was acknowledged, the "
                   f"table has {row}")
            acknowledged += 1
    return acknowledged


def check_credit(project, rows):
    """A host has the credit of its valid results, and nobody was rejected."""
    invalid = [row for row in rows if row["validate_state"] == "invalid"]
    expect(not invalid, f"honest results were rejected: {invalid}")
    for host in project.ask("hosts"):
        valid = [row for row in rows if row["host"] == host["id"] and
                 row["validate_state"] == "valid"]
        earned = sum(row["credit"] for row in valid)
        expect(host["valid"] == len(valid) and
               abs(host["credit"] - earned) <= 1e-9 * max(1, earned),
               f"host {host['name']}: {host['valid']} valid, credit "
               f"{host['credit']}; its results: {len(valid)}, {earned}")


def check_results(project, volunteers):
    """Both of the above; nobody may be at work while the tables are read.
    Returns how many results were acknowledged, and the table."""
    known = {v: set(v.acknowledged()) for v in volunteers}
    rows = project.results()
    acknowledged = check_acknowledged(project, known, rows)
    check_credit(project, rows)
    return acknowledged, rows


def check_ledger(project):
    """The ledger verifies and replays; returns what the replay found. Of a
    run that goes on, too."""
    verified = project.ask("verify-ledger", RUN)
    expect(verified["ok"], f"verify-ledger: {verified}")
    replayed = project.ask("replay", RUN)
    expect(replayed["ok"] and replayed["entries"] == verified["entries"] and
           replayed["version"] == project.show()["version"],
           f"replay: {replayed}, verify-ledger: {verified}")
    return replayed


def check_units(project, entries, all_samples):
    """No stretch of samples of a finished run is lost or comes twice."""
    shown = project.show()
    units = project.workunits()
    indices = sorted(unit["unit_index"] for unit in units)
    expect(indices == list(range(shown["units_made"])),
           "the units are not numbered without a gap")
    states = collections.Counter(unit["state"] for unit in units)
    expect(set(states) <= FINAL_UNITS and
           (shown["rule"] != "vc-asgd" or set(states) == {"assimilated"}),
           f"states of units: {dict(states)}")
    expected = sorted(unit["unit_index"] for unit in units
                      if unit["state"] == "assimilated")
    found = sorted(e["unit_index"] for e in entries if e["kind"] == "result")
    expect(found == expected, "ledger and table differ in what is assimilated")
    assimilated = [e["result"] for e in entries if e["kind"] == "result"]
    expect(len(set(assimilated)) == len(assimilated),
           "a result has two ledger entries")
    samples = sum(unit["samples"] for unit in units)
    expect(samples == all_samples and shown["progress"] == 1.0,
           f"{samples} samples handed out, the run has {all_samples}")
    return states


def check_end(project, entries):
    """A finished run's ledger ends with the parameters that it replays to."""
    replayed = check_ledger(project)
    last = entries[-1]
    expect(last["kind"] == "end", "the ledger has no end")
    expect(replayed["final_snapshot"] == last["parameters"] and
           replayed["version"] == last["version"] and
           replayed["entries"] == len(entries),
           f"replay: {replayed}, the run ended with {last}")
