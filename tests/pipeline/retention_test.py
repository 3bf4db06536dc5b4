#!/usr/bin/env python3
"""What is kept, for how long, and what can still be checked afterwards.

A run ends; its unneeded payloads go, then its recorded updates, with the server
killed meanwhile; a run that goes on keeps what a purge needs, and after its end
what nobody could compute again. Files are made old by their time.
"""

import os
import random
import time

from support.project import (RUN, Failure, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

DAY = 86400
SOON = 0.000001  # days; a tenth of a second


def make_old(project, days):
    """As if nobody had used any object for so long."""
    then = time.time() - days * DAY
    for path in (project.folder / "objects").glob("??/*"):
        os.utime(path, (then, then))


def storage(project):
    """The project's folder: {what: row}, summed over runs."""
    told = project.ask("storage")
    rows = {}
    for row in told["rows"]:
        kept = rows.setdefault(row["what"], {"count": 0, "bytes": 0})
        kept["count"] += row["count"]
        kept["bytes"] += row["bytes"]
    files = sum(path.stat().st_size for path in project.folder.rglob("*")
                if path.is_file() and not path.is_symlink())
    expect(abs(told["total_bytes"] - files) < 1 << 20 and
           told["disk_free_bytes"] > 0,
           f"{files} bytes in the folder: {told}")
    return rows


def removed(server):
    return "objects_removed" in server.text()


def results_of(entries):
    return [entry for entry in entries if entry["kind"] == "result"]


def train(stage, attack, **settings):
    project = Project(stage, **settings)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:61,17",
                       "--batch", 50, "--local-steps", 10, "--quorum", 1,
                       "--epochs", 8)
    server = Server(project).start()
    attacker = Volunteer(stage, "mallory", "--attack", attack,
                         program="quorate-attacker").attach(server).start()
    # First the attacker: the honest one alone may have it all done before.
    wait_for("a false update", lambda: any(
        result["validate_state"] in ("valid", "invalid")
        for result in project.results()), 60)
    honest = Volunteer(stage, "ada").attach(server).start()
    return project, server, honest, attacker


def remove_with_kills(stage, project):
    """Sweeps with the server killed at random moments, until one is done; the
    ledger is in order at each of them. Returns the running server."""
    draw = random.Random(stage.seed)
    kills = 0
    while True:
        server = Server(project, name=f"sweep-{kills}").start()
        try:
            wait_for("the end of the sweep", lambda: removed(server),
                     draw.uniform(0, 0.3) if kills < 5 else 30)
        except Failure:
            expect(kills < 5, "the sweep does not come to its end")
            server.kill()
            kills += 1
            report = project.ask("verify-ledger", RUN)
            expect(report["ok"], f"after {kills} kills: {report}")
            continue
        left = project.ask("storage")["rows"]
        stage.say(f"swept after {kills} kills: " + ", ".join(
            f"{row['count']} {row['what']}" for row in left if row["run"]))
        return server


def check_without_updates(stage, project, entries, gone):
    """What docs/operator.md says of a run whose updates were removed."""
    report = project.ask("verify-ledger", RUN)
    expect(report["ok"] and report["entries"] == len(entries) and
           report["updates_removed"] == gone, f"verify-ledger: {report}")
    expect_words(project.order("verify-ledger", RUN), "keep_updates_days")
    stage.fails(["replay --recompute"], "quorate", "-C", project.folder,
                "replay", RUN)
    for command in (["replay", RUN, "--recompute"],
                    ["audit", RUN, "--sample", 0]):
        report = project.ask(*command)
        expect(report["ok"] and not report["false_results"] and
               report["recomputed"] >= gone and
               report["final_snapshot"] == entries[-1]["parameters"],
               f"{command}: {report}")
    model = stage.folder / "model.safetensors"
    project.order("export", RUN, "--out", model, "--force")
    expect(project.ask("verify-model", model)["ok"], "verify-model")


def test_ended_run(stage):
    project, server, honest, attacker = train(stage, "non-finite")
    project.wait_until_finished(240)
    honest.stop()
    attacker.stop()
    entries = project.ledger()
    updates = len(results_of(entries))
    rows = storage(project)
    rejected = rows["unnamed"]["count"]
    expect(rows["updates"]["count"] == updates > 64 and rejected > 0 and
           rows["tasks"]["count"] >= updates, f"storage: {rows}")
    expect_words(server.get("/metrics").decode(),
                 'quorate_storage_bytes{what="store"}',
                 "quorate_disk_free_bytes ")
    server.stop()
    expect(storage(project)["updates"] == rows["updates"],
           "other sizes without a server")

    # Rejected payloads go; everything else works as before.
    make_old(project, 31)
    server = Server(project, name="second").start()
    wait_for("the sweep", lambda: removed(server), 30)
    rows = storage(project)
    expect("unnamed" not in rows and rows["updates"]["count"] == updates,
           f"storage: {rows}")
    for command in ("verify-ledger", "replay"):
        expect(project.ask(command, RUN)["ok"], command)
    expect(project.ask("verify-ledger", RUN)["updates_removed"] == 0,
           "no update was removed")
    server.stop()

    project.set(keep_updates_days=SOON)
    server = remove_with_kills(stage, project)
    expect("updates" not in storage(project), "updates are left")
    check_without_updates(stage, project, entries, updates)
    copy = stage.folder / "backup"
    project.order("backup", copy)
    server.stop()
    stage.run("quorate", "restore", copy, stage.folder / "again")
    project.folder = stage.folder / "again"
    expect(project.ask("verify-ledger", RUN)["updates_removed"] == updates,
           "the backup does not know what was removed")

    # What else is missing is damage.
    project.object(entries[-1]["published"]).unlink()
    stage.fails(["ledger entry", "published model", "missing"], "quorate",
                "-C", project.folder, "verify-ledger", RUN)
    return (f"{rejected} payloads and {updates} updates went; replay "
            f"--recompute has the same model")


def test_purge(stage):
    project, server, honest, attacker = train(
        stage, "scaled", keep_updates_days=SOON, keep_payloads_days=SOON)
    wait_for("false results in the model", lambda: len(
        set(attacker.results_with("attack")) & {
            entry.get("result") for entry in project.ledger()}) >= 5, 120)
    # A sweep in the middle of the run, with every object old.
    for volunteer in (honest, attacker):
        volunteer.kill()
    server.kill()
    make_old(project, 1)
    server.start()
    wait_for("a sweep", lambda: b"quorate_storage_bytes" in
             server.get("/metrics"), 30)
    honest.start()
    attacker.start()
    host = project.host_of(attacker)["id"]
    project.order("host", "purge", host)
    wait_for("the revocation", lambda: any(
        entry["kind"] == "revocation" for entry in project.ledger()), 60)
    project.wait_until_finished(240)
    honest.stop()
    attacker.stop()
    entries = project.ledger()
    revoked = sum(len(entry["results"]) for entry in entries
                  if entry["kind"] == "revocation")
    for command in ("verify-ledger", "replay"):
        expect(project.ask(command, RUN)["ok"], command)
    server.stop()

    # Nobody could compute false updates again: they stay.
    make_old(project, 1)
    server = remove_with_kills(stage, project)
    kept = storage(project)["updates"]["count"]
    expect(kept == revoked > 0, f"{revoked} were revoked, {kept} are kept")
    check_without_updates(stage, project, entries,
                          len(results_of(entries)) - revoked)
    server.stop()
    return f"{revoked} updates were revoked after a sweep, and stay"


if __name__ == "__main__":
    run(__doc__, test_ended_run, test_purge)
