#!/usr/bin/env python3
"""A volunteer's receipt is fetched, says what the ledger says, and is checked
without the project; one changed byte is seen. So is a changed ledger."""

import json

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run)


def part_of(entries, host):
    """Results of the host in the ledger, and the versions they made."""
    versions = [entry["version_after"] for entry in entries
                if entry["kind"] == "result" and entry["host"] == host]
    return len(versions), min(versions), max(versions)


def fetch(volunteer, *arguments):
    return json.loads(volunteer.order("receipt", *arguments, "--json"))


def test_receipt(stage):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "lenet:2,4,24,24",
                       "--batch", 50, "--local-steps", 40, "--quorum", 1,
                       "--epochs", 1)
    server = Server(project).start()
    volunteer = Volunteer(stage, "ann").attach(server)
    stage.say("fetched before the first result, then beside a running agent")
    before = fetch(volunteer, "--out", stage.folder / "empty.receipt")
    expect(before["runs"] == [] and before["credit"] == 0, f"{before}")
    volunteer.start()
    project.wait_until_finished(60)
    file = stage.folder / "ann.receipt"
    said = fetch(volunteer, "--out", file)
    volunteer.stop()
    entries = project.ledger()
    mine = said["runs"][0]
    expect(part_of(entries, said["host"]) ==
           (mine["results"], mine["first_version"], mine["last_version"]),
           f"the receipt says {mine}")
    head, = [row for row in project.admin("ledger", run=RUN, **{"from": 0})
             if row["hash"] == mine["ledger_head"]]
    expect(json.loads(head["line"])["seq"] == mine["ledger_entries"] - 1,
           f"not its ledger's head: {mine}")
    credit = project.host_of(volunteer)["credit"]
    expect(0 <= credit - said["credit"] < 0.001, f"credit: {said}, {credit}")
    fingerprint = server.address().split("#")[1]

    client = volunteer.program
    there = ["receipt", "--dir", volunteer.folder, "--out", file]
    stage.fails(["say --force"], client, *there)
    expect_words(stage.run(client, *there, "--force"), "run first",
                 f"{mine['results']} results", f"written to {file}")
    stage.say("the run's ledger, fetched and compared")
    ledger = stage.folder / "first.ledger"
    shown = json.loads(volunteer.order("ledger", RUN, "--out", ledger,
                                       "--json"))
    expect((shown["entries"], shown["new"], shown["head"]) ==
           (len(entries), len(entries), mine["ledger_head"]), f"{shown}")
    again = json.loads(volunteer.order("ledger", RUN, "--out", ledger,
                                       "--json"))
    expect(again["new"] == 0 and again["entries"] == len(entries), f"{again}")
    own = stage.folder / "own.ledger"
    project.order("ledger", RUN, "--out", own)
    expect(own.read_bytes() == ledger.read_bytes(), "not what quorate writes")
    stage.fails(["its page lists the runs"], client, "ledger", "other",
                "--dir", volunteer.folder)
    server.stop()

    stage.say("checked with the project gone")
    elsewhere = ["--dir", stage.folder / "nobody"]
    check = ["receipt", "--check", file]
    expect_words(stage.run(client, *check, "--key", fingerprint, *elsewhere),
                 f"{file}: ok", said["host"], mine["ledger_head"])
    volunteer.order(*check)  # attached: no --key needed
    expect_words(volunteer.order(*check, "--ledger", ledger), "shows the same")
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:-1]))
    stage.fails(["fetch the rest"], client, *check, "--key", fingerprint,
                "--ledger", ledger)
    ledger.write_text("".join(lines).replace('"samples', '"sample5', 1))
    stage.fails([str(ledger)], client, *check, "--key", fingerprint,
                "--ledger", ledger)
    stage.fails(["say --key FINGERPRINT"], client, *check, *elsewhere)
    stage.fails(["not to --key"], client, *check, "--key", "0" * 32)
    stage.fails(["can be reached"], client, *there, "--force")
    raw = file.read_bytes()
    for at in (raw.index(b'"results":') + 10, len(raw) // 2, len(raw) - 30,
               len(raw) - 100 + 40):
        file.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:])
        stage.fails([str(file)], client, *check, "--key", fingerprint)
    file.write_bytes(raw[:-1])
    stage.fails([str(file), "not JSON"], client, *check, "--key", fingerprint)
    return f"{mine['results']} results, {len(raw)} bytes"


if __name__ == "__main__":
    run(__doc__, test_receipt)
