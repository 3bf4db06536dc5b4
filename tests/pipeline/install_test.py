#!/usr/bin/env python3
"""`cmake --install` into an empty folder: the programs run from there, the
worker is found, manuals and completion are theirs, and what desktop and
systemd start is what was installed."""

import pathlib
import re
import shutil
import subprocess

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


def test_install(stage):
    prefix = stage.folder / "prefix"
    install(stage, prefix)
    share = prefix / "share"
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
