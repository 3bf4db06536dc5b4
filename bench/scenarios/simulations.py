"""What the study simulates: projects with their data, scenarios of equal and
unequal hosts, and the curves that come out.

A simulation's folder is named after what is simulated, with a hash of the whole
scenario. Whoever asks for the same again, in another table or another day, gets
what is there.
"""

import concurrent.futures
import csv
import dataclasses
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy

BIN = pathlib.Path(os.environ.get("QUORATE_BIN", "build/release/bin"))
DATA = pathlib.Path(os.environ.get("QUORATE_DATA", "."))
UNIT_SECONDS = 60    # of a whole unit on a median host: the unit of time
TRAINING, TUNING = 10_000, 5_000  # images

# What is trained. local_steps: of a whole unit; evaluations: of a simulation.
NETWORKS = {
    "lenet": {"metric": "accuracy", "evaluations": {"tuning": 24, "test": 16},
              "run": {
                  "dataset": "fashion", "model": "lenet", "batch": 50,
                  "local_steps": 25}},
    # Of the table of scaling: cheap steps, of few samples.
    "mlp": {"metric": "accuracy", "evaluations": {"tuning": 24, "test": 16},
            "run": {"dataset": "fashion", "model": "mlp:16", "batch": 10,
                    "local_steps": 10}},
    "mlp32": {"metric": "accuracy", "evaluations": {"tuning": 24, "test": 16},
            "run": {
                "dataset": "fashion", "model": "mlp:32", "batch": 50,
                "local_steps": 25}},
    # Of the paper of VC-ASGD, so far as the data at hand go.
    "resnet20": {"metric": "accuracy",
                 "evaluations": {"tuning": 8, "test": 10},
                 "run": {"dataset": "cifar", "model": "resnet-20", "batch": 50,
                         "local_steps": 5}},
    "gpt": {"metric": "loss", "evaluations": {"tuning": 8, "test": 12},
            "run": {
                "dataset": "shakespeare", "batch": 8, "local_steps": 25,
                "model": "gpt:layers=2,width=32,heads=2,context=64"}},
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One simulation: of a run for `after` units of time, or `results`."""
    label: str
    run: dict
    slots: int
    after: float = 0
    results: int = 0
    seed: int = 0
    network: str = "lenet"
    part: str = "test"
    spread: float = 0     # fastest host by slowest; 0: log-normal
    preempted: float = 0  # share of units whose machine is lost
    is_equal: bool = False  # hosts differ only by `spread`, and units do not
    # Simulated seconds: of a transfer; that the server takes for a report;
    # between evaluations (0: as many as the network has).
    latency: float = 0
    report_time: float = 0
    evaluate_every: float = 0
    accuracy: float = 0   # with which it ends at the latest
    workers: int = 1      # of a host: its share of the slots
    unit_seconds: float = 0  # of its units on a median slot; 0: as they are
    # Seconds of an assimilator for a result: prepare, read, step, write.
    assimilator: tuple = ()
    lease: float = 0  # seconds until a loss is noticed, without heartbeats


@dataclasses.dataclass(frozen=True)
class Point:
    """A published version that was evaluated."""
    time: float  # in units of time
    results: int
    samples: int
    down: int    # bytes of all hosts
    up: int
    metric: float


def order(*arguments):
    done = subprocess.run([str(a) for a in arguments], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")


def read_idx(name):
    with gzip.open(DATA / "fashion-mnist" / name) as file:
        head = file.read(4)
        shape = struct.unpack(f">{head[3]}I", file.read(4 * head[3]))
        return numpy.frombuffer(file.read(), numpy.uint8).reshape(shape)


def write_idx(path, array):
    with gzip.open(path, "wb") as file:
        file.write(bytes([0, 0, 8, array.ndim]))
        file.write(struct.pack(f">{array.ndim}I", *array.shape))
        file.write(array.tobytes())


def fashion_files(folder, part):
    """The first images of the training part, held out: the next ones of it to
    choose constants, or the test part."""
    images = read_idx("train-images-idx3-ubyte.gz")
    labels = read_idx("train-labels-idx1-ubyte.gz")
    held = slice(TRAINING, TRAINING + TUNING)
    held_out = (images[held], labels[held])
    if part == "test":
        held_out = (read_idx("t10k-images-idx3-ubyte.gz"),
                    read_idx("t10k-labels-idx1-ubyte.gz"))
    write_idx(folder / "train-images-idx3-ubyte.gz", images[:TRAINING])
    write_idx(folder / "train-labels-idx1-ubyte.gz", labels[:TRAINING])
    write_idx(folder / "t10k-images-idx3-ubyte.gz", held_out[0])
    write_idx(folder / "t10k-labels-idx1-ubyte.gz", held_out[1])
    return [folder]


def shakespeare_files(folder, part):
    """The first 80 % of the text; held out: of the next 10 %, or of the last,
    what makes 11 % of the whole."""
    text = (DATA / "tinyshakespeare/input.txt").read_bytes()
    training = len(text) * 8 // 10
    held_out = len(text) * (9 if part == "test" else 8) // 10
    file = folder / "input.txt"
    file.write_bytes(text[:training] +
                     text[held_out:held_out + training * 11 // 89])
    return [file, "--hold-out", 11]


def cifar_files(folder, part):
    """5,000 images; held out: the last 1,000 of them, or the test part."""
    held_out = gzip.decompress(
        (DATA / "cifar10-subset/test_batch.bin.gz").read_bytes())
    training = gzip.decompress(
        (DATA / "cifar10-subset/data_batch_1.bin.gz").read_bytes())
    if part != "test":
        held_out = training[-len(held_out):]
        training = training[:-len(held_out)]
    (folder / "data_batch_1.bin").write_bytes(training)
    (folder / "test_batch.bin").write_bytes(held_out)
    return [folder]


FILES = {"fashion": fashion_files, "shakespeare": shakespeare_files,
         "cifar": cifar_files}


def make_project(folder, dataset, part):
    """A project with one data set, whose test part is `part`."""
    if (folder / f"datasets/{dataset}.json").exists():
        return
    files = folder.with_name(folder.name + "-files")
    files.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)  # what was interrupted
    order(BIN / "quorate", "init", folder)
    order(BIN / "quorate", "-C", folder, "dataset", "add", dataset,
          *FILES[dataset](files, part))


def merged(network, run):
    """The flags of a run: those of the network, then the rule's."""
    return {"quorum": 1, "lr_schedule": "constant", "epochs": 1000,
            "codec": "fp32", **NETWORKS[network]["run"], **run}


def speed_of(cell, gflops):
    """Of a slot, where a whole unit takes UNIT_SECONDS at `gflops`."""
    if not cell.unit_seconds:
        return gflops
    whole = NETWORKS[cell.network]["run"]["local_steps"]
    usual = UNIT_SECONDS * merged(cell.network, cell.run)["local_steps"] / whole
    return gflops * usual / cell.unit_seconds


def hosts_of(cell, gflops):
    """Kinds of hosts: with speeds around gflops, links and queues for free."""
    alone = cell.slots == 1 or cell.is_equal
    gflops = speed_of(cell, gflops)
    kind = {"count": cell.slots // cell.workers, "queue": 0,
            "latency": cell.latency,
            "down_mbps": 1e6, "up_mbps": 1e6,
            "gflops": gflops if alone else {"median": gflops, "sigma": 0.4},
            "unit_sigma": 0 if alone else 0.3}
    if cell.preempted:
        kind["preempted"] = cell.preempted
    if cell.workers > 1:
        kind["workers"] = cell.workers
    if cell.lease:
        kind.update(door="boinc", replaced_when_missed=True)
    if not cell.spread:
        return [kind]
    steps = [k / (cell.slots - 1) - 0.5 for k in range(cell.slots)]
    return [{**kind, "count": 1, "name": f"host {number}",
             "gflops": gflops * cell.spread ** step}
            for number, step in enumerate(steps)]


def scenario_of(cell, gflops):
    run = merged(cell.network, cell.run)
    run["seed"] = cell.seed
    run["rule_settings"] = {
        name: cell.slots if value == "slots" else value
        for name, value in run.get("rule_settings", {}).items()}
    if "round_share" in run:
        run["round_units"] = cell.slots
        run["rule_settings"].setdefault("snapshots", "fp32")
    seconds = cell.after * UNIT_SECONDS
    network = NETWORKS[cell.network]
    whole = network["run"]["local_steps"]
    units = (cell.after or
             cell.results * run["local_steps"] / whole / cell.slots)
    stop = {"after": seconds} if cell.after else {"results": cell.results}
    if cell.accuracy:
        stop["accuracy"] = cell.accuracy
    if cell.unit_seconds:
        units = cell.results / cell.slots * cell.unit_seconds / UNIT_SECONDS
    scenario = {
        "seed": cell.seed, "run": run, "stop": stop,
        **({"report_time": cell.report_time} if cell.report_time else {}),
        "server": {"house_workers": 0, "trust_spot_check": 0,
                   "trust_anchor": False, "evaluate_every_versions": 1,
                   "evaluate_every": cell.evaluate_every or
                   units * UNIT_SECONDS / network["evaluations"][cell.part]},
        "hosts": hosts_of(cell, gflops)}
    if cell.lease:
        scenario["server"].update(boinc_lease=cell.lease, boinc_contact=5)
    if cell.assimilator:
        scenario["assimilator"] = dict(zip(
            ("prepare", "read", "step", "write"), cell.assimilator))
    return scenario


class Simulations:
    """Of one folder; `workers` at a time."""

    def __init__(self, out, workers):
        self.out = pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.workers = workers
        self.gflops = {}

    def project(self, cell):
        dataset = NETWORKS[cell.network]["run"]["dataset"]
        folder = self.out / f"project-{dataset}-{cell.part}"
        make_project(folder, dataset, cell.part)
        return folder

    def speed(self, network):
        """Of a host, in Gflop/s, with which a unit takes UNIT_SECONDS."""
        if network not in self.gflops:
            cell = Cell("one-unit", {"rule": "vc-asgd"}, 1, results=1,
                        network=network, part="tuning")
            folder = self.folder(cell, 1.0)
            self.simulate(cell, folder, 1.0)
            with open(folder / "timeline.csv", encoding="utf-8") as file:
                seconds = float(list(csv.DictReader(file))[-1]["time_s"])
            self.gflops[network] = seconds / UNIT_SECONDS
        return self.gflops[network]

    def folder(self, cell, gflops):
        text = json.dumps(scenario_of(cell, gflops), sort_keys=True)
        name = "-".join([cell.network, cell.part, *cell.label.split(),
                         str(cell.slots), str(cell.seed),
                         hashlib.sha256(text.encode()).hexdigest()[:8]])
        return self.out / "cells" / name

    def simulate(self, cell, folder, gflops):
        if (folder / "summary.json").exists():
            return
        folder.parent.mkdir(exist_ok=True)
        file = folder.with_name(folder.name + ".json")
        file.write_text(json.dumps(scenario_of(cell, gflops), indent=1))
        unfinished = folder.with_name(folder.name + ".unfinished")
        order(BIN / "quorate", "-C", self.project(cell), "simulate", file,
              "--out", unfinished, "--workers", 1, "--force")
        unfinished.rename(folder)

    def run(self, cells):
        """The folders of the cells, in order; what is missing is simulated."""
        folders = []
        for cell in cells:
            self.project(cell)
            folders.append(self.folder(cell, self.speed(cell.network)))
        missing = {folder: cell for cell, folder in zip(cells, folders)
                   if not (folder / "summary.json").exists()}
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            begun = {pool.submit(self.simulate, cell, folder,
                                 self.speed(cell.network)): folder
                     for folder, cell in missing.items()}
            for left, future in enumerate(
                    concurrent.futures.as_completed(begun), 1):
                future.result()
                print(f"  {begun[future].name}: {len(begun) - left} left",
                      file=sys.stderr, flush=True)
        return folders

    def curves(self, cells):
        """Lists of Points, one for each cell."""
        return [curve_of(folder, NETWORKS[cell.network]["metric"])
                for cell, folder in zip(cells, self.run(cells))]


def curve_of(folder, metric):
    with open(folder / "versions.csv", encoding="utf-8") as file:
        return [Point(float(row["time_s"]) / UNIT_SECONDS, int(row["results"]),
                      int(row["samples"]), int(row["bytes_down"]),
                      int(row["bytes_up"]), float(row[metric]))
                for row in csv.DictReader(file)]


def reached(curve, target, higher=True):
    """Where the metric is at `target`, in two evaluations running: the Point,
    between evaluations by linear interpolation. None: never."""
    def beyond(point):
        return point.metric >= target if higher else point.metric <= target

    for before, now, after in zip([None, *curve], curve, [*curve[1:], None]):
        if not beyond(now) or after is None or not beyond(after):
            continue
        if before is None:
            return now
        part = (target - before.metric) / (now.metric - before.metric)
        return Point(*(a + part * (b - a) for a, b in zip(
            dataclasses.astuple(before), dataclasses.astuple(now))))
    return None


def final(curve):
    """Mean of the last fifth of the evaluations."""
    last = curve[-max(1, len(curve) // 5):]
    return sum(point.metric for point in last) / len(last)
