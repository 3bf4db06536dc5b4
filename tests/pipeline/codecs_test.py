#!/usr/bin/env python3
"""Every codec of updates, on the real system, against numpy.

Volunteers in pairs train with each codec while the server is killed. The bytes
of updates must be those that numpy writes from the equations
(update_codecs.py): of the stored examples, and of a unit whose whole change
another run's update has. From the codes numpy repeats the training to the same
bits, and every device computes the same updates again.
"""

import json
import pathlib

import numpy as np

from support import update_codecs
from audit_test import devices
from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)
from update_rules_test import (DeltaAsgd, expect_same_bits, learned_tensors,
                               parameters, repeat, update)

GOLDEN = pathlib.Path(__file__).parents[1] / "workunits/golden"
PLAIN = "plain"  # the run with whole updates

WITH_STATISTICS = {"layers": [
    {"layer": "conv2d", "channels": 8, "window": 5, "stride": 3},
    {"layer": "batch_norm"}, {"layer": "relu"}, {"layer": "flatten"},
    {"layer": "linear", "outputs": 10}]}


def test_stored_examples(_):
    """The sample of tests/support/samples.cpp."""
    tensors, statistics = [272, 17, 17, 17, 51, 3], 34
    values = np.array([np.ldexp(np.float32(37 * i % 101 - 50), -(8 + i % 7))
                       for i in range(sum(tensors) + statistics)], np.float32)
    for codec in update_codecs.CODECS:
        stored = (GOLDEN / f"update_{codec}.safetensors").read_bytes()
        expect(update_codecs.encode(codec, 0x094e35789c15c0ab, tensors, values)
               == stored, f"{codec}: numpy writes other bytes")
    stored = (GOLDEN / "snapshot_delta.safetensors").read_bytes()
    before = np.full_like(values, 0.25)
    expect(update_codecs.delta("int4", 7, tensors, before, values) == stored,
           "snapshot delta: numpy writes other bytes")
    return f"stored examples of a delta, and of {', '.join(update_codecs.CODECS)}"


def first_result(project, name):
    """The ledger's entry of unit 0, which starts from the initial model."""
    def found():
        for row in project.admin("ledger", run=name, **{"from": 0}):
            entry = json.loads(row["line"])
            if entry["kind"] == "result" and entry["unit_index"] == 0:
                return entry
        return None
    return wait_for(f"unit 0 of run {name}", found, 60, 0.3)


def check_first_update(project, codec, tensors):
    """Unit 0 of both runs has the same samples, so the same change."""
    plain = first_result(project, PLAIN)
    coded = first_result(project, RUN)
    task = project.task(coded["workunit"])
    other = project.task(plain["workunit"])
    for field in ("snapshot", "shard", "first", "epoch", "steps"):
        expect(task[field] == other[field], f"{field}: {task} and {other}")
    expect(task["codec"] == codec and other["codec"] == "fp32",
           f"{task['codec']} and {other['codec']}")
    whole = parameters(project, plain["update"])
    written = update_codecs.encode(codec, int(task["unit_seed"], 16), tensors,
                                   whole)
    sent = project.object(coded["update"]).read_bytes()
    expect(sent == written, f"{codec}: {len(sent)} bytes, numpy has others, "
                            f"{len(written)}")
    return update(project, codec, tensors, coded["update"]), whole


def train(stage, codec, model="mlp:64", least=0.85):
    project = Project(stage)
    project.add_glyphs(10240)
    same = ("--dataset", "glyphs", "--model", model, "--batch", 32,
            "--local-steps", 20)
    project.order("train", "create", PLAIN, *same, "--epochs", 1, "--quorum",
                  1, "--codec", "fp32", "--rule", "delta-asgd")
    project.create_run(*same, "--epochs", 12, "--quorum", 2, "--rule",
                       "delta-asgd", "--codec", codec)
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(server).start()
                  for i in range(3)]
    wait_for("versions", lambda: project.show()["version"] >= 20, 60)
    server.kill()
    server.start()
    project.wait_until_finished(240)
    shown = project.show_evaluated()
    expect(shown["settings"]["codec"] == codec, f"{shown['settings']}")
    entries = project.ledger()
    settings = json.loads(entries[0]["settings"])
    expect(settings["codec"] == codec, f"in the ledger: {settings}")
    tensors = learned_tensors(project, entries[0]["initial"])
    decoded, whole = check_first_update(project, codec, tensors)
    sizes = {project.object(entry["update"]).stat().st_size
             for entry in entries if entry["kind"] == "result"}
    expect(len(sizes) == 1, f"updates of {sizes} bytes")
    report = project.ask("replay", RUN)
    for process in [*volunteers, server]:
        process.stop()
    expect(report["ok"], f"replay: {report}")
    learned = sum(tensors)
    expect_same_bits("running statistics", decoded[learned:], whole[learned:])
    if len(whole) == learned:
        met = repeat(project, DeltaAsgd(), entries)
        expect(met >= 4, f"{met} published models are there to compare with")
    again = project.ask("replay", RUN, "--recompute")
    expect(again["ok"] and not again["false_results"] and
           again["final_snapshot"] == entries[-1]["parameters"], f"{again}")
    for device in devices(stage):
        audit = project.ask("audit", RUN, "--device", device, "--sample", 0.03,
                            "--seed", stage.seed)
        expect(audit["ok"] and audit["recomputed"] > 0, f"{device}: {audit}")
    expect(shown["accuracy"] >= least, f"accuracy {shown['accuracy']}")
    bytes_of_one = sizes.pop()
    return (f"{codec}, {model}: {shown['version']} versions, {bytes_of_one} "
            f"bytes an update, {4 * len(whole) / bytes_of_one:.1f} times "
            f"less, accuracy {100 * shown['accuracy']:.1f} %")


def test_int8(stage):
    return train(stage, "int8")


def test_int4(stage):
    return train(stage, "int4")


def test_int2(stage):
    return train(stage, "int2", least=0.7)


def test_ternary(stage):
    return train(stage, "ternary", least=0.7)


def test_sign(stage):
    return train(stage, "sign", least=0.6)


def test_running_statistics(stage):
    file = stage.folder / "net.json"
    file.write_text(json.dumps(WITH_STATISTICS))
    return train(stage, "ternary", file, least=0.5)


def test_refusals(stage):
    project = Project(stage)
    project.add_glyphs(1024)
    server = Server(project).start()
    stage.fails(["unknown codec \"int9\"", "fp32, int8, int4, int2, ternary, "
                 "sign"], "quorate", "-C", project.folder, "train", "create",
                RUN, "--dataset", "glyphs", "--codec", "int9")
    project.order("train", "create", RUN, "--dataset", "glyphs")
    expect(project.show()["settings"]["codec"] == "int4", "the default")
    expect("codec int4" in project.order("train", "show", RUN), "train show")
    server.stop()
    return "an unknown codec is refused, none is int4"


if __name__ == "__main__":
    run(__doc__, test_stored_examples, test_int8, test_int4, test_int2,
        test_ternary, test_sign, test_running_statistics, test_refusals)
