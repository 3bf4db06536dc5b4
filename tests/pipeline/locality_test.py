#!/usr/bin/env python3
"""Hosts get units of the shards that they have: what that saves, on both doors,
and that a stock BOINC client drops its shards once nobody trains on them."""

import contextlib
import pathlib
import sqlite3

from support.boinc_scene import Scene
from support.project import Project, Server, Volunteer, expect, run, wait_for

SHARDS = 8
SAMPLES = 10_240  # of a shard
UNITS = 10
# So many units a shard: short, so that the hosts take turns.
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


def told(project, shards, hosts):
    first, all_epochs = (len(downloads(project, n)) for n in (1, 9))
    return (f"{shards} shards, {hosts} hosts: {first} downloads in the first "
            f"epoch ({shards * hosts} if each took part in each), {all_epochs} "
            f"in all")


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
    return told(project, SHARDS, len(volunteers))


def test_both_doors(stage):
    """A stock BOINC client and a native one. The stock client stays with the
    shard that it has, and deletes it when the run has ended."""
    shards = 5
    scene = Scene(stage, *TRAINING, "--epochs", 1, samples=shards * SAMPLES)
    boinc = scene.client("vera")
    scene.wait_for_valid(1)
    kept = shards_in(boinc.folder, "projects/*/shard-*")
    expect(len(kept) == 1, f"the client keeps {kept}")
    # As fast as a BOINC client, which pays a second or two for each unit.
    native = Volunteer(stage, "adam", "--cpu-percent", 20)
    native.attach(scene.server).start()
    scene.project.wait_until_finished(300)
    host = scene.hosts()[0]["id"]
    units = len(scene.rows(host=host, validate_state="valid"))
    first = downloads(scene.project, 1)
    mine = {shard for other, shard in first if other == host}
    # One for each ten units, and one that was shared at the end.
    expect(len(mine) <= 2 + units // UNITS,
           f"{units} units of the stock client are of {len(mine)} shards")
    expect(len(first) <= shards + 2, f"{len(first)} downloads")
    wait_for("the end of the client's shards", lambda: not shards_in(
        boinc.folder, "projects/*/shard-*"), 90, 0.5)
    native.stop()
    boinc.stop()
    scene.close()
    return (f"{told(scene.project, shards, 2)}; {units} units of the stock "
            f"client are of {len(mine)} shards")


if __name__ == "__main__":
    run(__doc__, test_native_hosts, test_both_doors)
