#!/usr/bin/env python3
"""What people get who install the packages, in a Debian 12 that is booted for
it: client and server are installed, used, killed, upgraded, removed, purged.

Usage: packages_test.py FOLDER [IMAGE]
FOLDER: where packaging/deb.sh put them. IMAGE: a tar file of Debian 12 to use,
made if it is not there (build/debian-12.tar). Needs root and the network.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from container import Container, Failure, expect, image, wait_for

MOST_SECONDS, MOST_BYTES = 60, 15_000_000
SCORES = {"quorate-client.service": 2.5, "quorate@first.service": 2.0}
ROOT = pathlib.Path(__file__).parents[2]
SOCKET = "/run/quorate-client/control.sock"


def deb(folder, name):
    files = sorted(folder.glob(f"{name}_*.deb"))
    expect(len(files) == 1, f"{folder}: expected one {name}_*.deb")
    return files[0]


def later(folder):
    """The same packages as a later build."""
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for file in folder.glob("*.deb"):
        tree = out / "tree"
        subprocess.run(["dpkg-deb", "-R", file, tree], check=True)
        control = tree / "DEBIAN/control"
        text = control.read_text()
        version = re.search(r"(?m)^Version: (.+)$", text)[1]
        control.write_text(text.replace(version, version + "+later"))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree,
                        out / file.name], check=True, capture_output=True)
        subprocess.run(["rm", "-r", tree], check=True)
    return out


def install(box, folder, *names):
    files = ["/packages/" + str(deb(folder, name).relative_to(box.packages))
             for name in names]
    began = time.monotonic()
    box.says("apt-get", "install", "-y", "--no-install-recommends", *files)
    return time.monotonic() - began


def has_socket(box):
    return box.says("sh", "-c", f"test -S {SOCKET} && echo yes",
                    code=None) == "yes\n"


def bytes_of(box, *names):
    files = box.says("dpkg", "-L", *names).split("\n")
    return sum(path.stat().st_size for path in map(box.copies, set(files))
               if path.is_file() and not path.is_symlink())


def upgrade(box, newer):
    """From a signed repository, that nobody else can change."""
    repository = newer / "repository"
    subprocess.run([ROOT / "packaging/repository.sh", repository,
                    newer / "keys", newer], check=True, capture_output=True)
    inside = f"/packages/{repository.relative_to(box.packages)}"
    box.says("cp", f"{inside}/quorate-archive.asc", "/etc/apt/keyrings/")
    box.copies("/etc/apt/sources.list.d/quorate.list").write_text(
        "deb [signed-by=/etc/apt/keyrings/quorate-archive.asc] "
        f"file:{inside} bookworm main\n")
    release = repository / "dists/bookworm/InRelease"
    sealed = release.read_text()
    release.write_text(sealed.replace("Label: Quorate", "Label: Another"))
    (release.parent / "Release.gpg").unlink()
    said = box.says("apt-get", "update", code=None)
    expect("not valid" in said or "BADSIG" in said or "not signed" in said,
           f"a changed repository: {said}")
    release.write_text(sealed)
    box.says("apt-get", "update", "-qq")
    box.says("apt-get", "upgrade", "-y")
    shutil.rmtree(newer)


def main_pid(box, unit):
    return box.says("systemctl", "show", "--value", "-p", "MainPID",
                    unit).strip()


def processor_seconds(box, unit):
    fields = box.says("cat", f"/proc/{main_pid(box, unit)}/stat")
    # Of its children that have ended, too.
    ticks = fields.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def status(box):
    return json.loads(box.says("quorate-client", "status", "--json"))


def reported(box):
    return sum(project["reported"] for project in status(box)["projects"])


def check_scores(box):
    for unit, most in SCORES.items():
        said = box.says("systemd-analyze", "security", "--no-pager", unit)
        score = float(re.search(r"Overall exposure level[^:]*: ([0-9.]+)",
                                said)[1])
        expect(score <= most, f"{unit}: scores {score}: at most {most}")
        print(f"{unit}: scores {score}")


def serve(box):
    """A project, as docs/operator.md sets one up; returns its address."""
    def quorate(*command):
        return box.says("runuser", "-u", "quorate", "--", "quorate", *command)

    quorate("init", "/var/lib/quorate/first", "--name", "First")
    here = ("-C", "/var/lib/quorate/first")
    quorate(*here, "dataset", "add", "glyphs", "--samples", 10240)
    quorate(*here, "train", "create", "first", "--dataset", "glyphs", "--model",
            "mlp:64", "--quorum", 1, "--epochs", 20_000, "--local-steps", 20)
    box.says("systemctl", "enable", "--now", "quorate@first")

    def address():
        said = box.says("journalctl", "-u", "quorate@first", "-o", "cat",
                        code=None)
        return re.search(r"attach (\S+#[0-9a-f]{32})", said)
    return wait_for("the server to say where it is", address, 30)[1]


def check_before_attaching(box):
    wait_for("the service", lambda: has_socket(box), 20)
    expect("active" in box.says("systemctl", "is-active", "quorate-client"),
           "the service is not active")
    before = processor_seconds(box, "quorate-client")
    time.sleep(10)
    used = processor_seconds(box, "quorate-client") - before
    expect(used < 0.05, f"{used:.3f} s of a processor in 10 s, not attached")
    memory = int(re.search(r"VmRSS:\s+(\d+)", box.says(
        "cat", f"/proc/{main_pid(box, 'quorate-client')}/status"))[1])
    print(f"not attached: {used * 10:.2f} % of a core, {memory / 1000:.1f} MB")


def check_people(box, address):
    """Somebody who sits there attaches; somebody else may only look."""
    for user in ("ada", "eve"):
        box.says("useradd", "--create-home", "--shell", "/bin/bash", user)
    said = box.says_to("eve", "quorate-client", "attach", address, code=1)
    expect("sudo quorate-client attach" in said, f"said to eve: {said}")
    expect("no project" in box.says_to("eve", "quorate-client", "status"),
           "eve sees no status")
    began = time.monotonic()
    said = box.says_to("ada", "quorate-client", "attach", address, seated=True)
    expect("attached to First" in said, f"said to ada: {said}")
    wait_for("a step", lambda: any(
        task["step"] > 0 for project in status(box)["projects"]
        for task in project["tasks"]) or reported(box), 60)
    print(f"attached; computing after {time.monotonic() - began:.1f} s")
    wait_for("a reported result", lambda: reported(box) > 0, 60)


def check_goes_on(box, what, seconds=90):
    before = reported(box)
    wait_for(f"results after {what}", lambda: reported(box) > before + 2,
             seconds)


def test_packages(box, folder):
    for program in ("gcc", "g++", "cc"):
        box.says("env", program, code=127)  # not there
    box.says("apt-get", "update", "-qq")
    seconds = install(box, folder, "quorate-worker", "quorate-client")
    size = bytes_of(box, "quorate-worker", "quorate-client")
    print(f"client: {seconds:.0f} s, {size / 1e6:.1f} MB of our own files")
    expect(seconds < MOST_SECONDS, f"{seconds:.0f} s")
    expect(size < MOST_BYTES, f"{size} bytes")
    check_before_attaching(box)
    seconds = install(box, folder, "quorate-server")
    print(f"server: {seconds:.0f} s, "
          f"{bytes_of(box, 'quorate-server') / 1e6:.1f} MB")
    address = serve(box)
    check_scores(box)
    check_people(box, address)
    box.says("systemctl", "kill", "--signal=KILL", "--kill-who=all",
             "quorate-client", "quorate@first")
    wait_for("both to be there again", lambda: "failed" not in box.says(
        "systemctl", "is-active", "quorate-client", "quorate@first",
        code=None) and has_socket(box) and status(box)["projects"],
        90)
    check_goes_on(box, "kill -9")
    upgrade(box, later(folder))
    expect("+later" in box.says("dpkg-query", "-W", "quorate-client"), "version")
    wait_for("the service after the upgrade",
             lambda: has_socket(box), 30)
    check_goes_on(box, "an upgrade")
    check_end(box)


def check_end(box):
    """What removing and purging leave."""
    box.says("systemctl", "stop", "quorate@first")
    data = box.copies("/var/lib/quorate-client")
    key = (data / "account.key").read_bytes()
    box.says("apt-get", "remove", "-y", "quorate-client", "quorate-server")
    expect((data / "account.key").read_bytes() == key, "the key went")
    expect(not has_socket(box), "the socket is left")
    box.says("dpkg", "--purge", "quorate-client")
    box.says("apt-get", "purge", "-y", "quorate-worker")
    expect(not data.exists(), f"{data} is left")
    project = box.copies("/var/lib/quorate/first")
    expect((project / "quorate.toml").exists(), "a project went")
    left = [path for name in ("quorate", "quorate-client", "quorate-worker")
            for path in map(box.copies, (f"/usr/bin/{name}",
                                         f"/usr/share/doc/{name}"))
            if path.exists()]
    expect(not left, f"left: {left}")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tar = image(sys.argv[2] if len(sys.argv) > 2 else "build/debian-12.tar")
    box = Container(tar, folder)
    box.packages = folder
    try:
        test_packages(box, folder)
    except Failure as failure:
        print(box.says("journalctl", "-n", "40", "--no-pager", code=None))
        sys.exit(f"failed: {failure}")
    finally:
        box.close()
    print("ok packages_test: installed, used, killed, upgraded, removed, purged")


if __name__ == "__main__":
    main()
