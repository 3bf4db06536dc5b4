#!/usr/bin/env bash
# A whole project on this machine: installs what the build needs, builds, and
# runs packaging/demo.py, which explains itself with --help. The last line is
# "demo: ok ..." or "demo: failed ...".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

fail() {
  echo "demo: failed: $1"
  exit 1
}

for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then
    exec python3 packaging/demo.py --help
  fi
done

packaging/setup.sh || fail "installing packages"
echo "demo: building (minutes, the first time)"
cmake --preset release >/dev/null || fail "configuring the build"
ninja -C build/release quorate quorate-client quorate-worker quorate-attacker ||
  fail "building"
exec python3 packaging/demo.py --bin build/release/bin "$@"
