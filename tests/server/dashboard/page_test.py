#!/usr/bin/env python3
"""The page in a real browser: given a status, when it is loaded, then it shows
it, as text only, and stays within its Content-Security-Policy.

Needs chromium and Chart.js; without them it is skipped (exit status 77).
"""

import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DASHBOARD = os.path.join(HERE, "..", "..", "..", "server", "dashboard")
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SKIPPED = 77
# As server/page_routes.cpp sends it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
NOW = 1_700_000_000_000
MINUTE = 60_000
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def evaluation(version):
    return {
        "version": version,
        "time": NOW - (1000 - version) * MINUTE,
        "samples": version * 640,
        "loss": 0.25 + 2 / (1 + version / 40),
        "accuracy": 0.96 - 0.8 / (1 + version / 30),
    }


def run(name, **changes):
    curve = [evaluation(version) for version in range(0, 1000, 5)]
    row = {
        "run": name, "id": name, "state": "running", "reason": "",
        "rule": "vc-asgd", "model": "mlp:256", "dataset": "glyphs",
        "quorum": 2, "epochs": 20, "epoch": 8, "progress": 0.4321,
        "version": 1007, "results_assimilated": 1007, "results_rejected": 3,
        "results_valid": 2014, "units_made": 1031, "units_closed": 1007,
        "samples": 644480, "created": NOW - 1000 * MINUTE, "ended": 0,
        "evaluated_version": 995, "published_version": 1000,
        "loss": curve[-1]["loss"], "accuracy": 0.9371,
        "best_accuracy": 0.9402, "best_version": 980, "curve": curve,
        "rejected": [],
    }
    return {**row, **changes}


def host(number, name, **changes):
    row = {
        "id": number, "name": name, "user": f"user {number}",
        "door": "native", "device": "cpu", "platform": "linux-x86_64, 8 cores",
        "trust": "quorum", "state": "new", "active": True,
        "valid": 40 * number, "invalid": 0, "errors": 1,
        "credit": 512.5 * number, "in_progress": 2,
        "last_seen": NOW - number * number * 9000,
    }
    return {**row, **changes}


def rejection(number, host_name, reason):
    return {
        "id": number, "workunit": 7, "host": 3, "host_name": host_name,
        "server_state": "over", "outcome": "success",
        "validate_state": "invalid", "credit": 0, "reason": reason,
        "sent": NOW - 2 * MINUTE, "received": NOW - MINUTE,
    }


def sample_status():
    """A project in full swing, with a host that would like to own the page."""
    return {
        "time": NOW,
        "fingerprint": "0123456789abcdef0123456789abcdef",
        "url": "",
        "status": {
            "name": "Glyph readers", "runs": 2, "hosts_active": 4,
            "results_in_progress": 24, "results_waiting": 3,
            "results_per_minute": 1317,
        },
        "runs": [
            run("second-try", state="paused", created=NOW - 2000 * MINUTE,
                reason="diverged at step 17: lower --lr and resume"),
            run("first", rejected=[
                rejection(4711, HOSTILE, "differs from the quorum's result"),
                rejection(4650, "garage", "the update holds a NaN"),
            ]),
        ],
        "hosts": [
            host(1, "house-1", state="house", user=""),
            host(2, "attic"),
            host(3, HOSTILE, invalid=2),
            host(4, "laptop-of-a-friend-with-a-long-name", active=False),
            host(5, "lab-07", device="NVIDIA H200"),
            host(6, "garage", active=False, last_seen=NOW - 3000 * MINUTE),
        ],
        "events": [
            {"id": 9, "time": NOW - MINUTE, "kind": "result_rejected",
             "run": 1, "host": HOSTILE,
             "text": "result 4711: differs from the quorum's result"},
            {"id": 8, "time": NOW - 900 * MINUTE, "kind": "run_created",
             "run": 1, "host": None, "text": "run first"},
        ],
    }


def empty_status():
    status = sample_status()
    status.update(runs=[], hosts=[], events=[])
    return status


class Page(http.server.BaseHTTPRequestHandler):
    """Answers as the server does: the files, the status and its stream."""

    def do_GET(self):
        files = {
            "/": ("text/html; charset=utf-8", "index.html"),
            "/app.js": ("text/javascript; charset=utf-8", "app.js"),
            "/style.css": ("text/css; charset=utf-8", "style.css"),
            "/chart.js": ("text/javascript; charset=utf-8", CHART_JS),
        }
        if self.path in files:
            content_type, name = files[self.path]
            with open(os.path.join(DASHBOARD, name), "rb") as file:
                self.answer(200, content_type, file.read())
        elif self.path == "/v1/status" and self.server.polls:
            self.answer(200, "application/json", self.status())
        elif self.path == "/v1/events" and self.server.streams:
            self.answer(200, "text/event-stream",
                        b"event: status\ndata: " + self.status() + b"\n\n")
        else:
            self.answer(503, "application/json", b"{}")

    def status(self):
        return json.dumps(self.server.status).encode()

    def answer(self, code, content_type, body):
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def serve(status, polls=True, streams=True, port=0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Page)
    server.status, server.polls, server.streams = status, polls, streams
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def load(server, fragment=""):
    """What the browser made of the page: (DOM as HTML, the console)."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
             "--enable-logging=stderr", f"--user-data-dir={profile}",
             "--window-size=1280,900", "--virtual-time-budget=2500",
             "--dump-dom",
             f"http://127.0.0.1:{server.server_port}/{fragment}"],
            capture_output=True, text=True, timeout=300, check=True)
    server.shutdown()
    server.server_close()
    return done.stdout, done.stderr


def words(dom):
    """The text of the page, without marks and with single spaces."""
    text = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<head>.*</head>", "", dom))
    return " ".join(html.unescape(text).split())


class PageTest(unittest.TestCase):
    def test_given_runs_when_loaded_then_all_of_it_is_shown(self):
        server = serve(sample_status())
        origin = f"http://127.0.0.1:{server.server_port}"
        dom, console = load(server)
        text = words(dom)
        for expected in [
                "Glyph readers live", "Results per minute 1,317",
                "running first", "43.2 %", "Accuracy 93.71 % at version 995",
                "Best accuracy 94.02 % at version 980", "Units closed 1,007 of 1,031 made",
                "second-try · paused", "differs from the quorum's result",
                f"attach {origin}#0123456789abcdef0123456789abcdef"]:
            self.assertIn(expected, text)
        self.assertIn("200 evaluations; the last: 93.66 % at version 995", dom)
        order = [text.index(name) for name in ("1 garage", "2 lab-07")]
        self.assertEqual(order, sorted(order))
        self.assertNotRegex(console, "Content Security Policy|Uncaught")

    def test_given_a_hostile_name_then_it_stays_text(self):
        dom, _ = load(serve(sample_status()))
        self.assertNotIn("<img", dom)
        self.assertIn(html.escape(HOSTILE, quote=False), dom)
        self.assertIn("<title>Glyph readers", dom)

    def test_given_a_run_in_the_address_then_that_run_is_shown(self):
        dom, _ = load(serve(sample_status()), "#run=second-try")
        self.assertIn("paused second-try", words(dom))
        self.assertIn("lower --lr and resume", words(dom))

    def test_given_nothing_yet_then_the_page_says_what_to_do(self):
        dom, console = load(serve(empty_status()))
        self.assertRegex(dom, r'id="run-body" hidden=""')
        self.assertRegex(dom, r'id="no-run" class="empty">')
        self.assertRegex(dom, r'id="no-hosts" class="empty">')
        self.assertNotIn("Uncaught", console)

    def test_given_no_stream_then_the_page_polls(self):
        dom, _ = load(serve(sample_status(), streams=False))
        self.assertIn("Glyph readers live", words(dom))

    def test_given_the_stream_alone_then_it_is_enough(self):
        dom, _ = load(serve(sample_status(), polls=False))
        self.assertIn("Accuracy 93.71 %", words(dom))

    def test_given_no_answers_then_the_page_says_offline(self):
        dom, _ = load(serve({}, polls=False, streams=False))
        self.assertIn("offline since", words(dom))


if __name__ == "__main__":
    if not CHROMIUM or not os.path.exists(CHART_JS):
        print("skipped: page_test needs chromium and libjs-chart.js")
        sys.exit(SKIPPED)
    unittest.main()
