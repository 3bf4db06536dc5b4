#!/usr/bin/env python3
"""What replaying a ledger costs beside computing its units again.

A project that finds a false result walks its ledger from the beginning: to
compute units again on the versions that they began from, and to rebuild the
model without what was false. So this is what beginning anywhere later would
save. Each network is trained in the simulator; then its whole ledger is
replayed, with --recompute, too, on one thread. Printed: entries, milliseconds
for each of replaying it and of computing its unit, and the share of the first.

Usage: replay_bench.py [--results N]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenarios"))
from simulations import BIN, NETWORKS, make_project, order  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

REPEATS = 3


def scenario(network, results):
    return {"seed": 1, "stop": {"results": results},
            "run": {**NETWORKS[network]["run"], "rule": "vc-asgd", "seed": 1,
                    "epochs": 1000},
            "server": {"evaluate_every_versions": 1_000_000,
                       "evaluate_every": 86_400, "trust_proven_after": 0},
            "hosts": [{"count": 8, "gflops": {"median": 1}}]}


def seconds(folder, run, *options):
    began = time.perf_counter()
    order(BIN / "quorate", "-C", folder, "replay", run, *options)
    return time.perf_counter() - began


def measure(out, network, results):
    project = out / f"project-{network}"
    make_project(project, NETWORKS[network]["run"]["dataset"], "test")
    file = out / f"{network}.json"
    file.write_text(json.dumps(scenario(network, results)))
    order(BIN / "quorate", "-C", project, "simulate", file, "--out",
          out / network, "--workers", os.cpu_count(), "--keep")
    folder = out / network / "project"
    run = json.loads(subprocess.check_output(
        [BIN / "quorate", "-C", folder, "train", "list", "--json"]))[0]["run"]
    replay = min(seconds(folder, run) for _ in range(REPEATS))
    return replay, seconds(folder, run, "--recompute") - replay


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--results", type=int, default=300)
    options = parser.parse_args()
    print(f"{'':10}{'entries':>9}{'replay ms':>11}{'unit ms':>9}{'share':>8}")
    with tempfile.TemporaryDirectory() as name:
        for network in ("lenet", "resnet20", "gpt"):
            replay, compute = measure(pathlib.Path(name), network,
                                      options.results)
            each = 1e3 / options.results
            print(f"{network:10}{options.results:9}{replay * each:11.2f}"
                  f"{compute * each:9.1f}{replay / compute:8.3f}", flush=True)
            append({"bench": "replay", "case": network,
                    "replay_ms": replay * each, "unit_ms": compute * each,
                    "share": replay / compute})


if __name__ == "__main__":
    main()
