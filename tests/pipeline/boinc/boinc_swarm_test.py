#!/usr/bin/env python3
"""Two stock BOINC clients, a false one and two volunteers with our own client
train one network under quorum 2.

The model learns, results that came by different doors agree, the false client
is found and nothing of it gets into the model, and everything counts once.
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.boinc_scene import Scene, expect_counted_once
from support.project import Volunteer, expect, run
from support.stock_boinc import new_account

# A unit is a whole shard, the longest that there is.
TRAINING = ("--model", "lenet", "--local-steps", 160, "--rule", "vc-asgd",
            "--lr", 0.1, "--epochs", 12)
# Of ten kinds. Most of the 24 units begin on versions that are 8 or more behind;
# packaging/demo.sh --boinc reaches the demo's bound.
LEAST_ACCURACY = 0.8
LEAST_MIXED = 0.25  # of the quorums: a BOINC and a native host


def train(scene, false):
    """The whole run; returns all clients."""
    # As slow as a BOINC client, which pays seconds for each unit beside computing.
    natives = [Volunteer(scene.stage, f"native-{i + 1}", "--cpu-percent", 15)
               for i in range(2)]
    for volunteer in natives:
        volunteer.attach(scene.server).start()
    clients = [scene.client(f"boinc-{i + 1}") for i in range(2)]
    false.attach_with(scene.stage.program("quorate-false-worker"),
                      scene.master, new_account(scene.master, false.name))
    scene.project.wait_until_finished(300)
    return [*clients, false, *natives]


def quorums(scene):
    """Of each unit on which volunteers agree: by which doors they came."""
    doors = {host["id"]: host["door"] for host in scene.project.ask("hosts")}
    doors_of = collections.defaultdict(list)
    for row in scene.valid():
        if doors[row["host"]] != "house":
            doors_of[row["workunit"]].append(doors[row["host"]])
    return [set(found) for found in doors_of.values() if len(found) > 1]


def expect_found(scene, false):
    """Every result of the false client is refused, and it is known for it."""
    host = scene.project.host_of(false)
    expect(host["valid"] == 0 and host["invalid"] > 0 and
           host["state"] in ("watched", "banned"), f"the false client: {host}")
    entries = {entry["result"] for entry in scene.project.ledger()
               if entry["kind"] == "result"}
    of_false = {row["id"] for row in scene.rows(host=host["id"])}
    expect(not entries & of_false, "a false result is in the ledger")
    return host["invalid"]


def test_swarm(stage):
    scene = Scene(stage, *TRAINING, quorum=2, samples=20480, house_workers=1,
                  boinc_lease=20, trust_ban_after=3)
    false = scene.client("false", attach=False)
    for process in train(scene, false):
        process.stop()
    accuracy = scene.project.show_evaluated()["accuracy"]
    expect(accuracy >= LEAST_ACCURACY, f"accuracy {accuracy}")
    agreed = quorums(scene)
    mixed = agreed.count({"boinc", "native"})
    expect(mixed >= LEAST_MIXED * len(agreed) > 0,
           f"{mixed} of {len(agreed)} quorums are of both doors")
    refused = expect_found(scene, false)
    expect_counted_once(scene)
    return (f"{mixed} of {len(agreed)} quorums are of both doors, accuracy "
            f"{100 * accuracy:.1f} %, {refused} false results refused")


if __name__ == "__main__":
    run(__doc__, test_swarm)
