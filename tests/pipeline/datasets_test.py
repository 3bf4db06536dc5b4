#!/usr/bin/env python3
"""`quorate dataset add`: what lies in the files arrives in the shards.

Adds the golden files of every format, reads the shards by their document
(docs/formats.md) alone, and finds each sample once. Then what the command says
and refuses; and, where there are some, the public data sets.
"""

import json
import os
import pathlib
import sys

from project import Project, expect, run

SOURCES = pathlib.Path(__file__).parent.parent / "server/datasets/golden"
sys.path.insert(0, str(SOURCES))
import write as golden  # noqa: E402  (what the files were written from)

# Format -> (shape, training samples, test samples, arguments).
FORMATS = {
    "cifar": ((32, 32, 3), 3, 1, ()),
    "csv": ((2, 3, 2), 4, 2, ("--shape", "2x3x2", "--max-value", "255")),
    "safetensors": ((2, 3, 2), 4, 2, ()),
}
# Public set -> (samples in all, arguments).
PUBLIC = {
    "cifar10-subset": (6000, ()),
    "fashion-mnist": (70000, ()),
    "optdigits": (5620, ("--label", "last")),
    "interop": (100, ("--format", "idx")),
}


def samples_of(project, shards):
    """(label, pixels) of every sample, sorted."""
    samples = []
    for shard in shards:
        raw = project.object(shard["hash"]).read_bytes()
        start = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:start])
        part = {name: raw[start:][slice(*header[name]["data_offsets"])]
                for name in ("images", "labels")}
        size = len(part["images"]) // shard["samples"]
        samples += [(label, part["images"][i * size:(i + 1) * size])
                    for i, label in enumerate(part["labels"])]
    return sorted(samples)


def expected(first, count, shape):
    return sorted((golden.label(i), golden.tensor_bytes(i, 1, shape))
                  for i in range(first, first + count))


def expect_picture(project, name):
    picture = (project.folder / "datasets" / f"{name}.png").read_bytes()
    expect(picture.startswith(b"\x89PNG\r\n\x1a\n"), f"{name}: no picture")


def test_formats(stage):
    project = Project(stage)
    for name, (shape, train, test, arguments) in FORMATS.items():
        manifest = project.ask("dataset", "add", name, SOURCES / name,
                               *arguments)
        found = tuple(manifest[k] for k in ("height", "width", "channels"))
        expect(found == shape, f"{name}: shape {found}, expected {shape}")
        expect(samples_of(project, manifest["train"]) ==
               expected(0, train, shape), f"{name}: other training samples")
        expect(samples_of(project, manifest["test"]) ==
               expected(train, test, shape), f"{name}: other test samples")
        expect_picture(project, name)
    kinds = {row["name"]: row["kind"]
             for row in project.ask("dataset", "list")}
    expect(kinds == {name: name for name in FORMATS}, f"listed: {kinds}")
    return f"{len(FORMATS)} formats, every sample in its place"


def write_labels(stage, second):
    """A file of ten samples in class 0 and ten in class `second`."""
    path = stage.folder / f"labels{second}.csv"
    path.write_text("0,1,2\n" * 10 + f"{second},2,1\n" * 10)
    return path


def test_words(stage):
    """What people read, and what is refused as wrong usage."""
    project = Project(stage)
    train = SOURCES / "csv/train.csv"
    said = project.order("dataset", "add", "a", train, "--hold-out", 25)
    for part in ("a header line, label in column 1 (--label), the 12 values "
                 "of a line are 1x12x1 (--shape), no value is above 45",
                 "3 training and 1 test samples", "CLASS",
                 "datasets/a.png"):
        expect(part in said, f"dataset add says nothing of {part}: {said}")
    for wrong in ((), (SOURCES,), (SOURCES / "write.py",),
                  (train, SOURCES / "cifar/data_batch_1.bin"),
                  (train, "--label", "14"), (train, "--shape", "4x4"),
                  (train, "--format", "jpeg"), (train, "--hold-out", 91),
                  (SOURCES / "csv", "--hold-out", 10)):
        stage.run("quorate", "-C", project.folder, "dataset", "add", "b",
                  *wrong, code=2)
    stage.fails(["every label is 0", "Try --label last"], "quorate", "-C",
                project.folder, "dataset", "add", "b", write_labels(stage, 0))
    said = project.order("dataset", "add", "c", write_labels(stage, 1),
                         "--label", 1, "--shape", "1x2", "--max-value", 2)
    expect("Taken for granted" not in said, f"called a guess: {said}")
    stage.run("quorate", "-C", project.folder, "dataset", "add", "b", train,
              "--format", "cifar", code=1)
    left = sorted(path.name for path in (project.folder / "tmp").iterdir())
    expect(not left, f"left behind: {left}")
    files = sorted(path.name
                   for path in (project.folder / "datasets").iterdir())
    expect(files == ["a.json", "a.png", "c.json", "c.png"],
           f"datasets: {files}")
    return "says what it did, refuses what makes no set"


def test_public_sets(stage):
    folder = os.environ.get("QUORATE_DATA")
    project = Project(stage)
    added = []
    for name, (samples, arguments) in PUBLIC.items():
        path = pathlib.Path(folder or "") / name
        if not folder or not path.is_dir():
            print(f"skipped: no {name} in QUORATE_DATA")
            continue
        manifest = project.ask("dataset", "add", name, path, *arguments)
        found = sum(shard["samples"]
                    for shard in manifest["train"] + manifest["test"])
        expect(found == samples, f"{name}: {found} samples, not {samples}")
        expect_picture(project, name)
        added.append(name)
    return ", ".join(added) or "none there"


if __name__ == "__main__":
    run(__doc__, test_formats, test_words, test_public_sets)
