#!/usr/bin/env python3
"""Requests for work that the server answers in a second, each durable.

A project with units of one step for a tiny network; a load generator on the
same processors whose hosts compute nothing. Prints for 1, 64 and 256 clients

  ask     a host asks for one result and gets it
  report  a host asks, uploads, reports one signed result, and asks again

with the delays and what the server's processor time was, and what one fdatasync
costs here: nothing durable is faster than that.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from project import RUN, Project, Server, run  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

CLIENTS = [1, 64, 256]
SECONDS = 10
EPOCHS = 5000
TARGETS = {"ask": 10000, "report": 4000}


def milliseconds_of_a_sync(folder):
    """Of 4 KiB more in a file, the median of many."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(50):
            os.write(file.fileno(), bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return 1000 * sorted(times)[len(times) // 2]


def make_project(stage, quorum):
    project = Project(stage, house_workers=0, lease=120, heartbeat=30,
                      max_connections_per_address=100000,
                      new_accounts_per_minute=100000,
                      new_hosts_per_minute=100000,
                      max_hosts_per_account=1000000)
    project.add_glyphs(4096)
    project.create_run("--dataset", "glyphs", "--model", "mlp:none",
                       "--local-steps", 1, "--quorum", quorum, "--epochs", EPOCHS)
    return project


def load(stage, server, mode, clients):
    """One row of the table."""
    # Clients that take little time each need more hosts to ask for.
    hosts = max(8, 2048 // clients) if mode == "ask" else 1
    done = subprocess.run(
        [str(stage.program("bench-server-load")), mode, "--port",
         str(server.port), "--pid", str(server.child.pid), "--clients", str(clients), "--hosts-per-client",
         str(hosts), "--seconds", str(SECONDS)],
        text=True, capture_output=True, check=True, timeout=300)
    return json.loads(done.stdout)


def bench_server(stage):
    print(f"{'mode':8}{'clients':>8}{'a second':>10}{'of target':>10}"
          f"{'p50 ms':>9}{'p99 ms':>9}{'server ms':>10}")
    for mode, target in TARGETS.items():
        for clients in CLIENTS:
            stage.begin_anew()
            # One client alone makes no quorum of two.
            quorum = min(2, clients)
            server = Server(make_project(stage, quorum)).start()
            row = load(stage, server, mode, clients)
            print(f"{mode:8}{clients:8}{row['per_second']:10.0f}"
                  f"{row['per_second'] / target:10.2f}{row['p50_ms']:9.2f}"
                  f"{row['p99_ms']:9.2f}{row['server_ms']:10.3f}", flush=True)
            record("server", f"{mode}, {clients} clients", row["per_second"],
                   "target", target, row["per_second"] / target, "a second")
            server.stop()
    return (f"run {RUN}; one fdatasync takes "
            f"{milliseconds_of_a_sync(stage.folder):.2f} ms")


if __name__ == "__main__":
    run(__doc__, bench_server)
