"""A fresh Debian 12 without a compiler, booted in systemd-nspawn, for tests of
packages. Its network is this machine's."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

INCLUDED = "systemd-sysv,dbus,libpam-systemd,procps,ca-certificates,sudo"
# A session at the screen, as a display manager opens one.
SEATED = """auth sufficient pam_permit.so
account sufficient pam_permit.so
session required pam_env.so conffile=/etc/seat.conf readenv=0
session required pam_systemd.so
"""


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.5)
    raise Failure(f"waited {seconds} s for {what}")


def image(kept):
    """A tar file of the system; made once."""
    file = pathlib.Path(kept)
    if not file.exists():
        sources = pathlib.Path("/etc/apt/sources.list.d/debian.sources")
        unfinished = file.with_name(f"unfinished-{file.name}")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase",
                        f"--include={INCLUDED}", "bookworm", unfinished,
                        *([sources] if sources.exists() else [])], check=True)
        unfinished.rename(file)
    return file


class Container:
    """packages: a folder, seen inside as /packages."""

    def __init__(self, tar, packages):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="quorate-debian-"))
        subprocess.run(["tar", "-C", self.root, "-xf", tar], check=True)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        (self.root / "etc/pam.d/seated").write_text(SEATED)
        (self.root / "etc/seat.conf").write_text("XDG_SEAT DEFAULT=seat0\n")
        self.log = self.root.with_suffix(".log").open("wb")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", self.root,
             "--register=no", "--keep-unit", "--machine=quorate-test",
             f"--bind-ro={packages}:/packages", "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.leader = wait_for("the container's init", self.find_leader, 20)
        wait_for("the container to boot", lambda: self.says(
            "systemctl", "is-system-running", code=None).strip() in
            ("running", "degraded"))

    def find_leader(self):
        children = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], text=True,
            capture_output=True).stdout.split()
        return children and int(children[0])

    def says(self, *command, code=0, seconds=300):
        """What a command prints as root."""
        done = subprocess.run(
            ["nsenter", "--target", str(self.leader), "--all", "env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
             "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
             *map(str, command)], text=True, capture_output=True,
            timeout=seconds)
        if code is not None:
            expect(done.returncode == code,
                   f"{' '.join(map(str, command))}: {done.returncode}: "
                   f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout + done.stderr

    def says_to(self, user, *command, code=0, seated=False):
        """What it prints to somebody in a session of theirs."""
        unit = ["systemd-run", "--quiet", "--wait", "--pipe",
                f"--property=User={user}",
                f"--property=PAMName={'seated' if seated else 'login'}"]
        return self.says(*unit, *command, code=code)

    def copies(self, tree):
        """A file of the container, by its path there."""
        return self.root / tree.lstrip("/")

    def close(self):
        # Not SIGKILL: that would leave what runs inside.
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.kill(self.leader, signal.SIGKILL)
            self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.with_suffix(".log").unlink(missing_ok=True)
