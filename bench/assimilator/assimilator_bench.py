#!/usr/bin/env python3
"""The steps of update rules beside the memory's bandwidth, and their memory.

Speed: the bytes that a rule and the published average must move at the least
(the table in assimilator.cpp) in a second of ModelState::apply(), updates being
mapped files; over those of STREAM's triad in the same minute, on as many
threads, with arrays that together take as much memory as the rule's, so that
caches help both alike. Each is the best of 4 to 15, in turns. "streaming": the triad
with stores that bypass the caches, which a compiler does not write by itself.

Memory: that of the process itself over the model's size while results are
read, merged and published from and to files, as the server does it. Pages of
mapped files come on top: the kernel takes them away when it needs them.

Times: of a result of vc-asgd by the parts that the simulator has for an
assimilator, best of three; with --constants they go to the study's constants.

  --only TEXT         rules whose name contains it
  --millions 1,25     of parameters
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append, record  # noqa: E402

PROGRAM = pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-assimilator"
WANTED = 0.6
# Rule, codec, results; whether it keeps a history.
MEMORY = [("vc-asgd", "fp32", 2, False), ("vc-asgd", "int8", 2, False),
          ("dc-asgd", "fp32", 2, False), ("downpour", "fp32", 2, False),
          ("fedasync", "fp32", 2, False), ("local-sgd", "fp32", 8, False),
          ("local-sgd", "int8", 8, False), ("sync", "fp32", 8, False),
          ("diloco", "fp32", 8, True), ("fedbuff", "fp32", 2, True)]
MOST_MEMORY = 3.0
MEMORY_PARAMETERS = 25_000_000
# Of the study's networks, of the paper's of VC-ASGD, and of a larger one.
TIMED = {"lenet": 61_706, "mlp": 25_450, "paper": 4_970_000,
         "large": 25_000_000}
PARTS = ("prepare", "read", "step", "write")
CONSTANTS = pathlib.Path(__file__).parents[1] / "scenarios/constants.json"


def output(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True, check=True, timeout=1800)
    return done.stdout


def available_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def bench_speed(only, millions):
    print(f"{'GB a second':24}{'threads':>8}{'triad':>8}{'streaming':>10}"
          f"{'rule':>8}{'of triad':>10}{'of streaming':>14}")
    for size in millions:
        parameters = int(size * 1e6)
        for name in output(PROGRAM, "--list").splitlines():
            if only not in name:
                continue
            # Its arrays, at most 11, and the triad's.
            if parameters * 4 * 15 > available_bytes():
                print(f"{name} {size:g} M: left out, too little memory")
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = json.loads(output(PROGRAM, name, parameters, folder))
            ratio = found["rule"] / found["triad"]
            row = f"{name} {size:g} M"
            print(f"{row:24}{found['threads']:8}{found['triad'] / 1e9:8.1f}"
                  f"{found['triad_streaming'] / 1e9:10.1f}"
                  f"{found['rule'] / 1e9:8.1f}{ratio:10.2f}"
                  f"{found['rule'] / found['triad_streaming']:14.2f}"
                  + ("" if ratio >= WANTED else f"   below {WANTED}"),
                  flush=True)
            record("assimilator", row, found["rule"], "STREAM triad",
                   found["triad"], ratio, "bytes a second", found["threads"])


def bench_memory(only):
    print(f"\n{'memory / model':36}{'own':>8}{'mapped':>8}")
    for rule, codec, results, has_history in MEMORY:
        if only not in rule:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = json.loads(output(f"{PROGRAM}-memory", rule, codec, results,
                                      MEMORY_PARAMETERS, folder))
        own = found["own"] / found["model"]
        row = f"{rule}, {codec}, {results} results"
        is_too_much = not has_history and own > MOST_MEMORY
        print(f"{row:36}{own:8.2f}{found['mapped'] / found['model']:8.2f}"
              + (f"   above {MOST_MEMORY}" if is_too_much else ""), flush=True)
        record("assimilator", f"memory, {row}", found["own"], "model",
               found["model"], found["model"] / found["own"], "bytes")


def bench_times(writes_constants):
    print(f"\n{'ms a result':24}" + "".join(f"{part:>10}" for part in PARTS))
    found = {}
    for name, parameters in TIMED.items():
        runs = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(json.loads(output(
                    f"{PROGRAM}-memory", "vc-asgd", "fp32", 4, parameters,
                    folder))["seconds"])
        best = {part: min(run[part] for run in runs) for part in PARTS}
        found[name] = {part: float(f"{best[part]:.2g}") for part in PARTS}
        print(f"{name + f' {parameters:,}':24}" +
              "".join(f"{1000 * best[part]:10.2f}" for part in PARTS), flush=True)
        append({"bench": "assimilator", "case": f"a result, {parameters} "
                "parameters", "ours": sum(best.values()), "unit": "seconds"})
    if writes_constants:
        text = json.loads(CONSTANTS.read_text(encoding="utf-8"))
        text["assimilator"] = found
        CONSTANTS.write_text(json.dumps(text, indent=1) + "\n",
                             encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--millions", default="1,25,250")
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--times", action="store_true", help="nothing else")
    options = parser.parse_args()
    if options.times:
        bench_times(options.constants)
        return
    bench_speed(options.only,
                [float(size) for size in options.millions.split(",")])
    bench_memory(options.only)
    bench_times(options.constants)


if __name__ == "__main__":
    main()
