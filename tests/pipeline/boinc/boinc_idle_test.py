#!/usr/bin/env python3
"""How busy a stock BOINC client keeps a processor, from its own log: the share
of the time, from its first task to its last, in which a task ran. Printed for
units of 5 and 15 s; the long form has units of 60 s as well, over 15 minutes,
and those must keep it busy for 90 %."""

import datetime
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.boinc_scene import Scene
from support.project import expect, run, wait_for

MODEL = "resnet:3x32,3x64,3x128"
STEP_SECONDS = 0.4  # with a batch of 64, one thread
SHARD_STEPS = 10_240 // 64  # samples of a shard, of a batch
LEAST_BUSY = 0.9


def tasks_of(log):
    """(start, end) of the tasks that ended, in seconds since 1970."""
    starts, tasks = {}, []
    for time, what, name in re.findall(
            r"(?m)^(\S+ \S+) \[.*\] (Starting|Computation for) task (\S+)",
            log):
        seconds = datetime.datetime.strptime(
            time, "%d-%b-%Y %H:%M:%S").timestamp()
        if what == "Starting":
            starts.setdefault(name, seconds)
        elif name in starts:
            tasks.append((starts[name], seconds))
    return tasks


def busy_share(tasks):
    computed = sum(end - start for start, end in tasks)
    return computed / (tasks[-1][1] - tasks[0][0])


def processor_seconds(client):
    """Of the tasks that ended, as the client counts it."""
    return sum(float(seconds) for file in client.folder.glob("job_log_*.txt")
               for seconds in re.findall(r" ct (\S+)", file.read_text()))


def measure(stage, unit_seconds, seconds):
    """One client with one processor, and units that take so long."""
    # All units of a shard are alike: none is only what the others left of it.
    steps = min((n for n in range(1, SHARD_STEPS + 1) if SHARD_STEPS % n == 0),
                key=lambda n: abs(n * STEP_SECONDS - unit_seconds))
    scene = Scene(stage, "--model", MODEL, "--batch", 64,
                  "--local-steps", steps, "--epochs", 1000, samples=10240)
    client = scene.client()
    def has_begun():
        return tasks_of(client.text())
    wait_for("a first task", has_begun, 120 + 5 * unit_seconds, 0.5)
    def is_over():
        tasks = tasks_of(client.text())
        return len(tasks) > 1 and tasks[-1][1] - tasks[0][0] >= seconds
    wait_for("the time to pass", is_over, 2 * seconds + 10 * unit_seconds, 1)
    tasks = tasks_of(client.text())
    client.stop()
    share = busy_share(tasks)
    mean = sum(end - start for start, end in tasks) / len(tasks)
    used = processor_seconds(client) / (tasks[-1][1] - tasks[0][0])
    stage.say(f"{len(tasks)} units of {mean:.1f} s: a task runs in "
              f"{100 * share:.1f} % of the time, and has the processor in "
              f"{100 * used:.1f} %")
    return share


def test_units_of_5_s(stage):
    share = measure(stage, 5, 180 if stage.is_long else 45)
    return f"units of 5 s: busy {100 * share:.0f} %"


def test_units_of_15_s(stage):
    share = measure(stage, 15, 300 if stage.is_long else 60)
    return f"units of 15 s: busy {100 * share:.0f} %"


def test_units_of_60_s(stage):
    if not stage.is_long:
        return "units of 60 s: in the long form"
    share = measure(stage, 60, 900)
    expect(share >= LEAST_BUSY, f"units of 60 s: busy {100 * share:.1f} %")
    return f"units of 60 s: busy {100 * share:.1f} %"


if __name__ == "__main__":
    run(__doc__, test_units_of_5_s, test_units_of_15_s, test_units_of_60_s)
