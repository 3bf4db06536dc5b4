#!/usr/bin/env python3
"""What operators order about single results, and the log of all orders.

Results are rejected, revoked, sent anew and cancelled while a run goes on; one
that nobody can recompute is taken, and marked wherever its model goes. The
server is killed in the middle of orders: each that was acknowledged is in the
log once, and its effect with it. What is removed from the log shows. Other
users of the machine may give orders, or only ask, if the settings name them.
"""

import contextlib
import http.client
import json
import os
import pathlib
import pty
import random
import sqlite3
import struct
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

KILLS = 3
WHY = ("--why", "a test")


def start(stage, **settings):
    project = Project(stage, house_workers=0, **settings)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--batch",
                       32, "--local-steps", 20, "--quorum", 2, "--epochs", 200)
    return project, Server(project).start()


def undecided(project):
    """Reported results whose unit waits for another user's."""
    return [row for row in project.results() if row["outcome"] == "success" and
            row["validate_state"] == "init"]


def state_of(project, unit):
    return next(row["state"] for row in project.workunits()
                if row["id"] == unit)


def answer_on_terminal(stage, project, text, *arguments):
    """Runs a command that asks, on a terminal; returns its exit code."""
    ours, its = pty.openpty()
    command = [str(stage.program("quorate")), "-C", str(project.folder),
               *map(str, arguments)]
    child = subprocess.Popen(command, stdin=its, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env=stage.environment)
    os.write(ours, f"{text}\n".encode())
    said = child.communicate(timeout=120)[1].decode()
    os.close(ours)
    os.close(its)
    expect_words(said, "Type yes to go on")
    return child.returncode


def expect_asked_for(stage, project, *order):
    """Without a terminal to ask on, it is refused."""
    silent = subprocess.run(
        [str(stage.program("quorate")), "-C", str(project.folder),
         *map(str, order)], stdin=subprocess.DEVNULL, text=True,
        capture_output=True, timeout=120, check=False, env=stage.environment)
    expect(silent.returncode == 2, f"without a terminal: {silent}")
    expect_words(silent.stderr, "--yes", "Nothing was changed")


def revoke(stage, project):
    done = wait_for("a result in the model", lambda: next(
        (entry["result"] for entry in project.ledger()
         if entry["kind"] == "result"), None), 60)
    order = ("result", "revoke", done, *WHY)
    expect_asked_for(stage, project, *order)
    expect(answer_on_terminal(stage, project, "no", *order) == 2, "a no")
    expect(not any(row["command"] == "result-revoke"
                   for row in project.ask("log")), "an order without a yes")
    expect(answer_on_terminal(stage, project, "yes", *order) == 0, "a yes")
    entry = wait_for("the revocation", lambda: next(
        (entry for entry in project.ledger()
         if entry["kind"] == "revocation"), None), 60)
    expect(entry["results"] == [done] and
           entry["reason"] == "revoked by the operator: a test", entry)
    return done


def test_results(stage):
    project, server = start(stage)
    ada = Volunteer(stage, "ada").attach(server).start()
    waiting = wait_for("three undecided results",
                       lambda: (undecided(project) + [None] * 3)[2] and
                       undecided(project), 60)
    rejected, cancelled, again = waiting[:3]
    row = project.ask("result", "reject", rejected["id"], *WHY)
    expect(row["result_state"] == "invalid" and
           row["workunit_state"] == "open", f"reject: {row}")
    project.order("workunit", "cancel", cancelled["workunit"], *WHY, "--yes")
    expect(state_of(project, cancelled["workunit"]) == "cancelled", "cancel")
    row = project.ask("workunit", "replicate", again["workunit"], "--results",
                      2, *WHY)
    expect(row["results"] == 2, f"replicate: {row}")
    row = project.ask("workunit", "reissue", again["workunit"], *WHY)
    expect(row["given_up"] == 3, f"reissue: {row}")
    for words, *order in (
            (["is invalid"], "result", "reject", rejected["id"]),
            (["house_workers"], "result", "accept", again["id"]),
            (["is cancelled"], "workunit", "reissue", cancelled["workunit"]),
            (["there is no result 999999"], "result", "reject", 999999)):
        stage.fails(words, "quorate", "-C", project.folder, *order, *WHY)

    others = [Volunteer(stage, name).attach(server).start()
              for name in ("bert", "carl")]
    done = revoke(stage, project)
    project.order("train", "stop", RUN, *WHY)
    for volunteer in (ada, *others):
        volunteer.stop()
    ledger = project.ledger()
    merged = {entry.get("result") for entry in ledger}
    expect(rejected["id"] not in merged, "a rejected result is in the model")
    expect(cancelled["id"] not in merged, "a cancelled unit is in the model")
    for command in ("verify-ledger", "replay"):
        expect(project.ask(command, RUN)["ok"], command)
    expect(project.ask("replay", RUN)["final_snapshot"] ==
           ledger[-1]["parameters"], "replay: other parameters")
    commands = [row["command"] for row in project.ask("log")]
    expect(commands == ["train-create", "result-reject", "workunit-cancel",
                        "workunit-replicate", "workunit-reissue",
                        "result-revoke", "train-stop"], f"log: {commands}")
    server.stop()
    return f"result {done} revoked, {len(ledger)} entries"


def allow_until_killed(project, server, count, wait):
    """Gives orders until the server is killed; returns those acknowledged."""
    acknowledged = []
    killer = threading.Timer(wait, server.kill)
    killer.start()
    try:
        while True:
            digits = f"{next(count):032x}"
            project.admin("peers-allow", project=digits, why=digits)
            acknowledged.append(digits)
    except (OSError, http.client.HTTPException, ValueError):
        return acknowledged
    finally:
        killer.join()


def test_log(stage):
    project, server = start(stage)
    draw = random.Random(stage.seed)
    count = iter(range(1, 1000))
    acknowledged = []
    for _ in range(KILLS):
        acknowledged += allow_until_killed(project, server, count,
                                           draw.uniform(0.1, 0.4))
        server.start()
    log = project.ask("log", "--limit", 100000)
    noted = [row["why"] for row in log if row["command"] == "peers-allow"]
    allowed = {row["project"] for row in project.ask("peers", "list")["allowed"]}
    expect(len(acknowledged) > KILLS, "hardly an order between two kills")
    expect(len(noted) == len(set(noted)), "an order is in the log twice")
    expect(set(acknowledged) <= set(noted), "an acknowledged order is lost")
    expect(set(noted) == allowed, "the log and what was done differ")
    stage.say(f"{len(acknowledged)} acknowledged, {len(noted)} noted, "
              f"{KILLS} kills")
    expect(project.ask("log", "--verify")["orders"] == len(log), "verify")
    expect(not project.ask("log", "--who", "nobody-at-all"), "--who")
    expect(len(project.ask("log", "--since", "1d")) == min(100, len(log)),
           "--since, --limit")
    stage.fails(["--since"], "quorate", "-C", project.folder, "log", "--since",
                "yesterday")
    server.stop()
    remove_from_log(stage, project, len(log))
    return f"{len(noted)} orders noted over {KILLS} kills"


def remove_from_log(stage, project, last):
    path = project.folder / "db/quorate.sqlite"
    for seq in (2, last):
        with contextlib.closing(sqlite3.connect(path)) as store, store:
            row = store.execute("SELECT * FROM orders WHERE seq = ?",
                                (seq,)).fetchone()
            store.execute("DELETE FROM orders WHERE seq = ?", (seq,))
        stage.fails([f"order {seq}: it is missing"], "quorate", "-C",
                    project.folder, "log", "--verify")
        with contextlib.closing(sqlite3.connect(path)) as store, store:
            store.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
        project.order("log", "--verify")


def metadata(path):
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    return json.loads(raw[8:8 + size])["__metadata__"]


def export_and_verify(stage, project, least):
    """A version from this one on, as a file; what verify-model says of it."""
    wait_for("an evaluated version", lambda: (
        project.show()["evaluated_version"] or 0) >= least, 120, 0.3)
    model = stage.folder / "model.safetensors"
    project.order("export", RUN, "--version", "last", "--out", model, "--force")
    checked = subprocess.run(
        [str(stage.program("quorate")), "-C", str(project.folder),
         "verify-model", str(model)], text=True, capture_output=True,
        timeout=120, check=False, env=stage.environment)
    return metadata(model), checked.returncode, checked.stdout + checked.stderr


def test_unverified(stage):
    """Nobody can recompute a result, and the operator takes it all the same."""
    project, server = start(stage)
    ada = Volunteer(stage, "ada").attach(server).start()
    taken = wait_for("an undecided result",
                     lambda: (undecided(project) or [None])[0], 60)["id"]
    order = ("result", "accept", taken, "--unverified", *WHY)
    expect_asked_for(stage, project, *order)
    expect(project.ask(*order, "--yes")["result_state"] == "valid", "accept")
    server.kill()
    project.set(house_workers=1)
    server.start()
    entry = next(entry for entry in project.ledger()
                 if entry["kind"] == "result")
    expect(entry["result"] == taken and entry["basis"] == "unverified", entry)
    expect_words(project.order("status"), f"not verified: 1 of its results was "
                 f"accepted without recomputation: {taken}")
    said, code, text = export_and_verify(stage, project, 1)
    expect(said["quorate.not_verified"].startswith("1 result"), said)
    expect(code != 0, f"verify-model took it: {text}")
    expect_words(text, f"result {taken} (ledger entry {entry['seq']})",
                 "quorate result revoke")
    expect(project.ask("replay", RUN)["ok"], "replay")
    audited = project.ask("audit", RUN, "--sample", 0)
    expect(audited["ok"] and audited["recomputed"] == 1, audited)

    project.order("result", "revoke", taken, *WHY, "--yes")
    out = wait_for("the revocation", lambda: next(
        (entry for entry in project.ledger()
         if entry["kind"] == "revocation"), None), 60)
    said, code, text = export_and_verify(stage, project, out["version_after"])
    expect(code == 0 and "quorate.not_verified" not in said, f"{text} {said}")
    project.order("train", "stop", RUN, *WHY)
    ada.stop()
    expect(project.ask("replay", RUN)["final_snapshot"] ==
           project.ledger()[-1]["parameters"], "replay: other parameters")
    log = project.ask("log")
    expect([(row["command"], row["why"]) for row in log[1:]] ==
           [("result-accept", "a test"), ("result-revoke", "a test"),
            ("train-stop", "a test")], log)
    server.stop()
    return f"result {taken} taken unverified, and revoked"


def run_as(stage, project, user, *arguments):
    done = subprocess.run(
        [str(stage.program("quorate")), "-C", str(project.folder),
         *map(str, arguments)], user=user, group="nogroup", extra_groups=[],
        text=True, capture_output=True, timeout=120, check=False,
        cwd="/", env=stage.environment)
    return done.returncode, done.stdout + done.stderr


def test_operators(stage):
    if os.geteuid() != 0:
        return "not root: other users are not tried"
    os.chmod(stage.folder, 0o711)
    project, server = start(stage)
    code, said = run_as(stage, project, "nobody", "status")
    expect(code != 0, f"a stranger asks: {said}")
    server.stop()
    project.set(operators='["daemon"]', guests='["nobody"]')
    server.start()
    code, said = run_as(stage, project, "nobody", "status")
    expect(code == 0, f"a guest may not ask: {said}")
    code, said = run_as(stage, project, "nobody", "train", "pause", RUN)
    expect(code != 0, "a guest paused a run")
    expect_words(said, "user nobody is a guest")
    code, said = run_as(stage, project, "sys", "status")
    expect(code != 0, "a stranger may ask")
    expect_words(said, "user sys may not")
    code, said = run_as(stage, project, "daemon", "train", "pause", RUN)
    expect(code == 0, f"an operator may not order: {said}")
    row = project.ask("log")[-1]
    expect(row["who"] == "daemon" and row["command"] == "train-pause", row)
    server.stop()
    return "owner, operator, guest and stranger"


if __name__ == "__main__":
    run(__doc__, test_results, test_unverified, test_log, test_operators)
