"""A server as the page sees one: the page's files, a status that the test
sets, and its stream. Its headers are those of server/page/page_routes.cpp."""

import http.server
import json
import os
import socket
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
DASHBOARD = os.path.join(HERE, *[".."] * 4, "server", "page", "dashboard")
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
TYPES = {".html": "text/html; charset=utf-8",
         ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8"}
PATIENCE_SECONDS = 60
NOW = 1_700_000_000_000
MINUTE = 60_000
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def curve(points=200):
    return [{
        "version": version, "time": NOW - (5 * points - version) * MINUTE,
        "samples": version * 640, "loss": 0.25 + 2 / (1 + version / 40),
        "accuracy": 0.96 - 0.8 / (1 + version / 30),
    } for version in range(0, 5 * points, 5)]


def run(name, **changes):
    row = {
        "run": name, "id": name.encode().hex(), "state": "running",
        "reason": "", "waits": "", "rule": "vc-asgd", "model": "mlp:256",
        "dataset": "glyphs", "quorum": 2, "epochs": 20, "epoch": 8,
        "progress": 0.4321, "done": 0.4, "version": 1007, "results_assimilated": 1007,
        "results_rejected": 2, "results_valid": 2014, "units_made": 1031,
        "units_closed": 1007, "samples": 644480,
        "created": NOW - 1000 * MINUTE, "ended": 0, "evaluated_version": 995,
        "published_version": 1000, "loss": 0.327, "accuracy": 0.9371,
        "best_accuracy": 0.9402, "best_version": 980, "share": 1,
        "hosts_part": 0.75, "seconds_at_work": 59_940,
        "host_seconds": 1.2e6, "cost": 0,
    }
    return {**row, **changes}


def replica(host_name, user_name, state):
    return {"host": host_name, "user": user_name, "state": state}


def detailed(row, **changes):
    """What the status says of the run that it shows, besides its row."""
    details = {
        "evaluations": 200, "seconds_left": 11_423.0, "rejected": [],
        "settings": {
            "seed": 7, "batch": 64, "local_steps": 0,
            "learning_rate": 0.10000000149, "momentum": 0.9,
            "weight_decay": 0.0001, "lr_schedule": "linear",
            "codec": "int8",
            "rule_settings": '{"alpha":0.5}', "round_units": 0,
            "round_share": 0.6, "parameters": 203530},
        "units": {
            "open": 24, "waiting": 3, "computing": 40, "reported": 5,
            "oldest": [{"unit": 1007 + i, "base_version": 1000 + i,
                        "samples": 640, "created": NOW - (90 - i) * 1000}
                       for i in range(20)],
            "closed": [{"unit": 1006 - i, "base_version": 998 - i,
                        "state": "assimilated", "created": NOW - 65_000,
                        "closed": NOW - 7000 - i * 1000,
                        "replicas": [replica("attic", "Zoë", "valid"),
                                     replica(HOSTILE, HOSTILE, "invalid"),
                                     replica("lab-07", "lab", "valid")]}
                       for i in range(8)]},
    }
    return {**row, **details, **changes}


def host(number, name, **changes):
    row = {
        "id": number, "name": name, "user": f"user {number}",
        "door": "native", "device": "cpu:avx512",
        "platform": "linux-x86_64, 8 cores, 15 GiB",
        "speed_flops": 1.53e10 * number, "trust": 24, "state": "proven",
        "active": True, "valid": 4000 // number, "invalid": 0, "errors": 1,
        "credit": 5120.5 / number, "last_seen": NOW - number * 9 * MINUTE,
    }
    return {**row, **changes}


def user(number, name):
    return {"id": number, "name": name, "credit": 5120.5 / number,
            "hosts": number % 3 + 1, "created": NOW}


def rejection(number, host_name, reason):
    return {
        "id": number, "workunit": 7, "host": 3, "host_name": host_name,
        "user": "user 3",
        "server_state": "over", "outcome": "success",
        "validate_state": "invalid", "credit": 0, "reason": reason,
        "sent": NOW - 2 * MINUTE, "received": NOW - MINUTE,
    }


def sample_status():
    """A project in full swing, with a host that would like to own the page."""
    first = run("first")
    second = run("second-try", state="paused", created=NOW - 2000 * MINUTE,
                 reason="diverged at step 17: stop it and lower --lr")
    hosts = [
        host(2, "attic"), host(3, HOSTILE, invalid=2),
        host(4, "laptop-of-a-friend-with-a-long-name", active=False),
        host(5, "lab-07", device="NVIDIA H200"),
        host(6, "garage", active=False, last_seen=NOW - 3000 * MINUTE),
        host(7, "house", state="house", user="", trust=0,
             platform="this server", speed_flops=0)]
    return {
        "time": NOW, "fingerprint": "0123456789abcdef0123456789abcdef",
        "url": "",
        "status": {"name": "Glyph readers", "runs": 2, "hosts_active": 4,
                   "results_in_progress": 40, "results_waiting": 3,
                   "results_per_minute": 1317},
        "runs": {"total": 2, "rows": [first, second]},
        "run": detailed(first, rejected=[
            rejection(4711, HOSTILE, "disagrees with result 4710, on which 2 "
                      "agree"),
            rejection(4650, "garage", "update with elements that are not "
                      "finite")]),
        "hosts": {"total": len(hosts), "rows": hosts},
        "users": {"total": 5, "rows": [
            user(n, name) for n, name in enumerate(
                ["Zoë", HOSTILE, "user 3", "lab", "nobody in particular"],
                1)]},
        "events": [
            {"id": 9, "time": NOW - MINUTE, "kind": "result_rejected",
             "run": "first", "host": HOSTILE, "user": HOSTILE, "count": 37,
             "text": "result 4711 of unit 1006: disagrees with result 4710, "
                     "on which 2 agree"},
            {"id": 8, "time": NOW - 900 * MINUTE, "kind": "run_created",
             "run": "first", "host": None, "user": None, "count": 1,
             "text": "run first: mlp:256 on glyphs, rule vc-asgd"}],
    }


def paused_status():
    """The same, with the other run shown."""
    status = sample_status()
    status["run"] = detailed(status["runs"]["rows"][1])
    return status


def empty_status():
    status = sample_status()
    status["status"].update(runs=0, hosts_active=0, results_in_progress=0,
                            results_waiting=0, results_per_minute=0)
    none = {"total": 0, "rows": []}
    status.update(runs=none, hosts=none, users=none, events=[], run=None)
    return status


def large_status():
    """Ten thousand hosts, of which a server sends the first fifty."""
    status = sample_status()
    status["hosts"] = {"total": 10_000, "rows": [
        host(n, f"machine-{n:05}") for n in range(1, 51)]}
    status["users"] = {"total": 8_000, "rows": [
        user(n, f"volunteer {n}") for n in range(1, 21)]}
    status["runs"] = {"total": 300, "rows": status["runs"]["rows"] + [
        run(f"sweep-{n}", state="finished") for n in range(48)]}
    return status


def sample_activity(minutes=600):
    steps = range(minutes)
    return {
        "time": NOW, "first": NOW - minutes * MINUTE,
        "received": [1300 + 37 * i % 90 for i in steps],
        "valid": [1280 + 37 * i % 90 for i in steps],
        "rejected": [20 + 7 * i % 11 for i in steps],
        "bytes_in": [8_000_000 + 37_000 * i % 900_000 for i in steps],
        "bytes_out": [21_000_000 + 91_000 * i % 3_000_000 for i in steps]}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        fake = self.server.fake
        address = urllib.parse.urlsplit(self.path)
        fake.asked.append(self.path)
        wanted = urllib.parse.parse_qs(address.query).get("run", [""])[0]
        status = fake.statuses.get(wanted, fake.status)
        if address.path == "/v1/status" and fake.polls:
            self.json(status)
        elif address.path == "/v1/activity":
            self.json(fake.activity)
        elif address.path.endswith("/curve"):
            self.json({"run": urllib.parse.unquote(address.path.split("/")[3]),
                       "points": fake.curve})
        elif address.path == "/v1/events" and fake.streams:
            self.stream(wanted)
        else:
            self.file(address.path)

    def file(self, path):
        name = path[1:] or "index.html"
        file = CHART_JS if name == "chart.js" else os.path.join(DASHBOARD,
                                                                name)
        if "/" in name or not os.path.exists(file):
            self.answer(404, "application/json", b"{}")
            return
        with open(file, "rb") as opened:
            self.answer(200, TYPES[os.path.splitext(file)[1]], opened.read())

    def json(self, value):
        self.answer(200, "application/json", json.dumps(value).encode())

    def stream(self, wanted):
        fake = self.server.fake
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while not fake.is_stopped:
            status = fake.statuses.get(wanted, fake.status)
            text = f"event: status\ndata: {json.dumps(status)}\n\n"
            try:
                self.wfile.write(text.encode())
            except OSError:
                return
            time.sleep(0.1)

    def answer(self, code, content_type, body):
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class FakeServer:
    """Use it in a `with`; stop() and start() keep the port."""

    def __init__(self, status, polls=True, streams=True):
        self.status, self.polls, self.streams = status, polls, streams
        self.statuses = {}  # by the name of the run that is asked for
        self.activity, self.curve = sample_activity(), curve()
        self.asked = []
        self.port = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.is_stopped = False
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.fake = self
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever,
                         kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self):
        if self.is_stopped:
            return
        self.is_stopped = True
        self.server.shutdown()
        self.server.socket.shutdown(socket.SHUT_RDWR)
        self.server.server_close()

    def wait_until_asked(self, path):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while path not in self.asked:
            if time.monotonic() > deadline:
                raise AssertionError(f"{path}: nobody asked for it, but for "
                                     f"{sorted(set(self.asked))}")
            time.sleep(0.02)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"
