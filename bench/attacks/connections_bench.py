#!/usr/bin/env python3
"""Connections that do nothing: what they cost the server, and who works there.

A server with a volunteer that computes small units. First a quiet stretch, then
the same with 10,000 idle connections and 400 requests whose body of 1 MB never
ends, from 40 addresses. Printed for each stretch, and as ratios:

  memory   the server's resident bytes at its end
  wait     of somebody who connects anew and asks for the project's statement,
           median and 95th percentile
  results  of the volunteer, a second
  open     connections that were still open at the end of the stretch
"""

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
BODY = (b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
        b"\r\n")
XML = (b"POST /boinc/cgi HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")


def memory(server):
    for line in pathlib.Path(f"/proc/{server.child.pid}/status").open():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def ask(port):
    """Seconds until the whole answer to a request on a new connection."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), 30) as link:
        link.sendall(b"GET /v1/project HTTP/1.1\r\nHost: x\r\n"
                     b"Connection: close\r\n\r\n")
        while link.recv(65536):
            pass
    return time.perf_counter() - began


def connect(port, address):
    link = socket.socket()
    link.bind((address, 0))
    link.settimeout(10)
    link.connect(("127.0.0.1", port))
    return link


def still_open(links):
    """Those that the server has not closed."""
    with selectors.DefaultSelector() as readable:
        for link in links:
            link.setblocking(False)
            readable.register(link, selectors.EVENT_READ)
        closed = 0
        for key, _ in readable.select(0):
            try:
                closed += not key.fileobj.recv(1, socket.MSG_PEEK)
            except OSError:
                closed += 1
    return len(links) - closed


def burden(port):
    links = []
    for at in range(IDLE + BODIES):
        try:
            link = connect(port, ADDRESSES[at % len(ADDRESSES)])
            if at >= IDLE:
                head = XML if at % 2 else BODY
                # All but the end, or as much as the server takes.
                link.setblocking(False)
                link.send(head + b" " * 900_000)
            links.append(link)
        except OSError:
            pass
    return links


def stretch(server, volunteer, links):
    before = len(volunteer.acknowledged())
    began = time.monotonic()
    waits = []
    while time.monotonic() < began + SECONDS:
        waits.append(ask(server.port))
        time.sleep(0.02)
    seconds = time.monotonic() - began
    return {"memory": memory(server), "wait": statistics.median(waits),
            "wait_95": statistics.quantiles(waits, n=20)[-1],
            "results": (len(volunteer.acknowledged()) - before) / seconds,
            "open": still_open(links)}


def test_connections(stage):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    project = Project(stage)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--local-steps", 16, "--epochs", 10_000)
    server = Server(project).start()
    volunteer = Volunteer(stage, "ada").attach(server).start()
    wait_for("results", lambda: len(volunteer.acknowledged()) > 20, 60)
    quiet = stretch(server, volunteer, [])
    links = burden(server.port)
    loaded = stretch(server, volunteer, links)
    for link in links:
        link.close()
    volunteer.stop()
    server.stop()
    print(f"{'':10}{'quiet':>12}{'burdened':>12}{'ratio':>8}")
    for key, unit, scale in (("memory", "MB", 1e-6), ("wait", "ms", 1e3),
                             ("wait_95", "ms", 1e3), ("results", "/s", 1)):
        ratio = loaded[key] / quiet[key]
        print(f"{key:8}{unit:2}{quiet[key] * scale:12.2f}"
              f"{loaded[key] * scale:12.2f}{ratio:8.2f}")
        append({"bench": "connections", "case": key, "quiet": quiet[key],
                "burdened": loaded[key], "ratio": ratio, "unit": unit})
    return (f"{loaded['open']} of {IDLE + BODIES} connections were still open "
            f"after {SECONDS} s")


if __name__ == "__main__":
    run(__doc__, test_connections)
