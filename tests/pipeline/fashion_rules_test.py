#!/usr/bin/env python3
"""Update rules on Fashion-MNIST: a perceptron on 10,000 of its images, 8 hosts
of unequal speed in the simulator, gradients real, with the constants that the
study chose for its LeNet (bench/scenarios/constants.json). After eight units of
time, 64 units of work of 25 steps, each rule reaches the bound that
docs/update-rules.md states."""

import os
import pathlib
import re
import sys

from support.project import Skip, expect, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/scenarios"))

# Evaluated every 2.7 units of time, or with the next version; the third time is
# soon after eight.
SLOTS, AFTER, EVALUATIONS = 8, 8.6, 8.6 / 2.7


def documented():
    """Per cent, by label, of the table in docs/update-rules.md."""
    text = (ROOT / "docs/update-rules.md").read_text(encoding="utf-8")
    table = text.split("| least % |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `([^|]+)` \| (\d+) \|", table, re.MULTILINE)
    return {label: int(bound) for label, bound in rows}


def test_bounds(stage):
    folder = pathlib.Path(os.environ.get("QUORATE_DATA", ""))
    if not (folder / "fashion-mnist").is_dir():
        raise Skip("no fashion-mnist in QUORATE_DATA")
    os.environ["QUORATE_BIN"] = str(stage.bin)
    import simulations
    from rules import DEFAULT, RULES, tuned
    network = simulations.NETWORKS["lenet"]
    network["evaluations"]["test"] = EVALUATIONS
    network["run"]["model"] = "mlp:64"
    bounds = documented()
    covered = {RULES[label]["rule"] for label in bounds}
    known = {run["rule"] for label, run in RULES.items() if label != DEFAULT}
    expect(covered == known, f"bounds of {covered}")
    cells = [simulations.Cell(label, tuned("lenet", label, SLOTS), SLOTS,
                              after=AFTER) for label in bounds]
    curves = simulations.Simulations(stage.folder / "study", 2).curves(cells)
    reached = {cell.label: 100 * curve[-1].metric
               for cell, curve in zip(cells, curves)}
    for label, percent in reached.items():
        stage.say(f"{label}: {percent:.1f} %")
    low = [f"{label}: {percent:.1f} %, {bounds[label]} documented"
           for label, percent in reached.items() if percent < bounds[label]]
    expect(not low, "; ".join(low))
    least = min(reached, key=reached.get)
    return f"{len(reached)} rules, {least} {reached[least]:.1f} % at the least"


if __name__ == "__main__":
    run(__doc__, test_bounds)
