#!/usr/bin/env python3
"""A text and a residual network through the whole system.

A small gpt learns a text with AdamW and two volunteers whose results must
agree; residual networks with group norm and with batch norm, and one from a
file with a list of layers, learn drawn digits. Each run is replayed and
exported; where Debian's python3-torch is installed, docs/quorate_torch.py takes
the file and finds the accuracy that the project shows.
"""

import json
import os
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
try:
    import numpy
except ImportError:
    numpy = None
try:
    import quorate_torch
    import torch
except ImportError:
    torch = None

from export_test import images_of, read_safetensors
from support.project import RUN, Project, Server, Skip, Volunteer, expect, run

CONTEXT = 32
LAYERS = [
    {"layer": "conv2d", "channels": 8, "window": 3, "stride": 2, "padding": 1},
    {"layer": "residual", "branch": [
        {"layer": "group_norm", "groups": 2}, {"layer": "silu"},
        {"layer": "conv2d", "channels": 8, "window": 3, "padding": 1,
         "groups": 8}]},
    {"layer": "max_pool2d", "window": 2}, {"layer": "flatten"},
    {"layer": "dropout", "rate": 0.1}, {"layer": "linear", "outputs": 10}]


def train(stage, project, *settings):
    """Trains with two volunteers, checks the ledger, returns run and export."""
    project.create_run("--quorum", 2, *settings)
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert")]
    project.wait_until_finished(240)
    for volunteer in volunteers:
        volunteer.stop()
    shown = project.show_evaluated()
    expect(shown["results_rejected"] == 0, "results were rejected")
    expect(project.ask("replay", RUN)["version"] == shown["version"], "replay")
    path = stage.folder / "model.safetensors"
    project.order("export", RUN, "--out", path)
    server.stop()
    return shown, read_safetensors(path)[0]


def weights(export):
    return {name: torch.from_numpy(numpy.array(value))
            for name, value in export.items()}


def shards_of(project, name):
    manifest = json.loads((project.folder / f"datasets/{name}.json").read_text())
    for entry in manifest["test"]:
        yield read_safetensors(project.object(entry["hash"]))[0]


def torch_accuracy_of_text(project, model):
    correct = count = 0
    for shard in shards_of(project, "book"):
        tokens = torch.from_numpy(shard["tokens"].astype("int64"))
        windows = len(tokens) // CONTEXT - 1
        x = tokens[:windows * CONTEXT].view(-1, CONTEXT)
        y = tokens[1:windows * CONTEXT + 1].view(-1, CONTEXT)
        with torch.no_grad():
            correct += int((model(x).argmax(2) == y).sum())
        count += y.numel()
    return correct / count


def torch_accuracy_of_images(project, model):
    correct = count = 0
    for shard in shards_of(project, "glyphs"):
        x = numpy.ascontiguousarray(images_of(shard).transpose(0, 3, 1, 2))
        model.eval()
        with torch.no_grad():
            guesses = model(torch.from_numpy(x)).argmax(1).numpy()
        correct += int((guesses == shard["labels"]).sum())
        count += len(guesses)
    return correct / count


def compare(stage, name, shown, found):
    if found is None:
        print(f"skipped: networks_test: {name}: PyTorch: needs python3-torch")
    else:
        stage.say(f"{name}: accuracy {shown:.4f}, PyTorch finds {found:.4f}")
        expect(abs(shown - found) < 0.002, "they differ")
    return f"{name}: accuracy {100 * shown:.1f} %"


def test_text(stage):
    if numpy is None:
        raise Skip("needs numpy: apt-get install python3-numpy")
    book = stage.folder / "book.txt"
    book.write_text("".join(path.read_text()
                            for path in sorted(DOCS.glob("*.md"))))
    project = Project(stage)
    project.order("dataset", "add", "book", book)
    shown, export = train(
        stage, project, "--dataset", "book", "--local-steps", 20,
        "--micro-batch", 6,
        "--epochs", 8, "--lr", 0.004, "--rule", "diloco", "--round-units", 3,
        "--model", f"gpt:layers=2,width=48,heads=3,context={CONTEXT}")
    symbols = len(export["0.weight"])
    model = None
    if torch is not None:
        model = quorate_torch.gpt(2, 48, 3, CONTEXT, symbols)
        model.load_state_dict(weights(export))
    # Of about a hundred symbols, the most frequent is a sixth.
    expect(shown["best_accuracy"] > 0.3,
           f"{shown['best_accuracy']:.3f} of the symbols are right")
    return compare(stage, "gpt", shown["best_accuracy"],
                   model and torch_accuracy_of_text(project, model))


def check_images(stage, name, model_name, least, *settings, make_model):
    if numpy is None:
        raise Skip("needs numpy: apt-get install python3-numpy")
    project = Project(stage)
    project.add_glyphs(2560, 500)
    shown, export = train(
        stage, project, "--dataset", "glyphs", "--model", model_name,
        "--local-steps", 10, "--rule", "diloco", "--round-units", 2, *settings)
    # Of ten kinds; these are short runs.
    expect(shown["best_accuracy"] > least, f"{shown['best_accuracy']:.3f}")
    found = None
    if torch is not None:
        model = make_model()
        model.load_state_dict(weights(export))
        found = torch_accuracy_of_images(project, model)
    return compare(stage, name, shown["best_accuracy"], found)


def test_residual(stage):
    return check_images(
        stage, "resnet", "resnet:1x8,1x16", 0.2, "--lr", 0.1, "--epochs", 5,
        make_model=lambda: quorate_torch.resnet([1, 1], [8, 16], 1, 10))


def test_batch_norm(stage):
    return check_images(
        stage, "resnet with batch norm", "resnet:1x8,1x16,norm=batch", 0.5,
        "--lr", 0.1, "--epochs", 12,
        make_model=lambda: quorate_torch.resnet([1, 1], [8, 16], 1, 10,
                                                "batch"))


def test_list(stage):
    path = stage.folder / "network.json"
    path.write_text(json.dumps({"layers": LAYERS}))

    def make_model():
        model = quorate_torch.network(LAYERS, 1)[0]
        model(torch.zeros(1, 1, 28, 28))  # finds the inputs of the last layer
        return model

    return check_images(stage, "list of layers", path, 0.5, "--epochs", 6,
                        make_model=make_model)


if __name__ == "__main__":
    system = "/usr/bin/python3"
    if numpy is None and sys.executable != system and os.path.exists(system):
        os.execv(system, [system, *sys.argv])
    run(__doc__, test_text, test_residual, test_batch_norm, test_list)
