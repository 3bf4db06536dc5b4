#!/usr/bin/env python3
"""What the messages of the BOINC door cost, beside what they may.

4,000 scheduler requests a second leave 250 microseconds of one core for each,
and the scheduler and the store need most of it: a tenth is what reading and
writing may take. A megabyte of garbage may take 10 ms. A permission to upload
is made for each file of a result that is sent.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import record  # noqa: E402

CASES = [("request", "read a request that reports two results", 25),
         ("reply", "write a reply with one task", 25),
         ("permit", "make the permission to upload", 25),
         ("head", "read the head of an upload", 25),
         ("verify", "check its permission", 25),
         ("garbage", "refuse 1 MB of garbage, the worst kind", 10000)]


def main():
    program = pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-boinc-messages"
    done = subprocess.run([str(program)], text=True, capture_output=True,
                          check=True, timeout=300)
    spent = json.loads(done.stdout)
    print(f"{'':46}{'us':>10}{'may be':>10}")
    for name, words, budget in CASES:
        print(f"{words:46}{spent[name]:10.1f}{budget:10}")
        record("boinc", words, spent[name], "budget", budget,
               budget / spent[name], "us")


if __name__ == "__main__":
    main()
