#!/usr/bin/env python3
"""One sealed unit, every device and thread count of this machine: one claim.
Once with an mlp, once with a lenet.

Equal claims mean equal update bytes, state digests and loss: the same bits
after every eighth of the unit's steps. A device that this machine lacks is
skipped by name.
"""

import time

from support.project import (Failure, Project, Server, Volunteer, Worker,
                             expect, run)

WAYS = [("cpu", 1), ("cpu", 2), ("cpu:avx2", 1), ("cpu:avx2", 2),
        ("cpu:avx512", 1), ("cpu:avx512", 2), ("reference", 1)]


def check_same_bits(stage, model, steps):
    project = Project(stage)
    project.add_glyphs(10240)
    # A batch that no vector length divides.
    project.create_run("--dataset", "glyphs", "--model", model, "--batch", 50,
                       "--local-steps", steps, "--quorum", 1)
    server = Server(project, "--house-workers", 0).start()
    volunteer = Volunteer(stage, "vera", "--once").attach(server).start()
    volunteer.child.wait(60)
    unit = project.workunits()[-1]
    assimilated = next(e for e in project.ledger() if e["kind"] == "result" and
                       e["workunit"] == unit["object"])

    claims = {}
    skipped = []
    for device, threads in WAYS:
        way = f"{device}, {threads} threads"
        try:
            worker = Worker(stage, "--device", device, "--threads", threads)
        except Failure:
            worker = None
        if worker is None or worker.ready["type"] != "ready":
            skipped.append(device)
            print(f"skipped: same_bits_test: {device}: not on this machine")
            continue
        began = time.monotonic()
        claims[way] = worker.compute(project, server, unit["object"], 300)
        worker.close()
        stage.say(f"{way}: update {claims[way]['update'][:16]}, "
                  f"{len(claims[way]['digests'])} digests, "
                  f"{time.monotonic() - began:.2f} s")
    server.stop()
    expect("reference, 1 threads" in claims, "the reference did not compute")
    first = next(iter(claims))
    for way, claim in claims.items():
        expect(claim == claims[first],
               f"{way} and {first} differ: {claim} and {claims[first]}")
    expect(claims[first]["update"] == assimilated["update"],
           f"the volunteer's update is {assimilated['update']}")
    expect(len(claims) >= 4, f"only {list(claims)} could be compared")
    return (f"{model}: {len(claims)} ways and a volunteer, one claim"
            + (f"; without {', '.join(dict.fromkeys(skipped))}"
               if skipped else ""))


# Widths that no vector length divides.
def test_mlp(stage):
    if stage.is_long:
        return check_same_bits(stage, "mlp:256,100", 100)
    return check_same_bits(stage, "mlp:61,17", 24)


def test_lenet(stage):
    if stage.is_long:
        return check_same_bits(stage, "lenet", 40)
    return check_same_bits(stage, "lenet:5,9,61,17", 8)


if __name__ == "__main__":
    run(__doc__, test_mlp, test_lenet)
