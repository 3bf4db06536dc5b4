#!/usr/bin/env python3
"""An exported model is checked against its ledger, here and elsewhere."""

import json
import os
import struct

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run)


def train(stage, name, model):
    project = Project(stage, name)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", model, "--batch", 50,
                       "--local-steps", 40, "--quorum", 1, "--epochs", 1)
    server = Server(project, name=f"server-{name}").start()
    volunteers = [Volunteer(stage, f"{name}-{i}").attach(server).start()
                  for i in range(2)]
    project.wait_until_finished(120)
    for volunteer in volunteers:
        volunteer.stop()
    project.show_evaluated()
    return project, server


def metadata(path):
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    return json.loads(raw[8:8 + size])["__metadata__"]


def test_verify_model(stage):
    project, server = train(stage, "one", "lenet:2,4,24,24")
    fingerprint = server.address().split("#")[1]
    entries = project.ledger()
    results = [e for e in entries if e["kind"] == "result"]
    model = stage.folder / "model.safetensors"
    ledger = stage.folder / "first.ledger"
    project.order("export", RUN, "--version", "last", "--out", model)
    said = metadata(model)
    expect(said["quorate.results"] == str(len(results)) and
           said["quorate.hosts"] == str(len({e["host"] for e in results})) and
           said["quorate.ledger_entries"] == str(len(entries)) and
           said["quorate.rule"] == entries[0]["rule"], f"metadata: {said}")
    report = project.ask("verify-model", model)
    expect(report["ok"] and report["results"] == len(results),
           f"in the project: {report}")
    project.order("ledger", RUN, "--out", ledger)
    head = stage.folder / "head.ledger"
    project.order("ledger", RUN, "--head", "--out", head)
    report = project.ask("verify-ledger", RUN, "--witness", head, "--witness",
                         ledger)
    expect(report["ok"] and report["witnessed"] == 1 + len(entries),
           f"beside its witnesses: {report}")
    server.stop()

    # Elsewhere: nothing but two files and the fingerprint.
    elsewhere = ["--ledger", ledger, "--key", fingerprint]
    expect_words(stage.run("quorate", "verify-model", model, *elsewhere),
                 "ok: version", f"{len(results)} results")
    other, other_server = train(stage, "two", "lenet:2,4,24,24")
    other_ledger = stage.folder / "other.ledger"
    other.order("ledger", RUN, "--out", other_ledger)
    stage.fails(["head.ledger: it is of project"], "quorate", "-C",
                other.folder, "verify-ledger", RUN, "--witness", head)
    other_key = other_server.address().split("#")[1]
    other_server.stop()

    broken = stage.folder / "broken"
    def refused(words, name, data, *arguments):
        broken.write_bytes(data)
        stage.fails(words, "quorate", "verify-model",
                    *(broken if each == name else each
                      for each in arguments))

    raw = model.read_bytes()
    refused(["its parameters are", "was published as"], model,
            raw[:-1] + bytes([raw[-1] ^ 1]), model, *elsewhere)
    refused(["offsets", "bytes of data"], model, raw[:-5], model, *elsewhere)
    best = said["quorate.ledger_head"].encode()
    refused(["another history"], model, raw.replace(best, b"0" * 64), model,
            *elsewhere)
    lines = ledger.read_bytes()
    at = lines.index(b'"samples'.replace(b'"', b'\\"'))
    refused(["ledger entry 1: its hash"], ledger,
            lines[:at + 2] + b"t" + lines[at + 3:], model, *elsewhere)
    refused(["has no published version"], ledger,
            b"".join(lines.splitlines(True)[:3]), model, *elsewhere)
    stage.fails(["not to --key"], "quorate", "verify-model", model, "--ledger",
                other_ledger, "--key", fingerprint)
    stage.fails(["it is of run"], "quorate", "verify-model", model, "--ledger",
                other_ledger, "--key", other_key)
    stage.fails(["--ledger needs --key"], "quorate", "verify-model", model,
                "--ledger", ledger)
    return f"{len(entries)} entries, {os.path.getsize(ledger)} bytes"


if __name__ == "__main__":
    run(__doc__, test_verify_model)
