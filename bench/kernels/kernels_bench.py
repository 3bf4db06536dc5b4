#!/usr/bin/env python3
"""Matrix products and convolutions on the CPU beside OpenBLAS, oneDNN and Eigen.

All in one program and in turns, on one and on two threads; each figure is the
median of the rounds' ratios, over 1 where ours is faster. One thread is
measured by processor time, two by the clock. oneDNN's convolutions have the layout of their choice, and bringing arrays into it is
not timed; ours pack their weights in every call.

  --device cpu:avx2   the peers are then limited to AVX2 too, without Eigen
  --only TEXT         cases whose name contains it, e.g. "3x3", "product"
  --rounds N  --threads N
"""

import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import openblas_environment, record  # noqa: E402

PEERS = ["OpenBLAS", "oneDNN", "Eigen"]


def environment(device, threads):
    """Waiting threads sleep: they would slow down whose turn it is."""
    wide = device != "cpu:avx2"
    return {**os.environ, "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_THREAD_TIMEOUT": "4",
            **openblas_environment(threads, wide),
            **({} if wide else {"ONEDNN_MAX_CPU_ISA": "AVX2"})}


def results(program, options, threads):
    """Parsed lines of the program, as they come."""
    child = subprocess.Popen(
        [program, "--device", options.device, "--threads", str(threads),
         "--only", options.only, "--rounds", str(options.rounds)],
        env=environment(options.device, threads), text=True, stdout=subprocess.PIPE)
    for line in child.stdout:
        yield json.loads(line)
    if child.wait() != 0:
        sys.exit(f"{program}: exit code {child.returncode}")


def print_row(rows, peers):
    ratios = {row["peer"]: row["ratio"] for row in rows}
    print(f"{rows[0]['case']:36}{rows[0]['ours']:9.1f}",
          *(f"{ratios[peer]:10.2f}" if peer in ratios else f"{'':10}"
            for peer in peers), flush=True)


def print_means(groups):
    print("geometric means (least)")
    for (group, peer), ratios in groups.items():
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"  {group:26}{peer:10}{mean:6.2f} ({min(ratios):.2f})")


def bench(program, options, threads):
    groups = collections.defaultdict(list)
    peers = PEERS[:2] if options.device == "cpu:avx2" else PEERS
    rows = []
    for line in results(program, options, threads):
        if "devices" in line:
            print(f"\n{threads} threads: {'; '.join(line['devices'])}")
            print(f"{'':36}{'Gflop/s':>9}",
                  *(f"{'/' + peer:>10}" for peer in peers))
            continue
        if line["peer"] not in peers:
            continue
        if rows and rows[0]["case"] != line["case"]:
            print_row(rows, peers)
            rows = []
        rows.append(line)
        groups[line.pop("group"), line["peer"]].append(line["ratio"])
        record("kernels", **line)
    if rows:
        print_row(rows, peers)
    print_means(groups)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    program = pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-kernels"
    if not program.exists():
        print("skipped: no bench-kernels: packaging/setup.sh --bench installs "
              "the libraries that it needs")
        return
    for threads in options.threads:
        bench(program, options, threads)


if __name__ == "__main__":
    main()
