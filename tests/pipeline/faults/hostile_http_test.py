#!/usr/bin/env python3
"""Hostile clients at a real server: it lives, counts nothing, serves others.

Two honest volunteers work, through proxies that write down what they send.
Meanwhile raw sockets send broken requests, trickle, never read, and repeat what
the volunteers had signed. After each the server must be well, an honest result
must get through, and what is answered must say what is wrong.
"""

import json
import pathlib
import re
import resource
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.hostile import (broken_requests, get, hostile_json, path_tricks,
                             request, with_token)
from support.invariants import check_ledger, check_results
from support.project import Project, Server, Volunteer, expect, run, wait_for
from support.proxy import Proxy

TRICKLE_SECONDS = 15
MOST_GROWTH_KB = 200 << 10  # of the server's memory, for 1,000 mute readers


class Listener(Proxy):
    """An honest volunteer's way to the server, written down."""

    def __init__(self, port):
        self.said = {}
        super().__init__(port, self.hear)

    def hear(self, number, data):
        self.said[number] = self.said.get(number, b"") + data

    def requests(self, line):
        """All whole requests so far that begin with this."""
        found = []
        for said in list(self.said.values()):
            for match in re.finditer(line, said):
                head = said.find(b"\r\n\r\n", match.start()) + 4
                size = re.search(rb"(?i)content-length: (\d+)",
                                 said[match.start():head])
                end = head + (int(size[1]) if size else 0)
                if 4 <= head and end <= len(said):
                    found.append(said[match.start():end])
        return found

    def token(self):
        heads = self.requests(rb"POST /v1/work")
        return re.search(rb"(?i)bearer (\w+)", heads[-1])[1].decode()


def connect(server):
    connection = socket.create_connection(("127.0.0.1", server.port), 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def exchange(server, data, ends=False):
    """(status, body) of the first answer; (None, b"") without one. Ends: no
    more is said, so that the server need not wait for it."""
    reply = b""
    with connect(server) as connection:
        try:
            connection.sendall(data)
            if ends:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough, and may have said why
        try:
            while not is_whole(reply) and (piece := connection.recv(65536)):
                reply += piece
        except ConnectionResetError:
            pass
    head, _, body = reply.partition(b"\r\n\r\n")
    return (int(head.split()[1]), body) if head else (None, b"")


def is_whole(reply):
    head, end, body = reply.partition(b"\r\n\r\n")
    size = re.search(rb"(?i)content-length: (\d+)", head)
    return end and size and len(body) >= int(size[1])


class Scene:
    def __init__(self, stage):
        self.stage = stage
        self.project = Project(stage, max_connections_per_address=4000)
        self.project.add_glyphs(10240)
        self.project.create_run("--dataset", "glyphs", "--model", "mlp:16",
                                "--local-steps", 40, "--quorum", 1,
                                "--epochs", 100000)
        self.server = Server(self.project, "--house-workers", 0).start()
        self.ways = [Listener(self.server.port) for _ in range(2)]
        self.volunteers = [
            Volunteer(stage, name, "--cpu-percent", 30).attach(
                self.server, way.address(self.server)).start()
            for name, way in zip(("ada", "bert"), self.ways)]
        wait_for("results of both", lambda: all(
            len(v.acknowledged()) > 1 for v in self.volunteers), 30)

    def served(self):
        return [len(v.acknowledged()) for v in self.volunteers]

    def expect_well(self, after):
        expect(self.server.is_running(),
               f"{after}: server ended: {self.server.last_line()}")
        expect(self.server.is_up(), f"{after}: no answer to /healthz")

    def expect_served(self, after):
        """As above, and both honest clients get results through."""
        self.expect_well(after)
        before = self.served()
        wait_for(f"{after}: a result of either volunteer", lambda: all(
            now > then for now, then in zip(self.served(), before)), 60)

    def close(self):
        for volunteer in self.volunteers:
            volunteer.stop()
        for way in self.ways:
            way.close()


def send_cases(scene, cases):
    for case in cases:
        status, body = exchange(scene.server, case.data,
                                None in case.statuses)
        expect(status in case.statuses,
               f"{case.name}: status {status}, expected one of "
               f"{case.statuses}: {body[:300]}")
        if status is not None and status >= 400:
            answer = json.loads(body)
            expect(answer["kind"] and len(answer["message"]) > 8 and
                   case.words in answer["message"],
                   f"{case.name}: expected a message with \"{case.words}\", "
                   f"found {answer}")
        scene.expect_well(case.name)
    scene.expect_served(cases[-1].name)
    return len(cases)


def replay_signed(scene):
    """What a volunteer signed is sent once more by somebody else."""
    ada, bert = scene.ways
    proof = [r for r in ada.requests(rb"POST /v1/sessions ")
             if b"signature" in r][-1]
    status, body = exchange(scene.server, proof)
    expect(status == 403 and b"used" in body,
           f"a proof of a session twice: {status}: {body}")
    report = ada.requests(rb"POST /v1/results/\d+ ")[0]
    number = int(re.search(rb"results/(\d+)", report)[1])
    signed = report.split(b"\r\n\r\n", 1)[1]
    statuses = []
    for result, token in ((number, ada.token()), (number, bert.token()),
                          (number + 100000, ada.token()),
                          (scene.volunteers[0].acknowledged()[-1],
                           ada.token())):
        status, body = exchange(scene.server, request(
            "POST", f"/v1/results/{result}", signed,
            f"Authorization: Bearer {token}"))
        statuses.append(status)
        expect(status in (200, 400, 403, 404, 410), f"{status}: {body}")
    expect(statuses[1] != 200 and statuses[2] != 200,
           f"a signed header under another's token or id: {statuses}")
    scene.expect_served("signed messages twice")


def fetch_others_work(scene):
    """Nobody gets an update that another host computed."""
    update = next(e["update"] for e in scene.project.ledger()
                  if e["kind"] == "result")
    expect(scene.project.object(update).exists(), "no such update")
    status, body = exchange(scene.server, get(
        f"/v1/objects/{update}",
        f"Authorization: Bearer {scene.ways[0].token()}"))
    expect(status == 404 and b"no result in progress needs it" in body,
           f"another's update: {status}: {body[:200]}")
    manifest = scene.project.folder / "datasets/glyphs.json"
    shard = json.loads(manifest.read_text())["train"][0]["hash"]
    status, body = exchange(scene.server, get(f"/v1/objects/{shard}"))
    expect(status == 401 and b"needs a session" in body,
           f"a shard without a session: {status}: {body[:200]}")


def holding(volunteer):
    """A result that this volunteer has in its hands."""
    return wait_for(f"{volunteer.name}: a result", lambda: next(
        (t["result"] for t in volunteer.status()["tasks"]
         if t["state"] in ("computing", "ready")), None), 20)


class Trickle(threading.Thread):
    """Many connections, each with one byte a second, till all are closed."""

    def __init__(self, server, count):
        super().__init__(daemon=True)
        body = request("POST", "/v1/sessions", b"", length=2000)
        self.lines = [get("/healthz", "X: " + "a" * 200)[:-4],
                      body + b" " * 1900]
        self.open = {connect(server): i for i in range(count)}
        for connection, i in self.open.items():
            if i % 2 == 1:
                connection.sendall(body)
            connection.setblocking(False)
        self.began = time.monotonic()
        self.seconds = None

    def run(self):
        at = 0
        while self.open:
            for connection, i in list(self.open.items()):
                try:
                    connection.send(self.lines[i % 2][at:at + 1])
                    is_closed = connection.recv(10) == b""
                except BlockingIOError:
                    is_closed = False
                except OSError:
                    is_closed = True
                if is_closed:
                    connection.close()
                    del self.open[connection]
            at = min(at + 1, 150)
            self.seconds = time.monotonic() - self.began
            if self.seconds > 60:
                return
            time.sleep(1)

    def finish(self):
        self.join(70)
        expect(not self.open and self.seconds < TRICKLE_SECONDS,
               f"{len(self.open)} trickling connections are open after "
               f"{self.seconds:.0f} s")


def memory_kb(server):
    with open(f"/proc/{server.child.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def never_read(scene, count):
    """Ask for a lot, and read nothing of it."""
    before = memory_kb(scene.server)
    mute = []
    for i in range(count):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", scene.server.port))
        connection.setblocking(False)
        path = ("/", "/v1/status", "/v1/events")[i % 3]
        try:
            connection.send(get(path) * 200)
        except BlockingIOError:
            pass
        mute.append(connection)
    most = 0
    for _ in range(4):
        scene.expect_served("readers that do not read")
        most = max(most, memory_kb(scene.server) - before)
    expect(most < MOST_GROWTH_KB * count / 1000,
           f"{count} readers that do not read cost the server {most} KB")
    for connection in mute:
        connection.close()
    return most


def requests_per_second(server, seconds):
    """Of one client that asks for the state of the project."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        expect(exchange(server, get("/v1/status"))[0] == 200, "status")
        count += 1
    return count / seconds


def trickle_long(scene):
    """A thousand trickle; the others hardly notice: the median of rounds, for
    a machine's own noise is larger than the difference."""
    ratios = []
    for _ in range(5):
        before = requests_per_second(scene.server, 3)
        trickle = Trickle(scene.server, 1000)
        trickle.start()
        busy = requests_per_second(scene.server, 5)
        trickle.finish()
        after = requests_per_second(scene.server, 3)
        ratios.append(busy / ((before + after) / 2))
        scene.stage.say(
            f"1,000 trickle and are closed after {trickle.seconds:.0f} s: "
            f"{busy:.0f} requests a second beside them, {before:.0f} and "
            f"{after:.0f} without")
    ratio = statistics.median(ratios)
    expect(ratio >= 0.9, f"beside 1,000 that trickle: {ratio:.2f} of the rate "
                         f"without ({ratios})")
    scene.stage.say(f"beside 1,000 that trickle: {ratio:.2f} of the rate")


def test_hostile(stage):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    scene = Scene(stage)
    trickle = Trickle(scene.server, 200)
    trickle.start()
    sent = send_cases(scene, broken_requests())
    sent += send_cases(scene, path_tricks())
    ada, bert = scene.ways
    sent += send_cases(scene, hostile_json(ada.token()))
    sent += send_cases(scene, with_token(bert.token(),
                                         holding(scene.volunteers[0])))
    stage.say(f"{sent} hostile requests are answered")
    replay_signed(scene)
    fetch_others_work(scene)
    mute = 1000 if stage.is_long else 300
    growth = never_read(scene, mute)
    stage.say(f"{mute} that never read cost {growth} KB")
    trickle.finish()
    stage.say(f"200 that trickle are closed after {trickle.seconds:.0f} s")
    if stage.is_long:
        trickle_long(scene)
    scene.close()
    hosts = {host["user"]: host for host in scene.project.ask("hosts")}
    expect(all(hosts[v.name]["errors"] == 0 and hosts[v.name]["invalid"] == 0
               for v in scene.volunteers), f"an honest host suffered: {hosts}")
    text = scene.server.text()
    expect("failed" not in text, "the server's log tells of a failure: " +
           text[text.find("failed") - 100:][:300])
    scene.server.stop()
    acknowledged, _ = check_results(scene.project, scene.volunteers)
    check_ledger(scene.project)
    return (f"{sent} hostile requests, 200 trickles closed after "
            f"{trickle.seconds:.0f} s, {growth} KB for {mute} mute readers, "
            f"{acknowledged} honest results meanwhile")


if __name__ == "__main__":
    run(__doc__, test_hostile)
