#!/usr/bin/env python3
"""Honest runs, and how many of their updates the bound takes for unusual.

Every rule trains LeNet on Fashion-MNIST and a small GPT on tinyshakespeare,
each with whole updates and with coded ones, from the first version to the
last. Twelve unequal hosts, none false, in the simulator: its scheduler, its
judgement and its arithmetic are the server's. Printed per rule:

  updates   that became part of a model
  alarms    of them, `update_unusual`: a house worker had to confirm them
  lost      results that were not valid, and hosts that were watched or banned

and in the end the share of alarms, with the bound that it keeps with 95 %
certainty. Usage: false_alarms_bench.py [--results N] [--seeds N] [RULE...]
"""

import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import pathlib
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenarios"))
from simulations import BIN, NETWORKS, make_project, order  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

RULES = ["vc-asgd", "delta-asgd", "downpour", "dc-asgd", "dc-asgd-adaptive",
         "fedasync", "fedbuff", "delayed-nesterov", "easgd", "eamsgd",
         "sync-easgd", "gossip", "sync", "local-sgd", "diloco"]
CODECS = ["fp32", "int4"]
# Of the study's networks, with units of a few steps: as many updates as can be
# had, and the more unequal for it.
WORK = {"lenet": {"batch": 25, "local_steps": 4},
        "gpt": {"batch": 4, "local_steps": 4,
                "model": "gpt:layers=1,width=32,heads=2,context=32"}}
# Those that are for plain SGD only; a text's default is AdamW.
PLAIN = {"easgd", "eamsgd", "sync-easgd"}


def scenario(rule, network, codec, seed, results):
    run = {**NETWORKS[network]["run"], **WORK[network], "rule": rule,
           "codec": codec, "seed": seed, "epochs": epochs(network, results)}
    if network == "gpt" and rule in PLAIN:
        run.update(optimizer="sgd", lr=0.1)
    if rule == "sync":  # its units have one step
        run.update(batch=run["batch"] * run["local_steps"], local_steps=1)
    return {"seed": seed, "run": run, "stop": {"results": results},
            # What `quorate init` writes, but for the ten minutes that it takes
            # to become proven.
            "server": {"trust_proven_time": 0,
                       "evaluate_every_versions": 1_000_000,
                       "evaluate_every": 86_400},
            "hosts": [{"count": 12, "unit_sigma": 0.3,
                       "gflops": {"median": 0.01, "sigma": 0.5}}]}


def epochs(network, results):
    """So many that the run lasts about as long as the bench looks at it: its
    learning rate falls from the first update to the last."""
    samples = {"lenet": 10_000, "gpt": 27_000}[network]  # of an epoch
    work = WORK[network]
    return math.ceil(results * work["batch"] * work["local_steps"] / samples)


def simulated(out, projects, cell, results):
    """(updates, alarms, lost, the alarms' texts) of one run."""
    rule, network, codec, seed = cell
    folder = out / "-".join([rule, network, codec, str(seed)])
    file = folder.with_suffix(".json")
    file.write_text(json.dumps(
        scenario(rule, network, codec, seed, results), indent=1))
    order(BIN / "quorate", "-C", projects[network], "simulate", file, "--out",
          folder, "--workers", 1, "--keep")
    store = sqlite3.connect(
        f"file:{folder}/project/db/quorate.sqlite?mode=ro", uri=True)
    with contextlib.closing(store):
        def one(query):
            return store.execute(query).fetchone()[0]

        updates = one("SELECT sum(results_assimilated) FROM run_totals")
        lost = (one("SELECT sum(results_rejected) FROM run_totals") +
                one("SELECT count(*) FROM events "
                    "WHERE kind IN ('host_watched', 'host_banned')"))
        alarms = [text for text, in store.execute(
            "SELECT text FROM events WHERE kind = 'update_unusual'")]
    return updates, len(alarms), lost, alarms


def upper_bound(alarms, updates):
    """The largest rate of alarms at which so few as these would be seen once
    in twenty times (Poisson)."""
    low, high = 0.0, 10.0 + 3 * alarms
    for _ in range(60):
        mean = (low + high) / 2
        term = chance = math.exp(-mean)
        for k in range(1, alarms + 1):
            term *= mean / k
            chance += term
        low, high = (mean, high) if chance > 0.05 else (low, mean)
    return high / updates


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--results", type=int, default=600,
                        help="of each run [%(default)s]")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("rules", nargs="*", default=RULES, metavar="RULE")
    options = parser.parse_args()
    total, found = 0, 0
    print(f"{'rule':19}{'updates':>9}{'alarms':>8}{'lost':>6}", flush=True)
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        out = pathlib.Path(name)
        projects = {network: out / f"project-{network}" for network in WORK}
        for network, folder in projects.items():
            make_project(folder, NETWORKS[network]["run"]["dataset"], "test")
        for rule in options.rules:
            cells = [(rule, network, codec, seed) for network in WORK
                     for codec in CODECS for seed in range(options.seeds)]
            done = list(pool.map(
                lambda cell: simulated(out, projects, cell, options.results),
                cells))
            updates, alarms, lost = (sum(row[i] for row in done)
                                     for i in range(3))
            print(f"{rule:19}{updates:9,}{alarms:8}{lost:6}", flush=True)
            for cell, row in zip(cells, done):
                for text in row[3]:
                    print(f"    {' '.join(map(str, cell))}: {text}", flush=True)
            append({"bench": "false alarms", "case": rule, "updates": updates,
                    "alarms": alarms, "lost": lost})
            total += updates
            found += alarms
    print(f"{found} alarms in {total:,} updates: {1e4 * found / total:.2f} in "
          f"10,000, at most {1e4 * upper_bound(found, total):.2f} (95 %)")


if __name__ == "__main__":
    main()
