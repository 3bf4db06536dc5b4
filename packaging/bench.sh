#!/usr/bin/env bash
# Runs benchmarks (bench/) on the release build and prints their tables. Other
# programs on the machine blur the figures: run it alone.
# Usage: packaging/bench.sh [--json FILE] [NAME...], names of folders of bench/
# No name: all of them. FILE: a list of the comparisons (bench/results.py).
set -euo pipefail
cd "$(dirname "$0")/.."

known=(server simulator store boinc transfer kernels training learning attacks
       codecs assimilator sandbox)
if [[ ${1:-} == --json ]]; then
  QUORATE_BENCH_JSON=$(realpath -m "${2:?usage: --json FILE}")
  export QUORATE_BENCH_JSON
  rm -f "$QUORATE_BENCH_JSON"
  shift 2
fi
for name in "$@"; do
  if [[ ! -e bench/$name/${name}_bench.py ]]; then
    echo "usage: packaging/bench.sh [--json FILE] [${known[*]}]" >&2
    exit 2
  fi
done

packaging/setup.sh --bench
cmake --preset release -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
ninja -C build/release --quiet
export QUORATE_BIN=$PWD/build/release/bin

printf 'processor: %s, %s cores; load %s\n' \
  "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs)" "$(nproc)" \
  "$(cut -d' ' -f1 /proc/loadavg)"
for name in "${@:-${known[@]}}"; do
  printf '\n== %s\n' "$name"
  /usr/bin/python3 "bench/$name/${name}_bench.py"
done
