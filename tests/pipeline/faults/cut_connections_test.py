#!/usr/bin/env python3
"""A line that breaks again and again, in the middle of downloads and uploads.

A volunteer reaches the server through a proxy that cuts connections after some
bytes. Its client goes on where it was: it asks for the rest of an object, and
sends the rest of an update. No result fails, and the run is finished.
"""

import pathlib
import re
import selectors
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (Project, Server, Volunteer, expect, run,
                             wait_for)

CUTS = 3  # of each direction
MOST_BYTES = {"down": 700_000, "up": 300_000}  # of a connection, until then


class Proxy:
    """Passes bytes on, cuts connections, and notes who resumes."""

    def __init__(self, port):
        self.port_behind = port
        self.lock = threading.Lock()
        self.cuts_left = {"down": CUTS, "up": CUTS}
        self.resumed = {"down": 0, "up": 0}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def serve(self, client):
        try:
            with client, socket.create_connection(
                    ("127.0.0.1", self.port_behind)) as server:
                self.pump(client, server)
        except OSError:
            pass  # either side has gone

    def pump(self, client, server):
        moved = {"down": 0, "up": 0}
        ways = {client: (server, "up"), server: (client, "down")}
        with selectors.DefaultSelector() as ready:
            for end in ways:
                ready.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    other, way = ways[key.fileobj]
                    data = key.fileobj.recv(64 << 10)
                    if not data:
                        return
                    other.sendall(data)
                    moved[way] += len(data)
                    if way == "up":
                        self.note(data)
                    if self.cuts(way, moved[way]):
                        return

    def note(self, data):
        with self.lock:
            if re.search(rb"\r\nRange: bytes=[1-9]", data):
                self.resumed["down"] += 1
            if re.search(rb"\r\nContent-Range: bytes [1-9]", data):
                self.resumed["up"] += 1

    def cuts(self, way, moved):
        with self.lock:
            if moved < MOST_BYTES[way] or self.cuts_left[way] == 0:
                return False
            self.cuts_left[way] -= 1
            return True


def test_cut_connections(stage):
    project = Project(stage)
    project.add_glyphs(4096)
    server = Server(project, "--house-workers", 1).start()
    proxy = Proxy(server.port)
    volunteer = Volunteer(stage, "ada")
    fingerprint = server.address().split("#")[1]
    stage.run(volunteer.program, "attach", "--dir", volunteer.folder,
              f"http://127.0.0.1:{proxy.port}#{fingerprint}", "--name", "ada")
    volunteer.start()
    # Now, when the volunteer is there: else the house would compute it all.
    wait_for("the volunteer", lambda: project.ask("status")["hosts_active"], 30)
    project.create_run("--dataset", "glyphs", "--model", "mlp:256", "--batch",
                       32, "--local-steps", 32, "--quorum", 1, "--epochs", 2)
    project.wait_until_finished(120)
    status = volunteer.status()
    volunteer.stop()
    server.stop()
    expect(proxy.cuts_left == {"down": 0, "up": 0},
           f"cuts that were not made: {proxy.cuts_left}")
    expect(proxy.resumed["down"] >= 1 and proxy.resumed["up"] >= 1,
           f"resumed: {proxy.resumed}")
    expect(status["failed"] == 0 and status["rejected"] == 0 and
           status["accepted"] > 0, f"status: {status}")
    return (f"{CUTS} cuts each way: {proxy.resumed['down']} downloads and "
            f"{proxy.resumed['up']} uploads resumed, "
            f"{status['accepted']} results accepted")


if __name__ == "__main__":
    run(__doc__, test_cut_connections)
