#!/usr/bin/env python3
"""One volunteer in five falsifies its results: none gets into the model.

Four honest volunteers and one attacker share more than 300 units under quorum
2; the attacker is replaced four times, so that each way of falsifying has its
turn. Every falsified result must be rejected with its reason, no ledger entry
may name one, each entry's claim must be what an honest host claims, and its
update the one that a worker of ours computes again from the sealed unit.
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (Project, Server, Volunteer, Worker, expect, run,
                             wait_for)

ATTACKS = ["random", "scaled", "sign-flip", "wrong-payload", "other-unit"]
HONEST = 4
LEAST_UNITS = 300
OF_A_KIND = 8  # falsified by each attacker in its turn: soon it has to rest
LEAST_OF_A_KIND = 5  # of them delivered
LEAST_RECOMPUTED = 0.9  # of the entries; the last snapshots may be gone
NOT_DELIVERED = ("no_reply", "client_error", "didnt_need", "init")


def train(stage, project, server):
    """The whole run; returns the honest volunteers and the attackers."""
    honest = [Volunteer(stage, f"honest-{i + 1}") for i in range(HONEST)]
    attackers = {kind: Volunteer(stage, kind, "--attack", kind,
                                 program="quorate-attacker")
                 for kind in ATTACKS}
    for volunteer in [*honest, *attackers.values()]:
        volunteer.attach(server)
    for volunteer in honest:
        volunteer.start()
    def is_over():
        project.keep_objects()
        return (len(attacker.results_with("attack")) >= OF_A_KIND or
                project.show()["state"] == "finished")
    for attacker in attackers.values():
        attacker.start()
        wait_for(f"the turn of {attacker.name}", is_over, 600, 0.1)
        attacker.stop()
    def is_finished():
        project.keep_objects()
        return project.show()["state"] == "finished"
    wait_for("the end of the run", is_finished, 600, 0.1)
    for volunteer in honest:
        volunteer.stop()
    return honest, attackers


def judge(stage, project, attackers, entries):
    """Checks what became of every falsified result; counts them."""
    rows = {row["id"]: row for row in project.results()}
    rejected = {row["id"]: row for row in
                project.ask("results", "first", "--rejected",
                            "--limit", 100000)}
    in_ledger = {entry["result"] for entry in entries}
    counts = {}
    for kind, attacker in attackers.items():
        reasons = collections.Counter()
        undelivered = 0
        witnesses = 0  # who are not asked for a payload
        for result in attacker.results_with("attack"):
            row = rows[result]
            if kind == "wrong-payload" and row["witness"]:
                # Its header is honest, and may even be the one in the ledger.
                witnesses += 1
                continue
            expect(result not in in_ledger,
                   f"{kind}: falsified result {result} is in the ledger")
            if row["outcome"] in NOT_DELIVERED:
                undelivered += 1
                continue
            expect(row["validate_state"] == "invalid" and result in rejected,
                   f"{kind}: falsified result {result}: {row}")
            expect(rejected[result]["reason"],
                   f"{kind}: result {result}: rejected without a reason")
            reasons[rejected[result]["reason"].split(" result ")[0]
                    .split(":")[0]] += 1
        counts[kind] = sum(reasons.values())
        expect(counts[kind] + witnesses >= LEAST_OF_A_KIND,
               f"{kind}: only {counts[kind]} falsified results")
        stage.say(f"{kind}: {counts[kind]} falsified, all rejected "
                  f"({', '.join(reasons)}), {undelivered} not delivered")
    falsified = {result for attacker in attackers.values()
                 for result in attacker.results_with("attack")}
    strangers = set(rejected) - falsified
    expect(not strangers, f"honest results were rejected: "
                          f"{[rejected[result] for result in strangers]}")
    return counts


def check_claims(project, attackers, entries):
    """Every assimilated claim is one that an honest host made of that unit."""
    false_hosts = {project.host_of(attacker)["id"]
                   for attacker in attackers.values()}
    units = {unit["object"]: unit["id"] for unit in project.workunits()}
    honest = {(row["workunit"], row["claim"]) for row in project.results()
              if row["validate_state"] == "valid" and
              row["host"] not in false_hosts}
    for entry in entries:
        expect((units[entry["workunit"]], entry["claim"]) in honest,
               f"unit {entry['unit_index']}: no honest host claims "
               f"{entry['claim']}")


def recompute(stage, project, server, entries):
    """The assimilated updates are what an honest worker makes of the units."""
    worker = Worker(stage)
    known = [entry for entry in entries if project.object(
        project.task(entry["workunit"])["snapshot"]).exists()]
    expect(len(known) >= LEAST_RECOMPUTED * len(entries),
           f"only {len(known)} of {len(entries)} snapshots were kept")
    for entry in known:
        claim = worker.compute(project, server, entry["workunit"])
        expect(claim["update"] == entry["update"],
               f"unit {entry['unit_index']}: assimilated {entry['update']}, "
               f"an honest worker computes {claim['update']}")
    worker.close()
    stage.say(f"{len(known)} of {len(entries)} assimilated updates computed "
              f"again: all equal")


def test_falsifiers(stage):
    # Published at the end alone, so that old snapshots stay until then.
    project = Project(stage, evaluate_every=86400,
                      evaluate_every_versions=1000000)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--batch",
                       32, "--local-steps", 4, "--quorum", 2,
                       "--epochs", 60 if stage.is_long else 28)
    server = Server(project).start()
    honest, attackers = train(stage, project, server)
    shown = project.show_evaluated()
    stage.say(f"{shown['units_made']} units closed, version "
              f"{shown['version']}, accuracy {shown['best_accuracy']:.4f}")
    expect(shown["units_made"] >= LEAST_UNITS, "too few units for this test")

    entries = [e for e in project.ledger() if e["kind"] == "result"]
    counts = judge(stage, project, attackers, entries)
    expect(shown["results_rejected"] == sum(counts.values()),
           f"train show: {shown['results_rejected']} rejected, expected "
           f"{sum(counts.values())}")
    for volunteer in honest:
        host = project.host_of(volunteer)
        expect(host["invalid"] == 0 and host["valid"] > 0,
               f"{volunteer.name}: {host}")
    check_claims(project, attackers, entries)
    recompute(stage, project, server, entries)
    expect(project.ask("verify-ledger", "first")["ok"], "verify-ledger")
    expect(project.ask("replay", "first")["ok"], "replay")
    server.stop()
    return (f"{shown['units_made']} units, {sum(counts.values())} falsified "
            f"results rejected, 0 assimilated")


if __name__ == "__main__":
    run(__doc__, test_falsifiers)
