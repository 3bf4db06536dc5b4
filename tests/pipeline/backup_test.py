#!/usr/bin/env python3
"""A backup is taken while volunteers train; the server dies; the restored
project verifies, replays, and is trained to its end by the same volunteers.

Snapshots are published and removed all the time, backups are also killed half
way, and one volunteer joins after the backup: the restored project has never
heard of it. One more backup is taken of what the dead server left.
"""

import copy
import json
import random
import sqlite3
import stat
import subprocess
import time

from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)

KILLED = 8  # backups
PATIENCE = 120


def wait_for_share(project, share):
    wait_for(f"{share:.0%} of the run",
             lambda: project.admin("train-show", run=RUN)["progress"] >= share,
             PATIENCE, 0.02)


def kill_backups(stage, project):
    """What a killed backup leaves is refused, unless it was done already."""
    draw = random.Random(stage.seed)
    half = 0
    for number in range(KILLED):
        target = stage.folder / f"killed-{number}"
        child = subprocess.Popen(
            [str(stage.program("quorate")), "-C", str(project.folder),
             "backup", str(target)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=stage.environment)
        time.sleep(draw.uniform(0, 0.1))
        child.kill()
        child.wait(10)
        if (target / "SHA256SUMS").exists():
            continue
        half += target.exists()
        stage.run("quorate", "restore", target, stage.folder / "no", code=2)
        expect(not (stage.folder / "no").exists(), "a refused restore wrote")
    return half


def check_modes(folder):
    for path in [folder, *folder.glob("keys/*.key")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        expect(mode & 0o077 == 0, f"{path}: mode {mode:o}: others may read it")


def check_audit(project):
    """The project's ledger verifies and replays; returns its length."""
    verified = project.ask("verify-ledger", RUN)
    replayed = project.ask("replay", RUN)
    expect(verified["ok"] and replayed["ok"], f"{verified}, {replayed}")
    return verified["entries"], replayed


def entries_in(backup):
    """Of the ledger. A project that is opened, even for a command, may at once
    take in results that were validated."""
    with sqlite3.connect(f"file:{backup}/db/quorate.sqlite?immutable=1",
                         uri=True) as store:
        return store.execute("SELECT count(*) FROM ledger").fetchone()[0]


def restored_from(stage, project, backup):
    other = copy.copy(project)
    other.folder = stage.folder / f"from-{backup.name}"
    report = json.loads(stage.run("quorate", "restore", backup, other.folder,
                                  "--json"))
    expect("one" in report["warning"], f"restore warns of nothing: {report}")
    check_modes(other.folder)
    return other


def test_backup(stage):
    project = Project(stage, evaluate_every=0.1, evaluate_every_versions=2)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:64",
                       "--local-steps", 4, "--epochs", 8)
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(server).start()
                  for i in range(3)]
    wait_for_share(project, 0.1)
    half = kill_backups(stage, project)

    backups = [stage.folder / "linked", stage.folder / "copied"]
    project.order("backup", backups[0], "--link")
    report = project.ask("backup", backups[1])
    expect(not report["damaged"], f"backup: {report}")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"],
                   cwd=backups[1], check=True, timeout=60)
    expect("no project" in subprocess.run(
        [str(stage.program("quorate")), "-C", str(backups[1]), "serve"],
        capture_output=True, text=True, timeout=10, check=False,
        env=stage.environment).stderr, "a backup is served as a project")
    late = Volunteer(stage, "late").attach(server).start()
    wait_for("a result of the late volunteer", late.acknowledged, PATIENCE)
    wait_for_share(project, project.show()["progress"] + 0.1)
    lost = project.ledger()
    server.kill()

    stage.run("quorate", "restore", backups[1], project.folder, code=2)
    check_audit(restored_from(stage, project, backups[0]))
    dead = stage.folder / "dead"
    project.order("backup", dead)
    expect(check_audit(restored_from(stage, project, dead))[0] >= len(lost),
           "the backup after the server's death has lost entries")
    restored = restored_from(stage, project, backups[1])
    check_audit(restored)
    entries = entries_in(backups[1])
    server = Server(restored, port=server.port).start()
    stage.say(f"restored at ledger entry {entries} of {len(lost)}")
    expect(restored.ledger()[:entries] == lost[:entries] and
           entries < len(lost), "the restored ledger is no earlier one")
    shown = restored.wait_until_finished(2 * PATIENCE)
    invalid = [row for row in restored.results()
               if row["validate_state"] == "invalid"]
    expect(not invalid, f"honest results were rejected: {invalid}")
    restored.host_of(late)
    for volunteer in [*volunteers, late]:
        volunteer.stop()
    end = restored.ledger()[-1]
    server.stop()
    _, replayed = check_audit(restored)
    expect(end["kind"] == "end" and
           replayed["final_snapshot"] == end["parameters"],
           f"replay: {replayed}, the run ended with {end}")
    return (f"{entries} of {len(lost)} entries restored, finished at version "
            f"{shown['version']}, replay equal, {half} half backups refused")


if __name__ == "__main__":
    run(__doc__, test_backup)
