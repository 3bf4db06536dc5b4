#!/usr/bin/env python3
"""A simulated day of 10,000, 100,000 and 1,000,000 hosts without gradients:
time, requests to the scheduler, memory, and how both grow with the hosts.

Units of an hour, hosts that come and go, rounds of as many units as hosts are
at work. Usage: simulator_bench.py [HOSTS...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

HOSTS = [10_000, 100_000, 1_000_000]


def scenario(hosts):
    return {
        "name": f"{hosts} hosts", "seed": 1, "gradients": "none",
        "stop": {"after": "1 d"}, "tick": "60 s",
        "run": {"rule": "diloco", "rule_settings": {"snapshots": "fp32"},
                "codec": "fp32", "quorum": 1, "batch": 1,
                "local_steps": 1, "epochs": 1000},
        "server": {"house_workers": 0, "trust_spot_check": 0,
                   "boinc_lease": 4 * 3600, "boinc_contact": 3600,
                   "evaluate_every": 3600},
        "hosts": [{"count": hosts, "door": "boinc", "queue": 0,
                   "gflops": {"median": 8e-12, "sigma": 0.3},
                   "on": "4 h", "off": "16 h", "joins_over": "1 h"}]}


def measured(program, folder, hosts):
    """What it did, its seconds of a processor and of the clock, and bytes."""
    file = folder / f"{hosts}.json"
    file.write_text(json.dumps(scenario(hosts)))
    project, out = folder / "project", folder / f"out-{hosts}"
    begin = time.monotonic()
    child = subprocess.Popen([program, "-C", project, "simulate", file, "--out",
                              out], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"quorate simulate with {hosts} hosts failed")
    done = json.loads((out / "summary.json").read_text())
    done["wall_s"] = time.monotonic() - begin
    done["processor_s"] = usage.ru_utime + usage.ru_stime
    done["peak_bytes"] = usage.ru_maxrss * 1024
    return done


def main():
    program = str(pathlib.Path(os.environ["QUORATE_BIN"]) / "quorate")
    sizes = [int(text) for text in sys.argv[1:]] or HOSTS
    print(f"{'hosts':>10}{'requests':>12}{'results':>12}{'wall s':>9}"
          f"{'processor s':>13}{'us/request':>12}{'GB':>7}{'B/host':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([program, "init", folder / "project"], check=True,
                       stdout=subprocess.DEVNULL)
        for hosts in sizes:
            row = measured(program, folder, hosts)
            each = 1e6 * row["processor_s"] / row["requests"]
            print(f"{hosts:10,}{row['requests']:12,}{row['reports']:12,}"
                  f"{row['wall_s']:9.0f}{row['processor_s']:13.0f}{each:12.1f}"
                  f"{row['peak_bytes'] / 1e9:7.2f}"
                  f"{row['peak_bytes'] / hosts:8.0f}", flush=True)
            append({"bench": "simulator", "case": f"{hosts} hosts",
                    "unit": "us of a processor/request", "ours": each,
                    "requests": row["requests"], "wall_s": row["wall_s"],
                    "peak_bytes": row["peak_bytes"]})


if __name__ == "__main__":
    main()
