#!/usr/bin/env python3
"""The root key leaves the server, and a stolen key is revoked: volunteers who
run meanwhile follow, the ledger goes on, and what the thief signs counts no
more."""

import json
import shutil

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)


def new_results(volunteer, count=3):
    before = len(volunteer.acknowledged())
    wait_for("results", lambda: len(volunteer.acknowledged()) >= before + count,
             90)


def signed(project):
    return json.loads(project.order("keys", "list", "--json"))


def test_keys(stage):
    project = Project(stage)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--local-steps", 4, "--epochs", 400)
    server = Server(project).start()
    first = Volunteer(stage, "ada").attach(server).start()
    new_results(first)
    witness = stage.folder / "before.ledger"
    project.order("ledger", RUN, "--out", witness)
    root = stage.folder / "root.key"
    stage.fails(["the project is served"], "quorate", "-C", project.folder,
                "keys", "renew", "--root", root)
    before = signed(project)
    server.stop()

    stage.say("the root leaves; a running volunteer follows")
    expect_words(project.order("keys", "renew", "--root", root),
                 "The root key is in", str(root), "taken until its end")
    after = signed(project)
    expect(after["fingerprint"] == before["fingerprint"] and
           after["number"] > 0 and after["root"] == before["keys"][0]["key"],
           f"{after}")
    stolen = stage.folder / "stolen.key"
    shutil.copy(project.folder / "keys" / "project.key", stolen)
    server = Server(project, port=server.port, name="second").start()
    new_results(first)
    expect("project_renewed" in first.text(), "it did not follow")
    expect(project.host_of(first)["errors"] == 0,
           f"units were refused: {project.host_of(first)}")
    late = Volunteer(stage, "bob").attach(server).start()
    new_results(late)
    receipt = stage.folder / "ada.receipt"
    first.order("receipt", "--out", receipt)
    server.stop()

    stage.say("the thief's key is revoked")
    away = stage.folder / "away.key"
    root.rename(away)
    stage.fails(["there is no such file"], "quorate", "-C", project.folder,
                "keys", "renew", "--root", root, "--revoke")
    expect_words(project.order("keys", "renew", "--root", away, "--revoke"),
                 "revoked", "--witness")
    server = Server(project, port=server.port, name="third").start()
    new_results(first)
    new_results(late)
    expect(first.is_running() and late.is_running(), "a volunteer left")
    stage.fails(["revoked the key that sealed it"], first.program, "receipt",
                "--check", receipt, "--dir", first.folder)
    report = project.ask("verify-ledger", RUN, "--witness", witness)
    expect(report["ok"] and report["by_revoked"] > 0, f"{report}")
    expect_words(project.order("verify-ledger", RUN), "signed with a key that "
                 "was revoked since")
    copy = stage.folder / "backup"
    project.order("backup", copy)
    project.order("ledger", RUN, "--out", stage.folder / "after.ledger")
    first.stop()
    late.stop()
    server.stop()
    expect(project.ask("replay", RUN)["ok"], "replay")
    expect(project.ask("audit", RUN, "--sample", 0.02)["ok"], "audit")
    stage.run("quorate", "restore", copy, stage.folder / "again")
    again = json.loads(stage.run("quorate", "-C", stage.folder / "again",
                                 "keys", "list", "--json"))
    expect(again["number"] > after["number"] and
           again["number"] == signed(project)["number"], f"restored: {again}")

    stage.say("the thief serves the project as it was")
    thief = stage.folder / "thief"
    shutil.copytree(project.folder, thief, symlinks=True)
    (thief / "keys" / "keyring").unlink()
    shutil.copy(stolen, thief / "keys" / "project.key")
    stage.fails(["is not the key that signed"], "quorate", "-C", thief, "serve",
                "--listen", "127.0.0.1:0")
    return f"{report['entries']} entries, {report['by_revoked']} by the stolen key"


if __name__ == "__main__":
    run(__doc__, test_keys)
