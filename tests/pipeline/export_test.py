#!/usr/bin/env python3
"""The exported file is the model: numpy alone finds the accuracy that we claim.

Trains an mlp and a lenet briefly, replays and exports them, reads file and test
shards by the documents (docs/formats.md) and none of our code, and compares the
accuracy to 0.1 points. Where Debian's python3-torch is installed, the same
network in PyTorch must take the file and give numpy's outputs.
"""

import json
import os
import sys

try:
    import numpy
except ImportError:  # the distribution's python3-numpy serves its own python3
    numpy = None
try:
    import torch
except ImportError:
    torch = None

from support.project import RUN, Project, Server, Skip, Volunteer, expect, run

POINTS = 0.1
LEAST_ACCURACY = 0.5  # a model that learned something


def read_safetensors(path):
    """(tensors by name, metadata) of a safetensors file."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    metadata = header.pop("__metadata__", {})
    types = {"F32": "<f4", "U8": "u1"}
    return {name: numpy.frombuffer(raw[start:][slice(*t["data_offsets"])],
                                   types[t["dtype"]]).reshape(t["shape"])
            for name, t in header.items()}, metadata


def images_of(shard):
    return shard["images"] / numpy.float32(255)


def linear(model, x, layers):
    """Linear layers with relu between them."""
    for layer in layers:
        x = x @ model[f"{layer}.weight"].T + model[f"{layer}.bias"]
        if layer != layers[-1]:
            x = numpy.maximum(x, 0)
    return x


def mlp(model, images):
    """Logits of a multilayer perceptron."""
    return linear(model, images.reshape(len(images), -1),
                  sorted({int(name.split(".")[0]) for name in model}))


def convolve(x, weight, bias, padding):
    """x [n,c,h,w], weight [out,in,kh,kw]: as torch.nn.functional.conv2d."""
    x = numpy.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        x, weight.shape[2:], axis=(2, 3))
    y = numpy.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3)))
    return (y + bias).transpose(0, 3, 1, 2)


def pool(x):
    n, c, h, w = x.shape
    return x[:, :, :h // 2 * 2, :w // 2 * 2].reshape(
        n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def lenet(model, images):
    """Logits of a lenet: PyTorch's layout, channels before rows."""
    x = images.transpose(0, 3, 1, 2)
    for layer, padding in ((0, 2), (3, 0)):
        x = convolve(x, model[f"{layer}.weight"], model[f"{layer}.bias"],
                     padding)
        x = pool(numpy.maximum(x, 0))
    return linear(model, x.reshape(len(x), -1), (7, 9, 11))


def torch_lenet(model, images):
    """Logits of the same network in PyTorch."""
    nn = torch.nn
    weights = {name: torch.from_numpy(numpy.array(value))
               for name, value in model.items()}
    out1, channels = weights["0.weight"].shape[:2]
    out2 = weights["3.weight"].shape[0]
    hidden1, flat = weights["7.weight"].shape
    hidden2 = weights["9.weight"].shape[0]
    classes = weights["11.weight"].shape[0]
    network = nn.Sequential(
        nn.Conv2d(channels, out1, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(out1, out2, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(flat, hidden1), nn.ReLU(),
        nn.Linear(hidden1, hidden2), nn.ReLU(), nn.Linear(hidden2, classes))
    network.load_state_dict(weights)
    with torch.no_grad():
        return network(torch.from_numpy(
            numpy.ascontiguousarray(images.transpose(0, 3, 1, 2)))).numpy()


def compare_with_torch(model, images):
    if torch is None:
        print("skipped: export_test: PyTorch: needs python3-torch")
        return
    ours, theirs = lenet(model, images), torch_lenet(model, images)
    difference = float(numpy.abs(ours - theirs).max())
    expect(difference < 1e-3 * float(numpy.abs(ours).max()),
           f"PyTorch's logits differ by {difference}")
    print(f"PyTorch {torch.__version__} loads it; greatest difference "
          f"{difference:.1e} of {float(numpy.abs(ours).max()):.1f}")


def check_export(stage, model_name, logits_of, *settings):
    if numpy is None:
        raise Skip("needs numpy: apt-get install python3-numpy")
    project = Project(stage)
    project.add_glyphs(10240, 2000)
    project.create_run("--dataset", "glyphs", "--model", model_name,
                       "--quorum", 1, *settings)
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert")]
    project.wait_until_finished(180)
    for volunteer in volunteers:
        volunteer.stop()
    shown = project.show_evaluated()
    expect(project.ask("replay", RUN)["version"] == shown["version"], "replay")
    path = stage.folder / "model.safetensors"
    project.order("export", RUN, "--out", path)
    model, metadata = read_safetensors(path)
    manifest = json.loads(
        (project.folder / "datasets/glyphs.json").read_text())
    correct = samples = 0
    for entry in manifest["test"]:
        shard, _ = read_safetensors(project.object(entry["hash"]))
        guesses = logits_of(model, images_of(shard)).argmax(axis=1)
        correct += int((guesses == shard["labels"]).sum())
        samples += entry["samples"]
    expect(samples == 2000, f"{samples} test samples")
    ours, theirs = shown["best_accuracy"], correct / samples
    stage.say(f"version {shown['best_version']} of {shown['version']}: best "
              f"accuracy {100 * ours:.2f} %, numpy finds {100 * theirs:.2f} % "
              f"({correct} of {samples}); metadata {metadata}")
    expect(abs(ours - theirs) * 100 <= POINTS, "they differ by more than "
                                               f"{POINTS} points")
    expect(theirs >= LEAST_ACCURACY, "the model has learned nothing")
    if logits_of is lenet:
        compare_with_torch(model, images_of(shard))
    server.stop()
    return (f"{model_name}: numpy {100 * theirs:.2f} %, quorate "
            f"{100 * ours:.2f} %")


def test_mlp(stage):
    return check_export(stage, "mlp:64", mlp, "--local-steps", 40,
                        "--epochs", 20 if stage.is_long else 4)


def test_lenet(stage):
    return check_export(stage, "lenet", lenet, "--local-steps", 20,
                        "--lr", 0.1, "--alpha", 0.4,
                        "--epochs", 20 if stage.is_long else 6)


if __name__ == "__main__":
    system = "/usr/bin/python3"
    if numpy is None and sys.executable != system and os.path.exists(system):
        os.execv(system, [system, *sys.argv])
    run(__doc__, test_mlp, test_lenet)
