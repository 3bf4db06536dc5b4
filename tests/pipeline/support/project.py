"""Real Quorate programs for the end-to-end tests.

A test is a function of a Stage that returns the text of its closing line. run()
prints "ok NAME ..." or "failed NAME ...". Every wait has a bound, and no process
outlives its stage, however the test ends.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import uuid

RUN = "first"
SEAL_BYTES = 88  # docs/formats.md, "Sealed file"
NAME = pathlib.Path(sys.argv[0]).stem
MARK = "QUORATE_TEST_STAGE"  # in the environment of everything we start
# Short, so that the loss of a program is noticed within a test's patience.
# Trust is off unless a test is about it: every quorum counts, nobody becomes
# proven.
SETTINGS = {"lease": 6, "heartbeat": 1, "reservation": 0.5,
            "trust_proven_after": 0, "trust_proven_time": 0,
            "trust_anchor": "false",
            "trust_ban_after": 1000000, "trust_spot_check": 0}


class Failure(Exception):
    """What a test found wrong."""


class Skip(Exception):
    """Why a test cannot run here."""


def expect(condition, text):
    """Raises Failure with `text` unless the condition holds."""
    if not condition:
        raise Failure(text)


def expect_words(text, *words):
    """Each of the words is in the text, of which the end is shown."""
    for word in words:
        expect(str(word) in text, f"expected \"{word}\" in: {text[-2000:]}")


# Scripts state bounds for a quiet machine. A busy one gets this many times as
# long: a wait ends when its condition holds, so patience costs time only where
# something is broken.
PATIENCE = 4


def wait_for(what, condition, seconds=30, every=0.05):
    """Waits until condition() is true and returns its value."""
    seconds *= PATIENCE
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(every)


def free_port():
    """None of those that the system gives to connections: such a one could
    take it while a server is away."""
    for port in random.sample(range(10_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


class Process:
    """A program of ours that writes to a log of its own."""

    def __init__(self, stage, name, command):
        self.stage = stage
        self.name = name
        self.command = list(map(str, command))
        self.log = stage.folder / f"{name}.log"
        self.child = None
        stage.processes.append(self)

    def spawn(self):
        expect(not self.is_running(), f"{self.name}: runs already")
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.stage.environment)

    def is_running(self):
        return self.child is not None and self.child.poll() is None

    def kill(self):
        """kill -9: nothing of it runs on."""
        if self.is_running():
            self.child.kill()
            self.child.wait(60)

    def stop(self, seconds=40):
        """SIGTERM; returns how long it took to leave. Its exit code is 0."""
        expect(self.is_running(), f"{self.name}: has ended: {self.last_line()}")
        began = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        try:
            code = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name}: still there {seconds} s after "
                          f"SIGTERM") from None
        expect(code == 0, f"{self.name}: exit code {code} after SIGTERM: "
                          f"{self.last_line()}")
        return time.monotonic() - began

    def workers(self):
        """Ids of its worker processes."""
        found = []
        for file in pathlib.Path(f"/proc/{self.child.pid}/task").glob(
                "*/children"):
            try:
                found += map(int, file.read_text().split())
            except OSError:  # that thread has just ended
                continue
        return found

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def last_line(self):
        return (self.text().splitlines() or ["(nothing in its log)"])[-1]

    def results_with(self, event):
        """Ids of the results that its log names in lines of this event."""
        return [int(number) for number in
                re.findall(rf"(?m) {event} result=(\d+)", self.text())]


class Server(Process):
    """`quorate serve` on a port that stays the same over restarts."""

    def __init__(self, project, *arguments, port=None, name="server"):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(project.stage, name, [
            project.stage.program("quorate"), "-C", project.folder, "serve",
            "--listen", f"127.0.0.1:{self.port}", *arguments])

    def is_up(self):
        try:
            return b"ok" in self.get("/healthz")
        except OSError:
            return False

    def start(self):
        self.spawn()
        def answers():
            expect(self.is_running(), f"server: ended: {self.last_line()}")
            return self.is_up()
        wait_for("server: an answer to /healthz", answers, 30, 0.02)
        return self

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def get(self, path):
        connection = self.connection()
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except (http.client.HTTPException, ssl.SSLError) as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def address(self):
        """What volunteers attach to."""
        # It answers a moment before it says so.
        return wait_for("server: what volunteers have to type", lambda: (
            re.search(r"attach (\S+#\S+)", self.text())), 5)[1]


class TlsServer(Server):
    def __init__(self, project, *arguments, **settings):
        super().__init__(project, "--tls", *arguments, **settings)

    def connection(self):
        anyone = ssl.create_default_context()
        anyone.check_hostname = False
        anyone.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30,
                                           context=anyone)


class Volunteer(Process):
    """One volunteer: a user, a folder, a machine."""

    def __init__(self, stage, name, *arguments, program="quorate-client"):
        self.folder = stage.folder / name
        self.program = stage.program(program)
        super().__init__(stage, name, [
            self.program, "run", "--dir", self.folder, "--threads", "1",
            *arguments])

    def attach(self, server, address=None):
        """To the server, or by way of an address that leads to it."""
        self.stage.run(self.program, "attach", "--dir", self.folder,
                       address or server.address(), "--name", self.name)
        # A test shall not stand still where the mains are off.
        self.order("prefs", "set", "on_battery", "yes")
        return self

    def start(self):
        self.spawn()
        return self

    def order(self, *arguments):
        """Another command of the client on the same folder, e.g. pause."""
        return self.stage.run(self.program, *arguments, "--dir", self.folder)

    def status(self):
        return json.loads(self.order("status", "--json"))["projects"][0]

    def acknowledged(self):
        """Results that the server has confirmed, by this client's own log."""
        return self.results_with("result_reported")


class Project:
    """A project folder and the operator's commands."""

    def __init__(self, stage, name="project", **settings):
        self.stage = stage
        self.folder = stage.folder / name
        self.kept = stage.folder / f"{name}-kept"
        stage.run("quorate", "init", self.folder)
        self.set(**{**SETTINGS, **settings})

    def set(self, **settings):
        """Changes quorate.toml."""
        file = self.folder / "quorate.toml"
        text = file.read_text()
        for key, value in settings.items():
            text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}",
                                  text)
            expect(count == 1, f"quorate.toml: no setting {key}")
        file.write_text(text)

    def order(self, *arguments):
        return self.stage.run("quorate", "-C", self.folder, *arguments)

    def ask(self, *arguments):
        return json.loads(self.order(*arguments, "--json"))

    def add_glyphs(self, samples, test_samples=500):
        self.order("dataset", "add", "glyphs", "--samples", samples,
                   "--test-samples", test_samples)

    def create_run(self, *arguments):
        """Unless told otherwise by a rule that merges each result at once, as
        it is: most tests are about what follows one result."""
        usual = {"--rule": "vc-asgd", "--codec": "fp32"}
        chosen = [part for flag, value in usual.items()
                  if flag not in arguments for part in (flag, value)]
        self.order("train", "create", RUN, *arguments, *chosen)

    def show(self):
        return self.ask("train", "show", RUN)

    def show_evaluated(self):
        """The run once its newest published version is evaluated."""
        def evaluated():
            run = self.show()
            return run if (run["evaluated_version"] ==
                           run["published_version"]) else None
        return wait_for("the evaluation of the last version", evaluated, 60,
                        0.3)

    def wait_until_finished(self, seconds):
        def finished():
            run = self.show()
            expect(run["state"] in ("running", "finished"),
                   f"the run is {run['state']}: {run['reason']}")
            return run if run["state"] == "finished" else None
        return wait_for("the end of the run", finished, seconds, 0.3)

    def results(self):
        return self.ask("results", RUN, "--limit", 1000000)

    def workunits(self):
        return self.ask("workunits", RUN, "--limit", 1000000)

    def host_of(self, volunteer):
        for host in self.ask("hosts"):
            if host["user"] == volunteer.name:
                return host
        raise Failure(f"{volunteer.name}: unknown to the server")

    def ledger(self):
        """The entries of the run's ledger; the server must be up."""
        entries = []
        while True:
            rows = self.admin("ledger", run=RUN, **{"from": len(entries)})
            if not rows:
                return entries
            entries += [json.loads(row["line"]) for row in rows]

    def admin(self, command, **arguments):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(str(self.folder / "run/admin.sock"))
            client = http.client.HTTPConnection("localhost")
            client.sock = connection
            client.request("POST", f"/admin/{command}", json.dumps(arguments))
            reply = client.getresponse()
            body = json.loads(reply.read())
        expect(reply.status == 200, f"admin {command}: {body}")
        return body

    def object(self, digest):
        path = self.folder / "objects" / digest[:2] / digest
        return path if path.exists() else self.kept / digest

    def keep_objects(self):
        """Links to all objects of now; the server removes old snapshots."""
        self.kept.mkdir(exist_ok=True)
        for path in (self.folder / "objects").glob("??/*"):
            try:
                os.link(path, self.kept / path.name)
            except (FileExistsError, FileNotFoundError):
                pass

    def task(self, workunit):
        """What the sealed unit with this hash asks for."""
        return json.loads(self.sealed_task(workunit)[:-SEAL_BYTES])

    def sealed_task(self, workunit):
        store = sqlite3.connect(
            f"file:{self.folder}/db/quorate.sqlite?mode=ro", uri=True)
        with contextlib.closing(store):
            found = store.execute(
                "SELECT bytes FROM sealed_tasks JOIN workunits "
                "ON id = workunit WHERE object = ?",
                (bytes.fromhex(workunit),)).fetchone()
        expect(found, f"no sealed task of unit {workunit}")
        return found[0]


class Worker:
    """`quorate-worker --serve`: recomputes units of a project."""

    def __init__(self, stage, *arguments):
        self.child = subprocess.Popen(
            [str(stage.program("quorate-worker")), "--serve",
             *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=stage.environment)
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=stage.folder))
        self.jobs = 0
        self.ready = self.receive(60)

    def receive(self, seconds):
        """The next message that ends something."""
        watchdog = threading.Timer(seconds, self.child.kill)
        watchdog.start()
        try:
            for line in self.child.stdout:
                message = json.loads(line)
                if message["type"] != "progress":
                    return message
        finally:
            watchdog.cancel()
        raise Failure(f"worker: ended, or silent for {seconds} s")

    def compute(self, project, server, workunit, seconds=120):
        """The worker's claim about the sealed unit with this hash."""
        self.jobs += 1
        key = json.loads(server.get("/v1/project")[:-SEAL_BYTES])["key"]
        domain = b"quorate project v1\0"
        task = project.task(workunit)
        unit = self.folder / "workunit"
        unit.write_bytes(project.sealed_task(workunit))
        self.child.stdin.write(json.dumps({
            "type": "compute", "job": self.jobs, "project_key": key,
            "project": hashlib.sha256(domain + bytes.fromhex(key)).hexdigest(),
            "workunit": str(unit),
            "snapshot": str(project.object(task["snapshot"])),
            "shard": str(project.object(task["shard"])),
            "update": str(self.folder / "update"),
            "checkpoint": str(self.folder / "checkpoint")}) + "\n")
        self.child.stdin.flush()
        reply = self.receive(seconds)
        expect(reply["type"] == "computed", f"worker: unit {workunit}: {reply}")
        return reply["claim"]

    def close(self):
        self.child.stdin.close()
        self.child.wait(60)


class Stage:
    """A folder, the programs, and everything that was started."""

    def __init__(self, options):
        self.is_long = options.long
        self.seed = options.seed
        self.data = options.data
        self.bin = pathlib.Path(options.bin).resolve()
        # Short: the path of a socket has at most 107 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quorate-"))
        self.processes = []
        # What a driver compiles is the same for all tests.
        compiled = self.bin.parent / "pocl"
        compiled.mkdir(exist_ok=True)
        self.environment = dict(os.environ, **{
            MARK: uuid.uuid4().hex,
            "POCL_CACHE_DIR": str(compiled),
            "PATH": f"{self.bin}:{os.environ['PATH']}"})
        self.began = time.monotonic()

    def begin_anew(self):
        """A fresh folder, for a test that does the same again."""
        self.close()
        self.processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quorate-"))

    def program(self, name):
        path = self.bin / name
        expect(path.exists(), f"{path}: not there: name the folder of the "
                              f"programs with --bin or QUORATE_BIN")
        return path

    def run(self, program, *arguments, seconds=120, code=0):
        """Runs a command to its end; returns what it printed."""
        command = [str(self.program(program)), *map(str, arguments)]
        done = subprocess.run(command, text=True, capture_output=True,
                              timeout=seconds * PATIENCE, check=False,
                              env=self.environment)
        expect(done.returncode == code,
               f"{' '.join(command)}: exit code {done.returncode}: "
               f"{(done.stderr or done.stdout).strip()}")
        return done.stdout

    def fails(self, words, program, *arguments):
        """Runs a command that must fail, with a line that has the words; for
        wrong usage, another may point to the help."""
        done = subprocess.run(
            [str(self.program(program)), *map(str, arguments)], text=True,
            capture_output=True, timeout=120, check=False,
            env=self.environment)
        expect(done.returncode in (1, 2) and
               len(done.stderr.splitlines()) in (1, done.returncode),
               f"{program} {arguments}: exit code {done.returncode}: "
               f"{done.stderr}{done.stdout}")
        expect_words(done.stderr, *words)

    def say(self, text):
        print(f"[{self.seconds():5.1f} s] {text}", flush=True)

    def seconds(self):
        return time.monotonic() - self.began

    def left_over(self):
        """Ids of processes of this stage that run still."""
        mark = f"{MARK}={self.environment[MARK]}".encode()
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def expect_only(self, processes):
        """No other process of the stage is left, also no worker of theirs
        whose parent has gone."""
        known = {process.child.pid for process in processes}
        wait_for("the end of all other processes",
                 lambda: set(self.left_over()) <= known, 5)

    def close(self):
        for process in self.processes:
            process.kill()
        for pid in self.left_over():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def print_logs(self):
        for process in self.processes:
            print(f"--- end of {process.log}")
            print("\n".join(process.text().splitlines()[-12:]))
        print(f"files: {self.folder}")


def parse_options(description):
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get(
        "QUORATE_BIN", "build/release/bin"), help="folder of the programs")
    parser.add_argument("--long", action="store_true",
                        default=bool(os.environ.get("QUORATE_LONG")),
                        help="take minutes instead of seconds")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the moments that are drawn")
    parser.add_argument("--data", default=None, help="folder with a data set")
    parser.add_argument("--only", metavar="TEST", help="run this one alone")
    return parser.parse_args()


def run_one(test, options):
    """Runs one test on a stage of its own; True unless it failed."""
    stage = Stage(options)
    try:
        print(f"ok {NAME} {test(stage)} ({stage.seconds():.0f} s)")
    except Skip as reason:
        print(f"skipped: {NAME}: {reason}")
    except (Failure, OSError, subprocess.TimeoutExpired) as error:
        stage.print_logs()
        print(f"failed {NAME} {test.__name__}: {error}")
        return False
    finally:
        stage.close()
    shutil.rmtree(stage.folder, ignore_errors=True)
    return True


def run(description, *tests, at_once=False):
    """Runs every test and ends the program: 1 if one failed. At once: tests
    that mostly wait, and whose lines may mingle."""
    options = parse_options(description)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    chosen = [test for test in tests
              if options.only in (None, test.__name__)]
    if not chosen:
        names = ", ".join(test.__name__ for test in tests)
        sys.exit(f"--only {options.only}: there are {names}")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list((pool.map if at_once else map)(
            lambda test: run_one(test, options), chosen))
    if not all(results):
        print(f"failed {NAME}: {results.count(False)} of {len(results)}")
        sys.exit(1)
