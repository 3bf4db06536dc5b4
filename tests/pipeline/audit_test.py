#!/usr/bin/env python3
"""Recomputing a run from its sealed units: replay --recompute, audit.

Runs under quorum 1, so that what an attacker sends is in the ledger: an audit
finds it, each result of it and no other; every device of this machine comes to
the final model of the run; an audit that is killed goes on where it was.
"""

import json
import pathlib
import signal
import subprocess
import time

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

DEVICES = ["reference", "cpu:avx2", "cpu:avx512", "opencl:0"]


def train(stage, *volunteers, epochs=3, steps=20, rule="vc-asgd"):
    """A finished run of these volunteers; the server is up."""
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:61,17",
                       "--batch", 50, "--local-steps", steps, "--quorum", 1,
                       "--rule", rule, "--epochs", epochs)
    server = Server(project).start()
    for volunteer in volunteers:
        volunteer.attach(server).start()
    project.wait_until_finished(240)
    for volunteer in volunteers:
        volunteer.stop()
    return project, server


def results_of(entries):
    return [entry for entry in entries if entry["kind"] == "result"]


def devices(stage):
    listed = json.loads(stage.run("quorate-worker", "--list-devices",
                                  "--json"))
    there = {device["name"] for device in listed["devices"]}
    for device in DEVICES:
        if device in there:
            yield device
        else:
            print(f"skipped: audit_test: {device}: not on this machine")


def check_devices(stage, rule):
    """Every device: the live run's final hash, and no false result."""
    project, server = train(stage, Volunteer(stage, "ada"),
                            Volunteer(stage, "bert"), epochs=1, rule=rule)
    entries = project.ledger()
    server.stop()
    final = entries[-1]["parameters"]
    expect(project.ask("replay", RUN)["final_snapshot"] == final, "replay")
    used = []
    for device in devices(stage):
        began = time.monotonic()
        report = project.ask("replay", RUN, "--recompute", "--device", device)
        expect(report["ok"] and not report["false_results"] and
               report["recomputed"] == len(results_of(entries)) and
               report["final_snapshot"] == final, f"{device}: {report}")
        used.append(device)
        stage.say(f"{device}: {report['recomputed']} units recomputed, "
                  f"{time.monotonic() - began:.1f} s, of which computing "
                  f"{report['computing_seconds']:.1f} s")
    expect(not list((project.folder / "audit").iterdir()), "files are left")
    return project, entries, used


def explain(stage, project, entry, device):
    """No operation of the unit differs between the device and the CPU."""
    unit = stage.folder / "unit"
    unit.write_bytes(project.sealed_task(entry["workunit"]))
    task = project.task(entry["workunit"])
    said = stage.run("quorate-worker", "--explain", unit, "--snapshot",
                     project.object(task["snapshot"]), "--shard",
                     project.object(task["shard"]), "--device", device,
                     "--against", "cpu")
    expect_words(said, f"no difference: {task['steps']} steps")


def test_devices(stage):
    project, entries, used = check_devices(stage, "vc-asgd")
    for device in used:  # version 0 is always kept
        explain(stage, project, next(e for e in results_of(entries)
                                     if e["base_version"] == 0), device)
    # Updates that are no longer kept are computed anew.
    gone = [entry["update"] for entry in results_of(entries)[2::3]]
    for update in gone:
        project.object(update).unlink()
    stage.fails(["update of result", "missing"], "quorate", "-C",
                project.folder, "replay", RUN)
    report = project.ask("audit", RUN, "--sample", 0)
    expect(report["recomputed"] == len(gone) and report["ok"] and
           report["final_snapshot"] == entries[-1]["parameters"],
           f"without updates: {report}")
    return f"{len(entries)} entries, the same model on {', '.join(used)}"


def test_devices_in_rounds(stage):
    _, entries, used = check_devices(stage, "diloco")
    return f"{len(entries)} entries, the same model on {', '.join(used)}"


def test_false_results(stage):
    attacker = Volunteer(stage, "mallory", "--attack", "scaled",
                         program="quorate-attacker")
    project, server = train(stage, Volunteer(stage, "ada"), attacker)
    entries = results_of(project.ledger())
    host = project.host_of(attacker)["id"]
    honest = next(row["id"] for row in project.ask("hosts")
                  if row["user"] == "ada")
    sent = set(attacker.results_with("attack"))
    false = sorted(entry["result"] for entry in entries
                   if entry["result"] in sent)
    expect(false and len(false) < len(entries), f"in the ledger: {false}")

    told = json.loads(project.stage.run(
        "quorate", "-C", project.folder, "audit", RUN, "--sample", 1,
        "--json", code=1))
    expect([row["result"] for row in told["false_results"]] == false,
           f"expected {false}: {told}")
    for row in told["false_results"]:
        entry = next(e for e in entries if e["result"] == row["result"])
        # Only the update is false: the path is left behind the last step.
        expect(row["host"]["id"] == host and row["entry"] == entry["seq"] and
               row["first_step"] == row["last_step"] == entry["samples"] // 50,
               f"false result: {row}")
    expect(not told["ok"] and told["recomputed"] == len(entries) and
           "is false" in told["first_difference"], f"audit: {told}")
    stage.fails([f"{len(false)} of {len(entries)}",
                 f"quorate replay {RUN} --without-result {false[0]}"],
                "quorate",
                "-C", project.folder, "audit", RUN, "--sample", 1)
    server.stop()

    # The attacker's alone, and a part of them, without a server.
    told = json.loads(stage.run(
        "quorate", "-C", project.folder, "audit", RUN, "--sample", 1, "--host",
        host, "--json", code=1))
    expect(told["recomputed"] == len(false) == len(told["false_results"]),
           f"audit of one host: {told}")
    drawn = project.ask("audit", RUN, "--sample", 0.5, "--seed", 7, "--host",
                        honest)
    again = project.ask("audit", RUN, "--sample", 0.5, "--seed", 7, "--host",
                        honest)
    expect(drawn["recomputed"] == again["recomputed"] > 0 and drawn["ok"] and
           drawn["recomputed"] < len(entries) - len(false),
           f"the same draw: {drawn}, {again}")

    out = stage.folder / "without.safetensors"
    without = project.ask("replay", RUN, "--without-host", host, "--out", out)
    expect(without["left_out"] == len(false) and out.stat().st_size > 1000 and
           without["final_snapshot"] != told["final_snapshot"] and
           without["version"] == told["version"], f"without: {without}")
    alone = project.ask("replay", RUN, *(part for one in false for part in
                                         ("--without-result", one)))
    expect(alone["final_snapshot"] == without["final_snapshot"] and
           alone["left_out"] == len(false), f"without results: {alone}")
    stage.fails(["result 999999: it is not in the model"], "quorate", "-C",
                project.folder, "replay", RUN, "--without-result", 999999)
    stage.fails(["this file exists"], "quorate", "-C", project.folder,
                "replay", RUN, "--without-host", host, "--out", out)
    return f"{len(false)} of {len(entries)} results false, each found"


def test_interruptions(stage):
    project, server = train(stage, Volunteer(stage, "ada"), epochs=6)
    entries = project.ledger()
    server.stop()
    command = [str(stage.program("quorate")), "-C", str(project.folder),
               "replay", RUN, "--recompute", "--device", "reference", "--json"]
    store = project.folder / "db/quorate.sqlite"
    before = store.read_bytes()

    def progress():
        for file in (project.folder / "audit").glob("*/progress.json"):
            return json.loads(file.read_text())
        return {"entries": 0, "recomputed": 0}

    done = 0
    kills = [signal.SIGINT, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]
    for kill in kills:
        child = subprocess.Popen(command, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True,
                                 env=stage.environment)
        wait_for("progress", lambda: child.poll() is not None or
                 progress()["recomputed"] > done, 60)
        expect(child.poll() is None, "it ended before it was interrupted")
        child.send_signal(kill)
        _, said = child.communicate(timeout=30)
        expect(child.returncode == (-9 if kill == signal.SIGKILL else 1),
               f"after {kill}: {child.returncode}: {said}")
        if kill != signal.SIGKILL:
            expect_words(said, "interrupted at entry", "continues from there")
        expect(progress()["recomputed"] > done, f"after {kill}: lost")
        done = progress()["recomputed"]
    [file] = (project.folder / "audit").glob("*/progress.json")
    kept = file.read_text()
    file.write_text(kept.replace(progress()["last"], "0" * 64))
    stage.fails(["is not the one that was audited before", "start again"],
                *map(str, ["quorate", *command[1:]]))
    file.write_text(kept)
    report = json.loads(stage.run("quorate", *command[1:]))
    expect(report["ok"] and report["final_snapshot"] ==
           entries[-1]["parameters"] and
           report["recomputed"] == len(results_of(entries)),
           f"in the end: {report}")
    expect(not list(pathlib.Path(project.folder / "audit").iterdir()),
           "files are left")
    expect(store.read_bytes() == before, "the store was written")
    return f"{len(kills)} interruptions, {report['recomputed']} recomputed"


if __name__ == "__main__":
    run(__doc__, test_devices, test_devices_in_rounds, test_false_results,
        test_interruptions)
