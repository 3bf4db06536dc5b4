#!/usr/bin/env bash
# Builds the fuzzer with clang and runs each target, as many at once as there
# are processors. Starts from tests/fuzz/corpus; finds are left in build/fuzz:
# corpus/NAME (new paths), found-NAME-* (bytes that broke something).
# Usage: packaging/fuzz.sh [SECONDS-EACH [TARGET...]]
#   --keep: afterwards, put some of what reaches more into tests/fuzz/corpus
set -euo pipefail
cd "$(dirname "$0")/.."

keep=0
[[ ${1:-} != --keep ]] || { keep=1; shift; }
seconds=${1:-600}
shift || true
targets=("$@")
if ((${#targets[@]} == 0)); then
  for folder in tests/fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi

cmake -B build/fuzz --preset release -DQUORATE_FUZZ=ON \
  -DQUORATE_SANITIZE=address,undefined \
  -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 >/dev/null
ninja -C build/fuzz --quiet quorate_fuzz

fuzz_one() { # TARGET SECONDS
  local log=build/fuzz/$1.log
  local dictionary=tests/fuzz/dictionaries/$1 options=()
  [[ ! -f $dictionary ]] || options=(-dict="$dictionary")
  mkdir -p "build/fuzz/corpus/$1"
  if QUORATE_FUZZ_TARGET=$1 build/fuzz/bin/quorate_fuzz \
    -max_total_time="$2" -timeout=60 -rss_limit_mb=1024 -max_len=16384 \
    "${options[@]}" -artifact_prefix="build/fuzz/found-$1-" \
    "build/fuzz/corpus/$1" "tests/fuzz/corpus/$1" >"$log" 2>&1; then
    printf '%-24s no finding in %s\n' "$1" "$(grep -o 'Done.*' "$log" | tail -n 1)"
  else
    printf '%-24s FOUND:\n' "$1"
    tail -n 40 "$log"
    return 1
  fi
}
export -f fuzz_one

code=0
printf '%s\n' "${targets[@]}" |
  xargs -P "$(nproc)" -I{} bash -c "fuzz_one {} $seconds" || code=1

# The smallest only: thousands of files would say little more.
keep_some() { # TARGET
  local merged=build/fuzz/merged/$1 seeds=tests/fuzz/corpus/$1 file
  rm -rf "$merged"
  mkdir -p "$merged"
  cp "$seeds"/* "$merged"
  QUORATE_FUZZ_TARGET=$1 build/fuzz/bin/quorate_fuzz -merge=1 -max_len=1024 \
    "$merged" "build/fuzz/corpus/$1" >/dev/null 2>&1
  find "$merged" -type f -printf '%s %f\n' | sort -n | sed -n 1,40p |
    while read -r _ file; do cp -n "$merged/$file" "$seeds/"; done
}
if ((keep)); then
  for name in "${targets[@]}"; do keep_some "$name"; done
fi
((code)) || echo "fuzz: ${#targets[@]} targets, $seconds s each, no finding"
exit "$code"
