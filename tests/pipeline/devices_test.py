#!/usr/bin/env python3
"""One volunteer computes on several devices at once.

OpenCL on the CPU (PoCL) stands for a GPU: it takes the same way through the
client, except that nobody chooses it who was not told to.
"""

import collections
import json
import re
import shutil

from support.project import (Project, Server, Skip, Volunteer, expect,
                             expect_words, run, wait_for)


def opencl_device(stage):
    """Name of an OpenCL device of this machine."""
    listed = json.loads(stage.run("quorate-worker", "--list-devices",
                                  "--json"))
    for device in listed["devices"]:
        if device["name"].startswith("opencl:"):
            return device["name"]
    raise Skip("needs an OpenCL device; pocl-opencl-icd is one: " +
               "; ".join(listed["refused"]))


def start(stage, *arguments, quorum=1, **program):
    project = Project(stage)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:61,17",
                       "--batch", 50, "--local-steps", 100, "--quorum",
                       quorum, "--epochs", 10000)
    server = Server(project, "--house-workers", 0).start()
    volunteer = Volunteer(stage, "vera", *arguments, **program)
    # As many cores everywhere.
    volunteer.attach(server).order("prefs", "set", "cores", 2)
    volunteer.start()
    return project, server, volunteer


def valid_by_device(project, volunteer):
    """How many valid results the volunteer computed on each device."""
    valid = {row["id"] for row in project.results()
             if row["validate_state"] == "valid"}
    computed = dict(re.findall(r" computing result=(\d+) device=(\S+)",
                               volunteer.text()))
    return collections.Counter(device for result, device in computed.items()
                               if int(result) in valid)


def test_two_devices(stage):
    """Both deliver results that are valid: the same as another volunteer's."""
    opencl = opencl_device(stage)
    project, server, volunteer = start(stage, "--device", f"{opencl},cpu",
                                       quorum=2)
    other = Volunteer(stage, "bert", "--device", "cpu").attach(server).start()
    wait_for("valid results of both devices",
             lambda: len(valid_by_device(project, volunteer)) == 2, 120)
    wait_for("the status", lambda: len(volunteer.status()["devices"]) == 2)
    expect(opencl in volunteer.status()["devices"],
           f"status shows the devices {volunteer.status()['devices']}")
    expect_words(volunteer.order("status"), f"on {opencl}, cpu:",
                 "GPU 100 % of the time")
    volunteer.order("prefs", "set", "gpu_percent", 50)
    wait_for("another share of the time",
             lambda: volunteer.status()["gpu_percent"] == 50)
    before = valid_by_device(project, volunteer)[opencl]
    wait_for("more results of the GPU's worker", lambda: valid_by_device(
        project, volunteer)[opencl] > before, 60)
    volunteer.stop()
    other.stop()
    expect(not any(row["validate_state"] == "invalid"
                   for row in project.results()), "a result is invalid")
    counts = valid_by_device(project, volunteer)
    server.stop()
    return ", ".join(f"{count} valid of {device}"
                     for device, count in sorted(counts.items()))


def test_missing_device(stage):
    """It is reported; the device beside it computes."""
    project, server, volunteer = start(
        stage, "--device", "opencl:99", "--device", "cpu")
    wait_for("valid results",
             lambda: valid_by_device(project, volunteer)["cpu"] >= 3, 60)
    wait_for("the status", lambda: len(volunteer.status()["devices"]) == 1)
    expect_words(volunteer.status()["trouble"], "not used: ", "opencl:99")
    expect_words(volunteer.text(), "device_given_up device=opencl:99")
    volunteer.stop()
    # None is left: that is the end.
    stage.run("quorate-client", "run", "--dir", volunteer.folder, "--device",
              "opencl:98,opencl:99", code=1)
    server.stop()
    return "one device of two is missing: told, and the other computes"


def chosen_devices(volunteer):
    """What each of its starts has chosen."""
    return [found.strip('"').split(", ") for found in
            re.findall(r" started .*devices=(\"[^\"]*\"|\S+)",
                       volunteer.text())]


def test_choice(stage):
    """Named by nobody: a real GPU, if there is one that is faster than the
    CPU; never OpenCL on the CPU."""
    listed = json.loads(stage.run("quorate-worker", "--list-devices",
                                  "--json"))
    gpus = [device["name"] for device in listed["devices"] if device["gpu"]]
    project, server, volunteer = start(stage)
    wait_for("a valid result", lambda: valid_by_device(project, volunteer),
             600)
    volunteer.stop()
    server.stop()
    [chosen] = chosen_devices(volunteer)
    expect(set(chosen) <= {"cpu", *gpus}, f"chosen: {chosen}, GPUs: {gpus}")
    measured = volunteer.folder / "devices.json"
    expect(measured.exists() == bool(gpus),
           f"{measured}: there with GPUs, and only then: {gpus}")
    stage.fails(["auto", "--device"], "quorate-client", "run", "--dir",
                volunteer.folder, "--device", "auto,cpu")
    return f"chosen: {', '.join(chosen)}"


# A worker program that passes OpenCL on the CPU off as a fast GPU.
PRETENDER = """#!/bin/sh
case "$*" in
*--list-devices*) echo '{list}';;
*--bench*opencl*) echo '{speed}';;
*) exec {worker} "$@";;
esac
"""


def pretend_gpu(stage, opencl):
    """A folder with the client and such a worker program."""
    listed = json.loads(stage.run("quorate-worker", "--list-devices",
                                  "--json"))
    for device in listed["devices"]:
        device["gpu"] = device["name"] == opencl
    speed = {"cases": [{"case": "x", "value": 1e6, "unit": "Gflop/s"}],
             "failure": ""}
    folder = stage.folder / "bin"
    folder.mkdir()
    shutil.copy(stage.program("quorate-client"), folder)
    worker = folder / "quorate-worker"
    worker.write_text(PRETENDER.format(
        list=json.dumps(listed).replace("'", "?"), speed=json.dumps(speed),
        worker=stage.program("quorate-worker")))
    worker.chmod(0o700)
    return folder


def test_choice_of_a_gpu(stage):
    """It gets a worker, the CPU another; it is measured once."""
    opencl = opencl_device(stage)
    folder = pretend_gpu(stage, opencl)
    project, server, volunteer = start(stage, quorum=1, program=str(
        folder / "quorate-client"))
    wait_for("valid results of both devices",
             lambda: len(valid_by_device(project, volunteer)) == 2, 120)
    volunteer.stop()
    volunteer.start()
    wait_for("the second start", lambda: len(chosen_devices(volunteer)) == 2)
    volunteer.stop()
    server.stop()
    expect(chosen_devices(volunteer) == [[opencl, "cpu"]] * 2,
           f"chosen: {chosen_devices(volunteer)}")
    measured = re.findall(r" device_measured device=(\S+)", volunteer.text())
    expect(sorted(measured) == ["cpu", opencl], f"measured: {measured}")
    kept = json.loads((volunteer.folder / "devices.json").read_text())
    expect(len(kept["measured"]) == 2, f"kept: {kept}")
    return f"{opencl} and the CPU, measured once"


if __name__ == "__main__":
    run(__doc__, test_two_devices, test_missing_device, test_choice,
        test_choice_of_a_gpu)
