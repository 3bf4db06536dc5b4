#!/usr/bin/env python3
"""Runs a Quorate project and its volunteers on this machine.

One volunteer falsifies its results, one is killed with -9 halfway and comes
back, one is slow; the others are ordinary. Afterwards the ledger is verified,
the training replayed and the model exported. The last line is "demo: ok ..."
if everything in the list of promises happened, else "demo: failed ...".

With --boinc, two stock BOINC clients, one that falsifies its results, and two
volunteers with our own client: see demo_boinc.py.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUN = "demo"
# Short, so that the loss of a volunteer is noticed while one watches.
# Units of a tenth of a second pile up at hosts that ask far ahead; what is
# computed on an old version helps the new one less.
# It lasts a minute: hosts become proven in less.
SETTINGS = {"lease": 20, "heartbeat": 5, "reservation": 1,
            "trust_proven_time": 0,
            "max_results_per_host": 2}
LOCAL_STEPS = 20
# Learning rate and epochs: updates are averaged, and the demo is short. One by
# one, an update moves the model less than in rounds, hence more epochs.
TRAINING = {"diloco": ("0.1", 12), "vc-asgd": ("0.1", 26)}
KILL_AT = 0.4        # of the run's samples handed out
AWAY_SECONDS = 3
MOST_SECONDS = 1800
ATTACK = "scaled"    # 1.5 times the honest update: tests/support/attacker
LAST_LEAVE_SECONDS = 10
FALSE_ROLES = ("attacker", "boinc-attacker")

ROLES = ["honest", "attacker", "killed", "slow"]
ROLE_TEXT = {
    "honest": "ordinary",
    "attacker": "falsifies its results",
    "killed": "killed with -9, comes back",
    "slow": "computes 30 % of the time",
}


class Failure(Exception):
    """Why the demo did not do what it promised."""


class Terminal:
    """One line that is refreshed, or plain lines where there is no terminal."""

    def __init__(self):
        self.is_live = sys.stdout.isatty()
        self.open_line = False
        self.last_plain = 0.0

    def progress(self, text):
        if self.is_live:
            print(f"\r\x1b[K{text}", end="", flush=True)
            self.open_line = True
        elif time.monotonic() - self.last_plain > 5:
            self.last_plain = time.monotonic()
            print(text, flush=True)

    def say(self, text):
        if self.open_line:
            print()
            self.open_line = False
        print(text, flush=True)


@dataclasses.dataclass
class Volunteer:
    """One volunteer: an account, a folder, a process."""

    name: str
    role: str
    folder: pathlib.Path
    process: subprocess.Popen = None
    valid_when_back: int = None  # its accepted results when it came back


class Demo:
    settings = SETTINGS
    roles = ROLES
    role_text = ROLE_TEXT
    training = TRAINING
    default_rule = "diloco"
    network = ("--local-steps", str(LOCAL_STEPS))  # for `train create`

    def __init__(self, options, folder):
        self.bin = pathlib.Path(options.bin).resolve()
        self.rule = options.rule or self.default_rule
        self.data = options.data
        self.learning_rate, epochs = self.training.get(
            self.rule, self.training["diloco"])
        self.epochs = options.epochs or epochs
        self.folder = folder
        self.extra = folder.with_name(folder.name + "-volunteers")
        self.terminal = Terminal()
        self.server = None
        self.address = None  # what volunteers attach to
        self.volunteers = []
        for index in range(options.volunteers):
            role = (self.roles[index] if index < len(self.roles)
                    else "honest")
            name = f"{role}-{index + 1}"
            self.volunteers.append(Volunteer(name, role, self.extra / name))

    # Programs.

    def quorate(self, *arguments, in_project=True):
        """Runs the admin CLI to its end and returns what it printed."""
        command = [self.bin / "quorate"]
        if in_project:
            command += ["-C", self.folder]
        done = subprocess.run([*command, *arguments], text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise Failure(f"quorate {' '.join(map(str, arguments))}: "
                          f"{(done.stderr or done.stdout).strip()}")
        return done.stdout

    def ask(self, *arguments):
        return json.loads(self.quorate(*arguments, "--json"))

    def start(self, name, command):
        log = open(self.extra / f"{name}.log", "ab")
        with log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log)

    # The acts.

    def make_project(self):
        self.quorate("init", self.folder, "--name", "Quorate demo",
                     in_project=False)
        self.extra.mkdir(parents=True, exist_ok=True)
        settings = self.folder / "quorate.toml"
        text = settings.read_text()
        for key, value in self.settings.items():
            text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}",
                                  text)
            if count != 1:
                raise Failure(f"{settings}: no setting {key}")
        settings.write_text(text)
        dataset = ("demo-data", self.data) if self.data else ("glyphs",)
        added = self.quorate("dataset", "add", *dataset)
        self.terminal.say(added.splitlines()[0])
        self.quorate("train", "create", RUN, "--dataset", dataset[0],
                     "--rule", self.rule, "--epochs", str(self.epochs),
                     "--quorum", "2", "--lr", self.learning_rate,
                     *self.network)

    def serve(self):
        """Starts the server; it prints what volunteers have to type."""
        self.server = self.start("server", [
            self.bin / "quorate", "-C", self.folder, "serve",
            "--listen", "127.0.0.1:0"])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.expect_server()
            said = re.search(r"quorate-client attach (\S+)\n",
                             (self.extra / "server.log").read_text())
            if said:
                self.address = said[1]
                self.terminal.say(
                    f"server and page: {self.address.split('#')[0]}")
                return
            time.sleep(0.1)
        raise Failure("the server does not say where it listens")

    def expect_server(self):
        if self.server.poll() is not None:
            log = (self.extra / "server.log").read_text().splitlines()
            raise Failure(f"the server ended: {' '.join(log[-1:])}")

    def attach(self, volunteer):
        # A demo shall not stand still where the mains are off.
        for command in (["attach", "--name", volunteer.name, self.address],
                        ["prefs", "set", "on_battery", "yes"]):
            done = subprocess.run(
                [self.bin / "quorate-client", *command, "--dir",
                 volunteer.folder],
                text=True, capture_output=True, check=False)
            if done.returncode != 0:
                raise Failure(f"{volunteer.name}: {done.stderr.strip()}")

    def run_volunteer(self, volunteer):
        program = "quorate-client"
        special = []
        if volunteer.role == "attacker":
            program = "quorate-attacker"
            special = ["--attack", ATTACK]
        elif volunteer.role == "slow":
            special = ["--cpu-percent", "30"]
        volunteer.process = self.start(volunteer.name, [
            self.bin / program, "run", "--dir", volunteer.folder,
            "--threads", "1", *special])

    def host_of(self, volunteer):
        """What the server knows of a volunteer's machine; {} before it came."""
        for host in self.ask("hosts"):
            if host["user"] == volunteer.name:
                return host
        return {}

    def train(self):
        """Watches the run to its end; kills and restarts on the way."""
        victim = next((v for v in self.volunteers if v.role == "killed"), None)
        killed_at = None
        began = time.monotonic()
        while True:
            self.expect_server()
            run = self.ask("train", "show", RUN)
            self.terminal.progress(progress_line(run, time.monotonic() - began))
            if run["state"] != "running":
                break
            if time.monotonic() - began > MOST_SECONDS:
                raise Failure(f"not done after {MOST_SECONDS} s")
            if victim and killed_at is None and run["progress"] >= KILL_AT:
                victim.process.kill()  # SIGKILL
                victim.process.wait()
                killed_at = time.monotonic()
                self.terminal.say(f"{victim.name}: killed with -9")
            elif (victim and victim.valid_when_back is None and killed_at
                  and time.monotonic() - killed_at > AWAY_SECONDS):
                victim.valid_when_back = self.host_of(victim).get("valid", 0)
                self.run_volunteer(victim)
                self.terminal.say(f"{victim.name}: back")
            time.sleep(0.5)
        self.terminal.progress(progress_line(run, time.monotonic() - began))
        return run

    def stop(self, *processes):
        """Asks them all to leave, then waits for each."""
        running = [p for p in processes if p and p.poll() is None]
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(LAST_LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def stop_volunteers(self):
        self.stop(*(volunteer.process for volunteer in self.volunteers))

    # What became of it.

    def table(self):
        rows = [("VOLUNTEER", "WHAT IT DID", "VALID", "INVALID", "CREDIT",
                 "WHAT BECAME OF IT")]
        for volunteer in self.volunteers:
            host = self.host_of(volunteer)
            valid, invalid = host.get("valid", 0), host.get("invalid", 0)
            rows.append((volunteer.name, self.role_text[volunteer.role],
                         str(valid), str(invalid),
                         f"{host.get('credit', 0.0):.3f}",
                         fate(volunteer, host)))
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            self.terminal.say("  ".join(
                cell.ljust(width) for cell, width in zip(row, widths)).rstrip())

    def promises(self, run):
        """(kept, text) of everything that the demo promises."""
        least = 0.87 if self.data else 0.97
        best = run["best_accuracy"] or 0.0
        yield run["state"] == "finished", f"the run is {run['state']}"
        yield best >= least, (f"accuracy {100 * best:.2f} %, at least "
                              f"{100 * least:.0f} % on unseen samples")
        for volunteer in self.volunteers:
            host = self.host_of(volunteer)
            valid, invalid = host.get("valid", 0), host.get("invalid", 0)
            if volunteer.role in FALSE_ROLES:
                yield invalid > 0 and valid == 0, (
                    f"{volunteer.name}: {invalid} false results refused, "
                    f"{valid} accepted")
                continue
            yield valid > 0 and invalid == 0, (
                f"{volunteer.name}: {valid} results accepted, {invalid} "
                f"refused")
            if volunteer.role == "killed":
                back = volunteer.valid_when_back
                more = valid - back if back is not None else 0
                yield more > 0, (f"{volunteer.name}: {more} of them after it "
                                 f"was killed and came back")
        ledger = self.ask("verify-ledger", RUN)
        yield ledger["ok"], f"ledger: {ledger['entries']} entries verified"
        replay = self.ask("replay", RUN)
        yield replay["ok"] and replay["version"] == run["version"], (
            f"replay: the ledger's updates give version {replay['version']} "
            f"again, bit for bit")
        model = self.folder / "model.safetensors"
        self.quorate("export", RUN, "--out", model)
        yield model.stat().st_size > 0, f"model: {model}"
        self.stop(self.server)
        code = self.server.returncode
        yield code == 0, f"the server ended with exit code {code}"

    def play(self):
        """The whole demo; returns the text of the closing line."""
        began = time.monotonic()
        self.make_project()
        self.serve()
        for volunteer in self.volunteers:
            self.attach(volunteer)
        for volunteer in self.volunteers:
            self.run_volunteer(volunteer)
        self.terminal.say(f"{len(self.volunteers)} volunteers at work")
        run = self.train()
        self.stop_volunteers()
        self.terminal.say("")
        self.table()
        self.terminal.say("")
        broken = []
        for kept, text in self.promises(run):
            self.terminal.say(f"{'yes' if kept else 'NO '}  {text}")
            if not kept:
                broken.append(text)
        if broken:
            raise Failure("; ".join(broken))
        return (f"accuracy {100 * run['best_accuracy']:.2f} % after "
                f"{time.monotonic() - began:.0f} s")


def progress_line(run, seconds):
    accuracy = run["accuracy"]
    shown = "  -  " if accuracy is None else f"{100 * accuracy:.2f} %"
    return (f"{seconds:4.0f} s  {100 * run['progress']:3.0f} %  "
            f"version {run['version']}  accuracy {shown}  "
            f"results {run['results_assimilated']} in the model, "
            f"{run['results_rejected']} rejected")


def fate(volunteer, host):
    if not host:
        return "never asked for work"
    if host["invalid"] and not host["valid"]:
        return "caught every time; none of its results is in the model"
    if host["invalid"]:
        return "some results refused"
    if volunteer.valid_when_back is not None:
        return (f"went on: {host['valid'] - volunteer.valid_when_back} "
                f"accepted since")
    return "credited"


def parse_options():
    parser = argparse.ArgumentParser(
        prog="demo.sh", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Example: packaging/demo.sh --volunteers 6 --dir /tmp/demo")
    parser.add_argument("--data", help="folder with IDX files, e.g. "
                        "Fashion-MNIST (default: the built-in digits)")
    parser.add_argument("--volunteers", type=int, default=5, metavar="N",
                        help="number of volunteers, 1 to 64 (default 5)")
    parser.add_argument("--boinc", action="store_true",
                        help="also run stock BOINC clients; needs boinc-client")
    parser.add_argument("--dir", help="folder for the project, new or empty; "
                        "it stays (default: a temporary folder, removed if "
                        "all went well)")
    parser.add_argument("--rule",
                        help="how updates combine: diloco (default) or "
                        "vc-asgd (default with --boinc)")
    parser.add_argument("--epochs", type=int, metavar="E",
                        help="passes over the data (default: by rule)")
    parser.add_argument("--bin", default="build/release/bin",
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not 1 <= options.volunteers <= 64:
        parser.error("--volunteers: expected 1 to 64")
    return options


def kind_of_demo(options):
    if not options.boinc:
        return Demo
    from demo_boinc import BoincDemo  # which needs this module
    return BoincDemo


def main():
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    temporary = None
    if options.dir:
        folder = pathlib.Path(options.dir).resolve()
    else:
        temporary = pathlib.Path(tempfile.mkdtemp(prefix="quorate-demo-"))
        folder = temporary / "project"
    demo = kind_of_demo(options)(options, folder)
    closing, code = "demo: failed: interrupted", 1
    try:
        closing, code = f"demo: ok {demo.play()}", 0
    except Failure as failure:
        closing = f"demo: failed {failure}"
    except KeyboardInterrupt:
        pass
    finally:
        demo.stop_volunteers()
        demo.stop(demo.server)
        if temporary and code == 0:
            shutil.rmtree(temporary)
        else:
            demo.terminal.say(f"project: {folder}, logs: {demo.extra}")
        demo.terminal.say(closing)
    return code


if __name__ == "__main__":
    import demo  # this file, under the name by which demo_boinc knows it
    sys.exit(demo.main())
