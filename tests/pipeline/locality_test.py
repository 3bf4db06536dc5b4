#!/usr/bin/env python3
"""Hosts get units of the shards that they have: what that saves, on both doors,
and that a stock BOINC client drops its shards once nobody trains on them."""

import contextlib
import pathlib
import sqlite3

from boinc_scene import Scene
from project import Project, Server, Volunteer, expect, run, wait_for

SHARDS = 8
SAMPLES = 10_000  # of a shard
# Ten units a shard; short, so that the hosts take turns.
TRAINING = ("--model", "mlp:8", "--batch", 50, "--local-steps", 20,
            "--lr", 0.01)


def downloads(project, epochs):
    """Pairs of host and shard that met in the first epochs: a host downloads a
    shard once as long as it keeps it."""
    store = sqlite3.connect(
        f"file:{project.folder}/db/quorate.sqlite?mode=ro", uri=True)
    with contextlib.closing(store):
        return set(store.execute(
            "SELECT host, shard FROM results JOIN workunits "
            "ON workunits.id = results.workunit "
            "WHERE host IS NOT NULL AND epoch < ?", (epochs,)))


def shards_in(folder, pattern):
    return {file.name for file in pathlib.Path(folder).glob(pattern)}


def told(count, hosts, kept):
    return (f"{count} downloads of shards by {hosts} hosts in the first epoch "
            f"({SHARDS} shards; {SHARDS * hosts} if each took part in each), "
            f"{kept} in two epochs")


def test_native_hosts(stage):
    """Three clients, two epochs, each unit computed once."""
    project = Project(stage, house_workers=0)
    project.add_glyphs(SHARDS * SAMPLES)
    project.create_run("--dataset", "glyphs", "--quorum", 1, "--epochs", 2,
                       *TRAINING)
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"vera-{i}") for i in range(3)]
    for volunteer in volunteers:
        volunteer.attach(server)
    for volunteer in volunteers:
        volunteer.start()
    project.wait_until_finished(240)
    first = downloads(project, 1)
    for volunteer in volunteers:
        host = project.host_of(volunteer)["id"]
        mine = {shard for other, shard in first if other == host}
        expect(0 < len(mine) < SHARDS,
               f"{volunteer.name}: {len(mine)} of {SHARDS} shards")
        # What the server sent is what is there.
        every = {shard for other, shard in downloads(project, 2)
                 if other == host}
        here = shards_in(volunteer.folder, "projects/*/objects/*.shard")
        expect(len(here) == len(every),
               f"{volunteer.name}: {len(here)} shards here, {len(every)} sent")
    expect({shard for _, shard in first} ==
           {shard for _, shard in downloads(project, 2)},
           "an epoch left shards out")
    # Each shard once, and some more while the last ones are shared.
    expect(len(first) <= SHARDS + 2 * len(volunteers),
           f"{len(first)} downloads in the first epoch")
    volunteers[0].stop()
    project.order("verify-ledger", "first")
    return told(len(first), len(volunteers), len(downloads(project, 2)))


def test_both_doors(stage):
    """A stock BOINC client and a native one. The stock client gets units of
    what it keeps, and deletes that when the run has ended."""
    scene = Scene(stage, *TRAINING, "--epochs", 2, samples=SHARDS * SAMPLES)
    boinc = scene.client("vera")
    scene.wait_for_valid(1)
    native = Volunteer(stage, "adam", "--cpu-percent", 30)
    native.attach(scene.server).start()
    sticky = wait_for("a sticky shard", lambda: shards_in(
        boinc.folder, "projects/*/shard-*"), 60)
    scene.project.wait_until_finished(400)
    first = downloads(scene.project, 1)
    hosts = {host for host, _ in first}
    expect(len(hosts) == 2, f"hosts with work: {hosts}")
    for host in hosts:
        mine = {shard for other, shard in first if other == host}
        expect(len(mine) < SHARDS, f"host {host}: {len(mine)} shards")
    wait_for("the end of the shards", lambda: not shards_in(
        boinc.folder, "projects/*/shard-*"), 90, 0.5)
    native.stop()
    boinc.stop()
    scene.close()
    expect(sticky, "no shard was kept")
    return told(len(first), 2, len(downloads(scene.project, 2)))


if __name__ == "__main__":
    run(__doc__, test_native_hosts, test_both_doors)
