#!/usr/bin/env python3
"""What `quorate boinc` publishes: signatures that openssl verifies, as BOINC
clients do; programs that run with what is published beside them; changes that
a kill -9 cannot tear.
"""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import stat
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import Project, Skip, expect, run

KILLED = 8  # commands
OPTIONS = ["-pkeyopt", "rsa_padding_mode:pkcs1"]


def need_openssl():
    if shutil.which("openssl") is None:
        raise Skip("needs openssl")


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], timeout=30,
                          capture_output=True, check=False)
    expect(done.returncode == 0, f"openssl {arguments}: {done.stderr}")
    return done.stdout


class Apps:
    """The commands of one project, and what they published."""

    def __init__(self, stage):
        self.stage = stage
        self.project = Project(stage)
        self.folder = self.project.folder / "boinc"
        self.key = self.project.folder / "keys/boinc_code_sign.key"
        self.worker = stage.program("quorate-worker")
        self.linked = stage.program("base_test")  # with libraries of others

    def ask(self, *arguments):
        return self.project.ask("boinc", *arguments)

    def refuses(self, words, *arguments):
        self.stage.fails(words, "quorate", "-C", self.project.folder, "boinc",
                         *arguments)

    def manifest(self):
        return json.loads((self.folder / "app_versions.json").read_text())

    def other_worker(self, name="other"):
        """A program with other bytes that is otherwise the same."""
        path = self.stage.folder / name
        path.write_bytes(self.worker.read_bytes() + name.encode())
        return path

    def recovered(self, public_key, signature):
        """What was signed, by the public key that openssl made of `key`."""
        file = self.stage.folder / "signature"
        file.write_bytes(bytes.fromhex(signature))
        return openssl("pkeyutl", "-verifyrecover", "-pubin", "-inkey",
                       public_key, "-in", file, *OPTIONS).decode()

    def public_half(self, key):
        """Its public key as a file of openssl's, and as clients get it."""
        path = self.stage.folder / f"{key.name}.pub"
        openssl("pkey", "-in", key, "-pubout", "-out", path)
        modulus = openssl("rsa", "-in", key, "-noout", "-modulus")
        modulus = modulus.decode().strip().split("=")[1].lower()
        digits = modulus + f"{65537:0256x}"
        lines = [digits[at:at + 64] for at in range(0, 512, 64)]
        return path, "\n".join(["1024", *lines, ".\n"])

    def check_files(self, key):
        """Every file is there, and signed by the key. Returns their number."""
        public_key, text = self.public_half(key)
        manifest = self.manifest()
        expect(manifest["code_sign_key"] == text, "another code-sign key")
        expect(self.ask("key", "show")["code_sign_key"] == text, "key show")
        for file in manifest["files"]:
            data = (self.folder / "files" / file["name"]).read_bytes()
            digest = hashlib.md5(data).hexdigest()
            expect(file["md5"] == digest and file["bytes"] == len(data) and
                   self.recovered(public_key, file["signature"]) == digest,
                   f"{file['name']}: not what was signed")
        return len(manifest["files"])


def library_of(program):
    """Any shared library that it needs."""
    done = subprocess.run(["ldd", program], timeout=30, check=True,
                          capture_output=True, text=True)
    return re.search(r"=> (/\S+)", done.stdout)[1]


def run_published(apps, version, *arguments):
    """As a client does: the program with its libraries in an empty folder.
    Returns what it says."""
    slot = apps.stage.folder / f"slot{version['version']}"
    slot.mkdir()
    for library in version["libraries"]:
        shutil.copy(apps.folder / "files" / library["file"],
                    slot / library["soname"])
    program = slot / "program"
    shutil.copy(apps.folder / "files" / version["program"], program)
    program.chmod(0o755)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(slot)}
    loaded = subprocess.run(
        [program], env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},
        capture_output=True, text=True, timeout=30, check=True).stdout
    for library in version["libraries"]:
        expect(f"{library['soname']} => {slot}/" in loaded,
               f"{library['soname']} is not loaded from the slot: {loaded}")
    return subprocess.run([program, *arguments], env=environment,
                          capture_output=True, text=True, timeout=60,
                          check=True).stdout


def test_publish(stage):
    """Publish, list, retire; what is published can be started as it is."""
    need_openssl()
    apps = Apps(stage)
    expect(apps.ask("app", "list") == [], "something is published")
    first = apps.ask("app", "add", apps.worker)
    expect(first["version"] == 1 and first["state"] == "published" and
           first["platform"] == "x86_64-pc-linux-gnu" and
           first["devices"] == "cpu, opencl", f"{first}")
    expect(stat.S_IMODE(apps.key.stat().st_mode) == 0o600, "others may sign")
    # Each file more is a second or two more before the first task.
    expect(len(first["files"]) == 1, f"{first['files']}: expected one file")
    said = run_published(apps, apps.manifest()["versions"][0],
                         "--list-devices", "--json")
    expect(json.loads(said)["devices"], f"the program says: {said}")
    second = apps.ask("app", "add", "--devices", "cpu", apps.linked)
    expect(second["version"] == 2 and len(second["files"]) > 1, f"{second}")
    said = run_published(apps, apps.manifest()["versions"][1], "--version")
    expect("doctest" in said, f"the program says: {said}")
    other = apps.stage.folder / "other"
    other.write_bytes(apps.linked.read_bytes() + b"other")
    third = apps.ask("app", "add", "--devices", "cpu", other)
    # The libraries are the same files.
    expect(len(third["files"]) == len(second["files"]), f"{third}")
    count = apps.check_files(apps.key)
    expect(count == 1 + len(second["files"]) + 1, f"{count} files")
    retired = apps.ask("app", "retire", 1)
    expect([row["state"] for row in retired] ==
           ["retired", "published", "published"] and
           retired == apps.ask("app", "list"), f"{retired}")
    expect(apps.check_files(apps.key) == count, "files have gone")
    text = apps.project.order("boinc", "app", "list")
    expect("retired" in text and "x86_64-pc-linux-gnu" in text, text)
    return f"{count} files are signed, and a program runs with its libraries"


def test_rotate(stage):
    """The old key signs the new one, and the new one all files."""
    need_openssl()
    apps = Apps(stage)
    made = apps.ask("key", "new")
    expect(made["private_key"] == str(apps.key) and made["files"] == 0,
           f"{made}")
    apps.ask("app", "add", apps.worker)
    old = stage.folder / "old.key"
    shutil.copy(apps.key, old)
    shown = apps.ask("key", "rotate")
    expect(shown["former_keys"] == 1 and old.read_bytes() !=
           apps.key.read_bytes(), f"{shown}")
    count = apps.check_files(apps.key)
    # To a key of openssl's that is kept elsewhere.
    mine = stage.folder / "mine.pem"
    openssl("genrsa", "-out", mine, 1024)
    mine.chmod(0o600)
    kept = stage.folder / "kept.key"
    shutil.copy(apps.key, kept)
    shown = apps.ask("key", "rotate", "--new-key", mine)
    expect(shown["private_key"] is None and not apps.key.exists(), f"{shown}")
    expect(apps.check_files(mine) == count, "files have gone")
    apps.refuses(["--key"], "app", "add", apps.other_worker())
    apps.refuses(["not the project's code-sign key"], "app", "add", "--key", kept,
                 apps.other_worker())
    apps.ask("app", "add", "--key", mine, apps.other_worker())
    chain = [(apps.public_half(key)) for key in (old, kept, mine)]
    former = apps.manifest()["former_keys"]
    for place, entry in enumerate(former):
        public_key, text = chain[place]
        expect(entry["key"] == text, f"former key {place} is another")
        follower = chain[place + 1][1].strip()
        expect(apps.recovered(public_key, entry["successor_signature"]) ==
               hashlib.md5(follower.encode()).hexdigest(),
               f"former key {place} did not sign its successor")
    expect(len(former) == 2, f"{len(former)} former keys")
    return f"{count} files signed anew, twice; each key names its successor"


def test_refusals(stage):
    """What cannot be published says why, and changes nothing."""
    apps = Apps(stage)
    script = stage.folder / "script"
    script.write_text("#!/bin/sh\nexit 0\n" + "# a comment\n" * 99)
    library = stage.folder / "library.so"
    apps.refuses(["no code-sign key"], "key", "show")
    apps.refuses(["no code-sign key yet"], "key", "rotate")
    apps.refuses([script, "expected an ELF file"], "app", "add", script)
    apps.refuses(["there is no such file"], "app", "add", library)
    apps.refuses(["windows_x86_64", "known"], "app", "add", "--platform",
                 "windows_x86_64", apps.worker)
    apps.refuses(["it is not built for"], "app", "add", "--platform",
                 "aarch64-unknown-linux-gnu", apps.worker)
    apps.refuses(["devices"], "app", "add", "--devices", "tpu", apps.worker)
    apps.refuses(["nothing is"], "app", "retire", 1)
    expect(not apps.folder.exists() and not apps.key.exists(),
           "a refused command wrote")
    apps.ask("app", "add", apps.worker)
    before = apps.manifest()
    shutil.copy(library_of(apps.linked), library)
    apps.refuses(["found a library"], "app", "add", library)
    apps.refuses(["already published as version 1"], "app", "add",
                 apps.worker)
    apps.refuses(["known are 1"], "app", "retire", 7)
    apps.refuses(["key rotate"], "key", "new")
    open_key = stage.folder / "open.pem"
    shutil.copy(apps.key, open_key)
    open_key.chmod(0o644)
    apps.refuses(["chmod 600"], "app", "add", "--key", open_key,
                 apps.other_worker())
    stage.fails(["no project"], "quorate", "-C", stage.folder / "none",
                "boinc", "app", "list")
    expect(apps.manifest() == before, "a refused command changed something")
    return "mistakes say what is wrong, and change nothing"


def test_killed(stage):
    """After kill -9 a command was done, or nothing was."""
    need_openssl()
    apps = Apps(stage)
    apps.ask("app", "add", apps.worker)
    draw = random.Random(stage.seed)
    done = 0
    for number in range(KILLED):
        is_key = number % 2 == 1
        command = ["key", "rotate"] if is_key else [
            "app", "add", apps.other_worker(f"worker-{number}")]
        before = apps.manifest()
        child = subprocess.Popen(
            [str(stage.program("quorate")), "-C", str(apps.project.folder),
             "boinc", *map(str, command)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=stage.environment)
        time.sleep(draw.uniform(0, 0.08 if is_key else 0.5))
        child.kill()
        child.wait(10)
        after = apps.manifest()
        grown = (len(after["versions"]) + len(after["former_keys"]) -
                 len(before["versions"]) - len(before["former_keys"]))
        expect(grown in (0, 1) and (grown == 1 or after == before),
               f"kill {number}: {grown} changes")
        done += grown
        apps.ask("app", "list")  # reads and verifies all
    # Whatever was cut short, the next command can sign.
    apps.ask("app", "add", apps.other_worker("last"))
    apps.check_files(apps.key)
    left = [path for path in (apps.folder / "files").iterdir()
            if path.suffix == ".tmp"]
    expect(not left, f"left behind: {left}")
    return f"{KILLED} kills, {done} of them after the change"


if __name__ == "__main__":
    run(__doc__, test_publish, test_rotate, test_refusals, test_killed)
