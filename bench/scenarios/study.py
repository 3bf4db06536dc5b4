#!/usr/bin/env python3
"""The study of update rules, on the simulator: which rule trains fastest on how
many unequal hosts. A LeNet on 10,000 images of Fashion-MNIST; 5,000 others of
its training part choose constants (--part tuning), the test part is for what is
published (--part test).

Every cell of a table is one simulation, whose folder stays in --out: a study
that was interrupted goes on where it was, and a finished one prints its table
at once.
Usage: study.py TABLE [--out DIR] [--part tuning|test] [--seeds N] [--slots ...]
"""

import argparse
import csv
import gzip
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys

import numpy

BIN = pathlib.Path(os.environ.get("QUORATE_BIN", "build/release/bin"))
DATA = os.environ.get("QUORATE_DATA")
SAMPLES, TUNING = 10_000, 5_000
BATCH, STEPS = 50, 24  # of a unit: 1,200 samples, as in the evidence
UNIT_SECONDS = 60      # of a unit on a median host
SERIAL = {"rule": "vc-asgd", "rule_settings": {"alpha": 0}}

# What is compared; constants were chosen on the tuning part.
RULES = {
    "vc-asgd 0.7": {"rule": "vc-asgd"},
    "vc-asgd 0.95": {"rule": "vc-asgd", "rule_settings": {"alpha": 0.95}},
    "vc-asgd var": {"rule": "vc-asgd", "rule_settings": {"alpha": "var"}},
    "delta-asgd": {"rule": "delta-asgd"},
    "downpour": {"rule": "downpour"},
    "dc-asgd": {"rule": "dc-asgd"},
    "dc-asgd-adaptive": {"rule": "dc-asgd-adaptive"},
    "fedasync poly": {"rule": "fedasync"},
    "fedasync hinge": {"rule": "fedasync",
                       "rule_settings": {"weighting": "hinge"}},
    "fedbuff": {"rule": "fedbuff", "rule_settings": {"buffer": 5}},
    "delayed-nesterov": {"rule": "delayed-nesterov"},
    "easgd": {"rule": "easgd", "rule_settings": {"replicas": "slots"}},
    "eamsgd": {"rule": "eamsgd", "rule_settings": {"replicas": "slots"}},
    "gossip pull": {"rule": "gossip", "rule_settings": {"replicas": "slots"}},
    "local-sgd all": {"rule": "local-sgd", "round_share": 1.0},
    "diloco all": {"rule": "diloco", "round_share": 1.0},
    "diloco 0.6": {"rule": "diloco", "round_share": 0.6},
}


def order(*arguments):
    done = subprocess.run([str(a) for a in arguments], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def read_idx(name):
    with gzip.open(pathlib.Path(DATA) / "fashion-mnist" / name) as file:
        head = file.read(4)
        shape = struct.unpack(f">{head[3]}I", file.read(4 * head[3]))
        return numpy.frombuffer(file.read(), numpy.uint8).reshape(shape)


def write_idx(path, array):
    with gzip.open(path, "wb") as file:
        file.write(bytes([0, 0, 8, array.ndim]))
        file.write(struct.pack(f">{array.ndim}I", *array.shape))
        file.write(array.tobytes())


def project(out, part):
    """A project with the data set "fashion", whose test part is `part`."""
    folder = out / f"project-{part}"
    if (folder / "datasets/fashion.json").exists():
        return folder
    images = read_idx("train-images-idx3-ubyte.gz")
    labels = read_idx("train-labels-idx1-ubyte.gz")
    test = (images[SAMPLES:SAMPLES + TUNING], labels[SAMPLES:SAMPLES + TUNING])
    if part == "test":
        test = (read_idx("t10k-images-idx3-ubyte.gz"),
                read_idx("t10k-labels-idx1-ubyte.gz"))
    files = out / f"files-{part}"
    files.mkdir(parents=True, exist_ok=True)
    for name, array in (("train-images-idx3-ubyte.gz", images[:SAMPLES]),
                        ("train-labels-idx1-ubyte.gz", labels[:SAMPLES]),
                        ("t10k-images-idx3-ubyte.gz", test[0]),
                        ("t10k-labels-idx1-ubyte.gz", test[1])):
        write_idx(files / name, array)
    order(BIN / "quorate", "init", folder)
    order(BIN / "quorate", "-C", folder, "dataset", "add", "fashion", files)
    return folder


class Study:
    def __init__(self, options):
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.part = options.part
        self.seeds = range(options.seeds)
        self.slots = options.slots
        self.project = project(self.out, options.part)
        self.operations = None

    def scenario(self, run, slots, seed, units, hosts):
        rule_settings = {
            name: slots if value == "slots" else value
            for name, value in run.get("rule_settings", {}).items()}
        return {
            "seed": seed, "stop": {"results": units},
            "run": {"dataset": "fashion", "model": "lenet", "batch": BATCH,
                    "local_steps": STEPS, "quorum": 1, "lr": 0.05,
                    "momentum": 0.9, "lr_schedule": "constant",
                    "epochs": 1000, "seed": seed, **run,
                    "rule_settings": rule_settings,
                    **({"round_units": slots} if "round_share" in run else {})},
            "server": {"house_workers": 0, "trust_spot_check": 0,
                       "trust_anchor": False, "evaluate_every": 30,
                       "evaluate_every_versions": 1},
            "hosts": [{"count": slots, "queue": 0, "latency": 0,
                       "down_mbps": 1e6, "up_mbps": 1e6,
                       "gflops": {"median": self.gflops(), "sigma": 0.4},
                       "unit_sigma": 0.3, **hosts}]}

    def gflops(self):
        """That of a host with which a unit takes UNIT_SECONDS."""
        if self.operations is None:
            self.operations = 1.0
            name = self.out / "one-unit"
            self.run("one-unit", self.scenario(SERIAL, 1, 0, 1, {
                "gflops": 1, "unit_sigma": 0}))
            with open(name / "timeline.csv", encoding="utf-8") as file:
                self.operations = float(
                    list(csv.DictReader(file))[-1]["computing_s"])
        return self.operations / UNIT_SECONDS

    def run(self, name, scenario):
        """The folder of a simulation, made unless it is there."""
        folder = self.out / name
        if not (folder / "summary.json").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            file = folder.with_suffix(".json")
            file.write_text(json.dumps(scenario, indent=1))
            print(f"  {name} ...", file=sys.stderr, flush=True)
            order(BIN / "quorate", "-C", self.project, "simulate", file,
                  "--out", folder, "--force")
        return folder

    def cell(self, table, label, run, slots, units, **hosts):
        """Versions of every seed: lists of (time units, samples, accuracy)."""
        curves = []
        for seed in self.seeds:
            name = f"{table}-{self.part}/{label.replace(' ', '-')}-{slots}-{seed}"
            folder = self.run(name, self.scenario(run, slots, seed, units,
                                                  hosts))
            with open(folder / "versions.csv", encoding="utf-8") as file:
                curves.append([(float(row["time_s"]) / UNIT_SECONDS,
                                int(row["samples"]), float(row["accuracy"]))
                               for row in csv.DictReader(file)])
        return curves


def time_to(curve, accuracy):
    """When it is reached in two versions running; None: never."""
    for now, after in zip(curve, curve[1:]):
        if now[2] >= accuracy and after[2] >= accuracy:
            return now[0]
    return None


def final(curve):
    """Mean accuracy of the last fifth of the versions."""
    last = curve[-max(1, len(curve) // 5):]
    return statistics.mean(point[2] for point in last)


def mean_text(values, digits):
    if any(value is None for value in values):
        return "-"
    return f"{statistics.mean(values):.{digits}f}"


TARGETS = (0.80, 0.83, 0.85, 0.86, 0.87)


def rules_table(study):
    """Each rule on each number of slots: time units to an accuracy."""
    print("| slots | rule | " + " | ".join(f"t{100 * t:.0f}" for t in TARGETS) +
          " | final % |\n|---|---|" + "---|" * (len(TARGETS) + 1))
    for slots in study.slots:
        rules = {"serial": SERIAL} if slots == 1 else RULES
        units = 150 if slots == 1 else max(400, 12 * slots)
        for label, run in rules.items():
            curves = study.cell("rules", label, run, slots, units)
            times = [mean_text([time_to(curve, target) for curve in curves], 1)
                     for target in TARGETS]
            accuracy = 100 * statistics.mean(map(final, curves))
            print(f"| {slots} | {label} | {' | '.join(times)} | "
                  f"{accuracy:.2f} |", flush=True)


TABLES = {"rules": rules_table}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--out", default="build/study")
    parser.add_argument("--part", choices=("tuning", "test"), default="tuning")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 8, 32, 128])
    options = parser.parse_args()
    if not DATA:
        sys.exit("QUORATE_DATA: name the folder with fashion-mnist/ in it")
    TABLES[options.table](Study(options))


if __name__ == "__main__":
    main()
