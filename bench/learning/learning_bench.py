#!/usr/bin/env python3
"""Learning curves beside PyTorch: same networks, data, batches and optimisers.

For each seed, both begin with the same weights and see the same batches; one
thread each, side by side. Shown are the means over the seeds and how far the
seeds lie from them (standard deviation): of the mean loss over a tenth of the
steps, and at the end of what the test set says. apart: the distance of the two
means, in units of that deviation; below 1 is within the seeds' noise. Needs
Debian's python3-torch and, in QUORATE_DATA, cifar10-subset and tinyshakespeare.

  --only TEXT     networks whose name contains it
  --device cpu    ours
  --seeds N  --steps N
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "docs")]
from results import openblas_environment, record  # noqa: E402

os.environ.update(openblas_environment(threads=1))
try:
    import numpy
    import torch
    import quorate_torch
except ImportError:
    torch = None

POINTS = 10
GPT = {"layers": 6, "width": 384, "heads": 6, "context": 256}


def write_shard(path, **arrays):
    """A safetensors file of bytes."""
    header, start = {}, 0
    for name, array in arrays.items():
        end = start + array.size
        header[name] = {"dtype": "U8", "shape": list(array.shape),
                        "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(
        array.tobytes() for array in arrays.values()))


def read_weights(path):
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(numpy.frombuffer(
        raw[start:][slice(*t["data_offsets"])], "<f4").reshape(t["shape"])
        .copy()) for name, t in header.items()}


class Images:
    """ResNet-20 on the CIFAR-10 subset."""

    name, model, batch, steps = "resnet-20", "resnet-20", 64, 780

    def __init__(self, data):
        self.train = self.read(data / "cifar10-subset/data_batch_1.bin.gz")
        self.test = self.read(data / "cifar10-subset/test_batch.bin.gz")

    @staticmethod
    def read(path):
        raw = numpy.frombuffer(gzip.decompress(path.read_bytes()), "u1")
        raw = raw.reshape(-1, 3073)
        planes = raw[:, 1:].reshape(-1, 3, 32, 32)
        return planes, raw[:, 0]

    def write(self, folder):
        for part in ("train", "test"):
            planes, labels = getattr(self, part)
            write_shard(folder / part, labels=labels, images=(
                numpy.ascontiguousarray(planes.transpose(0, 2, 3, 1))))

    def batches(self, seed, steps):
        """Epochs in random order: (shift, samples)."""
        random = numpy.random.default_rng(seed)
        order = []
        for _ in range(steps):
            if len(order) < self.batch:
                order = list(random.permutation(len(self.train[1])))
            yield 0, [order.pop() for _ in range(self.batch)]

    @staticmethod
    def make():
        model = quorate_torch.resnet([3] * 3, [16, 32, 64], 3, 10)
        return model.to(memory_format=torch.channels_last)

    @staticmethod
    def optimizer(parameters):
        return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)

    def tensors(self, _shift, samples, part="train"):
        planes, labels = getattr(self, part)
        x = torch.from_numpy(planes[samples]).float() / 255
        return (x.contiguous(memory_format=torch.channels_last),
                torch.from_numpy(labels[samples]).long())

    def tests(self):
        for first in range(0, len(self.test[1]), 250):
            yield self.tensors(0, list(range(first, first + 250)), "test")


class Text:
    """A GPT on tinyshakespeare."""

    name, batch, steps = "gpt", 8, 150

    def __init__(self, data):
        raw = numpy.frombuffer(
            (data / "tinyshakespeare/input.txt").read_bytes(), "u1")
        symbols, tokens = numpy.unique(raw, return_inverse=True)
        tokens = tokens.astype("u1")
        end = len(tokens) * 9 // 10
        self.context = GPT["context"]
        self.train = tokens[:end]
        self.test = tokens[end:end + 65 * self.context]
        self.model = f"{len(symbols)} gpt:" + ",".join(
            f"{key}={value}" for key, value in GPT.items())

    def write(self, folder):
        write_shard(folder / "train", tokens=self.train)
        write_shard(folder / "test", tokens=self.test)

    def batches(self, seed, steps):
        """Windows anywhere, alike in their place within the context."""
        random = numpy.random.default_rng(seed)
        windows = len(self.train) // self.context - 1
        for _ in range(steps):
            yield (random.integers(self.context),
                   list(random.choice(windows, self.batch, replace=False)))

    def make(self):
        return quorate_torch.gpt(*GPT.values(), int(self.model.split()[0]))

    @staticmethod
    def optimizer(parameters):
        return torch.optim.AdamW(parameters, lr=3e-4, weight_decay=0.01,
                                 betas=(0.9, 0.99), eps=1e-8)

    def tensors(self, shift, samples, part="train"):
        tokens = getattr(self, part)
        starts = numpy.array(samples) * self.context + shift
        windows = numpy.stack([tokens[at:at + self.context + 1]
                               for at in starts]).astype("i8")
        windows = torch.from_numpy(windows)
        return windows[:, :-1], windows[:, 1:].flatten()

    def tests(self):
        for first in range(0, 64, 8):
            yield self.tensors(0, range(first, first + 8), "test")


class Ours:
    def __init__(self, case, device, seed, folder):
        self.child = subprocess.Popen(
            [pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-learning-curve",
             case.model, str(case.batch), device, "1", str(seed),
             folder / "train", folder / "test", folder / "weights"],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answer()

    def order(self, *words):
        print(*words, file=self.child.stdin, flush=True)

    def answer(self):
        line = self.child.stdout.readline()
        if not line:
            sys.exit("bench-learning-curve has ended")
        return [float(word) for word in line.split() if word != "ready"]

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def loss_of(model, x, targets):
    return torch.nn.functional.cross_entropy(model(x).flatten(0, -2), targets)


def test(model, case):
    """Mean loss and accuracy."""
    losses, hits = [], []
    with torch.no_grad():
        for x, targets in case.tests():
            logits = model(x).flatten(0, -2)
            losses.append(torch.nn.functional.cross_entropy(
                logits, targets).item())
            hits.append((logits.argmax(1) == targets).float().mean().item())
    return [statistics.mean(losses), statistics.mean(hits)]


def learn(case, device, seed, steps, folder):
    """Per step (ours, PyTorch's) loss; and [loss, accuracy] of each test."""
    ours = Ours(case, device, seed, folder)
    model = case.make()
    model.load_state_dict(read_weights(folder / "weights"))
    optimizer = case.optimizer(model.parameters())
    losses = []
    for shift, samples in case.batches(seed, steps):
        ours.order("step", shift, *samples)
        optimizer.zero_grad()
        loss = loss_of(model, *case.tensors(shift, samples))
        loss.backward()
        optimizer.step()
        losses.append((ours.answer()[0], loss.item()))
        if len(losses) % max(1, steps // POINTS) == 0:
            print(f"  {case.name}, seed {seed}: {len(losses)} of {steps} "
                  f"steps, losses {losses[-1][0]:.4f} {losses[-1][1]:.4f}",
                  file=sys.stderr, flush=True)
    ours.order("test")
    tests = test(model, case), ours.answer()
    ours.end()
    return losses, tests[::-1]


def compare(network, label, pairs):
    """pairs: (ours, PyTorch's) of each seed."""
    own, theirs = zip(*pairs)
    means = statistics.mean(own), statistics.mean(theirs)
    spread = [statistics.stdev(side) for side in (own, theirs)]
    noise = (sum(s * s for s in spread) / 2) ** 0.5
    apart = abs(means[0] - means[1]) / noise if noise else 0.0
    print(f"{label:18}{means[0]:10.4f} ±{spread[0]:.4f}{means[1]:12.4f} "
          f"±{spread[1]:.4f}{apart:8.2f}", flush=True)
    record("learning", case=f"{network}, {label}", ours=means[0],
           peer="PyTorch", peer_value=means[1], ratio=apart,
           unit="ratio: apart, in deviations of the seeds")


def bench(case, options, folder):
    case.write(folder)
    steps = options.steps or case.steps
    runs = [learn(case, options.device, seed, steps, folder)
            for seed in range(1, options.seeds + 1)]
    print(f"{case.name}: {steps} steps of {case.batch}, {options.seeds} seeds\n"
          f"{'steps':18}{'ours':>10}{'':8}{'PyTorch':>12}{'':8}{'apart':>8}")
    for point in range(POINTS):
        first, end = (steps * (point + i) // POINTS for i in (0, 1))
        compare(case.name, f"{first + 1} to {end}", [
            [statistics.mean(pair[side] for pair in losses[first:end])
             for side in (0, 1)] for losses, _ in runs])
    for i, label in enumerate(("test loss", "test accuracy")):
        compare(case.name, label, [[side[i] for side in tests]
                                   for _, tests in runs])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=3,
                        help="at least 2")
    parser.add_argument("--steps", type=int, default=0)
    options = parser.parse_args()
    data = os.environ.get("QUORATE_DATA")
    if torch is None or not data:
        print("skipped: learning beside PyTorch: needs python3-torch and data "
              "sets in QUORATE_DATA")
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for case in (Images, Text):
            if options.only in case.name:
                bench(case(pathlib.Path(data)), options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
