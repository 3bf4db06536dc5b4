#!/usr/bin/env python3
"""What the worker's sandbox costs: a unit of about half a second, computed by
pairs of workers in turn, of which one is confined. Where a process lies in
memory makes it some percent faster or slower than its like, so there are many
pairs, and as many of which none is confined: "no sandbox", the noise.

The claims are equal, or the bench fails."""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import (Project, Server, Volunteer, Worker,  # noqa: E402
                             expect, run)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

PAIRS = {"cpu": 15}  # by device
UNITS = 4  # that each worker computes


def started(stage, device, *arguments):
    began = time.monotonic()
    worker = Worker(stage, "--device", device, "--threads", 1, *arguments)
    return worker, time.monotonic() - began


def ratio_of_pair(stage, project, server, unit, device, how):
    """(seconds of the second worker, of the first), medians; None if there is
    no such device. how: what the second is started with."""
    workers = [started(stage, device), started(stage, device, *how)]
    if any(worker.ready["type"] != "ready" for worker, _ in workers):
        return None
    second = workers[1][0]
    expect((second.ready.get("confinement") == "confined") == bool(how),
           f"{device}: {second.ready}")
    seconds, claims = ([], []), set()
    for turn in range(2 * UNITS):
        which = (turn + turn // 2) % 2  # each goes first as often
        began = time.monotonic()
        claims.add(str(workers[which][0].compute(project, server, unit)))
        seconds[which].append(time.monotonic() - began)
    for worker, _ in workers:
        worker.close()
    expect(len(claims) == 1, f"{device}: the sandbox changed the bits")
    return statistics.median(seconds[1]), statistics.median(seconds[0])


def compare(stage, project, server, unit, device):
    """Prints two rows; False if there is no such device."""
    confine = ("--folder", stage.folder)
    for name, how in (("no sandbox", ()), ("sandbox", confine)):
        pairs = [ratio_of_pair(stage, project, server, unit, device, how)
                 for _ in range(PAIRS[device])]
        if None in pairs:
            return False
        ratios = sorted(ours / theirs for ours, theirs in pairs)
        ours = statistics.median(pair[0] for pair in pairs)
        ratio = statistics.median(ratios)
        print(f"{device:10}{name:12}{ours:8.3f}{ratio:9.4f}"
              f"{ratios[0]:9.4f}{ratios[-1]:9.4f}", flush=True)
        if how:
            record("sandbox", device, ours, "not confined", ours / ratio,
                   1 / ratio, "s")
    return True


def bench_sandbox(stage):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "lenet", "--batch", 50,
                       "--local-steps", 80, "--quorum", 1)
    server = Server(project, "--house-workers", 0).start()
    volunteer = Volunteer(stage, "vera", "--once").attach(server).start()
    volunteer.child.wait(120)
    unit = project.workunits()[-1]["object"]
    print(f"{'device':10}{'second is':12}{'s':>8}{'ratio':>9}{'least':>9}"
          f"{'most':>9}", flush=True)
    measured = [device for device in PAIRS
                if compare(stage, project, server, unit, device)]
    return f"{', '.join(measured)}: bits equal"


if __name__ == "__main__":
    run(__doc__, bench_sandbox)
