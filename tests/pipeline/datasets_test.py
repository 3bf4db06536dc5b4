#!/usr/bin/env python3
"""`quorate dataset add`: what lies in the files arrives in the shards.

Adds the golden files of every format, reads the shards by their document
(docs/formats.md) alone, and finds each sample once. Then what the command says
and refuses; and, where there are some, the public data sets.
"""

import copy
import hashlib
import json
import os
import pathlib
import sys

from support.project import Project, Skip, expect, expect_words, run

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
# SHA-256 of tinyshakespeare's input.txt.
SHAKESPEARE = ("86c4e6aa9db7c042ec79f339dcb96d42"
               "b0075e16b8fc2e86bf0ca57e2dc565ed")


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


def text_of(project, manifest, part):
    """The bytes that the tokens of a part stand for."""
    symbols = bytes.fromhex(manifest["symbols"])
    text = b""
    for shard in manifest[part]:
        raw = project.object(shard["hash"]).read_bytes()
        start = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:start])
        expect(header["tokens"] == {"dtype": "U8", "shape": [shard["tokens"]],
                                    "data_offsets": [0, shard["tokens"]]},
               f"header of a shard: {header}")
        tokens = raw[start:]
        expect(max(tokens) < len(symbols), "a token without a symbol")
        text += tokens.translate(symbols.ljust(256, b"\0"))
    return text


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
    expect("Assumed, because" not in said, f"called a guess: {said}")
    stage.run("quorate", "-C", project.folder, "dataset", "add", "b", train,
              "--format", "cifar", code=1)
    left = sorted(path.name for path in (project.folder / "tmp").iterdir())
    expect(not left, f"left behind: {left}")
    files = sorted(path.name
                   for path in (project.folder / "datasets").iterdir())
    expect(files == ["a.json", "a.png", "c.json", "c.png"],
           f"datasets: {files}")
    return "says what it did, refuses what makes no set"


def test_text(stage):
    project = Project(stage)
    manifest = project.ask("dataset", "add", "text", SOURCES / "text")
    parts = {"train": "a.txt b.txt.gz", "test": "test.txt"}
    for part, names in parts.items():
        text = "".join(golden.TEXT[name] for name in names.split()).encode()
        expect(text_of(project, manifest, part) == text, f"{part}: other text")
    expect("seed" not in manifest and "height" not in manifest,
           f"fields of images: {manifest}")
    said = project.order("dataset", "add", "two", SOURCES / "text")
    expect_words(said, "text of 28 training and 6 test tokens, 19 symbols, 1 "
                 "shard", "SYMBOL", "space", "newline", "0xc3",
                 "and 9 less frequent", "a.txt, b.txt.gz, in this order")
    listed = project.ask("dataset", "list")[0]
    expect(listed == {"name": "text", "kind": "text", "sample": "token",
                      "train": 28, "test": 6, "classes": 19, "shards": 1},
           f"listed: {listed}")
    expect_words(project.order("dataset", "list"), "SAMPLE", "token")
    files = sorted(path.name
                   for path in (project.folder / "datasets").iterdir())
    expect(files == ["text.json", "two.json"], f"datasets: {files}")
    refuse_text(stage, project)
    keep_text(stage, project, manifest)
    return "every byte in its place; refused where images belong"


def refuse_text(stage, project):
    command = ("quorate", "-C", project.folder)
    stage.fails(["it takes images", "choose gpt"], *command, "train", "create",
                "x", "--dataset", "text", "--model", "lenet")
    stage.fails(["--batch 16", "so many samples"], *command, "train", "create",
                "x", "--dataset", "text")
    stage.fails(["text", "choose another"], *command, "dataset", "add", "text",
                SOURCES / "text")
    stage.fails(["--label", "are for CSV"], *command, "dataset", "add", "x",
                SOURCES / "text", "--label", "last")
    wrong = stage.folder / "wrong.txt"
    for content, place in ((b"one\xff", 3), (b"a\0b", 1),
                           ("text".encode("utf-16"), 0)):
        wrong.write_bytes(content)
        stage.fails([f"{wrong}: byte {place}: expected text in UTF-8"],
                    *command, "dataset", "add", "x", wrong)


def keep_text(stage, project, manifest):
    """A backup has it, and so has what is restored."""
    backup = stage.folder / "backup"
    stage.run("quorate", "-C", project.folder, "backup", backup)
    other = copy.copy(project)
    other.folder = stage.folder / "restored"
    stage.run("quorate", "restore", backup, other.folder)
    text = text_of(other, manifest, "test")
    expect(text == golden.TEXT["test.txt"].encode(), "restored: other text")
    expect(len(other.ask("dataset", "list")) == 2, "restored: not both sets")


def test_shakespeare(stage):
    path = (pathlib.Path(os.environ.get("QUORATE_DATA", ""))
            / "tinyshakespeare/input.txt")
    if not path.is_file():
        raise Skip("no tinyshakespeare in QUORATE_DATA")
    project = Project(stage)
    manifest = project.ask("dataset", "add", "shakespeare", path)
    counts = [sum(shard["tokens"] for shard in manifest[part])
              for part in ("train", "test")]
    expect(counts == [1003854, 111540], f"tokens: {counts}")
    expect(len(manifest["symbols"]) == 2 * 65, "not 65 symbols")
    text = (text_of(project, manifest, "train")
            + text_of(project, manifest, "test"))
    expect(hashlib.sha256(text).hexdigest() == SHAKESPEARE, "other text")
    symbols = bytes.fromhex(manifest["symbols"])
    expect(manifest["class_counts"] ==
           [text[:counts[0]].count(symbol) for symbol in symbols],
           "other counts of symbols")
    return "1,115,394 tokens of 65 symbols, byte for byte"


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
    run(__doc__, test_formats, test_words, test_text, test_shakespeare,
        test_public_sets)
