#!/usr/bin/env python3
"""What a newcomer meets: the client says what it waits for, whom it means, and
what became of what it needs."""

import shutil
import signal

from support.project import (Project, Server, Volunteer, expect, expect_words,
                             run, wait_for)


def headline(volunteer, expected):
    return wait_for(f"{volunteer.name}: {expected}", lambda: next(
        (s for s in [volunteer.status()] if s["headline"] == expected), None))


def wait_for_steps(volunteer):
    """Until it is in the midst of a unit of 160 steps."""
    wait_for(f"{volunteer.name}: some steps", lambda: any(
        t["state"] == "computing" and 20 <= t["step"] <= 110
        for t in volunteer.status()["tasks"]), 60)


def test_nothing_to_do(stage):
    """No work is no silence; a terminal that is closed is a polite end."""
    server = Server(Project(stage)).start()
    ada = Volunteer(stage, "ada").attach(server).start()
    now = headline(ada, "waiting for work")
    expect_words(now["no_work"], "no work at this project now (asked ")
    expect_words(ada.order("status"), "waits: " + now["no_work"][:40])
    expect(ada.text().count(" no_work ") == 1, f"said: {ada.text()}")
    once = Volunteer(stage, "otto", "--once").attach(server).start()
    wait_for("--once to say that it waits",
             lambda: "--once waits for a result" in once.text())
    for volunteer in (ada, once):
        volunteer.child.send_signal(signal.SIGHUP)
        code = volunteer.child.wait(10)
        expect(code == 0, f"SIGHUP: {code}: {volunteer.last_line()}")
        expect_words(volunteer.last_line(),
                     "stopped: 0 results reported, 0 kept here")
    return "no work, no silence"


def test_server_away(stage):
    """What status shows while the server is away, and after the end."""
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:512", "--quorum",
                       1, "--local-steps", 160, "--epochs", 20)
    server = Server(project, "--house-workers", 0).start()
    ada = Volunteer(stage, "ada", "--cpu-percent", 4).attach(server).start()
    wait_for_steps(ada)
    server.kill()
    now = headline(ada, "project cannot be reached")
    expect_words(now["trouble"], "out of reach since", "connect")
    wait_for_steps(ada)
    ada.stop()
    expect_words(ada.last_line(), "kept here; quorate-client run goes on")
    expect_words(ada.order("status"), ": step ", ", kept", "as of ")
    said = ada.order("detach", server.url)
    expect_words(said, "unfinished result", "account.key is kept in",
                 ada.folder)
    expect("0 unfinished" not in said, said)
    return "server away, and what is kept"


def test_lost_files(stage):
    """Keys and folders that go missing are named."""
    server = Server(Project(stage)).start()
    ada = Volunteer(stage, "ada").attach(server).start()
    headline(ada, "waiting for work")
    expect("host.key is missing" not in ada.text(), "a false alarm")
    ada.stop()
    (ada.folder / "host.key").unlink()
    ada.start()
    wait_for("a word on host.key", lambda: "host.key is missing: this "
             "computer joins as a new one" in ada.text())
    headline(ada, "waiting for work")
    shutil.rmtree(ada.folder)
    code = ada.child.wait(20)
    expect(code == 1, f"exit code {code}: {ada.last_line()}")
    expect_words(ada.text(), "the data folder", "is gone: attach again")
    return "lost files are named"


def test_two_projects(stage):
    """Another project at a known address, and two that are attached."""
    server = Server(Project(stage)).start()
    first = server.address().split("#")[1]
    ada = Volunteer(stage, "ada")
    expect_words(ada.order("attach", server.url), "seen for the first time",
                 "this computer's name (host-", "public on its page: names")
    expect("for the first time" not in ada.order("attach", server.url),
           "a known project is no new one")
    server.stop()
    other = Server(Project(stage, "other"), port=server.port,
                   name="other-server").start()
    second = other.address().split("#")[1]
    at = ["--dir", ada.folder]
    stage.fails(["used to answer at this address", first[:8], second[:8], other.address()],
                "quorate-client", "attach", other.url, *at)
    ada.order("attach", other.address())
    for command in (["run"], ["detach", other.url]):
        stage.fails(["2 projects are attached", first[:8], second[:8],
                     "FINGERPRINT"], "quorate-client", *command, *at)
    ada.order("detach", first[:8])
    expect(ada.status()["fingerprint"] == second, "the other one was detached")
    return "two projects are told apart"


if __name__ == "__main__":
    run(__doc__, test_nothing_to_do, test_server_away, test_lost_files,
        test_two_projects)
