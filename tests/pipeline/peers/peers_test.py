#!/usr/bin/env python3
"""Gossip between two real servers.

Each has its own project, data, volunteers and ledger, and a run of the same
network; each takes the other's model now and then. Both ledgers must replay to
the same bits, through kill -9 and links that break in the middle of a transfer;
who is not allowed, and what is spoilt, is refused while the training goes on.
"""

import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (RUN, Project, Server, TlsServer, Volunteer,
                             expect, expect_words, run, wait_for)
from support.proxy import Proxy

KILLS = 2
# A peer that fails is asked less and less often: up to a minute passes.
PATIENCE = 150
MODEL = "mlp:48"
BIG = "mlp:2048"  # some megabytes: a transfer that can be cut


def peer_entries(project):
    return [entry for entry in project.ledger() if entry["kind"] == "peer"]


def snapshots(project):
    """Parameters that a ledger publishes, by version."""
    found = {}
    for entry in project.ledger():
        if entry["kind"] == "run":
            found[0] = entry["initial"]
        elif entry["kind"] == "snapshot":
            found[entry["version"]] = entry["parameters"]
    return found


def make_project(stage, name, seed, model=MODEL, rule="vc-asgd",
                 dataset_seed=0, **settings):
    project = Project(stage, name, **settings)
    project.order("dataset", "add", "glyphs", "--samples", 5120,
                  "--test-samples", 500, "--seed", dataset_seed)
    project.create_run("--dataset", "glyphs", "--model", model, "--batch", 50,
                       "--local-steps", 10, "--quorum", 1, "--seed", seed,
                       "--epochs", 1000, "--rule", rule)
    return project


def fingerprint(project):
    return project.ask("peers", "list")["project"]


def add_peer(project, address, *arguments):
    return project.ask("peers", "add", RUN, address, "--every", 1, *arguments)


def peer(project):
    return project.ask("peers", "list")["peers"][0]


def problem(project):
    return peer(project)["problem"]


def check_ledger(project):
    for command in ("replay", "verify-ledger"):
        report = project.ask(command, RUN)
        expect(report["ok"], f"{command}: {report}")
    return report["entries"]


def two_servers(stage):
    """Both mix, one in rounds, one result by result; one is killed now and
    then, the other has a certificate of its own; both ledgers replay."""
    moments = random.Random(stage.seed)
    north = make_project(stage, "north", 3, dataset_seed=1)
    south = make_project(stage, "south", 3, rule="diloco", dataset_seed=2)
    servers = {north: Server(north, name="north-server").start(),
               south: TlsServer(south, name="south-server").start()}
    north.order("peers", "allow", fingerprint(south), "--name", "south")
    south.order("peers", "allow", fingerprint(north), "--name", "north")
    added = add_peer(north, servers[south].address())
    expect(added["own_project"] == fingerprint(north), f"peers add: {added}")
    add_peer(south, servers[north].address(), "--weight", 0.25)
    volunteers = {project: Volunteer(stage, f"{project.folder.name}-ada")
                  for project in (north, south)}
    for project, volunteer in volunteers.items():
        volunteer.attach(servers[project]).start()
    for kill in range(KILLS):
        wait_for("a model of the peer", lambda: (
            len(peer_entries(north)) > kill), 120)
        servers[north].kill()
        wait_for("a moment", lambda: moments.random() < 0.5, 5)
        servers[north].start()
    wait_for("a model each", lambda: (
        len(peer_entries(north)) > KILLS and peer_entries(south)), 120)
    for project in (north, south):
        project.order("train", "stop", RUN)
    for volunteer in volunteers.values():
        volunteer.stop()
    counts = []
    for project, other in ((north, south), (south, north)):
        taken = peer_entries(project)
        published = snapshots(other)
        for entry in taken:
            expect(published[entry["peer_version"]] == entry["parameters"],
                   f"the other project never published this: {entry}")
        row = peer(project)
        expect(row["mixed"] == len(taken), f"peers list: {row}")
        expect_words(project.order("peers", "list"), RUN, fingerprint(other))
        check_ledger(project)
        counts.append(len(taken))
    for server in servers.values():
        server.stop()
    # A server that does not run can be asked, too, and replays without it.
    check_ledger(north)
    expect(peer(north)["state"] == "the server does not run", "peers list")
    return f"two servers took {counts[0]} and {counts[1]} models of each other"


def broken_transfers(stage):
    """A link that breaks, and kill -9, in the middle of a transfer."""
    asking = make_project(stage, "asking", 1, BIG, house_workers=0)
    giving = make_project(stage, "giving", 2, BIG, house_workers=0)
    giver = Server(giving, name="giver").start()
    ranges = []

    def watch(_, data):
        ranges.extend(int(found) for found in
                      re.findall(rb"(?i)range: bytes=(\d+)-", data))

    link = Proxy(giver.port, watch)
    giving.order("peers", "allow", fingerprint(asking))
    asker = Server(asking, name="asker").start()
    part = asking.folder / "peers" / "1.part"
    # What comes before the model has some kilobytes.
    link.truncate(1_000_000)
    add_peer(asking, link.address(giver))

    def is_begun(least):
        return part.exists() and part.stat().st_size > least

    wait_for("a part of the model", lambda: is_begun(100_000), 30)
    link.refuse()
    link.cut()
    wait_for("the failure to show", lambda: problem(asking), 30)
    expect(not peer_entries(asking), "half a model was mixed in")
    asker.kill()
    size = part.stat().st_size
    asker.start()
    link.heal()
    entry = wait_for("the model", lambda: peer_entries(asking), 60)[0]
    expect(ranges and ranges[0] >= 100_000,
           f"the transfer began anew: ranges {ranges}")
    expect(entry["parameters"] == snapshots(giving)[0], f"entry {entry}")
    expect(not part.exists(), "the part is there still")
    expect(asking.show()["version"] == 1, "the model is not in the run")
    wait_for("the peer to be well", lambda: not problem(asking), 30)
    check_ledger(asking)
    # Killed once more, it goes on from the same model.
    asker.kill()
    asker.start()
    expect(asking.show()["version"] == 1, "version after a restart")
    check_ledger(asking)
    link.close()
    for server in (asker, giver):
        server.stop()
    return f"a transfer that was cut at {size} bytes went on from there"


def refusals(stage):
    """Strangers, spoilt models, other networks: refused, with the reason."""
    asking = make_project(stage, "asking", 1)
    giving = make_project(stage, "giving", 2, house_workers=0)
    other = make_project(stage, "other", 2, "mlp:32", house_workers=0)
    giver = Server(giving, name="giver").start()
    others = Server(other, name="others").start()
    asker = Server(asking, name="asker").start()
    stage.fails(["this project itself"], "quorate", "-C", asking.folder,
                "peers", "add", RUN, asker.address())
    stage.fails(["--weight", "below 1"], "quorate", "-C", asking.folder,
                "peers", "add", RUN, giver.address(), "--weight", 1)
    stage.fails(["fingerprint is missing"], "quorate", "-C", asking.folder,
                "peers", "add", RUN, giver.url)
    for path in (f"/v1/runs/{RUN}/model", f"/v1/runs/{RUN}/models/0"):
        expect_words(giver.get(path).decode(), "new session")
    # A stranger
    add_peer(asking, giver.address())
    wait_for("the refusal", lambda: "peers allow" in problem(asking), 30)
    expect_words(problem(asking), fingerprint(asking))
    expect_words(asking.order("status"), "peer 1:", "may not take models")
    # A spoilt model: the same length, other bytes
    path = giving.object(snapshots(giving)[0])
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    giving.order("peers", "allow", fingerprint(asking))
    wait_for("the hash to be found wrong", lambda: (
        "have the hash" in problem(asking)), PATIENCE)
    # Another network
    other.order("peers", "allow", fingerprint(asking))
    asking.order("peers", "remove", 1)
    row = add_peer(asking, others.address())
    expect(row["id"] == 2, f"peers add: {row}")
    wait_for("the other network to be seen", lambda: (
        "same network" in problem(asking)), PATIENCE)
    # A peer that is away
    others.kill()
    wait_for("the peer to be missed", lambda: (
        "same network" not in problem(asking)), PATIENCE)
    expect(not peer_entries(asking), "something was mixed in")
    # The training waits for none of them.
    version = asking.show()["version"]
    wait_for("newer versions", lambda: asking.show()["version"] > version, 30)
    expect(not peer_entries(asking), "something was mixed in")
    check_ledger(asking)
    for server in (asker, giver):
        server.stop()
    return "a stranger, a spoilt model and another network were refused"


if __name__ == "__main__":
    run(__doc__, two_servers, broken_transfers, refusals)
