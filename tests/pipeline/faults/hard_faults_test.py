#!/usr/bin/env python3
"""Disks that fill up or rot, programs that die, servers that go away.

Each fault must be told in words that name what, where and what to do, cost
nothing that was acknowledged, and be over once its cause is gone. As root with
`unshare`, full disks are small file systems of our own; without, those tests
are skipped. See refusals_test.py for what a person can get wrong.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.invariants import check_end, check_results, check_units
from support.project import (RUN, Project, Server, Skip, Volunteer, expect,
                             expect_words, run, wait_for)

SAMPLES = 4096
OWN_MOUNTS = "QUORATE_OWN_MOUNTS"  # set: this process may mount what it likes


def make_project(stage, epochs, **settings):
    project = Project(stage, **settings)
    project.add_glyphs(SAMPLES)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       2, "--local-steps", 8, "--batch", 32, "--epochs",
                       epochs)
    return project


def join(stage, server, *names):
    return [Volunteer(stage, name).attach(server).start() for name in names]


def expect_progress(volunteers, what):
    before = [len(v.acknowledged()) for v in volunteers]
    wait_for(f"{what}: a result of everybody", lambda: all(
        len(v.acknowledged()) > n for v, n in zip(volunteers, before)), 40)


def finish(stage, project, server, volunteers, epochs):
    """The run ends well, and all books are in order."""
    project.wait_until_finished(120)
    for volunteer in volunteers:
        if volunteer.is_running():
            volunteer.stop()
    entries = project.ledger()
    server.stop()
    stage.expect_only([])
    acknowledged, _ = check_results(project, volunteers)
    check_units(project, entries, epochs * SAMPLES)
    check_end(project, entries)
    return acknowledged


def flip(data):
    return data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[
        len(data) // 2 + 1:]


def cut_short(data):
    return data[:len(data) // 2]


def damage(paths, change):
    """Changes files; returns what they were."""
    before = {path: path.read_bytes() for path in paths if path.exists()}
    expect(before, "nothing to damage")
    for path, data in before.items():
        path.write_bytes(change(data))
    return before


def restore(before):
    for path, data in before.items():
        path.write_bytes(data)


def objects_of_open_units(project, kind):
    units = [unit["object"] for unit in project.workunits()
             if unit["state"] == "open"]
    return [project.object(digest) for digest in
            {project.task(unit)[kind] for unit in units}]


def last_snapshot(project):
    """What a server that starts rebuilds the model from."""
    entry = [e for e in project.ledger() if e["kind"] in ("run", "snapshot")][-1]
    return project.object(entry.get("parameters") or entry["initial"])


def test_damaged_server_objects(stage):
    project = make_project(stage, 16)
    server = Server(project, "--house-workers", 0).start()
    everybody = join(stage, server, "ada", "bert")
    expect_progress(everybody, "at first")
    for kind, change in (("shard", flip), ("snapshot", cut_short)):
        for volunteer in everybody:
            if volunteer.is_running():
                volunteer.stop()
        before = damage(objects_of_open_units(project, kind), change)
        fresh = join(stage, server, f"{kind}-1", f"{kind}-2")
        shown = wait_for(f"damaged {kind}: a pause", lambda: next(
            (s for s in [project.show()] if s["state"] == "paused"), None), 20)
        expect_words(shown["reason"], "changed on disk", project.folder,
                     "bring the file back from a backup",
                     f"quorate train resume {RUN}")
        restore(before)
        project.order("train", "resume", RUN)
        expect_progress(fresh, f"{kind} restored")
        everybody += fresh
    for volunteer in everybody:
        if volunteer.is_running():
            volunteer.stop()
    published = last_snapshot(project)  # nobody reports: it stays the last
    server.kill()
    before = damage([published], flip)
    server.start()  # for its other runs
    shown = project.show()
    expect(shown["state"] == "paused", f"the run is {shown['state']}")
    expect_words(shown["reason"], "changed on disk", project.folder,
                 "bring the file back from a backup", "start the server again")
    server.kill()
    restore(before)
    server.start()
    for volunteer in everybody:
        if not volunteer.is_running():
            volunteer.start()
    kept = finish(stage, project, server, everybody, 16)
    return f"damaged objects of the server: {kept} acknowledged results kept"


def test_damaged_client_cache(stage):
    project = make_project(stage, 6)
    server = Server(project, "--house-workers", 0).start()
    volunteers = join(stage, server, "ada", "bert")
    for change in (flip, cut_short):
        expect_progress(volunteers, "before the damage")
        for volunteer in volunteers:
            volunteer.stop()
            damage(list(volunteer.folder.glob("projects/*/objects/*")), change)
            volunteer.start()
    kept = finish(stage, project, server, volunteers, 6)
    hosts = {host["user"]: host for host in project.ask("hosts")}
    expect(all(hosts[v.name]["errors"] == 0 for v in volunteers),
           f"a damaged cache cost results: {hosts}")
    expect_words(volunteers[0].text(), "object_changed_on_disk file=")
    return f"damaged caches of clients: {kept} acknowledged results kept"


def test_house_worker_dies(stage):
    project = make_project(stage, 12)
    server = Server(project, "--house-workers", 1).start()
    for _ in range(2):
        before = project.show()["version"]
        worker = wait_for("a house worker", server.workers, 20)[0]
        os.kill(worker, signal.SIGKILL)
        wait_for("new versions", lambda: project.show()["version"] > before,
                 30)
    expect_words(server.text(), "house worker failed", "has ended")
    finish(stage, project, server, [], 12)
    return "a house worker killed twice: the run finished"


def finished_results(volunteers):
    """What is computed, in a client's hands, and unknown to the server."""
    return {task["result"] for v in volunteers for task in v.status()["tasks"]
            if task["state"] in ("computed", "uploading", "reporting")
            and task["result"] not in v.acknowledged()}


def test_server_away(stage):
    project = make_project(stage, 6)
    server = Server(project, "--house-workers", 0).start()
    volunteers = join(stage, server, "ada", "bert")
    expect_progress(volunteers, "at first")
    server.kill()
    held = wait_for("finished results in hand",
                    lambda: finished_results(volunteers), 20)
    expect_words(volunteers[0].text() + volunteers[1].text(),
                 "project_unreachable", "Couldn't connect")
    time.sleep(600 if stage.is_long else 5)
    expect(held <= finished_results(volunteers),
           "a finished result was given up")
    server.start()
    # Of one, the acknowledgement may have been lost when the server died.
    wait_for("the results that were held", lambda: held <= {
        row["id"] for row in project.results()
        if row["outcome"] == "success"}, 90, 0.3)
    kept = finish(stage, project, server, volunteers, 6)
    return (f"server away: {len(held)} finished results were held and "
            f"delivered, {kept} acknowledged ones kept")


def test_diverged(stage):
    project = Project(stage)
    project.add_glyphs(SAMPLES)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       2, "--lr", 1000000, "--weight-decay", 1)
    server = Server(project, "--house-workers", 0).start()
    volunteers = join(stage, server, "ada", "bert")
    shown = wait_for("a pause", lambda: next(
        (s for s in [project.show()] if s["state"] == "paused"), None), 20)
    expect_words(shown["reason"], "diverged in unit", "lower --lr")
    for volunteer in volunteers:
        volunteer.stop()
    for host in project.ask("hosts"):
        expect(host["invalid"] == 0 and host["errors"] == 0,
               f"diverged: a host was blamed: {host}")
    server.stop()
    return "--lr 1e6: the run paused with advice, nobody was blamed"


def test_clock_jumps(stage):
    """The wall clock of all machines, while they run."""
    library = next(pathlib.Path("/usr/lib").glob(
        "*/faketime/libfaketimeMT.so.1"), None)
    if not library:
        raise Skip("jumps of the clock: needs the package faketime")
    clock = stage.folder / "clock"
    clock.write_text("+0")
    stage.environment.update(
        LD_PRELOAD=str(library), FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1")
    project = make_project(stage, 12)
    server = Server(project, "--house-workers", 0).start()
    volunteers = join(stage, server, "ada", "bert")
    for jump in ("+1h", "-2d", "+3650d", "-3650d", "+0"):
        clock.write_text(jump)
        expect_progress(volunteers, f"clock at {jump}")
    kept = finish(stage, project, server, volunteers, 12)
    past = time.gmtime(time.time() - 3650 * 86400)
    expect_words(volunteers[0].text(), time.strftime("%Y-%m-", past))
    outcomes = {row["outcome"] for row in project.results()}
    expect(outcomes == {"success"}, f"a jump ended a lease: {outcomes}")
    return f"a clock that jumps by hours and years: {kept} results kept"


class SmallDisk:
    """A file system of its own on a folder, which can be filled."""

    def __init__(self, folder, size_mb):
        if not os.environ.get(OWN_MOUNTS):
            raise Skip("full disks: needs root and unshare")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.filler = folder / "filler"
        subprocess.run(["mount", "-t", "tmpfs", "-o",
                        f"size={size_mb}m,mode=0755",
                        "tmpfs", str(folder)], check=True)

    def fill(self, leave_mb=0):
        """Until no more than this is free."""
        with open(self.filler, "ab", buffering=0) as file:
            try:
                while shutil.disk_usage(self.folder).free > leave_mb << 20:
                    file.write(b"\0" * 4096)
            except OSError:  # somebody else wrote at the same time
                pass

    def free(self):
        self.filler.unlink()


def test_full_disk_of_server(stage):
    disk = SmallDisk(stage.folder / "project", 48)
    # Without the program for BOINC clients, which would be half of it.
    project = make_project(stage, 6, disk_reserve_mb=8, boinc="false")
    server = Server(project, "--house-workers", 0).start()
    volunteers = join(stage, server, "ada", "bert")
    expect_progress(volunteers, "at first")
    disk.fill(leave_mb=4)
    # Of one, if the other is the witness of every unit meanwhile.
    wait_for("uploads refused", lambda: any(
        "disk is nearly full" in v.text() for v in volunteers), 15)
    expect(server.is_up(), "a nearly full disk stopped the server")
    disk.fill()
    code = wait_for("the server's end", lambda: server.child.poll(), 60)
    expect(code == 1, f"server on a full disk: exit code {code}")
    expect_words(server.last_line(), "the store failed", "quorate.log",
                 "free some space or repair the disk")
    disk.free()
    server.start()
    kept = finish(stage, project, server, volunteers, 6)
    return f"full disk of the server: {kept} acknowledged results kept"


def test_full_disk_of_client(stage):
    disk = SmallDisk(stage.folder / "ada", 100)
    project = make_project(stage, 6)
    server = Server(project, "--house-workers", 0).start()
    ada, bert = join(stage, server, "ada", "bert")
    expect_progress([ada, bert], "at first")
    disk.fill(leave_mb=40)
    wait_for("the client's word", lambda: "too little disk at" in
             ada.status()["trouble"], 40)
    disk.fill()
    time.sleep(1)
    disk.free()
    # Where its own books do not fit it ends, else it tries again.
    if not ada.is_running():
        expect_words(ada.last_line(), "No space left on device", ada.folder)
        expect(ada.child.returncode == 1, "a full disk: exit code "
               f"{ada.child.returncode}")
        ada.start()
    kept = finish(stage, project, server, [ada, bert], 6)
    return f"full disk of a client: {kept} acknowledged results kept"


def with_own_mounts():
    """Starts this program anew where its mounts are its own, if it may."""
    may_not = os.environ.get(OWN_MOUNTS) or subprocess.run(
        ["unshare", "--mount", "true"], check=False,
        stderr=subprocess.DEVNULL).returncode
    if not may_not:
        os.environ[OWN_MOUNTS] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


if __name__ == "__main__":
    with_own_mounts()
    run(__doc__, test_damaged_server_objects, test_damaged_client_cache,
        test_house_worker_dies, test_server_away, test_diverged,
        test_clock_jumps, test_full_disk_of_server,
        test_full_disk_of_client, at_once=True)
