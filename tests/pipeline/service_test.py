#!/usr/bin/env python3
"""The client as a service of a computer: it waits for a project, and people
command it over its socket while it runs."""

import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import time
import urllib.request

from support.project import (Process, Project, Server, expect, expect_words,
                             run, wait_for)


class Service(Process):
    """An agent with a socket, in a folder that it makes."""

    def __init__(self, stage):
        self.folder = stage.folder / "service"
        self.socket = stage.folder / "control.sock"
        self.home = stage.folder / "home"  # of who commands it
        self.home.mkdir()
        super().__init__(stage, "service", [
            stage.program("quorate-client"), "run", "--dir", self.folder,
            "--wait", "--control", self.socket, "--device", "cpu"])

    def start(self):
        self.spawn()
        wait_for("the service's socket", self.socket.exists)
        return self

    def type(self, *arguments):
        """As somebody types it who has no folder of their own."""
        return subprocess.Popen(
            [self.stage.program("quorate-client"), *map(str, arguments)],
            env={**os.environ, "QUORATE_CONTROL": str(self.socket),
                 "HOME": str(self.home), "XDG_DATA_HOME": ""},
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def order(self, *arguments, code=0):
        child = self.type(*arguments)
        output, errors = child.communicate(timeout=90)
        expect(child.returncode == code,
               f"{arguments}: {child.returncode}: {output}{errors}")
        return output + errors

    def status(self):
        return json.loads(self.order("status", "--json"))

    def acknowledged(self):
        return self.results_with("result_reported")

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text()
        ticks = fields.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def training(stage):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:64", "--quorum",
                       1, "--local-steps", 20, "--epochs", 50)
    return Server(project, "--house-workers", 0).start()


def test_life(stage):
    """Waits, is attached, computes, is detached, waits again."""
    server = training(stage)
    service = Service(stage).start()
    expect(not service.workers(), "a worker before there is a project")
    before = service.processor_seconds()
    time.sleep(2)
    idle = service.processor_seconds() - before
    expect(idle < 0.2, f"{idle:.2f} s of a processor in 2 s without a project")
    expect_words(service.order("status"), "no project", "a client waits")
    expect(service.status()["headline"] == "waiting for a project",
           f"headline: {service.status()['headline']}")
    expect_words(service.order("attach", server.address()), "attached to")
    wait_for("an accepted result", service.acknowledged, 60)
    expect_words(service.order("pause"), "paused")
    wait_for("the pause", lambda: service.status()["paused"])
    expect_words(service.order("resume"), "resumed")
    expect_words(service.order("finish"), "takes no new work")
    wait_for("it to finish what it has", lambda: any(
        "finished" in project["why"]
        for project in service.status()["projects"]), 60)
    expect_words(service.order("resume"), "resumed")
    said = service.order("detach", server.url)
    expect_words(said, "detached from")
    expect(not list((service.folder / "projects").iterdir()), "files are left")
    expect(service.is_running(), f"it ended: {service.last_line()}")
    wait_for("its workers to end", lambda: not service.workers())
    wait_for("it to say that it waits", lambda: service.text().count(
        " waiting ") == 2, 10)
    service.order("attach", server.address())
    wait_for("an accepted result of the second time", service.acknowledged, 60)
    service.stop()
    expect(not service.socket.exists(), "its socket is left")
    return "waits, computes, lets go, computes again"


def test_killed_while_it_detaches(stage):
    """What was asked for is done by the next one."""
    server = training(stage)
    service = Service(stage).start()
    service.order("attach", server.address())
    wait_for("an accepted result", service.acknowledged, 60)
    os.kill(service.child.pid, signal.SIGSTOP)
    # By the folder: the service itself answers nobody now.
    detaching = subprocess.Popen(
        [stage.program("quorate-client"), "detach", "--dir", service.folder,
         server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    mark = next((service.folder / "projects").iterdir()) / "detaching"
    wait_for("the request", mark.exists)
    service.kill()
    expect(detaching.wait(30) == 0, "detach, once nobody holds the folder")
    detaching.communicate()
    expect(not mark.parent.exists(), "files are left")
    return "done by who asked"


def test_streams(stage):
    """What goes on for long: the log, the page; and who hangs up."""
    service = Service(stage).start()
    follow = service.type("log", "-f")
    wait_for("the log", lambda: "waiting" in follow.stdout.readline(), 10)
    page = service.type("ui", "--json")
    url = json.loads(page.stdout.readline())["url"]
    with urllib.request.urlopen(url, timeout=10) as reply:
        expect(reply.status == 200, f"the page: {reply.status}")
    children = children_of(service)
    expect(len(children) == 2, f"children: {children}")
    for command in (follow, page):
        command.kill()
        command.communicate()
    wait_for("the service to end what nobody sees",
             lambda: not children_of(service), 15)
    again = service.type("ui")
    expect_words(again.stdout.readline(), "http://127.0.0.1:")
    service.stop()
    again.communicate(timeout=20)
    return "log and page over the socket"


def test_page(stage):
    """Joined and left by the page, without a terminal."""
    server = training(stage)
    service = Service(stage).start()
    page = service.type("ui", "--json")
    url = json.loads(page.stdout.readline())["url"].removesuffix("/page")

    def post(what, **change):
        request = urllib.request.Request(
            f"{url}/{what}", json.dumps(change).encode(),
            {"X-Quorate-Token": url.rpartition("/")[2]})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read())

    post("attach", address=server.address(), name="ada")
    wait_for("an accepted result", service.acknowledged, 60)
    project = service.status()["projects"][0]
    expect(project["user"] == "ada", f"joined as {project['user']}")
    wait_for("its sandbox", lambda: "confined" in
             service.status()["projects"][0]["confinement"])
    post("detach", fingerprint=project["fingerprint"])
    wait_for("it to be left", lambda: not service.status()["projects"], 20)
    page.kill()
    page.communicate()
    service.stop()
    return "joined and left by the page"


def children_of(service):
    return subprocess.run(["pgrep", "-P", str(service.child.pid)], text=True,
                          capture_output=True).stdout.split()


def refused(service, sent, words):
    """What it says to somebody who sends these bytes."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(20)
        caller.connect(str(service.socket))
        caller.sendall(sent)
        said = b""
        while part := caller.recv(4096):
            said += part
    expect_words(said.decode(errors="replace"), *words)


def frames(*arguments):
    return b"".join(b"a" + len(a).to_bytes(4, "big") + a
                    for a in arguments) + b"r\0\0\0\0"


def test_strangers(stage):
    """Who may not, and bytes that are no command."""
    service = Service(stage).start()
    expect(stat.S_IMODE(service.socket.stat().st_mode) == 0o666, "mode")
    for command in ((b"run",), (b"attach", b"--dir", b"/tmp", b"x"),
                    (b"attach", b"--account=/etc/shadow", b"x"), (b"boinc",),
                    (b"receipt", b"--out", b"x"), (b"--dir", b"/", b"status")):
        refused(service, frames(*command), ["service does not do that"])
    refused(service, b"GET / HTTP/1.1\r\n\r\n", ["expected one of the letters"])
    refused(service, b"a\xff\xff\xff\xff", ["expected at most"])
    refused(service, frames(b"status", b"a\0b"), ["expected at most 64"])
    refused(service, frames(*[b"status"] * 65), ["expected at most 64"])
    silent = [socket.socket(socket.AF_UNIX) for _ in range(16)]
    for caller in silent:
        caller.connect(str(service.socket))
    refused(service, b"", ["try again in a moment"])
    for caller in silent:
        caller.close()
    wait_for("room", lambda: "no project" in subprocess.run(
        [stage.program("quorate-client"), "status"], text=True,
        env={**os.environ, "QUORATE_CONTROL": str(service.socket),
             "HOME": str(service.home), "XDG_DATA_HOME": ""},
        capture_output=True).stdout, 20)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        check_other_user(stage, service)
    service.stop()
    return "refused: what is no command, and who may not"


def check_other_user(stage, service):
    """Somebody who does not sit at this computer sees, and changes nothing."""
    os.chmod(stage.folder, 0o755)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534",
              "--clear-groups", "env", f"QUORATE_CONTROL={service.socket}",
              "HOME=/nonexistent", "XDG_DATA_HOME=",
              stage.program("quorate-client")]

    def said(*command, code):
        done = subprocess.run([*nobody, *command], text=True, timeout=30,
                              capture_output=True)
        expect(done.returncode == code, f"{command}: {done}")
        return done.stdout + done.stderr

    expect_words(said("status", code=0), "no project")
    for command in (["pause"], ["attach", "https://example.org"], ["log"]):
        expect_words(said(*command, code=1), "sits at this computer", "sudo")


if __name__ == "__main__":
    run(__doc__, test_life, test_killed_while_it_detaches, test_streams,
        test_page, test_strangers)
