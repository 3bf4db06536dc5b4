#!/usr/bin/env python3
"""Validation and assimilation by hand.

A server with the scheduler alone stores results and judges none. `quorate
validate` and `quorate assimilate RUN` then move them, each its own step only,
while the server runs. The run is then finished by the ordinary server.
"""

import collections
import json
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (RUN, Process, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

HOUSE = "house workers"  # the user that they are


def states(project):
    """(reported and not judged, valid, version) as the operator sees them."""
    rows = project.results()
    waiting = [r for r in rows if r["outcome"] == "success" and
               r["validate_state"] == "init"]
    valid = [r for r in rows if r["validate_state"] == "valid"]
    return len(waiting), len(valid), project.show()["version"]


def whole_units(project):
    """Units with both of their results reported."""
    reported = collections.Counter(r["workunit"] for r in project.results()
                                   if r["outcome"] == "success")
    return sum(count == 2 for count in reported.values())


def validate(stage, project, stored):
    """What --dry-run foretells happens, and a watcher sees it."""
    foretold = project.ask("validate", "--dry-run")["units"]
    accepted = [unit for unit in foretold if unit["step"] == "accept"]
    expect(len(accepted) >= 2, f"validate --dry-run: {foretold}")
    expect(states(project) == (stored, 0, 0), "validate --dry-run validated")
    one = accepted[0]["workunit"]
    expect(project.ask("validate", one, "--dry-run")["units"] == accepted[:1],
           f"validate {one} --dry-run says something else")
    watcher = Process(stage, "watcher", [
        stage.program("quorate"), "-C", project.folder, "results", "--state",
        "valid", "--watch", 0.2, "--json"])
    watcher.spawn()
    project.order("validate")
    waiting, valid, version = states(project)
    expect(valid == sum(len(unit["valid"]) for unit in accepted) and
           valid + waiting == stored,
           f"validate: {valid} valid, {waiting} waiting, {stored} before; "
           f"foretold: {accepted}")
    expect(version == 0, f"validate made version {version}")
    wait_for("valid results at the watcher",
             lambda: len(watcher.text().splitlines()) == valid, 10)
    watcher.child.send_signal(signal.SIGINT)
    expect(watcher.child.wait(20) == 0, f"watcher: {watcher.last_line()}")
    shown = {json.loads(line)["id"] for line in watcher.text().splitlines()}
    expect(shown == {result for unit in accepted for result in unit["valid"]},
           f"the watcher saw {shown}")
    stage.say(f"validate: {valid} valid, as foretold; {waiting} wait for their "
              f"partner")
    return valid


def assimilate(stage, project):
    """As foretold, first as far as it was told to; returns the plan."""
    plan = project.ask("assimilate", RUN, "--dry-run")[0]["units"]
    expect(project.show()["version"] == 0, "assimilate --dry-run assimilated")
    expect(all(unit["update_norm"] > 0 and unit["step_norm"] > 0 and
               unit["coefficients"] for unit in plan), f"the plan is {plan}")
    expect_words(project.order("assimilate", RUN, "--dry-run"), "COEFFICIENTS",
                 "Nothing was changed")
    project.order("assimilate", RUN, "--up-to", 1)
    expect(project.show()["version"] == 1, "--up-to 1 made another version")
    project.order("assimilate", RUN)
    taken = [entry["result"] for entry in project.ledger()
             if entry["kind"] == "result"]
    expect(taken == [unit["result"] for unit in plan],
           f"taken were {taken}, not {plan}")
    stage.say(f"assimilate: version {len(plan)}, in the order foretold")
    return plan


def look(stage, project, plan):
    """Lists and units tell what became of them."""
    valid = project.ask("results", "--state", "valid", "--user", "ada")
    expect(valid and all(row["user"] == "ada" for row in valid), f"{valid}")
    first = valid[0]
    for filters in (["--host", first["host"]], ["--device", "cpu"],
                    ["--since", "1h"], ["--run", RUN]):
        expect(first in project.ask("results", *filters), f"not in {filters}")
    expect(not project.ask("results", "--device", "no-such-device"),
           "results of a device that there is not")
    expect_words(project.order("results", RUN, "--limit", 1),
                 "1 of ", "--limit shows more")
    units = project.ask("workunits", "--state", "assimilated", "--user", "ada")
    expect(first["workunit"] in [row["id"] for row in units], f"{units}")

    unit = project.ask("workunit", "show", plan[0]["workunit"])
    expect(unit["state"] == "assimilated" and unit["quorum"]["reached"] == 2 and
           unit["ledger"]["version_after"] == 1 and not unit["differences"] and
           len(unit["results"][0]["digests"]) > 0, f"{unit}")
    expect(project.ask("result", "show", plan[0]["result"]) == unit,
           "result show and workunit show differ")
    expect_words(project.order("workunit", "show", unit["id"]),
                 "2 of 2 users agree", "reported and screened",
                 "is canonical", "Nothing: it is over")
    for words, *command in (
            (["known are unsent"], "results", "--state", "fine"),
            (["known are"], "results", "--host", "nope"),
            (["known are"], "workunits", "--user", "nope"),
            (["expected how long ago"], "results", "--since", "yesterday"),
            (["there is no result 999999"], "result", "show", 999999)):
        stage.fails(words, "quorate", "-C", project.folder, *command)


def test_by_hand(stage):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--batch",
                       32, "--local-steps", 40, "--quorum", 2, "--epochs", 2)
    server = Server(project, "--roles", "scheduler", "--house-workers",
                    0).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert", "carl")]
    wait_for("stored results", lambda: whole_units(project) >= 2, 60)
    # Nothing new on the way: what is stored now stays as it is.
    project.order("train", "pause", RUN)
    for volunteer in volunteers:
        volunteer.stop()
    time.sleep(1)
    stored, valid, version = states(project)
    expect(valid == 0 and version == 0,
           f"without a validator: {valid} valid, version {version}")
    stage.say(f"scheduler alone: {stored} results stored, none judged")

    for words, *command in (
            (["there is no workunit 999999", "known open ones are"],
             "validate", 999999),
            (['there is no run "nope"', f"known are {RUN}"],
             "assimilate", "nope")):
        stage.fails(words, "quorate", "-C", project.folder, *command)
    said = project.order("status")
    for part in ("Off (serve --roles): validator, assimilator, evaluator",
                 "paused: by the operator"):
        expect(part in said, f"status says nothing of {part}: {said}")
    valid = validate(stage, project, stored)
    units = {row["workunit"] for row in project.results()
             if row["validate_state"] == "valid"}
    plan = assimilate(stage, project)
    shown = project.show()
    expect(shown["version"] == len(units) == shown["results_assimilated"],
           f"assimilate: version {shown['version']} of {len(units)} units")
    stage.fails(["at version", "already"], "quorate", "-C", project.folder,
                "assimilate", RUN, "--up-to", 1)
    look(stage, project, plan)

    server.stop()
    project.order("train", "resume", RUN)  # without a server
    server = Server(project, port=server.port).start()
    for volunteer in volunteers:
        volunteer.start()
    shown = project.wait_until_finished(120)
    expect(project.ask("replay", RUN)["version"] == shown["version"], "replay")
    for volunteer in volunteers:
        volunteer.stop()
    server.stop()
    return (f"{stored} stored, {valid} validated, {len(units)} assimilated by "
            f"hand; then finished at version {shown['version']}")


def test_cancelled_under_house(stage):
    """A unit is over before the house worker that computes it is done."""
    project = Project(stage, house_workers=1)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:1024,1024",
                       "--batch", 128, "--local-steps", 40, "--quorum", 2,
                       "--epochs", 20)
    server = Server(project).start()
    ada = Volunteer(stage, "ada").attach(server).start()

    def computed_by_house():
        return [row["workunit"] for row in project.results()
                if row["user"] == HOUSE and
                row["server_state"] == "in_progress"]

    unit = wait_for("the house worker", computed_by_house, 60)[0]
    project.order("workunit", "cancel", unit, "--why", "a test", "--yes")
    wait_for("another unit by the house worker", lambda: [
        row for row in project.results() if row["user"] == HOUSE and
        row["workunit"] > unit and row["validate_state"] == "valid"], 120)
    state = project.ask("workunit", "show", unit)["state"]
    expect(state == "cancelled", f"unit {unit} is {state}")
    ada.stop()
    server.stop()
    expect(project.ask("verify-ledger", RUN)["ok"], "verify-ledger")
    return f"unit {unit} was cancelled, and the house worker went on"


if __name__ == "__main__":
    run(__doc__, test_by_hand, test_cancelled_under_house)
