#!/usr/bin/env python3
"""The exported file is the model: numpy alone finds the accuracy that we claim.

Trains briefly, exports, reads file and test shards by the documents (docs/
formats.md) and none of our code, and compares the accuracy to 0.1 points.
"""

import json
import os
import sys

try:
    import numpy
except ImportError:  # the distribution's python3-numpy serves its own python3
    numpy = None

from project import RUN, Project, Server, Skip, Volunteer, expect, run

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


def count_correct(model, shard):
    """How many samples of a shard the multilayer perceptron gets right."""
    x = shard["images"].reshape(len(shard["images"]), -1) / numpy.float32(255)
    layers = sorted({int(name.split(".")[0]) for name in model})
    for layer in layers:
        x = x @ model[f"{layer}.weight"].T + model[f"{layer}.bias"]
        if layer != layers[-1]:
            x = numpy.maximum(x, 0)
    return int((x.argmax(axis=1) == shard["labels"]).sum())


def test_export(stage):
    if numpy is None:
        raise Skip("needs numpy: apt-get install python3-numpy")
    project = Project(stage)
    project.add_glyphs(10240, 2000)
    project.create_run("--dataset", "glyphs", "--model", "mlp:64",
                       "--local-steps", 40, "--quorum", 1,
                       "--epochs", 20 if stage.is_long else 4)
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert")]
    project.wait_until_finished(180)
    for volunteer in volunteers:
        volunteer.stop()
    shown = project.show_evaluated()
    path = stage.folder / "model.safetensors"
    project.order("export", RUN, "--out", path)
    model, metadata = read_safetensors(path)
    manifest = json.loads(
        (project.folder / "datasets/glyphs.json").read_text())
    correct = samples = 0
    for entry in manifest["test"]:
        shard, _ = read_safetensors(project.object(entry["hash"]))
        correct += count_correct(model, shard)
        samples += entry["samples"]
    expect(samples == 2000, f"{samples} test samples")
    ours, theirs = shown["best_accuracy"], correct / samples
    stage.say(f"version {shown['best_version']} of {shown['version']}: best "
              f"accuracy {100 * ours:.2f} %, numpy finds {100 * theirs:.2f} % "
              f"({correct} of {samples}); metadata {metadata}")
    expect(abs(ours - theirs) * 100 <= POINTS, "they differ by more than "
                                               f"{POINTS} points")
    expect(theirs >= LEAST_ACCURACY, "the model has learned nothing")
    server.stop()
    return f"numpy {100 * theirs:.2f} %, quorate {100 * ours:.2f} %"


if __name__ == "__main__":
    system = "/usr/bin/python3"
    if numpy is None and sys.executable != system and os.path.exists(system):
        os.execv(system, [system, *sys.argv])
    run(__doc__, test_export)
