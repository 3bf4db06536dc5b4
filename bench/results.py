"""What benchmarks hand on to programs: packaging/bench.sh --json FILE."""

import json
import os
import pathlib


def record(bench, case, ours, peer, peer_value, ratio, unit, threads=1):
    """One comparison; ratio over 1: ours is better. Kept in the file that
    QUORATE_BENCH_JSON names, if any: a list of objects."""
    append({"bench": bench, "case": case, "threads": threads, "ours": ours,
            "peer": peer, "peer_value": peer_value, "ratio": ratio,
            "unit": unit})


def append(row):
    """A row of a bench that has no peer to compare with; same file."""
    name = os.environ.get("QUORATE_BENCH_JSON")
    if not name:
        return
    file = pathlib.Path(name)
    rows = json.loads(file.read_text()) if file.exists() else []
    rows.append(row)
    file.write_text(json.dumps(rows, indent=1) + "\n")


def openblas_environment(threads, wide=True):
    """What makes OpenBLAS take its kernels for this processor, which it may not
    know, and so many threads. To be set before the library is loaded. wide: AVX-512, if there is."""
    wide = wide and "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    return {"OPENBLAS_CORETYPE": "SKYLAKEX" if wide else "HASWELL",
            "OPENBLAS_NUM_THREADS": str(threads)}
