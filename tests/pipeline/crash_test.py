#!/usr/bin/env python3
"""kill -9 at random moments: nothing that was acknowledged is lost.

While three volunteers work on a run, the server is killed 30 times, some of
them in the middle of its start, and volunteers are killed 10 times. The run
must still finish with everything in its place: see check(). Once with updates
taken one by one, once in rounds.
"""

import collections
import random
import time

from project import RUN, Project, Server, Volunteer, expect, run, wait_for

VOLUNTEERS = 3
START_SECONDS = 0.25  # of a server's start, within which it is killed again


def moments(draw, server_kills, volunteer_kills):
    """(share of the run handed out, victim) in order; a victim is a
    volunteer's number, "server", or "start": the server and, once more,
    while it starts."""
    twice = server_kills // 6
    victims = (["start"] * twice + ["server"] * (server_kills - 2 * twice) +
               [i % VOLUNTEERS for i in range(volunteer_kills)])
    draw.shuffle(victims)
    return list(zip(sorted(draw.uniform(0.02, 0.95) for _ in victims),
                    victims))


def kill(draw, victim, server, volunteers):
    """Kills and starts again; returns how many kills of the server."""
    time.sleep(draw.uniform(0, 0.3))
    if victim not in ("server", "start"):
        volunteers[victim].kill()
        time.sleep(draw.uniform(0, 0.5))
        volunteers[victim].start()
        return 0
    server.kill()
    if victim == "start":
        server.spawn()
        time.sleep(draw.uniform(0, START_SECONDS))
        server.kill()
    server.start()
    return 2 if victim == "start" else 1


def train(stage, project, server, server_kills, volunteer_kills):
    draw = random.Random(stage.seed)
    volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(server).start()
                  for i in range(VOLUNTEERS)]
    killed = 0
    for share, victim in moments(draw, server_kills, volunteer_kills):
        wait_for(f"{share:.0%} of the run",
                 lambda: project.admin("train-show", run=RUN)["progress"]
                 >= share, 120, 0.01)
        killed += kill(draw, victim, server, volunteers)
    expect(killed == server_kills, f"{killed} kills of the server")
    shown = project.wait_until_finished(120)
    stage.say(f"finished at version {shown['version']} after {killed} kills "
              f"of the server and {volunteer_kills} of volunteers")
    for volunteer in volunteers:
        volunteer.stop()
    return volunteers, shown


def check_results(stage, project, volunteers, entries):
    """Acknowledged means stored, once; credit is what valid results earned."""
    rows = project.results()
    by_id = {row["id"]: row for row in rows}
    expect(len(by_id) == len(rows), "a result id stands in two rows")
    assimilated = [e["result"] for e in entries if e["kind"] == "result"]
    expect(len(set(assimilated)) == len(assimilated),
           "a result has two ledger entries")
    acknowledged = 0
    for volunteer in volunteers:
        host = project.host_of(volunteer)
        for result in set(volunteer.acknowledged()):
            row = by_id.get(result)
            expect(row and row["outcome"] == "success" and
                   row["host"] == host["id"],
                   f"{volunteer.name}: result {result} was acknowledged, the "
                   f"table has {row}")
            acknowledged += 1
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
    lost = collections.Counter(row["outcome"] for row in rows)
    stage.say(f"{acknowledged} acknowledged results are in the table, once; "
              f"outcomes: {dict(lost)}")
    return acknowledged


def check_units(stage, project, entries, shown, all_samples):
    """No stretch of samples is lost or comes twice."""
    units = project.workunits()
    indices = sorted(unit["unit_index"] for unit in units)
    expect(indices == list(range(shown["units_made"])),
           "the units are not numbered without a gap")
    states = collections.Counter(unit["state"] for unit in units)
    expect(set(states) <= {"assimilated", "credited", "cancelled"},
           f"states of units: {dict(states)}")
    expect(shown["rule"] != "vc-asgd" or set(states) == {"assimilated"},
           f"states of units: {dict(states)}")
    expected = sorted(unit["unit_index"] for unit in units
                      if unit["state"] == "assimilated")
    found = sorted(e["unit_index"] for e in entries if e["kind"] == "result")
    expect(found == expected, "ledger and table differ in what is assimilated")
    samples = sum(unit["samples"] for unit in units)
    expect(samples == all_samples and shown["progress"] == 1.0,
           f"{samples} samples handed out, the run has {all_samples}")
    stage.say(f"{len(units)} units cover the run's {samples} samples once: "
              f"{dict(states)}")


def crash(stage, rule, server_kills, volunteer_kills, epochs, house_workers):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--rule",
                       rule, "--batch", 32, "--local-steps", 8, "--quorum", 2,
                       "--epochs", epochs)
    server = Server(project, "--house-workers", house_workers).start()
    volunteers, shown = train(stage, project, server, server_kills,
                              volunteer_kills)
    entries = project.ledger()
    acknowledged = check_results(stage, project, volunteers, entries)
    check_units(stage, project, entries, shown, epochs * 10240)
    server.stop()
    stage.expect_only([])
    verified = project.ask("verify-ledger", RUN)
    expect(verified["ok"] and verified["entries"] == len(entries),
           f"verify-ledger: {verified}")
    replayed = project.ask("replay", RUN)
    expect(entries[-1]["kind"] == "end", "the ledger has no end")
    expect(replayed["ok"] and
           replayed["final_snapshot"] == entries[-1]["parameters"] and
           replayed["version"] == entries[-1]["version"],
           f"replay: {replayed}, the run ended with {entries[-1]}")
    stage.say(f"ledger of {len(entries)} entries verified; the replay ends "
              f"with the run's own parameters")
    return (f"{rule}: {server_kills} + {volunteer_kills} kills, "
            f"{acknowledged} acknowledged results kept")


def test_one_by_one(stage):
    return crash(stage, "vc-asgd", 30, 10, 30 if stage.is_long else 8, 0)


def test_rounds(stage):
    if stage.is_long:
        return crash(stage, "diloco", 30, 10, 30, 1)
    return crash(stage, "diloco", 10, 4, 6, 1)


if __name__ == "__main__":
    run(__doc__, test_one_by_one, test_rounds)
