#!/usr/bin/env python3
"""One volunteer's processor and co-processor at work on one run: what each gets
and for how long it is idle, with units by measured speed and with equal ones.

The real client, on loopback, with one worker on one thread of the CPU and one
on OpenCL on another core (PoCL), which stands for a co-processor: it is slower
than the CPU, even at half of its time. Idle is the share of the time for which a worker computed nothing,
by the client's log, once the speeds of both are known. Medians of --repeats
runs, which take turns; on a busy machine a device loses time to others and the
figures say less: the load is printed. Only ratios are to be compared.

  --bin FOLDER   programs
  --repeats N    (3)
  --seconds N    of each run (30)
  --model MODEL  (mlp:1024,1024); with a smaller one rounds are shorter, and the
                 way from one to the next is more of them
  --only TEXT    cases whose name contains it
"""

import argparse
import datetime
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import (Project, Server, Skip, Stage,  # noqa: E402
                             Volunteer, expect, wait_for)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

DEVICES = ("cpu", "opencl:0")
KNOWN_AFTER = 5  # results of each device: its speed is steady then
CPU_PERCENT = 50  # else it is 8 to 10 times as fast as PoCL
ROUNDS = ["--rule", "local-sgd", "--round-units", 2, "--round-share", 1]
GOSSIP = ["--rule", "gossip", "--set", "replicas=8"]
EQUAL, BY_SPEED = 10, "auto"  # local steps
CASES = {"rounds, equal units": [*ROUNDS, "--local-steps", EQUAL],
         "rounds, units by speed": [*ROUNDS, "--local-steps", BY_SPEED],
         "gossip, equal units": [*GOSSIP, "--local-steps", EQUAL],
         "gossip, units by speed": [*GOSSIP, "--local-steps", BY_SPEED]}
EVENT = re.compile(r"(?m)^(\S+) info (computing|computed) result=(\d+)"
                   r"(?: device=(\S+))?")


def intervals(text):
    """Of each device: (result, begin, end) of what it computed, in seconds; and
    when it began what is under way."""
    under_way, done = {}, {device: [] for device in DEVICES}
    for time, event, result, device in EVENT.findall(text):
        at = datetime.datetime.strptime(
            time, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        if event == "computing":
            under_way[result] = (device, at)
        elif result in under_way:
            device, begin = under_way.pop(result)
            done[device].append((int(result), begin, at))
    return done, dict(under_way.values())


def measured(stage, arguments, model, seconds):
    """Of each device (share of the samples, share of the time it was idle),
    and samples a second of both."""
    project = Project(stage, house_workers=0, lease=120, heartbeat=10,
                      evaluate_every_versions=1000000)
    project.add_glyphs(409600)
    project.create_run("--dataset", "glyphs", "--model", model,
                       "--batch", 128, "--lr", 0.05, "--momentum", 0,
                       "--quorum", 1, "--epochs", 10000, *arguments)
    server = Server(project, "--house-workers", 0).start()
    volunteer = Volunteer(stage, "vera", "--device", ",".join(DEVICES))
    volunteer.attach(server).order("prefs", "set", "cores", 2)
    volunteer.order("prefs", "set", "cpu_percent", CPU_PERCENT)
    volunteer.start()

    def are_known():
        return all(len(done) >= KNOWN_AFTER
                   for done in intervals(volunteer.text())[0].values())

    wait_for("results of both devices", are_known, 60, 0.2)
    known = datetime.datetime.now().timestamp()
    end = known + seconds

    def is_over():
        """Also for what was under way at the end."""
        return datetime.datetime.now().timestamp() > end and all(
            begin > end for begin in intervals(volunteer.text())[1].values())

    wait_for("the end of the measurement", is_over, seconds + 60, 0.2)
    done = intervals(volunteer.text())[0]
    results = project.results()
    samples = {unit["id"]: unit["samples"] for unit in project.workunits()}
    samples = {row["id"]: samples[row["workunit"]] for row in results}
    volunteer.stop()
    server.stop()
    return summary(done, known, end, samples)


def summary(done, first, last, samples):
    work, idle = {}, {}
    for device, units in done.items():
        busy = work[device] = 0
        for result, begin, end in units:
            part = max(0, min(end, last) - max(begin, first))
            busy += part
            work[device] += samples[result] * part / (end - begin)
        idle[device] = 1 - busy / (last - first)
    whole = sum(work.values())
    expect(whole > 0, "nothing was computed")
    return ({device: (work[device] / whole, idle[device])
             for device in DEVICES}, whole / (last - first))


def medians(runs):
    """Of several summaries."""
    return ({device: tuple(statistics.median(run[0][device][i] for run in runs)
                           for i in (0, 1)) for device in DEVICES},
            statistics.median(run[1] for run in runs))


def bench(options):
    cases = {name: arguments for name, arguments in CASES.items()
             if options.only in name}
    runs = {name: [] for name in cases}
    stage = Stage(options)
    try:
        if DEVICES[1] not in stage.run("quorate-worker", "--list-devices"):
            raise Skip("needs OpenCL on the CPU: pocl-opencl-icd")
        for _ in range(options.repeats):
            for name, arguments in cases.items():
                stage.begin_anew()
                runs[name].append(measured(stage, arguments, options.model,
                                           options.seconds))
                stage.say(f"{name}: {runs[name][-1]}, load "
                          f"{os.getloadavg()[0]:.1f}")
    finally:
        stage.close()
    print("| rule and split |", " | ".join(
        f"{device}: share of the work, idle" for device in DEVICES),
        "| samples, of equal units' |")
    print("|---" * (2 + len(DEVICES)) + "|")
    for name in cases:
        parts, rate = medians(runs[name])
        base = runs.get(name.split(",")[0] + ", equal units")
        print(f"| {name} |", " | ".join(
            f"{100 * work:.0f} %, {100 * idle:.0f} %"
            for work, idle in parts.values()),
            f"| {rate / medians(base)[1]:.2f} |" if base else "| - |")
        for device, (work, idle) in parts.items():
            append({"bench": "devices", "case": name, "device": device,
                    "share_of_work": work, "idle": idle})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("QUORATE_BIN",
                                                        "build/release/bin"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--model", default="mlp:1024,1024")
    parser.add_argument("--only", default="")
    parser.set_defaults(long=False, seed=1, data=None)
    # A core of its own; the other is the CPU worker's one thread.
    os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
    try:
        bench(parser.parse_args())
    except Skip as reason:
        print(f"skipped: {reason}")


if __name__ == "__main__":
    main()
