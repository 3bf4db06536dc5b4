#!/usr/bin/env python3
"""The store in memory beside SQLite: processor time of each change and memory
of each row, with few hosts and with a million.

SQLite's bytes are those of its file. Processor time leaves out what its file
waits for the disk. "forgets": the store in memory that keeps 1,000 closed
units and ledger records.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

HOSTS = [10_000, 1_000_000]
UNITS = 50_000


def measured(store, hosts):
    program = pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-store"
    done = subprocess.run([str(program), store, str(hosts), str(UNITS)],
                          text=True, capture_output=True, check=True,
                          timeout=1800)
    return json.loads(done.stdout)


def main():
    for hosts in HOSTS:
        with tempfile.TemporaryDirectory() as folder:
            columns = {"memory": measured("memory", hosts),
                       "forgets": measured("forgetting", hosts),
                       "SQLite :memory:": measured(":memory:", hosts),
                       "SQLite file": measured(f"{folder}/store", hosts)}
        print(f"\n{hosts:,} hosts, {UNITS:,} units; us of a processor, bytes")
        print(f"{'':40}" + "".join(f"{name:>17}" for name in columns)
              + f"{'file / memory':>15}")
        for name, ours in columns["memory"].items():
            row = [column[name] for column in columns.values()]
            ratio = row[-1] / ours
            print(f"{name:40}" + "".join(f"{value:17.2f}" for value in row)
                  + f"{ratio:15.1f}")
            record("store", f"{name}, {hosts} hosts", ours, "SQLite file",
                   row[-1], ratio, "bytes" if "bytes" in name else "us")


if __name__ == "__main__":
    main()
