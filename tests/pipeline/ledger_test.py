#!/usr/bin/env python3
"""A volunteer keeps a copy of a run's ledger and receipts; the project goes
back to an older state and trains on from there. The copy and the receipts show
that its history is another one now."""

import json
import shutil

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)


def page(server, first, limit=1):
    return server.get(f"/v1/runs/{RUN}/ledger?from={first}&limit={limit}")


def train(stage, server, name, entries):
    """A volunteer who leaves again when the ledger has more than so many."""
    volunteer = Volunteer(stage, name).attach(server).start()
    wait_for("entries", lambda: volunteer.acknowledged() and
             page(server, entries), 90)
    volunteer.stop()
    return volunteer


def fetch(volunteer, file):
    return json.loads(volunteer.order("ledger", RUN, "--out", file, "--json"))


def check_pages(server, file):
    """Pages of any size, put together, are the file; no cache shows old ones."""
    connection = server.connection()
    connection.request("GET", f"/v1/runs/{RUN}/ledger")
    expect(connection.getresponse().headers["Cache-Control"] == "no-store",
           "caches may keep it")
    connection.close()
    text = file.read_bytes()
    lines = text.splitlines(keepends=True)
    pages = [page(server, first, 3) for first in range(0, len(lines), 3)]
    # It may have grown since.
    expect(b"".join(pages).startswith(text), "not the lines of the pages")
    expect(page(server, 1) == lines[2], "not one entry")
    expect(page(server, 10**9) == b"", "something beyond the end")
    expect_words(page(server, 0, 0).decode(), "limit", "from 1")


def test_ledger(stage):
    project = Project(stage, house_workers=0)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--local-steps", 4, "--epochs", 400)
    server = Server(project).start()
    ann = train(stage, server, "ann", 5)
    file = stage.folder / "first.ledger"
    before = fetch(ann, file)
    expect(before["entries"] == before["new"] > 4 and before["receipts"] == 0,
           f"{before}")
    check_pages(server, file)
    old_receipt = stage.folder / "old.receipt"
    ann.order("receipt", "--out", old_receipt)
    server.stop()
    old = stage.folder / "old"
    shutil.copytree(project.folder, old)

    stage.say("the copy goes on with the run, and fits the receipts")
    server = Server(project, port=server.port, name="second").start()
    train(stage, server, "bob", before["entries"] + 4)
    new_receipt = stage.folder / "new.receipt"
    ann.order("receipt", "--out", new_receipt)
    after = fetch(ann, file)
    expect(after["entries"] == before["entries"] + after["new"] and
           after["new"] >= 4 and after["receipts"] == 2, f"{after}")
    expect_words(ann.order("ledger", RUN, "--out", file), "every one is sealed",
                 "2 receipts")
    server.stop()

    stage.say("the project is as it was before: entries are missing")
    shutil.rmtree(project.folder)
    old.rename(project.folder)
    kept = file.read_bytes()
    server = Server(project, port=server.port, name="third").start()
    fetch_to = ["ledger", RUN, "--dir", ann.folder, "--out"]
    stage.fails(["another history", "not there any more", "keep that file"],
                ann.program, *fetch_to, file)
    shown = stage.folder / "shown.ledger"
    stage.fails(["1 of the 2 receipts", "had"], ann.program, *fetch_to, shown)
    check = ["receipt", "--dir", ann.folder, "--ledger", shown, "--check"]
    stage.run(ann.program, *check, old_receipt)
    stage.fails(["fetch the rest"], ann.program, *check, new_receipt)

    stage.say("and others take their place")
    train(stage, server, "cid", after["entries"])
    stage.fails(["another history", "has the hash"], ann.program, *fetch_to,
                file)
    expect(file.read_bytes() == kept, "the evidence was overwritten")
    stage.fails(["1 of the 2 receipts", "has the hash"], ann.program,
                *fetch_to, shown)
    stage.run(ann.program, *check, old_receipt)
    stage.fails(["changed the history"], ann.program, *check, new_receipt)
    server.stop()
    return f"{after['entries']} entries"


if __name__ == "__main__":
    run(__doc__, test_ledger)
