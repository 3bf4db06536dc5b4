#!/usr/bin/env python3
"""What the server answers in a second, each answer durable, with a million
workunits in its store; and what it needs for them.

A project with units of one step for a tiny network; a load generator on the
same processors whose hosts compute nothing, with 1, 64 and 256 connections
that stay open. Native hosts:

  ask     a host asks for one result and gets it
  report  a host asks, uploads, reports one signed result, and asks again

Stock BOINC clients, with scheduler requests of 8 to 10 kB, which are what is
counted:

  renew   a host with two tasks renews them and wants nothing
  ask     a host without tasks asks and gets one
  report  a host with two tasks reports one and gets another; what it uploads
          before is uploaded between the requests that count

"server ms" is the server's processor time for one, on all its threads: on a
machine that is busy otherwise it says more than the rate. One fdatasync is
timed, too: nothing durable is faster than that.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import RUN, Project, Server, run  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

import big_store  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
RECORDED = ROOT / "tests/protocol/boinc/golden/request_reports.xml"
CLIENTS = [1, 64, 256]
SECONDS = 10
EPOCHS = 5000
HISTORY = 10000   # results that are really computed, asked for, reported
UNITS = 1000000   # in the store
LOOK = 20         # seconds: a server that starts reads the whole store once
TARGETS = {("native", "ask"): 10000, ("native", "report"): 4000,
           ("boinc", "renew"): 4000, ("boinc", "ask"): 4000,
           ("boinc", "report"): 4000}


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


def make_project(stage):
    project = Project(stage, house_workers=0, lease=120, heartbeat=30,
                      max_connections_per_address=100000,
                      new_accounts_per_minute=100000,
                      new_hosts_per_minute=100000,
                      max_hosts_per_account=1000000)
    project.add_glyphs(4096)
    project.order("boinc", "key", "new")
    return project


def create_run(project, name, quorum):
    project.order("train", "create", name, "--dataset", "glyphs", "--model",
                  "mlp:none", "--local-steps", 1, "--quorum", quorum,
                  "--epochs", EPOCHS, "--rule", "vc-asgd", "--codec", "fp32")


def load(stage, server, door, mode, clients, seconds=SECONDS):
    """One row of the table."""
    if door == "native":
        # Clients that take little time each need more hosts to ask for.
        hosts = max(8, 2048 // clients) if mode == "ask" else 1
        order = ["bench-server-load", mode, "--hosts-per-client", hosts]
    else:
        hosts = (2000 if clients == 1 else 16384) if mode == "ask" else 512
        order = ["bench-boinc-load", mode, "--hosts", hosts, "--recorded",
                 RECORDED]
    order += ["--port", server.port, "--pid", server.child.pid, "--clients",
              clients, "--seconds", seconds]
    done = subprocess.run([str(stage.program(order[0])),
                           *map(str, order[1:])], text=True,
                          capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise OSError(done.stderr)
    return json.loads(done.stdout)


def make_history(stage, project):
    """A run of which HISTORY results are assimilated, and that has ended."""
    create_run(project, "history", 1)
    server = Server(project).start()
    while (project.ask("train", "show", "history")["results_assimilated"]
           < HISTORY):
        load(stage, server, "native", "report", 64, 5)
    project.order("train", "stop", "history")
    server.stop()


def own_memory(server):
    """Bytes that the program itself keeps, without mapped files."""
    status = pathlib.Path(f"/proc/{server.child.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) * 1024


def measure(project):
    """What the server takes when it starts with this store: at most, while it
    looks which files may go, and afterwards."""
    began = time.perf_counter()
    server = Server(project).start()
    seconds = time.perf_counter() - began
    most = 0
    while time.perf_counter() - began < LOOK:
        time.sleep(0.1)
        memory = own_memory(server)
        most = max(most, memory)
    server.stop()
    results = big_store.count(project, "results")
    size = big_store.path_of(project).stat().st_size
    print(f"{results:9} results, {big_store.count(project, 'workunits'):9} "
          f"units: {size / 1e6:8.1f} MB in the store, {memory / 1e6:6.1f} MB "
          f"of memory (at most {most / 1e6:.1f}), start {seconds:.2f} s",
          flush=True)
    return results, size, memory, most


def bench_sizes(stage, project):
    make_history(stage, project)
    few = measure(project)
    big_store.multiply(project, UNITS)
    many = measure(project)
    results, size, memory, most = (b - a for a, b in zip(few, many))
    print(f"each result: {size / results:.0f} bytes in the store, "
          f"{memory / results:.1f} bytes of memory (at most "
          f"{most / results:.1f})")


def bench_server(stage):
    project = make_project(stage)
    bench_sizes(stage, project)
    mark = big_store.Bookmark(project)
    print(f"{'':15}{'clients':>8}{'a second':>10}{'of target':>10}"
          f"{'p50 ms':>9}{'p99 ms':>9}{'server ms':>10}")
    for (door, mode), target in TARGETS.items():
        one_each = (door, mode) == ("boinc", "ask")
        project.set(max_results_per_host=1 if one_each else 16)
        for clients in CLIENTS:
            # One client alone makes no quorum of two.
            create_run(project, RUN, min(2, clients))
            server = Server(project).start()
            row = load(stage, server, door, mode, clients)
            print(f"{door:8}{mode:7}{clients:8}{row['per_second']:10.0f}"
                  f"{row['per_second'] / target:10.2f}{row['p50_ms']:9.2f}"
                  f"{row['p99_ms']:9.2f}{row['server_ms']:10.3f}", flush=True)
            record("server", f"{door} {mode}, {clients} clients",
                   row["per_second"], "target", target,
                   row["per_second"] / target, "a second")
            server.stop()
            mark.restore()
    return (f"run {RUN}; one fdatasync takes "
            f"{milliseconds_of_a_sync(stage.folder):.2f} ms")


if __name__ == "__main__":
    run(__doc__, bench_server)
