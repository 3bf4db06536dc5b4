#!/usr/bin/env bash
# Installs the Debian packages that building Quorate needs, when they are
# missing, and nothing else. With --tests also those that the tests need, with
# --bench those that the benchmarks compare with, with --boinc the stock client
# for packaging/demo.sh --boinc.
# Usage: packaging/setup.sh [--tests] [--bench] [--boinc]
set -euo pipefail

build_packages=(
  g++ cmake ninja-build pkg-config
  libboost-dev libssl-dev libcurl4-openssl-dev libsqlite3-dev libsqlitecpp-dev
  nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev zlib1g-dev
  libpng-dev libhwy-dev libtomlplusplus-dev libjs-chart.js doctest-dev
  opencl-headers libpugixml-dev libmimalloc-dev
  libboinc-app-dev # quorate-client boinc; brings MariaDB's headers along
  python3 # packaging/demo.py
)
test_packages=(
  clang clang-14 libclang-rt-14-dev clang-format-14
  python3-numpy git procps curl sqlite3 openssl groff-base faketime
  pocl-opencl-icd ocl-icd-libopencl1 # OpenCL on the CPU: tests/kernels
  boinc-client # the stock client: tests/pipeline/support/stock_boinc.py
  chromium # the page as a reader sees it: tests/server/page/dashboard
)
bench_packages=(
  python3 curl
  nginx-light # downloads: bench/transfer
  libopenblas-dev libeigen3-dev # bench/kernels
  libdnnl-dev ocl-icd-opencl-dev # oneDNN, whose CMake file asks for OpenCL
)

say() { printf 'setup: %s\n' "$*"; }

is_installed() {
  [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == *' ok installed' ]]
}

# Installs what is missing of "$@".
install_missing() {
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all $# packages are there"
    return
  fi
  say "missing: ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "not root, and there is no sudo: as root, run"
      say "  apt-get update && apt-get install -y ${missing[*]}"
      exit 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  say "installed: ${missing[*]}"
}

# What may be there and is never demanded.
report_optional() {
  local nvcc
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  if [[ -x $nvcc ]]; then say "found CUDA: $nvcc: builds use it"; fi
  if command -v ccache >/dev/null; then say "found ccache: builds use it"; fi
}

main() {
  local packages=("${build_packages[@]}")
  local option
  for option in "$@"; do
    case "$option" in
      --tests) packages+=("${test_packages[@]}") ;;
      --bench) packages+=("${bench_packages[@]}") ;;
      --boinc) packages+=(boinc-client) ;;
      *)
        echo "usage: packaging/setup.sh [--tests] [--bench] [--boinc]" >&2
        exit 2
        ;;
    esac
  done
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian: install the equivalents of ${packages[*]}"
    exit 1
  fi
  install_missing "${packages[@]}"
  report_optional
}

main "$@"
