#!/usr/bin/env python3
"""Connections that do nothing: what they cost the server, and who works there.

A server with a volunteer that computes small units. First a quiet stretch, then
the same with 10,000 idle connections and 400 requests whose body of 1 MB never
ends, from 40 addresses, which come again when the server closes them. Printed for each stretch, and as ratios:

  memory   the server's resident bytes at its end
  wait     of somebody who connects anew and asks for the project's statement,
           until it is there: median, 95th percentile, longest
  results  of the volunteer, a second
"""

import multiprocessing
import os
import pathlib
import resource
import selectors
import socket
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import Project, Server, Volunteer, run, wait_for  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

ADDRESSES = [f"127.0.7.{1 + at}" for at in range(40)]
IDLE = 10_000
BODIES = 400
SECONDS = 20
# Of all that needs no login it may be the longest.
HEAD = (b"POST /boinc/cgi HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
        b"\r\n")


def memory(server):
    for line in pathlib.Path(f"/proc/{server.child.pid}/status").open():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def try_to_ask(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as link:
            link.sendall(b"GET /v1/project HTTP/1.1\r\nHost: x\r\n"
                         b"Connection: close\r\n\r\n")
            answer = b""
            while part := link.recv(65536):
                answer += part
        return answer.startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def ask(port):
    """Seconds until somebody who connects anew has the whole answer, or
    gives up trying."""
    began = time.perf_counter()
    while not try_to_ask(port) and time.perf_counter() < began + SECONDS:
        time.sleep(0.05)
    return time.perf_counter() - began


def connect(port, address):
    link = socket.socket()
    link.bind((address, 0))
    link.settimeout(10)
    link.connect(("127.0.0.1", port))
    return link


class Burden:
    """Keeps so many connections open: what the server closes comes again. In a
    process of its own that yields the processor to the others: an attacker
    does not share it with the server, nor with who measures."""

    def __init__(self, port):
        self.port = port
        self.links = {}
        self.should_end = multiprocessing.Event()
        self.is_filled = multiprocessing.Event()
        self.count = multiprocessing.Value("i", 0)
        self.process = multiprocessing.Process(target=self.keep)
        self.process.start()
        self.is_filled.wait()

    def fill(self):
        for at in range(IDLE + BODIES):
            if self.should_end.is_set():
                return
            if at in self.links:
                continue
            try:
                link = connect(self.port, ADDRESSES[at % len(ADDRESSES)])
                self.links[at] = link
                if at >= IDLE:
                    # All but the end, or as much as the server takes.
                    link.settimeout(0.5)
                    link.sendall(HEAD + b" " * 900_000)
            except OSError:  # it takes no more, or not so fast
                pass

    def drop_closed(self):
        with selectors.DefaultSelector() as readable:
            for at, link in self.links.items():
                link.setblocking(False)
                readable.register(link, selectors.EVENT_READ, at)
            for key, _ in readable.select(0):
                try:
                    is_closed = not key.fileobj.recv(65536)
                except OSError:
                    is_closed = True
                if is_closed:
                    self.links.pop(key.data).close()

    def keep(self):
        os.nice(19)
        while not self.should_end.is_set():
            self.drop_closed()
            self.fill()
            self.is_filled.set()
            time.sleep(0.2)
        self.drop_closed()
        self.count.value = len(self.links)

    def end(self):
        self.should_end.set()
        self.process.join()
        return self.count.value


def stretch(server, volunteer):
    before = len(volunteer.acknowledged())
    began = time.monotonic()
    waits = []
    while time.monotonic() < began + SECONDS:
        waits.append(ask(server.port))
        time.sleep(0.02)
    seconds = time.monotonic() - began
    return {"memory": memory(server), "wait": statistics.median(waits),
            "wait_95": statistics.quantiles(waits, n=20)[-1],
            "wait_max": max(waits),
            "results": (len(volunteer.acknowledged()) - before) / seconds}


def test_connections(stage):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    project = Project(stage)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--local-steps", 16, "--epochs", 10_000)
    project.order("boinc", "key", "new")
    server = Server(project).start()
    volunteer = Volunteer(stage, "ada").attach(server).start()
    wait_for("results", lambda: len(volunteer.acknowledged()) > 20, 60)
    quiet = stretch(server, volunteer)
    burden = Burden(server.port)
    loaded = stretch(server, volunteer)
    count = burden.end()
    volunteer.stop()
    server.stop()
    print(f"{'':10}{'quiet':>12}{'burdened':>12}{'ratio':>8}")
    for key, unit, scale in (("memory", "MB", 1e-6), ("wait", "ms", 1e3),
                             ("wait_95", "ms", 1e3), ("wait_max", "ms", 1e3),
                             ("results", "/s", 1)):
        ratio = loaded[key] / quiet[key]
        print(f"{key:8}{unit:2}{quiet[key] * scale:12.2f}"
              f"{loaded[key] * scale:12.2f}{ratio:8.2f}")
        append({"bench": "connections", "case": key, "quiet": quiet[key],
                "burdened": loaded[key], "ratio": ratio, "unit": unit})
    return f"{count} of {IDLE + BODIES} connections were open at the end"


if __name__ == "__main__":
    run(__doc__, test_connections)
