#!/usr/bin/env python3
"""Large files to and from the server: speed beside nginx, and memory.

Downloads: curl fetches the same 208 MB snapshot from the server and from an
nginx with one worker process and sendfile, in turns; with and without TLS (the
same certificate). What counts is bytes per second of the server's processor
time, so that neither curl nor other programs blur the comparison.

Memory: the server's own (RssAnon) while 20 uploads of 40 MB and 20 downloads
stand still in the middle, while 1,000 connections idle, and a client's while
it downloads and uploads.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import (Process, Project, Server, Skip,  # noqa: E402
                             Volunteer, expect, free_port, run, wait_for)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

LARGE = "mlp:8192,5504"  # 52 million parameters: a snapshot of 206 MB
MEDIUM = "mlp:4096,1664"  # 10 million: an update of 40 MB
ROUNDS = 5
REPEATS = 4
TRANSFERS = 20
IDLE = 1000

NGINX = """
daemon off; master_process off; worker_processes 1; error_log stderr;
pid {folder}/nginx.pid;
events {{ worker_connections 512; }}
http {{
  access_log off; sendfile on; tcp_nopush on;
  client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
  scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port}{ssl};
    ssl_certificate {project}/keys/tls.crt;
    ssl_certificate_key {project}/keys/tls.key;
    root {project}/objects;
  }}
  server {{  # the load generator speaks no TLS
    listen 127.0.0.1:{proxy};
    location / {{ proxy_pass {scheme}://127.0.0.1:{server}; }}
  }}
}}
"""


def processor_seconds(process):
    """Of all its threads, to the nanosecond."""
    tasks = pathlib.Path(f"/proc/{process.child.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def own_memory(process):
    """RssAnon in MB: what the program itself keeps, without mapped files."""
    text = pathlib.Path(f"/proc/{process.child.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) / 1024


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def make_project(stage, model, **settings):
    project = Project(stage, house_workers=0, lease=600, heartbeat=60,
                      max_connections_per_address=100000, io_threads=1,
                      new_accounts_per_minute=100000,
                      new_hosts_per_minute=100000,
                      max_hosts_per_account=1000000,
                      **settings)
    project.add_glyphs(4096)
    project.create_run("--dataset", "glyphs", "--model", model,
                       "--local-steps", 1, "--quorum", 1, "--epochs", 1000)
    return project


def assignments(stage, port, count):
    done = subprocess.run(
        [str(stage.program("bench-server-load")), "assign", "--port",
         str(port), "--clients", str(count)],
        text=True, capture_output=True, check=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def snapshot_of(given):
    for item in given["work"]["assignments"][0]["objects"]:
        if item["kind"] == "snapshot":
            return item
    raise KeyError("no snapshot")


# Downloads


def fetch(url, token):
    """Two at once, each REPEATS times; returns wall seconds."""
    began = time.monotonic()
    command = ["curl", "-sSfk", *["-o", "/dev/null"] * REPEATS, "-H",
               f"Authorization: Bearer {token}", *[url] * REPEATS]
    pair = [subprocess.Popen(command) for _ in range(2)]
    for one in pair:
        expect(one.wait(120) == 0, f"curl {url}")
    return time.monotonic() - began


def rate(process, url, token, size):
    """Megabytes per second of the process's processor time, and of the wall."""
    before = processor_seconds(process)
    wall = fetch(url, token)
    used = processor_seconds(process) - before
    megabytes = 2 * REPEATS * size / 1e6
    return megabytes / used, megabytes / wall


def start_nginx(project, server, scheme):
    """Serves the objects, as the server does, on the first port that is
    returned; the second one leads to the server."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not pathlib.Path(program).exists():
        raise Skip("no nginx: packaging/setup.sh --bench installs it")
    port, proxy = free_port(), free_port()
    config = project.stage.folder / f"nginx-{scheme}.conf"
    config.write_text(NGINX.format(
        folder=project.stage.folder, project=project.folder, port=port,
        ssl=" ssl" if scheme == "https" else "", proxy=proxy, scheme=scheme,
        server=server.port))
    nginx = Process(project.stage, "nginx", [program, "-c", config])
    nginx.spawn()
    wait_for("nginx", lambda: listens(port) and listens(server.port), 30)
    return nginx, port, proxy


def compare(kind, ours, theirs):
    """ours, theirs: functions that measure once. In turns, so that what else
    the machine does hits both."""
    pairs = [(ours(), theirs()) for _ in range(ROUNDS)]
    cpu = statistics.median(a[0] / b[0] for a, b in pairs)
    wall = statistics.median(a[1] / b[1] for a, b in pairs)
    mine = statistics.median(a[0] for a, _ in pairs)
    print(f"download, {kind:6} {mine:8.0f} MB per processor second; of nginx: "
          f"{cpu:.2f} per processor second, {wall:.2f} by the clock",
          flush=True)
    record("transfer", f"download, {kind}", mine, "nginx",
           statistics.median(b[0] for _, b in pairs), cpu,
           "MB per processor second")


def bench_downloads(stage):
    project = make_project(stage, LARGE)
    for scheme, arguments in (("http", []), ("https", ["--tls"])):
        server = Server(project, *arguments)
        server.spawn()
        nginx, port, proxy = start_nginx(project, server, scheme)
        given = assignments(stage, proxy, 1)[0]
        item = snapshot_of(given)
        digest, size = item["hash"], item["size"]
        compare(scheme,
                lambda: rate(server, f"{scheme}://127.0.0.1:{server.port}"
                             f"/v1/objects/{digest}", given["token"], size),
                lambda: rate(nginx, f"{scheme}://127.0.0.1:{port}"
                             f"/{digest[:2]}/{digest}", "", size))
        nginx.kill()
        server.stop()
    return f"downloads of {size / 1e6:.0f} MB"


# Memory


def stand_still(server, head, body=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), 30)
    connection.sendall(head.encode() + body)
    return connection


def growth(server, before):
    time.sleep(1)
    return own_memory(server) - before


def bench_memory(stage):
    server = Server(make_project(stage, MEDIUM)).start()
    given = assignments(stage, server.port, TRANSFERS)
    size = snapshot_of(given[0])["size"]
    before = own_memory(server)
    half = bytes(size // 2)
    uploads = [stand_still(
        server, f"PUT /v1/results/{one['work']['assignments'][0]['result']}"
                f"/update HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                f"{one['token']}\r\nContent-Length: {size}\r\n\r\n", half)
        for one in given]
    up = growth(server, before) / TRANSFERS
    for connection in uploads:
        connection.close()
    before = own_memory(server)
    downloads = []
    for one in given:
        connection = stand_still(
            server, f"GET /v1/objects/{snapshot_of(one)['hash']} HTTP/1.1\r\n"
                    f"Host: x\r\nAuthorization: Bearer {one['token']}\r\n\r\n")
        connection.recv(65536)
        downloads.append(connection)
    down = growth(server, before) / TRANSFERS
    for connection in downloads:
        connection.close()
    print(f"memory of the server: {1000 * up:.0f} KB per upload of "
          f"{size / 1e6:.0f} MB, {1000 * down:.0f} KB per download")
    before = own_memory(server)
    idle = [stand_still(server, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            for _ in range(IDLE)]
    each = growth(server, before) / IDLE
    print(f"memory of the server: {1000 * each:.1f} KB per idle connection")
    for connection in idle:
        connection.close()
    server.stop()
    return f"{TRANSFERS} transfers each way, {IDLE} idle connections"


def bench_client(stage):
    """A volunteer downloads 206 MB and uploads as much."""
    server = Server(make_project(stage, LARGE)).start()
    ada = Volunteer(stage, "ada").attach(server).start()
    wait_for("the agent", lambda: "worker_ready" in ada.text(), 30)
    calm, most = own_memory(ada), 0.0
    end = time.monotonic() + 300
    while not ada.acknowledged() and time.monotonic() < end:
        most = max(most, own_memory(ada))
        time.sleep(0.05)
    expect(ada.acknowledged(), f"no result: {ada.last_line()}")
    ada.stop()
    server.stop()
    print(f"memory of the client beyond its start: {most - calm:.1f} MB at "
          f"most, over one result of 206 MB down and up")
    return "a client's memory"


if __name__ == "__main__":
    run(__doc__, bench_downloads, bench_memory, bench_client)
