#!/usr/bin/env python3
"""What nvcc makes of the kernels: only instructions that round as written.

Compiles kernels/cuda/kernels.cu to PTX with the flags of the build and looks
at every instruction on binary32: products and sums must not be merged or
split, nothing is flushed or estimated, nothing is done in binary64, and no
number is summed atomically (docs/numerics.md, sections 2 and 10).
Usage: ptx_test.py SOURCE NVCC FLAG...   (NVCC empty: skipped)
"""

import collections
import re
import subprocess
import sys

ARITHMETIC = {"fma.rn.f32", "add.rn.f32", "sub.rn.f32", "mul.rn.f32",
              "div.rn.f32", "sqrt.rn.f32"}
# What moves numbers, turns a sign, or compares.
HARMLESS = re.compile(r"^(neg|abs|mov|selp)\.f32$|^setp(\.\w+)+\.f32$|"
                      r"^(ld|st)(\.\w+)*\.f32$|^cvt\.rn\.f32\.[su]\d+$")
NEVER = re.compile(r"\.ftz|\.approx|\.f64|\.sat|\.f16|\.bf16")
INSTRUCTION = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z][a-z0-9_.:]*)\s.*;$")


def instructions(ptx):
    return collections.Counter(
        match.group(1) for match in map(INSTRUCTION.match, ptx.splitlines())
        if match)


def is_allowed(name):
    if NEVER.search(name):
        return False
    if not name.endswith("f32") and ".f32." not in name:
        return True
    return name in ARITHMETIC or bool(HARMLESS.match(name))


def wrong(ptx):
    return sorted(name for name in instructions(ptx) if not is_allowed(name))


def check_the_checker():
    allowed = ["fma.rn.f32 %f1, %f2, %f3, %f4;", "@%p1 bra $L__BB0_2;",
               "ld.global.nc.f32 %f1, [%rd1];", "setp.gt.f32 %p1, %f1, %f2;",
               "cvt.rn.f32.s32 %f1, %r1;", "atom.global.add.u32 %r1, [%rd1], 1;",
               "@!%p2 st.shared.f32 [%r1], %f1;", "mul.lo.s64 %rd1, %rd2, 4;"]
    refused = ["fma.rn.ftz.f32 %f1, %f2, %f3, %f4;", "mad.f32 %f1, %f2, %f3;",
               "div.approx.f32 %f1, %f2, %f3;", "add.f32 %f1, %f2, %f3;",
               "mul.rz.f32 %f1, %f2, %f3;", "fma.rn.f64 %fd1, %fd2, %fd3;",
               "@%p1 atom.global.add.f32 %f1, [%rd1], %f2;",
               "max.f32 %f1, %f2, %f3;", "rsqrt.approx.f32 %f1, %f2;",
               "red.global.add.f32 [%rd1], %f1;", "cvt.f64.f32 %fd1, %f1;"]
    for line in allowed:
        assert wrong("\t" + line) == [], line
    for line in refused:
        assert len(wrong("\t" + line)) == 1, line


def main():
    check_the_checker()
    source, nvcc, *flags = sys.argv[1:]
    if not nvcc:
        print("skipped: no nvcc")
        return 0
    ptx = subprocess.run(
        [nvcc, *flags, "-arch=compute_80", "-ptx", source, "-o", "-"],
        check=True, capture_output=True, text=True).stdout
    counts = instructions(ptx)
    for name in wrong(ptx):
        print(f"{counts[name]} times {name}: does not round as written")
    print(f"ptx: {sum(counts.values())} instructions, "
          f"{sum(counts[name] for name in ARITHMETIC)} of arithmetic")
    # An empty file must not pass.
    return 1 if wrong(ptx) or not ARITHMETIC <= counts.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
