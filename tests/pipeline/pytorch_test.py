#!/usr/bin/env python3
"""Networks compute what PyTorch computes: loss and gradients of one step, and
running statistics after it.

For each network, the same weights and batch go through ours and through the
module of docs/quorate_torch.py, in binary64: the loss must agree within 1e-6
and each gradient and running statistic within 1e-4 of its norm. (In binary32
PyTorch itself is up to 2e-3 away: one relu of millions whose input is rounded
to the other side of zero.) Needs Debian's python3-torch.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
try:
    import numpy
    import torch
except ImportError:
    torch = None
else:
    import quorate_torch

MOST_LOSS = 1e-6
MOST_GRADIENT = 1e-4

LIST = [
    {"layer": "conv2d", "channels": 6, "window": 3, "padding": 1, "stride": 2},
    {"layer": "group_norm", "groups": 2}, {"layer": "relu"},
    {"layer": "residual",
     "branch": [{"layer": "conv2d", "channels": 6, "window": 3, "padding": 1,
                 "groups": 6}, {"layer": "silu"},
                {"layer": "conv2d", "channels": 8, "window": 1, "bias": False},
                {"layer": "relu"}],
     "shortcut": [{"layer": "linear", "outputs": 8, "bias": False}]},
    {"layer": "residual",
     "branch": [{"layer": "layer_norm"}, {"layer": "tanh"},
                {"layer": "conv2d", "channels": 8, "window": 3, "padding": 1,
                 "groups": 2}]},
    {"layer": "relu"}, {"layer": "batch_norm"},
    {"layer": "max_pool2d", "window": 2, "stride": 1},
    {"layer": "average_pool2d", "window": 3, "stride": 2, "padding": 1},
    {"layer": "sigmoid"}, {"layer": "flatten"},
    {"layer": "linear", "outputs": 9, "bias": False},
    {"layer": "batch_norm"}, {"layer": "gelu"},
    {"layer": "linear", "outputs": 3}]


def read_safetensors(path):
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(raw[start:][slice(*t["data_offsets"])],
                                   "<f4").reshape(t["shape"]).copy()
            for name, t in header.items()}


def images(name, text, shape, classes, batch, model):
    return name, [str(batch), text, *map(str, (*shape, classes))], model


def texts(name, text, symbols, batch, model):
    return name, [str(batch), text, str(symbols)], model


def cases():
    nn = torch.nn
    yield images("mlp", "mlp:64,32", (5, 5, 1), 7, 16, nn.Sequential(
        nn.Flatten(), nn.Sequential(nn.Linear(25, 64), nn.ReLU(),
                                    nn.Linear(64, 32), nn.ReLU(),
                                    nn.Linear(32, 7))))
    yield images("lenet", "lenet", (28, 28, 1), 10, 32, nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10)))
    for depth, blocks in ((8, 1), (20, 3)):
        yield images(f"resnet-{depth}", f"resnet-{depth}", (32, 32, 3), 10, 32,
                     quorate_torch.resnet([blocks] * 3, [16, 32, 64], 3, 10))
    # Of 32 samples, the input of one relu is within 2e-7 of zero.
    yield images("resnet-8, batch norm", "resnet-8:norm=batch", (32, 32, 3),
                 10, 24, quorate_torch.resnet([1] * 3, [16, 32, 64], 3, 10,
                                              "batch"))
    yield images("resnet-18", "resnet-18", (32, 32, 3), 10, 4,
                 quorate_torch.resnet([2] * 4, [64, 128, 256, 512], 3, 10))
    yield images("list of layers", "layers " + json.dumps({"layers": LIST}),
                 (9, 8, 3), 3, 16, quorate_torch.network(LIST, 3)[0])
    text = [{"layer": "embedding", "symbols": 7, "channels": 6},
            {"layer": "batch_norm"}, {"layer": "linear", "outputs": 7}]
    yield texts("text, batch norm",
                "layers " + json.dumps({"layers": text, "context": 9}), 7, 4,
                quorate_torch.network(text, 1, 9)[0])
    for tied in ("tied", "untied"):
        yield texts(f"gpt, {tied}",
                    f"gpt:layers=4,width=96,heads=4,context=100,head={tied}",
                    65, 3, quorate_torch.gpt(4, 96, 4, 100, 65, tied == "tied"))


def loss_of(model, batch, name):
    targets = torch.from_numpy(batch["targets"]).long()
    if "tokens" in batch:
        tokens = torch.from_numpy(batch["tokens"]).long()
        logits = model(tokens.flatten(1))
        logits = logits.flatten(0, 1)
    else:
        x = torch.from_numpy(batch["x"].transpose(0, 3, 1, 2).copy()).double()
        logits = model(x.transpose(1, 3) if name == "mlp" else x)
    return torch.nn.functional.cross_entropy(logits, targets)


def check(name, arguments, model, program):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, folder, *arguments], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            return f"quorate-step: {done.stderr}"
        files = {part: read_safetensors(Path(folder) / f"{part}.safetensors")
                 for part in ("parameters", "gradients", "batch")}
    inner = model[1] if name == "mlp" else model
    inner.load_state_dict({key: torch.from_numpy(value) for key, value
                           in files["parameters"].items()})
    model.double()
    loss = loss_of(model, files["batch"], name)
    loss.backward()
    ours = float(done.stdout)
    if abs(ours - loss.item()) > MOST_LOSS * max(1, abs(loss.item())):
        return f"loss: PyTorch {loss.item():.9g}, ours {ours:.9g}"
    expected = {key: parameter.grad
                for key, parameter in inner.named_parameters()}
    expected |= {key: statistic for key, statistic in inner.named_buffers()
                 if "running" in key}
    worst = 0
    for key, found in files["gradients"].items():
        wanted = expected.pop(key).double()
        found = torch.from_numpy(found).double()
        error = ((found - wanted).norm() / wanted.norm()).item()
        worst = max(worst, error)
        if not error <= MOST_GRADIENT:
            return f"{key}: {error:.2g} of its norm apart"
    if expected:
        return f"not there: {sorted(expected)}"
    print(f"ok {name}: loss {ours:.6f}, gradients within {worst:.1g}")
    return None


def main():
    if torch is None:
        print("skipped: networks beside PyTorch: needs python3-torch")
        return 0
    torch.set_num_threads(2)
    warnings.filterwarnings("ignore", "Lazy modules")
    program = Path(os.environ["QUORATE_BIN"]) / "quorate-step"
    faults = 0
    for name, arguments, model in cases():
        why = check(name, arguments, model, program)
        if why:
            print(f"failed: {name}: {why}")
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
