#!/usr/bin/env python3
"""The simulator against the real system: a project that real clients trained
is simulated anew, from who asked and who reported when; the two ledgers are the
same but for times, seals and names, and so are the models, bit for bit. And a
simulation with hosts of its own, twice, gives the same bits."""

import contextlib
import csv
import json
import sqlite3

from support.project import RUN, Project, Server, Volunteer, expect, run

# What depends on who signed, or on which row of which store it is.
NAMES = {"previous", "host", "workunit", "result", "name"}
# The server's own workers would train before the first client is there.
SETTINGS = {"evaluate_every": 0, "evaluate_every_versions": 10,
            "house_workers": 0}
TRAINING = {"dataset": "glyphs", "model": "mlp:16", "batch": 32, "quorum": 1,
            "codec": "int4", "local_steps": 4, "epochs": 10, "lr": 0.1}


def train_for_real(stage, rule):
    """A project with three clients; its ledger, units and results."""
    project = Project(stage, **SETTINGS)
    project.add_glyphs(2560)
    flags = [word for name, value in {**TRAINING, **rule}.items()
             for word in (f"--{name.replace('_', '-')}", value)]
    project.create_run(*flags)
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"volunteer-{i}").attach(server).start()
                  for i in range(3)]
    project.wait_until_finished(120)
    ledger, units = project.ledger(), project.workunits()
    results = project.results()
    for process in [*volunteers, server]:
        process.stop()
    return project, ledger, units, results


def trace_of(ledger, units, results):
    """Who asked and who reported, in an order that gives this ledger: a unit
    was handed out before the version after its base was made."""
    index_of = {unit["id"]: unit["unit_index"] for unit in units}
    host_of = {index_of[result["workunit"]]: result["host"]
               for result in results}
    taken = [entry for entry in ledger if entry["kind"] == "result"]
    asked = sorted(units, key=lambda unit: unit["unit_index"])
    lines = []

    def ask_up_to(version):
        while asked and asked[0]["base_version"] <= version:
            index = asked.pop(0)["unit_index"]
            lines.append(("ask", host_of[index], index))

    for entry in taken:
        ask_up_to(entry["version_before"])
        index = entry["unit_index"]
        lines.append(("report", host_of[index], index))
    return [(f"{i / 100}", *line) for i, line in enumerate(lines)]


def simulate(stage, project, scenario, out):
    path = stage.folder / f"{out}.json"
    path.write_text(json.dumps(scenario))
    return json.loads(stage.run(
        "quorate", "-C", project.folder, "simulate", path, "--out",
        stage.folder / out, "--keep", "--json"))


def ledger_in(folder):
    """The entries in the store of a project that nobody serves."""
    with contextlib.closing(sqlite3.connect(
            f"file:{folder}/db/quorate.sqlite?mode=ro", uri=True)) as store:
        rows = store.execute("SELECT line FROM ledger ORDER BY seq")
        return [json.loads(line) for line, in rows]


def without_names(entry):
    return {name: value for name, value in entry.items() if name not in NAMES}


def compare(stage, rule):
    project, ledger, units, results = train_for_real(stage, rule)
    with open(stage.folder / "trace.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("time_s", "event", "host", "unit"))
        writer.writerows(trace_of(ledger, units, results))
    summary = simulate(stage, project, {
        "run": {"run": RUN, **TRAINING, **rule}, "run_id": ledger[0]["run"],
        "server": {**SETTINGS, "trust_proven_after": 0, "trust_anchor": False,
                   "trust_spot_check": 0},
        "trace": "trace.csv"}, "simulated")
    kept = stage.folder / "simulated/project"
    simulated = ledger_in(kept)
    taken = sum(entry["kind"] == "result" for entry in ledger)
    expect(taken >= 200, f"{taken} results")
    expect(len(ledger) == len(simulated),
           f"{len(ledger)} entries, {len(simulated)} simulated")
    for real, other in zip(ledger, simulated):
        real, other = without_names(real), without_names(other)
        expect(real == other, f"entry {real['seq']}: {real}, {other}")
    expect(summary["parameters"] == ledger[-1]["parameters"],
           f"final parameters: {summary['parameters']}")
    replayed = json.loads(stage.run("quorate", "-C", kept, "replay", RUN,
                                    "--json"))
    expect(replayed["ok"], f"replay: {replayed}")
    return f"{rule['rule']}: {taken} results, {len(ledger)} entries are equal"


def test_one_by_one(stage):
    return compare(stage, {"rule": "vc-asgd"})


def test_replicas(stage):
    return compare(stage, {"rule": "gossip"})


def test_rounds(stage):
    return compare(stage, {"rule": "diloco", "round_units": 4,
                           "round_share": 0.5, "epochs": 20})


HOSTS = [
    {"name": "laptops", "count": 5, "gflops": {"median": 0.02, "sigma": 0.5},
     "unit_sigma": 0.3, "on": "3 min", "off": "1 min"},
    {"name": "spot machines", "count": 3, "gflops": 0.02, "preempted": 0.1,
     "replaced_after": "20 s", "keeps_work": False, "price_per_hour": 0.1,
     "falsifies": {"share": 0.3, "how": "sign-flip"}}]


def test_again(stage):
    """Hosts that come, go, are lost and lie: twice the same bits."""
    project = Project(stage)
    project.add_glyphs(2560)
    scenario = {
        "seed": 5, "hosts": HOSTS, "stop": {"after": "2 h"},
        "server": {"lease": 30, "heartbeat": 5, "trust_proven_after": 3},
        "run": {**TRAINING, "run": RUN, "rule": "diloco", "quorum": 2, "epochs": 2}}
    first = simulate(stage, project, scenario, "first")
    again = simulate(stage, project, scenario, "again")
    for name in ("summary.json", "timeline.csv", "versions.csv"):
        expect((stage.folder / "first" / name).read_bytes() ==
               (stage.folder / "again" / name).read_bytes(),
               f"{name}: differs")
    other = simulate(stage, project, {**scenario, "seed": 6}, "other")
    expect(first["parameters"] == again["parameters"], "other parameters")
    expect(other["parameters"] != first["parameters"], "seeds do nothing")
    expect(first["state"] == "finished", f"the run is {first['state']}")
    expect(first["machines_lost"] > 0, "no machine was lost")
    expect(first["results_rejected"] > 0, "no lie was found")
    expect(first["cost"] > 0, "nothing was paid")
    kept = stage.folder / "first/project"
    audit = json.loads(stage.run("quorate", "-C", kept, "audit", RUN,
                                 "--sample", 1, "--json"))
    expect(audit["ok"], f"audit: {audit}")
    return (f"{first['results_assimilated']} results, "
            f"{first['results_rejected']} rejected, "
            f"{first['machines_lost']} machines lost, twice the same bits")


def test_assimilators(stage):
    """Four assimilators that overlap, by both kinds of consistency: twice the
    same bits, and a ledger from which anyone makes them again."""
    project = Project(stage)
    project.add_glyphs(2560)
    lost = {}
    for consistency in ("strong", "eventual"):
        scenario = {
            "seed": 5, "stop": {"after": "2 h"},
            "assimilator": {"prepare": 0.5, "read": 0.5, "step": 1, "write": 1},
            "hosts": [{"count": 8, "gflops": 0.02, "unit_sigma": 0.3}],
            "run": {**TRAINING, "run": RUN, "rule": "vc-asgd", "epochs": 2,
                    "assimilators": 4, "consistency": consistency}}
        first = simulate(stage, project, scenario, f"{consistency}-first")
        again = simulate(stage, project, scenario, f"{consistency}-again")
        expect(first["parameters"] == again["parameters"], "other parameters")
        expect(first["state"] == "finished", f"the run is {first['state']}")
        kept = stage.folder / f"{consistency}-first/project"
        reports = [json.loads(stage.run("quorate", "-C", kept, *command, RUN,
                                        "--json"))
                   for command in (["replay"], ["verify-ledger"],
                                   ["audit", "--sample", 1])]
        lost[consistency] = first["overwritten"]
        for report in reports:
            expect(report["ok"], f"{consistency}: {report}")
            expect(report.get("overwritten", 0) == first["overwritten"],
                   f"{consistency}: {first['overwritten']}, {report}")
        expect(first["seconds_per_update"] >= 3, f"{first}")
    expect(lost["strong"] == 0, f"lost updates: {lost}")
    expect(lost["eventual"] > 0, "nothing was overwritten")
    return f"{lost['eventual']} of {first['version']} updates were overwritten"


if __name__ == "__main__":
    run(__doc__, test_one_by_one, test_replicas, test_rounds, test_again,
        test_assimilators)
