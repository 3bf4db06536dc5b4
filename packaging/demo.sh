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

packages=()
for argument in "$@"; do
  case "$argument" in
    -h | --help) exec python3 packaging/demo.py --help ;;
    --boinc) packages=(--boinc) ;;
  esac
done

packaging/setup.sh "${packages[@]}" || fail "installing packages"
echo "demo: building (minutes, the first time)"
cmake --preset release >/dev/null || fail "configuring the build"
ninja -C build/release quorate quorate-client quorate-worker \
  quorate-attacker quorate-false-worker || fail "building"
exec python3 packaging/demo.py --bin build/release/bin "$@"
