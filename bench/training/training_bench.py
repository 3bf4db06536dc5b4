#!/usr/bin/env python3
"""Training steps on the CPU beside PyTorch: time and peak memory.

Both keep their networks in a process of their own and compute in turns; the
ratio is the median of the rounds', over 1 where ours is faster. PyTorch has the
better of its layouts (NCHW, NHWC) and, where its BLAS is OpenBLAS, that one's
kernels for this processor. Needs Debian's python3-torch.

  --device cpu:avx2   ours (PyTorch chooses for itself)
  --only TEXT         networks whose name contains it
  --rounds N  --threads N
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import openblas_environment, record  # noqa: E402

HERE = pathlib.Path(__file__).parent
# Name; our arguments but device and threads; batch; steps of a round.
CASES = [("resnet-20", ["resnet-20", "64"], ["10", "32", "32", "3"], 4),
         ("resnet-18", ["resnet-18", "64"], ["10", "32", "32", "3"], 1),
         ("gpt", ["gpt:layers=6,width=384,heads=6,context=256", "8"], ["65"],
          1)]


class Runner:
    """A process that computes steps when it is told to."""

    def __init__(self, command, threads):
        self.child = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "OMP_WAIT_POLICY": "passive",
                 # torch.set_num_threads does not tell OpenBLAS.
                 **openblas_environment(threads)})

    def seconds(self, steps):
        self.child.stdin.write(f"{steps}\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline()) / steps

    def end(self):
        """Peak memory in MB."""
        self.child.stdin.close()
        peak = float(self.child.stdout.readline())
        self.child.wait()
        return peak


def bench(case, threads, options):
    name, ours, data, steps = case
    runners = {"ours": Runner(
        [pathlib.Path(os.environ["QUORATE_BIN"]) / "bench-training-steps",
         *ours, options.device, str(threads), *data], threads)}
    for layout in ["nchw"] if name == "gpt" else ["nchw", "nhwc"]:
        runners[layout] = Runner(
            ["/usr/bin/python3", HERE / "pytorch_steps.py", name, ours[1],
             layout, str(threads)], threads)
    times = {key: [] for key in runners}
    for key, runner in runners.items():
        runner.seconds(1)  # warm
    for _ in range(options.rounds):
        for key, runner in runners.items():
            times[key].append(runner.seconds(steps))
    memory = {key: runner.end() for key, runner in runners.items()}
    medians = {key: statistics.median(found) for key, found in times.items()}
    layout = min((key for key in medians if key != "ours"), key=medians.get)
    ratio = statistics.median(
        peer / own for own, peer in zip(times["ours"], times[layout]))
    print(f"{name:12}{threads:8}{medians['ours']:10.3f}{medians[layout]:10.3f}"
          f" {layout:6}{ratio:8.2f}{memory['ours']:10.0f}{memory[layout]:10.0f}"
          f"{memory[layout] / memory['ours']:8.2f}", flush=True)
    record("training", case=f"{name}, step", threads=threads,
           ours=1 / medians["ours"], peer="PyTorch", peer_value=1 / medians[layout],
           ratio=ratio, unit="steps/s")
    record("training", case=f"{name}, peak memory", threads=threads,
           ours=memory["ours"], peer="PyTorch", peer_value=memory[layout],
           ratio=memory[layout] / memory["ours"], unit="MB")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    version = subprocess.run(
        ["/usr/bin/python3", "-c",
         "import torch; print(torch.__version__, torch.__config__.show())"],
        check=False, capture_output=True, text=True)
    if version.returncode != 0:
        print("skipped: training beside PyTorch: needs python3-torch")
        return
    print("PyTorch", version.stdout.split()[0],
          *[line.strip(" -") for line in version.stdout.splitlines()
            if "MKL-DNN v" in line or "CPU capability" in line], sep="\n  ")
    print(f"{'network':12}{'threads':>8}{'ours s':>10}{'PyTorch s':>10}"
          f" {'layout':6}{'ratio':>8}{'ours MB':>10}{'theirs':>10}{'ratio':>8}")
    for case in CASES:
        if options.only in case[0]:
            for threads in options.threads:
                bench(case, threads, options)


if __name__ == "__main__":
    main()
