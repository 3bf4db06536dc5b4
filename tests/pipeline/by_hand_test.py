#!/usr/bin/env python3
"""Validation and assimilation by hand.

A server with the scheduler alone stores results and judges none. `quorate
validate` and `quorate assimilate RUN` then move them, each its own step only,
while the server runs. The run is then finished by the ordinary server.
"""

import collections
import time

from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)


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
            (["there is no workunit 999999", "known are"],
             "validate", 999999),
            (['there is no run "nope"', f"known are {RUN}"],
             "assimilate", "nope")):
        stage.fails(words, "quorate", "-C", project.folder, *command)
    said = project.order("status")
    for part in ("Off (serve --roles): validator, assimilator, evaluator",
                 "paused: by the operator"):
        expect(part in said, f"status says nothing of {part}: {said}")
    project.order("validate")
    waiting, valid, version = states(project)
    expect(valid >= 2 and valid + waiting == stored,
           f"validate: {valid} valid, {waiting} waiting, {stored} before")
    expect(version == 0, f"validate made version {version}")
    stage.say(f"validate: {valid} valid, {waiting} wait for their partner")

    units = {row["workunit"] for row in project.results()
             if row["validate_state"] == "valid"}
    project.order("assimilate", RUN)
    shown = project.show()
    expect(shown["version"] == len(units) == shown["results_assimilated"],
           f"assimilate: version {shown['version']} of {len(units)} units")
    stage.say(f"assimilate: version {shown['version']}")

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


if __name__ == "__main__":
    run(__doc__, test_by_hand)
