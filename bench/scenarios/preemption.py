#!/usr/bin/env python3
"""What preemption costs: the example of Atre et al. (section on preemptible
instances), simulated, beside its formula; with time-outs, as there, and with
the native client's heartbeats. And what it costs in money.

2,000 subtasks of 2.4 minutes on 5 clients with 2 slots each, a time-out of 5
minutes. A subtask is lost with probability p, is missed at the time-out and may
be lost again: each slot waits n p / (1 - p) times that, for n = 200 subtasks.
Without gradients: a minute for all of it. With --gradients VC-ASGD trains a
small network on the same machines, as its paper has it (pxcytz.py): what the
losses do to its accuracy, and what a target costs beside machines on demand.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import tempfile
import types

import pxcytz
from simulations import BIN, Cell, Simulations, order, reached

SLOTS, SUBTASKS = 10, 2000
UNIT, TIMEOUT = 144, 300        # s
HEARTBEAT, LEASE = 10, 30       # s
STANDARD, PREEMPTIBLE = 1.67, 0.50  # $ an hour, of all machines
LOSSES = (0, 0.05, 0.2, 0.3)
# Its speed is that of the median slot once a unit of it was timed.
ONE_UNIT = {"count": 1, "gflops": 1e-9, "latency": 0, "queue": 0,
            "down_mbps": 1e6, "up_mbps": 1e6, "door": "boinc"}


def simulate(project, hosts, server, units, seed=0):
    text = {"seed": seed, "gradients": "none", "tick": "1 s",
            "stop": {"results": units},
            "run": {"rule": "local-sgd", "quorum": 1, "batch": 1000,
                    "local_steps": 1, "epochs": 1000, "round_share": 1.0,
                    "round_units": units},
            "server": {"house_workers": 0, "trust_spot_check": 0, **server},
            "hosts": [hosts]}
    file = project / "scenario.json"
    file.write_text(json.dumps(text))
    order(BIN / "quorate", "-C", project, "simulate", file, "--out",
          project / "out", "--force")
    return json.loads((project / "out/summary.json").read_text())


class Table:
    def __init__(self, project, seeds):
        self.project, self.seeds = project, seeds
        simulate(project, ONE_UNIT, {}, 1)
        with open(project / "out/timeline.csv", encoding="utf-8") as file:
            operations = float(list(csv.DictReader(file))[-1]["time_s"])
        self.gflops = 1e-9 * operations / UNIT

    def hours(self, loss, heartbeats):
        """Mean hours until all subtasks are in, and paid hours of a slot."""
        hosts = {**ONE_UNIT, "count": SLOTS, "gflops": self.gflops,
                 "preempted": loss, "replaced_when_missed": True,
                 "price_per_hour": 1}
        server = {"boinc_lease": TIMEOUT, "boinc_contact": 5}
        if heartbeats:
            hosts["door"] = "native"
            server = {"lease": LEASE, "heartbeat": HEARTBEAT}
        runs = [simulate(self.project, hosts, server, SUBTASKS, seed)
                for seed in range(self.seeds)]
        return (statistics.mean(run["seconds"] for run in runs) / 3600,
                statistics.mean(run["cost"] for run in runs) / SLOTS)

    def show(self):
        n = SUBTASKS / SLOTS
        base, _ = self.hours(0, False)
        print("| p | hours | extra min | formula, min | difference | "
              "with heartbeats: extra min | formula, min | times less |\n" +
              "|---" * 8 + "|")
        cost = []
        for loss in LOSSES:
            lost = loss / (1 - loss)
            took, paid = self.hours(loss, False)
            quick, quick_paid = self.hours(loss, True)
            extra, less = 60 * (took - base), 60 * (quick - base)
            formula = n * lost * TIMEOUT / 60
            beat = n * lost * (UNIT / 2 + LEASE - HEARTBEAT / 2) / 60
            cost.append((loss, took, paid, quick, quick_paid))
            if loss == 0:
                print(f"| 0 | {took:.2f} | - | - | - | {less:.1f} | - | - |")
                continue
            print(f"| {loss:.2f} | {took:.2f} | {extra:.1f} | {formula:.1f} | "
                  f"{100 * (extra / formula - 1):+.1f} % | {less:.1f} | "
                  f"{beat:.1f} | {extra / less:.1f} |", flush=True)
        self.show_cost(base, cost)

    @staticmethod
    def show_cost(base, rows):
        print("\n| machines | p | hours | $ of the whole fleet | saved | "
              "$ while there | with heartbeats: hours | $ while there |\n" +
              "|---" * 8 + "|")
        standard = STANDARD * base
        print(f"| standard | 0 | {base:.2f} | {standard:.2f} | - | "
              f"{standard:.2f} | | |")
        for loss, took, paid, quick, quick_paid in rows:
            whole = PREEMPTIBLE * took
            print(f"| preemptible | {loss:.2f} | {took:.2f} | {whole:.2f} | "
                  f"{100 * (1 - whole / standard):.0f} % | "
                  f"{PREEMPTIBLE * paid:.2f} | {quick:.2f} | "
                  f"{PREEMPTIBLE * quick_paid:.2f} |")


TARGETS = (0.70, 0.75)


def trained_table(simulations, seeds, subtasks=SUBTASKS):
    """VC-ASGD on machines that are lost: accuracy, and $ until a target."""
    run = {**pxcytz.RULE, "assimilators": 5, "consistency": "eventual"}
    times = pxcytz.transaction(pxcytz.PAPER["eventual"])
    cells = [Cell("preemption", run, SLOTS, results=subtasks, seed=seed,
                  network="mlp32", unit_seconds=UNIT, assimilator=times,
                  preempted=loss, lease=TIMEOUT)
             for loss in LOSSES for seed in range(seeds)]
    study = types.SimpleNamespace(simulations=simulations, seeds=seeds)
    pxcytz.head("machines", "p", "hours", "$", "saved", "final", "sd of seeds",
                *[f"$ to {100 * target:g} %" for target in TARGETS])
    standard = None
    for loss, some in zip(LOSSES, pxcytz.outcomes(study, cells)):
        hours = pxcytz.mean(some, "seconds") / 3600
        standard = standard or STANDARD * hours
        machines = [("on demand", STANDARD)] if loss == 0 else []
        for name, price in [*machines, ("preemptible", PREEMPTIBLE)]:
            paid = price * hours
            pxcytz.row(name, f"{loss:.2f}", f"{hours:.2f}", f"{paid:.2f}",
                       f"{100 * (1 - paid / standard):.0f} %",
                       *pxcytz.accuracy(some),
                       *[price_of(target, some, price) for target in TARGETS])


def price_of(target, some, price):
    """Of all machines until the mean time at which it was reached."""
    at = [reached(curve, target) for _, curve in some]
    if None in at:
        return "-"
    minutes = statistics.mean(point.time for point in at)
    return f"{price * minutes / 60:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--gradients", action="store_true",
                        help="train; needs QUORATE_DATA, as study.py")
    parser.add_argument("--out", default="build/study",
                        help="of simulations with gradients")
    parser.add_argument("--workers", type=int, default=os.cpu_count(),
                        help="simulations at a time, with gradients")
    options = parser.parse_args()
    if options.gradients:
        trained_table(Simulations(options.out, options.workers), options.seeds)
        return
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "project"
        order(BIN / "quorate", "init", project)
        Table(project, options.seeds).show()


if __name__ == "__main__":
    main()
