#!/usr/bin/env python3
"""Breaks the arithmetic of the kernels on purpose: the tests must notice.

Each mutation compiles the kernels again, with other flags or with a patched
copy of a source, links them with the tests as they are, and demands that the
test cases named with it fail; linked with the kernels as they are, all of
these must pass. Needs a build of kernels_test with g++ or clang on x86-64.
Usage: mutations_test.py [--build FOLDER] [NAME...]; exit code 1 if a mutation
goes unnoticed, 2 if it could not be made.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What may change: the arithmetic of processors.
MUTABLE = re.compile(
    r"^(kernels/(cpu|reference)/.*|base/arithmetic)\.cpp$")

ANSWERS = "every device gives the stored answers"


@dataclasses.dataclass
class Mutation:
    name: str
    noticed_by: list
    # Flag -> those instead.
    flags: dict = dataclasses.field(default_factory=dict)
    # File -> (text, what stands there instead).
    patches: dict = dataclasses.field(default_factory=dict)


TAP = """sum.push(value(x, n.in, input_of(n, out, kh, kw), first_in + ci),
                   w[weight_offset("""
MUTATIONS = [
    # The plain loops too: without -mfma there is nothing to fuse them to.
    Mutation("contraction", [ANSWERS],
             flags={"-ffp-contract=off": ["-ffp-contract=fast", "-mfma"]}),
    Mutation("fast math", [ANSWERS],
             flags={"-ffp-contract=off": ["-ffast-math"]}),
    Mutation("flush to zero", [ANSWERS],
             patches={"kernels/float_environment.h": (
                 "std::fesetenv(FE_DFL_ENV);",
                 "std::fesetenv(FE_DFL_ENV); __builtin_ia32_ldmxcsr("
                 "__builtin_ia32_stmxcsr() | 0x8040);")}),
    Mutation("padding along k with +0",
             [ANSWERS, "products of adversarial inputs agree",
              "convolutions of adversarial inputs agree",
              "attention and its gradient agree with the reference"],
             patches={"kernels/reference/segment_sum.h": (
                 "float total() const {",
                 "float total() { acc_ = fma(0.0F, 0.0F, acc_);")}),
    Mutation("taps outside the image left out",
             [ANSWERS, "a tap outside the image is executed as +0"],
             patches={"kernels/reference/convolution.cpp": (
                 TAP, "if (is_inside(n.in, input_of(n, out, kh, kw))) " + TAP
             )}),
]


class Failure(Exception):
    """A mutation that could not be made."""


def run(command, **kwargs):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          **kwargs)


def must(command, **kwargs):
    done = run(command, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(command)[:200]} ...:\n{done.stdout}")
    return done.stdout


class Build:
    """A build folder: how its kernels were compiled and its tests linked."""

    def __init__(self, folder):
        self.folder = folder
        entries = json.loads((folder / "compile_commands.json").read_text())
        self.commands = {}  # source -> words
        for entry in entries:
            source = os.path.relpath(entry["file"], ROOT)
            if MUTABLE.match(source):
                self.commands[source] = shlex.split(entry["command"])
        commands = must(["ninja", "-C", str(folder), "-t", "commands",
                         "bin/kernels_test"]).splitlines()
        self.link = shlex.split(
            re.search(r"&& (.* -o bin/kernels_test .*) && :",
                      commands[-1]).group(1))

    def object_of(self, source):
        words = self.commands[source]
        return words[words.index("-o") + 1]

    def includes(self, source, header):
        """Whether the source includes it, itself or through others."""
        deps = must(["ninja", "-C", str(self.folder), "-t", "deps",
                     self.object_of(source)])
        return f"/{header}\n" in deps + "\n"

    def sources_of(self, mutation):
        if mutation.flags:
            return list(self.commands)
        return [source for source in self.commands
                if any(source == patched or self.includes(source, patched)
                       for patched in mutation.patches)]

    def compile(self, source, mutation, work):
        """Compiles the source, changed; the path of the object."""
        out = work / (source.replace("/", "_") + ".o")
        patched = work / source
        words = [new for old in self.commands[source]
                 for new in mutation.flags.get(old, [old])]
        words[words.index("-o") + 1] = str(out)
        if patched.exists():
            words[-1] = str(patched)
        words[-1:-1] = ["-Wno-error", "-w"]
        if mutation.patches:  # they come first
            words.insert(words.index(f"-I{ROOT}"), f"-I{work}")
        must(words, cwd=self.folder)
        return str(out)

    def link_test(self, objects, out):
        """Links kernels_test with these; the libraries have the rest."""
        words = []
        for word in self.link:
            if word.endswith("libquorate_kernels.a"):
                words += objects
            words.append(word)
        words[words.index("-o") + 1] = str(out)
        must(words, cwd=self.folder)


def patch(mutation, work):
    for file, (old, new) in mutation.patches.items():
        text = (ROOT / file).read_text()
        if text.count(old) != 1:
            raise Failure(f"{file}: expected once: {old}\n"
                          f"change the mutation with the source")
        (work / file).parent.mkdir(parents=True, exist_ok=True)
        (work / file).write_text(text.replace(old, new))


def fails(program, case):
    """Whether the test case fails; it must exist."""
    name = case.replace(",", "\\,")
    counted = must([program, f"-tc={name}", "--count"])
    if "filters: 1" not in counted:
        raise Failure(f"no test case \"{case}\": {counted}")
    return run([program, f"-tc={name}"]).returncode != 0


def make(build, mutation, work):
    """Builds kernels_test with the mutation; its path."""
    patch(mutation, work)
    sources = build.sources_of(mutation)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(
            lambda source: build.compile(source, mutation, work), sources))
    program = work / "kernels_test"
    build.link_test(objects, program)
    return str(program), len(objects)


def check_mutation(build, mutation):
    """True if everything that should notice the mutation does."""
    with tempfile.TemporaryDirectory() as folder:
        program, count = make(build, mutation, pathlib.Path(folder))
        blind = [case for case in mutation.noticed_by
                 if not fails(program, case)]
    for case in blind:
        print(f"{mutation.name}: not noticed by \"{case}\"")
    if not blind:
        print(f"{mutation.name}: noticed ({count} sources compiled)")
    sys.stdout.flush()
    return not blind


def check_unchanged(build, cases):
    with tempfile.TemporaryDirectory() as folder:
        program, _ = make(build, Mutation("none", []), pathlib.Path(folder))
        bad = [case for case in cases if fails(program, case)]
    for case in bad:
        print(f"without any mutation \"{case}\" fails")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path,
                        default=ROOT / "build/release")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="mutations; all without any")
    args = parser.parse_args()
    if os.uname().machine != "x86_64":
        print("skipped: mutations are of x86-64 code")
        return 0
    chosen = [m for m in MUTATIONS if not args.names or m.name in args.names]
    try:
        build = Build(args.build.resolve())
        cases = sorted({case for m in chosen for case in m.noticed_by})
        results = [check_unchanged(build, cases)]
        results += [check_mutation(build, mutation) for mutation in chosen]
    except Failure as failure:
        print(f"failed: {failure}")
        return 2
    print(f"{sum(results)} of {len(results)} builds as expected")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
