#!/usr/bin/env python3
"""Reads ctest's JUnit report: prints "PASSED FAILED NAME..." with the names of
the programs that failed, then what these said, then what was skipped.

A doctest program counts with its test cases, any other program as one; one
that skipped itself, saying why, does not count.
Usage: count_tests.py REPORT.xml
"""

import re
import sys
import xml.etree.ElementTree

SUMMARY = re.compile(
    r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed")


def count(case):
    """(passed, failed) of one program."""
    is_good = case.get("status") == "run"
    skipped = case.find("skipped")
    if skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", ""):
        return 0, 0
    cases = SUMMARY.search(case.findtext("system-out") or "")
    if not cases:
        return (1, 0) if is_good else (0, 1)
    passed, failed = int(cases[1]), int(cases[2])
    # A program may also fail after its summary: a leak, a crash at exit.
    return passed, failed if is_good else max(failed, 1)


def last_words(case):
    """The parts of a failed program's output in which doctest reports an error,
    and its end."""
    output = (case.findtext("system-out") or "").strip()
    *parts, end = re.split(r"\n={70,}\n", output)
    errors = [part for part in parts if "ERROR" in part][:10]
    return "\n".join(errors + [""] + end.splitlines()[-40:])


def main():
    cases = xml.etree.ElementTree.parse(sys.argv[1]).findall("testcase")
    counts = [count(case) for case in cases]
    if not counts:
        sys.exit("no test ran")
    failed = [case for case, c in zip(cases, counts) if c[1]]
    print(sum(c[0] for c in counts), sum(c[1] for c in counts),
          *(case.get("name") for case in failed))
    for case in failed:
        print(f"-- {case.get('name')} failed:\n{last_words(case)}")
    skipped = set()
    for case in cases:
        skipped.update(re.findall(r"skipped: .*",
                                  case.findtext("system-out") or ""))
    for line in sorted(skipped):
        print(line)


if __name__ == "__main__":
    main()
