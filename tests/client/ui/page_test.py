#!/usr/bin/env python3
"""The volunteer's page in a real browser: it shows a status, as text only, and
works within the Content-Security-Policy of `quorate-client ui`.

Needs chromium; without it it is skipped (exit status 77).
Usage: page_test.py QUORATE_CLIENT
"""

import html
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "..", "client", "ui")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SKIPPED = 77
TOKEN = "0123456789abcdef"
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
CLIENT = None  # path of the program


def sample_status():
    return {
        "headline": "waiting for work", "paused": False, "finishing": False, "paused_until": 0,
        "prefs": {"cores": 2, "cpu_percent": 50,
                  "gpu_percent": 40, "hours": "22:00-07:00",
                  "on_battery": False, "max_load": 25, "idle_minutes": 0,
                  "max_celsius": 80, "memory_stall": 10,
                  "down_kbps": 0, "up_kbps": 100, "cache_mb": 1024,
                  "disk_mb": 20480, "memory_mb": 0, "unit_hours": 24,
                  "require_sandbox": False},
        "projects": [{
            "name": HOSTILE, "url": "https://example.org:8470",
            "fingerprint": "00", "user": "ada", "running": True, "pid": 7,
            "devices": ["cuda:0", "cpu:avx2"],
            "computing": "cuda:0, cpu:avx2, 2 threads a task, 50 % of the "
                         "time; GPU 40 % of the time",
            "trouble": "disk full", "rest": "none",
            "why": "", "no_work": "no work at this project now",
            "state_trouble": "",
            "threads": 2, "cpu_percent": 50, "gpu_percent": 40, "received_bytes": 12_300_000,
            "sent_bytes": 800_000, "reported": 41, "accepted": 41,
            "rejected": 0, "cancelled": 1, "failed": 0,
            "standing": {
                "host": 2, "valid": 38, "invalid": 0, "errors": 4,
                "pending": 3, "in_progress": 1, "credit": 12.5,
                "user_credit": 12.5, "asked": 1,
                "runs": [{"run": "first", "results": 37, "first_version": 2,
                          "last_version": 90}]},
            "tasks": [
                {"result": 7, "state": "computing", "step": 5, "steps": 20,
                 "busy": False, "text": "computing, step 5 of 20 (25 %)"},
                {"result": 8, "state": "needs_files", "step": 0, "steps": 0,
                 "busy": True, "text": "downloading"}],
        }],
    }


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        files = {"page": ("text/html; charset=utf-8", "index.html"),
                 "app.js": ("text/javascript; charset=utf-8", "app.js"),
                 "style.css": ("text/css; charset=utf-8", "style.css")}
        name = self.path.removeprefix(f"/{TOKEN}/")
        if name in files:
            content_type, file_name = files[name]
            with open(os.path.join(PAGE, file_name), "rb") as file:
                self.answer(content_type, file.read())
        elif name == "status":
            self.answer("application/json",
                        json.dumps(self.server.status).encode())
        else:
            self.send_error(404)

    def answer(self, content_type, body):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def load(url):
    """What the browser made of the page: (DOM as HTML, the console)."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
             "--enable-logging=stderr", f"--user-data-dir={profile}",
             "--window-size=390,900", "--virtual-time-budget=1500",
             "--dump-dom", url],
            capture_output=True, text=True, timeout=300, check=True)
    return done.stdout, done.stderr


def words(dom):
    text = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<head>.*</head>", "", dom))
    return " ".join(html.unescape(text).split())


class PageTest(unittest.TestCase):
    def test_given_a_status_then_all_of_it_is_shown_as_text(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        server.status = sample_status()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom, console = load(
            f"http://127.0.0.1:{server.server_port}/{TOKEN}/page")
        server.shutdown()
        server.server_close()
        text = words(dom)
        for expected in [
                "waiting for work", "Not paused.", "cuda:0, cpu:avx2, 2 threads a task, 50 % of the time; GPU 40 %",
                "Valid 38", "Pending 3", "Credit 12.500", "Received 12.3 MB",
                "37 results are part of the model of run first, in versions 2 to 90",
                "Too late or failed 4", "disk full",
                "Waits: no work at this project now",
                "Result 7: computing, step 5 of 20 (25 %)", "Result 8: downloading"]:
            self.assertIn(expected, text)
        self.assertNotIn("<img", dom)
        self.assertIn("<title>Quorate on this computer</title>", dom)
        self.assertNotIn("Uncaught", console)

    def test_given_the_program_then_its_policy_lets_the_page_work(self):
        with tempfile.TemporaryDirectory() as folder:
            program = subprocess.Popen(
                [CLIENT, "ui", "--dir", folder], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True)
            try:
                address = program.stdout.readline().strip()
                dom, console = load(address)
                offered, _ = load(f"{address}#join=https%3A%2F%2Fexample.org"
                                  "%3A8470%23ab12")
            finally:
                program.send_signal(signal.SIGTERM)
                program.wait(10)
                program.stdout.close()
        self.assertIn("no agent is running", words(dom))
        self.assertIn("No project yet", words(dom))
        self.assertNotRegex(console, "Content Security Policy|Uncaught")
        self.assertIn('id="offer" role="status" hidden', dom)
        self.assertIn('id="offer" role="status">', offered)
        self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    if not CHROMIUM:
        print("skipped: page_test of the client needs chromium")
        sys.exit(SKIPPED)
    CLIENT = sys.argv.pop()
    unittest.main()
