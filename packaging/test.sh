#!/usr/bin/env bash
# Installs what the tests need, builds, runs the tests and ends with a line
# "N passed, N failed". Exit code 0 only if none failed.
#   (plain)   build/release (g++, optimised): every test of ctest and the
#             end-to-end scripts; build/asan-clang (address + undefined): every
#             test of ctest. What CI runs.
#   --quick   build/release alone: ctest without the tests that repeat others
#             (label slow), and the end-to-end scripts that tell most. Before
#             every commit.
#   --long    also broken arithmetic, thread sanitizer, the fuzz targets, and
#             scripts that measure; builds each source alone; end-to-end scripts
#             may take hours (QUORATE_LONG=1). Before a release.
# docs/testing.md says what runs where, and why.
# Usage: packaging/test.sh [--quick | --long]
# QUORATE_DATA: folder with data sets; tests that need one are skipped without.
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

# Two builds give the same bytes; lintian finds nothing; what is installed works.
packages_in_debian() {
  if ((EUID != 0)); then
    echo "skipped: packages (needs root)"
    return
  fi
  local package
  packaging/deb.sh build/packages && packaging/deb.sh build/packages-again ||
    return
  for package in build/packages/*.deb; do
    cmp "$package" "build/packages-again/${package##*/}" || return
  done
  # Who builds it answers for the address.
  lintian --allow-root --fail-on error,warning --suppress-tags \
    bogus-mail-host,bogus-mail-host-in-debian-changelog \
    build/packages/*.changes &&
    /usr/bin/python3 tests/packages/packages_test.py build/packages
}

build() { # FOLDER CMAKE-ARGUMENT...
  local folder=$1
  shift
  cmake -B "$folder" "$@" >/dev/null && ninja -C "$folder" --quiet
}

build_step() { # FOLDER CMAKE-ARGUMENT...
  heading "build $1"
  if ! build "$@"; then
    record "build $1" 1
    return 1
  fi
}

# A folder of tests makes and removes thousands of files: in memory, where there
# is some. (Nothing that survives a power cut is tested by cutting the power.)
in_memory() { # COMMAND...
  local folder
  if [[ -n ${TMPDIR:-} || ! -w /dev/shm ]] ||
    (($(df --output=avail -k /dev/shm | tail -n 1) < 4 << 20)); then
    "$@"
    return
  fi
  folder=$(mktemp -d /dev/shm/quorate-XXXXXX)
  chmod 1777 "$folder" # some tests are another user for a while
  TMPDIR=$folder "$@"
  rm -rf "$folder"
}

# Every test of a build folder. Counts single test cases where a program
# reports them.
run_ctest() { # FOLDER CTEST-ARGUMENT...
  local folder=$1 report=$1/report.xml counts
  shift
  heading "tests of $folder"
  rm -f "$report"
  in_memory ctest --test-dir "$folder" --output-junit "$PWD/$report" --test-output-size-passed 1000000 \
    --parallel "$(nproc)" --timeout 600 --quiet "$@"
  if ! counts=$(python3 packaging/count_tests.py "$report"); then
    record "ctest in $folder" 1
    return
  fi
  local ok bad names
  { read -r ok bad names; cat; } <<<"$counts"
  passed=$((passed + ok))
  failed=$((failed + bad))
  ((bad == 0)) || failures+=("ctest in $folder: $names")
}

check_format() {
  find . -path ./build -prune -o \( -name '*.h' -o -name '*.cpp' \) -print0 |
    xargs -0 clang-format-14 --dry-run -Werror &&
    echo "format: every file as .clang-format wants it"
}

# Those that tell most in a minute: what a newcomer types, one run from its start
# to its audit, hosts and servers that die, devices, clients of BOINC.
quick_scripts=(audit backup boinc_apps clean_stop commands cut_connections
  devices install newcomer peers refusals same_bits simulator snapshots tls)
# Those that measure, and take minutes.
long_scripts=(boinc_idle)
# Those that take a minute or more come first: none of them is then the last
# one, that the others' processors wait for.
slow_scripts=(update_rules boinc hard_faults locality boinc_swarm codecs
  revocation falsifiers trust stock_boinc fashion_rules networks)

# The scripts of these names, or all but these.
scripts() { # only | without, NAME...
  local how=$1 script name
  shift
  find tests/pipeline -name '*_test.py' | sort | while read -r script; do
    name=$(basename "$script" _test.py)
    if [[ " $* " == *" $name "* ]]; then
      [[ $how == without ]] || echo "$script"
    else
      [[ $how == only ]] || echo "$script"
    fi
  done
}

# As many at once as there are processors: they wait a good deal.
run_scripts() { # SCRIPT...
  local folder script name
  folder=$(mktemp -d)
  export -f show_run run_script
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' \
    bash -c 'run_script "$@"' - '{}' "$folder"
  for script in "$@"; do
    name=$(basename "$script")
    record "$script" "$(cat "$folder/$name.code" 2>/dev/null || echo 1)"
  done
  rm -rf "$folder"
}

run_script() { # SCRIPT FOLDER
  local name
  name=$(basename "$1")
  # Debian's own interpreter: python3-numpy serves that one.
  show_run /usr/bin/python3 "$1" >"$2/$name.text"
  echo $? >"$2/$name.code"
  cat "$2/$name.text" # in one piece
}

use_release() {
  export QUORATE_BIN=$PWD/build/release/bin
}

quick() {
  build_step build/release "${release[@]}" || return
  use_release
  run_ctest build/release --label-exclude slow
  heading "tests/pipeline, those that tell most"
  mapfile -t chosen < <(scripts only "${quick_scripts[@]}")
  in_memory run_scripts "${chosen[@]}"
}

plain() { # 1 if everything is wanted, else 0
  local is_long=$1 chosen late=()
  ((is_long)) || late=("${long_scripts[@]}")
  heading "format"
  run_one format check_format
  if ! build_step build/release "${release[@]}"; then
    build_step build/asan-clang "${asan[@]}"
    return
  fi
  use_release
  run_ctest build/release
  # The scripts wait a good deal: compilers use that time, and no other (workers
  # of volunteers have the lowest priority of the usual kind themselves).
  heading "tests/pipeline, and meanwhile build build/asan-clang"
  local idle=(chrt --idle 0)
  "${idle[@]}" true 2>/dev/null || idle=(nice -n 19) # some containers forbid it
  "${idle[@]}" bash -c "$(declare -f build); build \"\$@\"" - \
    build/asan-clang "${asan[@]}" >build/asan-clang.log 2>&1 &
  local building=$!
  mapfile -t chosen < <(scripts only "${slow_scripts[@]}"
    scripts without "${slow_scripts[@]}" "${late[@]}")
  in_memory run_scripts "${chosen[@]}"
  heading "build build/asan-clang: the rest"
  if wait "$building"; then
    run_ctest build/asan-clang
  else
    tail -n 60 build/asan-clang.log
    record "build build/asan-clang" 1
  fi
}

long() {
  export QUORATE_LONG=1
  plain 1
  heading "tests/kernels/mutations_test.py"
  run_one tests/kernels/mutations_test.py \
    /usr/bin/python3 tests/kernels/mutations_test.py --build build/release
  # Each source alone: a batch hides that one includes too little.
  build_step build/debug --preset debug "${gcc[@]}" -DQUORATE_PRECOMPILE=OFF
  # g++ warns of the fences in Boost.Asio.
  build_step build/tsan "${tsan[@]}" && run_ctest build/tsan
  heading "fuzz targets, 10 minutes each"
  run_one "packaging/fuzz.sh" packaging/fuzz.sh
  heading "packages"
  run_one "tests/packages" packages_in_debian
}

main() {
  local gcc=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)
  local clang=(-DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14)
  local release=(--preset release "${gcc[@]}")
  local asan=(--preset asan "${clang[@]}") tsan=(--preset tsan "${clang[@]}")
  if (($# > 1)) || [[ ! ${1:-} =~ ^(--quick|--long)?$ ]]; then
    echo "usage: packaging/test.sh [--quick | --long]" >&2
    exit 2
  fi
  heading "packages"
  packaging/setup.sh --tests || exit 1
  case "${1:-}" in
    --quick) quick ;;
    --long) long ;;
    *) plain 0 ;;
  esac
  heading "done"
  local name
  for name in "${failures[@]}"; do printf 'failed: %s\n' "$name"; done
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
}

main "$@"; exit # read to its end now: an edit meanwhile changes nothing
