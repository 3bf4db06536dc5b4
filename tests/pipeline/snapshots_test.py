#!/usr/bin/env python3
"""Volunteers of a run with rounded versions fetch changes, not models.

Two volunteers, each behind a proxy that reads along. Each fetches one snapshot
whole when it comes, and deltas from then on, also after it was killed; a server
that starts anew, and so has forgotten what leads where, sends one more.
"""

import re

from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)
from support.proxy import Proxy


class Watched:
    """A volunteer, and the objects that it asked for."""

    def __init__(self, stage, name, server):
        self.asked = []
        self.proxy = Proxy(server.port, on_request=self.note)
        self.volunteer = Volunteer(stage, name).attach(
            server, self.proxy.address(server)).start()

    def note(self, _, data):
        self.asked += re.findall(rb"GET /v1/objects/([0-9a-f]{64}) ", data)

    def objects(self, known):
        """How often it asked for one of them."""
        return sum(digest.decode() in known for digest in self.asked)


def version(project):
    return project.show()["version"]


def train(project, versions):
    target = version(project) + versions
    wait_for(f"version {target}", lambda: version(project) >= target, 120)


def test_deltas(stage):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:256", "--rule",
                       "diloco", "--codec", "int4", "--batch", 32,
                       "--local-steps", 5, "--round-units", 2, "--quorum", 1,
                       "--epochs", 200)
    server = Server(project).start()
    watched = [Watched(stage, f"volunteer-{i + 1}", server) for i in range(2)]
    train(project, 10)
    watched[0].volunteer.kill()
    watched[0].volunteer.start()
    train(project, 10)
    server.kill()
    server.start()
    train(project, 10)
    project.order("train", "stop", RUN)
    entries = project.ledger()
    report = project.ask("replay", RUN)
    for one in watched:
        one.volunteer.stop()
        one.proxy.close()
    server.stop()
    expect(report["ok"], f"replay: {report}")
    # The house has its snapshots already: it computes while nobody else does.
    house = {host["id"] for host in project.ask("hosts")
             if host["door"] == "house"}
    of_house = {row["id"] for row in project.results() if row["host"] in house}
    tasks = [project.task(entry["workunit"]) for entry in entries
             if entry["kind"] == "result"]
    snapshots = {project.task(entry["workunit"])["snapshot"]
                 for entry in entries if entry["kind"] == "result" and
                 entry["result"] not in of_house}
    others = {task["shard"] for task in tasks} | {
        entry["workunit"] for entry in entries if entry["kind"] == "result"}
    expect(len(snapshots) >= 15, f"{len(snapshots)} versions were bases")
    fetched, words = 0, []
    for one in watched:
        whole = one.objects(snapshots)
        deltas = len(one.asked) - whole - one.objects(others)
        # One when it comes, one after the server's restart; killed it may lose
        # what it had begun to make.
        expect(1 <= whole <= 4, f"{whole} snapshots were fetched whole")
        # How many depends on how many units it got: a busy machine is slow to
        # start it anew.
        expect(deltas >= 1, f"{deltas} deltas were fetched")
        fetched += whole + deltas
        words.append(f"{whole} snapshots and {deltas} deltas")
    expect(fetched >= len(snapshots), f"{len(snapshots)} versions were bases "
           f"and {', '.join(words)} fetched")
    return f"{len(snapshots)} versions: {', '.join(words)}"


if __name__ == "__main__":
    run(__doc__, test_deltas)
