#!/usr/bin/env python3
"""Leaving and coming back: clients and the server, asked politely.

SIGTERM while a client computes: it leaves within about two seconds, and its
next start goes on with the same result from where it was. Pause and resume do
the same without leaving. --once reports one result and leaves. SIGTERM for the
server with volunteers waiting in long polls: it leaves within seconds with exit
code 0, and the volunteers come back to it by themselves.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import Project, Server, Volunteer, expect, run, wait_for

LEAVE_SECONDS = 2.5  # "about two": the machine may be busy
SERVER_LEAVE_SECONDS = 5


def busy_project(stage, quorum):
    """A run whose units take a volunteer at 15 % several seconds."""
    project = Project(stage, lease=30)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:512",
                       "--local-steps", 160, "--epochs", 20,
                       "--quorum", quorum)
    server = Server(project, "--house-workers", 0).start()
    return project, server


def computing(volunteer):
    """The task that the volunteer computes, once it has done some steps."""
    def found():
        for task in volunteer.status()["tasks"]:
            if task["state"] == "computing" and 20 <= task["step"] <= 110:
                return task
        return None
    return wait_for(f"{volunteer.name}: some steps of a unit", found, 60)


def test_client(stage):
    project, server = busy_project(stage, quorum=1)
    volunteer = Volunteer(stage, "vera", "--cpu-percent", 15)
    volunteer.attach(server).start()

    task = computing(volunteer)
    seconds = volunteer.stop()
    expect(seconds < LEAVE_SECONDS, f"SIGTERM: it took {seconds:.2f} s")
    stage.expect_only([server])
    stage.say(f"SIGTERM at step {task['step']} of {task['steps']}: left after "
              f"{seconds:.2f} s, and so did its worker")

    expect(task["result"] not in volunteer.acknowledged(), "too late a stop")
    volunteer.start()
    first = wait_for(
        "going on", lambda: next(
            (t for t in volunteer.status()["tasks"]
             if t["result"] == task["result"] and t["steps"] > 0), None), 30)
    expect(first["step"] >= task["step"],
           f"it was at step {task['step']} and began again at {first['step']}")
    wait_for("the interrupted result",
             lambda: task["result"] in volunteer.acknowledged(), 60)
    stage.say(f"result {task['result']} went on at step {first['step']} or "
              f"before, and was reported")

    task = computing(volunteer)
    volunteer.order("pause")
    wait_for("the pause", lambda: all(
        t["state"] != "computing" for t in volunteer.status()["tasks"]), 5)
    reported = len(volunteer.acknowledged())
    time.sleep(3)
    expect(len(volunteer.acknowledged()) == reported and all(
        t["state"] != "computing" for t in volunteer.status()["tasks"]),
        "it computes while it is paused")
    volunteer.order("resume")
    wait_for("the paused result",
             lambda: task["result"] in volunteer.acknowledged(), 60)
    stage.say(f"pause at step {task['step']}, resume: result {task['result']} "
              f"was reported")
    volunteer.stop()

    once = Volunteer(stage, "otto", "--once").attach(server).start()
    code = once.child.wait(60)
    expect(code == 0, f"--once: exit code {code}: {once.last_line()}")
    expect(len(once.acknowledged()) == 1,
           f"--once: {len(once.acknowledged())} results")
    stage.say("--once: one result, exit code 0")
    server.stop()
    invalid = [r for r in project.results() if r["validate_state"] == "invalid"]
    expect(not invalid, f"rejected: {invalid}")
    return f"client left {seconds:.2f} s after SIGTERM, --once, pause"


def test_server(stage):
    project, server = busy_project(stage, quorum=2)
    # Quorum 2, two tasks a host: some wait for work, some compute.
    volunteers = [Volunteer(stage, name, "--cpu-percent", 25)
                  .attach(server).start() for name in ("ada", "bert", "carl")]
    wait_for("results of all", lambda: all(
        v.acknowledged() for v in volunteers), 90, 0.3)
    project.order("train", "pause", "first")
    # Without new work everybody ends up in a long poll.
    wait_for("everybody waiting", lambda: all(
        t["state"] == "reported" for v in volunteers
        for t in v.status()["tasks"]), 90, 0.3)
    waiting = server.stop()
    expect(waiting < SERVER_LEAVE_SECONDS,
           f"server: left {waiting:.2f} s after SIGTERM")
    stage.say(f"server with {len(volunteers)} long polls: left after "
              f"{waiting:.2f} s")
    time.sleep(1)
    server.start()
    project.order("train", "resume", "first")
    before = [len(v.acknowledged()) for v in volunteers]
    wait_for("results of all after the restart", lambda: all(
        len(v.acknowledged()) > n for v, n in zip(volunteers, before)), 90, 0.3)
    stage.say("all volunteers came back by themselves and reported again")
    busy = server.stop()
    expect(busy < SERVER_LEAVE_SECONDS,
           f"server: left {busy:.2f} s after SIGTERM")
    for volunteer in volunteers:
        seconds = volunteer.stop()
        expect(seconds < LEAVE_SECONDS,
               f"{volunteer.name}: left {seconds:.2f} s after SIGTERM, "
               f"without a server")
    stage.expect_only([])
    return (f"server left after {waiting:.2f} s waiting and {busy:.2f} s at "
            f"work")


if __name__ == "__main__":
    run(__doc__, test_client, test_server)
