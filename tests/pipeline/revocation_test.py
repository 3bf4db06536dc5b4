#!/usr/bin/env python3
"""A host's results are revoked while the run goes on, and the server is killed
meanwhile: the ledger has the whole revocation or nothing of it, and replay,
recomputation and the run without that host agree.
"""

import json
import random
import time

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

KILLS = 6


def results_of(entries, host):
    return {entry["result"] for entry in entries if entry["kind"] == "result"
            and entry["host"] == host}


def revocations(entries):
    return [entry for entry in entries if entry["kind"] == "revocation"]


def revoke(stage, rule, *arguments):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:256,64",
                       "--batch", 50, "--local-steps", 200, "--quorum", 1,
                       "--rule", rule, *arguments)
    server = Server(project).start()
    honest = Volunteer(stage, "ada").attach(server).start()
    attacker = Volunteer(stage, "mallory", "--attack", "scaled",
                         program="quorate-attacker").attach(server).start()
    wait_for("false results in the model", lambda: len(set(
        attacker.results_with("attack")) & {
            entry.get("result") for entry in project.ledger()}) >= 10, 120)

    # An audit beside the server finds the host, and says what to do.
    host = project.host_of(attacker)
    stage.fails([f"quorate host purge {host['id']}"], "quorate", "-C",
                project.folder, "audit", RUN, "--sample", 0.9)
    project.order("host", "purge", host["id"], "--reason", "found by an audit")
    draw = random.Random(stage.seed)
    kills = 0
    while kills < KILLS and not revocations(project.ledger()):
        time.sleep(draw.uniform(0, 0.4))
        server.kill()
        kills += 1
        server.start()
    wait_for("the revocation", lambda: revocations(project.ledger()), 60)
    stage.say(f"{rule}: revoked after {kills} kills of the server")
    project.wait_until_finished(240)
    honest.stop()
    attacker.stop()
    entries = project.ledger()
    server.stop()

    key = revocations(entries)[0]["host"]
    sent = set(attacker.results_with("attack"))
    expect(results_of(entries, key) <= sent, "an honest result is revoked")
    revoked = [result for entry in revocations(entries)
               for result in entry["results"]]
    expect(len(revoked) == len(set(revoked)) and
           set(revoked) == results_of(entries, key),
           f"revoked {sorted(revoked)} of {sorted(results_of(entries, key))}")
    for entry in revocations(entries):
        after = entries[entry["seq"] + 1]
        expect(after["kind"] == "snapshot" and
               after["parameters"] == entry["parameters"] and
               after["version"] == entry["version_after"],
               f"after a revocation: {after}")
    final = entries[-1]["parameters"]
    for command in (["verify-ledger", RUN], ["replay", RUN],
                    ["replay", RUN, "--without-host", host["id"]],
                    ["replay", RUN, "--recompute"]):
        report = project.ask(*command)
        expect(report["ok"] and report["entries"] == len(entries) and
               report["final_snapshot"] in (final, None),
               f"{command}: {report}")
    expect(report["recomputed"] == sum(
        entry["kind"] == "result" for entry in entries) - len(revoked),
           f"recomputed: {report}")
    model = stage.folder / f"{rule}.safetensors"
    project.order("export", RUN, "--version", "last", "--out", model)
    report = project.ask("verify-model", model)
    expect(report["ok"] and report["revoked_before"] == len(revoked) and
           report["hosts"] == len({entry["host"] for entry in entries if
                                   entry["kind"] == "result"} - {key}),
           f"verify-model: {report}")
    expect_words(json.dumps(entries[-1]), "finished")
    return (f"{len(revoked)} results revoked in {len(revocations(entries))} "
            f"entries after {kills} kills, {len(entries)} entries")


def test_one_by_one(stage):
    return revoke(stage, "vc-asgd", "--epochs", 70)


def test_rounds(stage):
    return revoke(stage, "diloco", "--epochs", 70)


if __name__ == "__main__":
    run(__doc__, test_one_by_one, test_rounds)
