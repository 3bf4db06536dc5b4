#!/usr/bin/env python3
"""`cmake --install` into an empty folder: the programs run from there, the
worker is found, manuals and completion are theirs, and what desktop and
systemd start is what was installed."""

import json
import pathlib
import re
import shutil
import subprocess
from urllib.parse import unquote

from support.project import (Project, Server, Skip, Volunteer, expect, run,
                             wait_for)


def install(stage, prefix):
    build = stage.bin.parent
    cmake = shutil.which("cmake")
    if cmake is None or not (build / "cmake_install.cmake").exists():
        raise Skip("needs cmake and its build folder")
    subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True,
                   capture_output=True, timeout=120)


def value_of(file, key):
    found = re.search(rf"(?m)^{key}=(\S+)", file.read_text())
    expect(found, f"{file}: no {key}")
    return found[1]


def debian_package_of(library):
    """None where Debian's package manager did not bring it."""
    # It knows files below /usr by their names from before /lib was there, too.
    for path in {library, library.resolve(),
                 pathlib.Path("/" + str(library).removeprefix("/usr/"))}:
        found = subprocess.run(["dpkg-query", "-S", path], text=True,
                               capture_output=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return None


def check_bill_of_materials(bill, programs):
    document = json.loads(bill.read_text())
    expect(document["spdxVersion"] == "SPDX-2.3", f"{bill}: what is it?")
    listed = {unquote(reference["referenceLocator"]).split("/")[-1].split("@")[0]
              for package in document["packages"]
              for reference in package.get("externalRefs", [])}
    for program in programs:
        # Of these, not of what they need in turn.
        needed = re.findall(r"NEEDED.*\[(.+)\]", subprocess.run(
            ["readelf", "-d", program], text=True, capture_output=True,
            check=True).stdout)
        paths = dict(re.findall(r"(\S+) => (\S+)", subprocess.run(
            ["ldd", program], text=True, capture_output=True,
            check=True).stdout))
        for name in needed:
            if name not in paths:
                continue  # the loader itself
            package = debian_package_of(pathlib.Path(paths[name]))
            expect(package is None or package in listed,
                   f"{bill} does not list {package}, which has {name} of "
                   f"{program}")


def test_install(stage):
    prefix = stage.folder / "prefix"
    install(stage, prefix)
    share = prefix / "share"
    for name in ("LICENSE", "NOTICE"):
        expect((share / f"doc/quorate/{name}").exists(), f"no {name}")
    check_bill_of_materials(share / "doc/quorate/quorate.spdx.json",
                            [path for path in (prefix / "bin").iterdir()])
    unit = share / "systemd/user/quorate-client.service"
    started = pathlib.Path(value_of(unit, "ExecStart"))
    expect(started == prefix / "bin/quorate-client" and started.exists(),
           f"{unit}: starts {started}")
    unit = prefix / "lib/systemd/system/quorate@.service"
    expect(value_of(unit, "ExecStart") == str(prefix / "bin/quorate"),
           f"{unit}: starts {value_of(unit, 'ExecStart')}")
    for program in ("quorate", "quorate-client", "quorate-worker"):
        page = (share / f"man/man1/{program}.1").read_text()
        expect(page == stage.run(program, "--man-page"),
               f"{program}.1 is not what {program} says")
    for program in ("quorate", "quorate-client"):
        script = share / f"bash-completion/completions/{program}"
        expect(script.read_text() == stage.run(program, "completion", "bash"),
               f"{script} is not what {program} says")
    entry = share / "applications/quorate-client.desktop"
    expect((prefix / "bin" / value_of(entry, "Exec")).exists(),
           f"{entry}: starts what is not there")

    stage.bin = prefix / "bin"
    stage.environment["PATH"] = "/usr/bin:/bin"
    project = Project(stage)
    project.add_glyphs(1024)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--epochs", 1)
    server = Server(project, "--house-workers", 0).start()
    volunteer = Volunteer(stage, "ada").attach(server).start()
    wait_for("a result of an installed client", volunteer.acknowledged, 60)
    volunteer.stop()
    server.stop()
    return "the installed programs train"


if __name__ == "__main__":
    run(__doc__, test_install)
