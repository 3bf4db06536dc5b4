#!/usr/bin/env bash
# Installs the Debian packages that building Quorate needs, when they are
# missing, and nothing else. With --tests also those that the tests need, with
# --bench those that the benchmarks compare with, with --boinc the stock client
# for packaging/demo.sh --boinc, with --packages those of packaging/deb.sh. With --cuda it demands NVIDIA's compiler, which
# Debian does not have new enough, and says which GPUs a build serves.
# Usage: packaging/setup.sh [--tests] [--bench] [--boinc] [--packages] [--cuda]
set -euo pipefail

build_packages=(
  g++ cmake ninja-build pkg-config
  libboost-dev libssl-dev libcurl4-openssl-dev libsqlite3-dev libsqlitecpp-dev
  nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev zlib1g-dev
  libicu-dev libpng-dev libhwy-dev libtomlplusplus-dev libjs-chart.js doctest-dev
  opencl-headers libpugixml-dev libmimalloc-dev libsystemd-dev
  libseccomp-dev
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
package_packages=(
  debhelper dpkg-dev doctest-dev git # packaging/deb.sh
  gnupg reprepro # packaging/repository.sh
  lintian mmdebstrap systemd-container # tests/packages
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

# Why kernels/cuda/cuda.cmake would not build with CUDA; nothing: it would.
fault_of_cuda() {
  local nvcc release folder
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  if [[ ! -x $nvcc ]]; then
    echo "there is no nvcc in PATH or /usr/local/cuda/bin"
    return
  fi
  release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  if ((${release:-0} < 12)); then
    echo "$nvcc is of CUDA ${release:-unknown}: it cannot compile C++20"
    return
  fi
  folder=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  if [[ -z $(find -L "$folder" -name libcudart_static.a -print -quit) ||
    -z $(find -L "$folder" -name cuda_runtime_api.h -print -quit) ]]; then
    echo "$folder has no libcudart_static.a with its headers"
  fi
}

# "75 80" as "7.5, 8.0".
gpus_of_a_build() {
  local list number separator=""
  list=$(sed -n 's/^set(QUORATE_CUDA_ARCHITECTURES \(.*\) CACHE STRING.*/\1/p' \
    "$(dirname "$0")/../kernels/cuda/cuda.cmake")
  for number in $list; do
    printf "%s%s" "$separator" "${number%?}.${number: -1}"
    separator=", "
  done
}

report_cuda() {
  local fault
  fault=$(fault_of_cuda)
  if [[ -z $fault ]]; then
    say "found CUDA: builds use it"
    say "  GPUs of a build: compute capability $(gpus_of_a_build) and newer, whose"
    say "  driver compiles the kernels when they first run; for machine code of"
    say "  others: cmake -DQUORATE_CUDA_ARCHITECTURES=\"75 80 86 89 90 100 120\""
    return
  fi
  say "without CUDA: $fault"
  if (($1 == 0)); then
    say "  GPUs then compute through OpenCL; --cuda says what is missing"
    return
  fi
  say "  needed: nvcc of CUDA 12 or later and its static runtime, from NVIDIA"
  say "  (Debian 12 has 11.8). As root, after adding NVIDIA's repository as"
  say "  https://developer.nvidia.com/cuda-downloads says for Debian 12:"
  say "    apt-get install -y --no-install-recommends cuda-nvcc-13-0 cuda-cudart-dev-13-0"
  say "  A machine that only computes needs NVIDIA's driver and no compiler."
  exit 1
}

# What may be there and is demanded only by its option.
report_optional() {
  report_cuda "$1"
  if command -v ccache >/dev/null; then say "found ccache: builds use it"; fi
}

main() {
  local packages=("${build_packages[@]}")
  local option wants_cuda=0
  for option in "$@"; do
    case "$option" in
      --tests) packages+=("${test_packages[@]}") ;;
      --bench) packages+=("${bench_packages[@]}") ;;
      --boinc) packages+=(boinc-client) ;;
      --packages) packages+=("${package_packages[@]}") ;;
      --cuda) wants_cuda=1 ;;
      *)
        echo "usage: packaging/setup.sh [--tests] [--bench] [--boinc] [--packages] [--cuda]" >&2
        exit 2
        ;;
    esac
  done
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian: install the equivalents of ${packages[*]}"
    exit 1
  fi
  install_missing "${packages[@]}"
  report_optional "$wants_cuda"
}

main "$@"
