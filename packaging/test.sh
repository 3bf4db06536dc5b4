#!/usr/bin/env bash
# Installs what the tests need, builds with both compilers, runs every test and
# ends with a line "N passed, N failed". Exit code 0 only if none failed.
#   g++, optimised             build/release      every test, also end to end,
#                                                 and with broken arithmetic
#   clang, address + undefined build/asan-clang   every test of ctest
# --long adds thread sanitizer and the fuzz targets, and lets the end-to-end
# scripts take hours (QUORATE_LONG=1).
# Usage: packaging/test.sh [--long]     QUORATE_DATA: folder with data sets
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

passed=0
failed=0
failures=() # names, for the end

heading() { printf '\n[%4d s] == %s\n' "$SECONDS" "$*"; }

record() { # NAME EXIT-CODE
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$1")
  fi
}

# Runs a command as one test; shows its output when it fails.
run_one() { # NAME COMMAND...
  local name=$1
  shift
  show_run "$@"
  record "$name" $?
}

show_run() { # COMMAND...
  local log code
  log=$(mktemp)
  "$@" >"$log" 2>&1
  code=$?
  if ((code == 0)); then
    tail -n 1 "$log"
  else
    tail -n 60 "$log"
  fi
  grep -ho 'skipped: .*' "$log" | sort -u
  rm -f "$log"
  return "$code"
}

build() { # FOLDER CMAKE-ARGUMENT...
  local folder=$1
  shift
  cmake -B "$folder" "$@" >/dev/null && ninja -C "$folder" --quiet
}

# Every test of a build folder. Counts single test cases where a program
# reports them.
run_ctest() { # FOLDER
  local report=$1/report.xml counts
  rm -f "$report"
  ctest --test-dir "$1" --output-on-failure --output-junit "$PWD/$report" \
    --test-output-size-passed 1000000 --parallel "$(nproc)" \
    --timeout 600 --quiet
  if ! counts=$(python3 packaging/count_tests.py "$report"); then
    record "ctest in $1" 1
    return
  fi
  local ok bad
  { read -r ok bad; cat; } <<<"$counts"
  passed=$((passed + ok))
  failed=$((failed + bad))
  ((bad == 0)) || failures+=("ctest in $1")
}

build_and_test() { # FOLDER CMAKE-ARGUMENT...
  heading "build $1"
  if ! build "$@"; then
    record "build $1" 1
    return 1
  fi
  heading "tests of $1"
  run_ctest "$1"
}

check_format() {
  find . -path ./build -prune -o \( -name '*.h' -o -name '*.cpp' \) -print0 |
    xargs -0 clang-format-14 --dry-run -Werror &&
    echo "format: every file as .clang-format wants it"
}

# The scripts, those that take a minute or more first: none of them is then the
# last one that the others' processors wait for.
end_to_end_scripts() {
  local slow=(update_rules hard_faults boinc boinc_swarm fashion_rules locality
    falsifiers revocation audit fault_campaign stock_boinc trust)
  printf 'tests/pipeline/%s_test.py\n' "${slow[@]}"
  printf '%s\n' tests/pipeline/*_test.py
}

# As many at once as there are processors: they wait a good deal.
run_end_to_end() {
  local folder script name
  heading "tests/pipeline"
  folder=$(mktemp -d)
  export -f show_run end_to_end_one
  end_to_end_scripts | awk '!seen[$0]++' |
    xargs -P "$(nproc)" -I '{}' \
      bash -c 'end_to_end_one "$@"' - '{}' "$folder"
  for script in tests/pipeline/*_test.py; do
    name=$(basename "$script")
    record "$script" "$(cat "$folder/$name.code" 2>/dev/null || echo 1)"
  done
  rm -rf "$folder"
}

end_to_end_one() { # SCRIPT FOLDER
  local name
  name=$(basename "$1")
  # Debian's own interpreter: python3-numpy serves that one.
  show_run /usr/bin/python3 "$1" >"$2/$name.text"
  echo $? >"$2/$name.code"
  cat "$2/$name.text" # in one piece
}

run_mutations() {
  local script=tests/kernels/mutations_test.py
  heading "$script"
  run_one "$script" /usr/bin/python3 "$script" --build build/release
}

main() {
  local is_long=0
  case "${1:-}" in
    '') ;;
    --long) is_long=1 ;;
    *)
      echo "usage: packaging/test.sh [--long]" >&2
      exit 2
      ;;
  esac
  heading "packages"
  packaging/setup.sh --tests || exit 1

  local clang=(-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14)
  local gcc=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)
  heading "format"
  run_one format check_format
  if build_and_test build/release --preset release "${gcc[@]}"; then
    export QUORATE_BIN=$PWD/build/release/bin
    ((is_long == 0)) || export QUORATE_LONG=1
    run_mutations
    run_end_to_end
  fi
  build_and_test build/asan-clang --preset asan "${clang[@]}"
  if ((is_long)); then
    # g++ warns of the fences in Boost.Asio.
    build_and_test build/tsan --preset tsan "${clang[@]}"
    heading "fuzz targets, 10 minutes each"
    run_one "packaging/fuzz.sh" packaging/fuzz.sh
  fi

  heading "done"
  local name
  for name in "${failures[@]}"; do printf 'failed: %s\n' "$name"; done
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
}

main "$@"; exit # read to its end now: an edit meanwhile changes nothing
