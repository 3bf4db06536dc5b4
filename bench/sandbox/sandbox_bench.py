#!/usr/bin/env python3
"""What the worker's sandbox costs: a unit of about a second, computed by two
workers in turn, one confined and one not, and how long each takes to start.

The claims are equal, or the bench fails. OpenCL is measured too, where there is
a device for it."""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import (Project, Server, Volunteer, Worker,  # noqa: E402
                             expect, run)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

TIMES = 21


def started(stage, device, *arguments):
    began = time.monotonic()
    worker = Worker(stage, "--device", device, "--threads", 1, *arguments)
    return worker, time.monotonic() - began


def compare(stage, project, server, unit, device):
    """Prints a row; False if there is no such device."""
    free, free_start = started(stage, device)
    if free.ready["type"] != "ready":
        return False
    confined, confined_start = started(stage, device, "--folder", stage.folder)
    expect(confined.ready.get("confinement") == "confined",
           f"{device}: {confined.ready}")
    seconds = {free: [], confined: []}
    claims = set()
    for _ in range(TIMES):
        for worker in (free, confined):
            began = time.monotonic()
            claim = worker.compute(project, server, unit)
            seconds[worker].append(time.monotonic() - began)
            claims.add(str(claim))
    expect(len(claims) == 1, f"{device}: the sandbox changed the bits")
    ours, theirs = (statistics.median(seconds[w]) for w in (confined, free))
    print(f"{device:12}{theirs:10.3f}{ours:10.3f}{ours / theirs:9.4f}"
          f"{free_start:10.2f}{confined_start:10.2f}", flush=True)
    record("sandbox", device, ours, "not confined", theirs, theirs / ours, "s")
    for worker in (free, confined):
        worker.close()
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
    print(f"{'device':12}{'free, s':>10}{'confined':>10}{'ratio':>9}"
          f"{'starts, s':>10}{'confined':>10}", flush=True)
    measured = [device for device in ("cpu", "opencl:0")
                if compare(stage, project, server, unit, device)]
    return f"{TIMES} pairs of {', '.join(measured)}"


if __name__ == "__main__":
    run(__doc__, bench_sandbox)
