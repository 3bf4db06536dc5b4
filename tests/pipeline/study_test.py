#!/usr/bin/env python3
"""The study of update rules (bench/scenarios), on a tiny network and the
built-in glyphs: constants are chosen on the tuning part and taken by the table
of rules, a cell is simulated once, and one that was cut off again; the table of
scaling has the throughput that its costs leave, and fits its model."""

import contextlib
import io
import os
import pathlib
import sys
import types

from support.project import expect, expect_words, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/scenarios"))

GLYPHS = {"metric": "accuracy", "evaluations": {"tuning": 4, "test": 4},
          "run": {"dataset": "glyphs", "model": "mlp:16", "batch": 10,
                  "local_steps": 10}}


def study_of(stage, only):
    """The study's modules, and what its tables are asked for."""
    os.environ["QUORATE_BIN"] = str(stage.bin)
    import rules
    import simulations
    import pxcytz
    import tables
    import tuning
    simulations.BIN = stage.bin
    simulations.NETWORKS["glyphs"] = GLYPHS
    simulations.FILES["glyphs"] = lambda folder, part: [
        "--samples", 400, "--test-samples", 100 if part == "test" else 50]
    rules.CONSTANTS = stage.folder / "constants.json"
    rules.CLIENTS["glyphs"] = [{"lr": 1e-6}, {"lr": 0.1}]
    rules.LONG_CLIENTS["glyphs"] = rules.CLIENTS["glyphs"]
    tuning.AFTER["glyphs"] = {1: 12, 4: 12}
    tables.AFTER["glyphs"] = {1: 12, 4: 12, 8: 6}
    tables.TARGETS["glyphs"] = (0.05, 1.1)
    study = types.SimpleNamespace(
        simulations=simulations.Simulations(stage.folder / "study", 2),
        network="glyphs", slots=None, seeds=1, only=only,
        wants=lambda label: not only or label in only, quick=True)
    return rules, {**tables.TABLES, **pxcytz.TABLES}, study


def printed(table, study):
    with contextlib.redirect_stdout(io.StringIO()) as text, \
            contextlib.redirect_stderr(io.StringIO()):
        table(study)
    return text.getvalue()


def test_tables(stage):
    rules, tables, study = study_of(stage, ["serial plain", "local-sgd"])
    tried = printed(tables["tune"], study)
    expect_words(tried, "| 1 | serial plain |", "| 4 | local-sgd |",
                 "lr 1e-06:")
    for label, slots in (("serial plain", 1), ("local-sgd", 4)):
        lr = rules.tuned("glyphs", label, slots)["lr"]
        expect(lr == 0.1, f"{label}: the better learning rate: {tried}")
    expect(rules.tuned("glyphs", "local-sgd", 8)["lr"] == 0.1, "8 take 4's")
    expect(rules.tuned("glyphs", "local-sgd", 3) == {}, "fewer have none")

    shown = printed(tables["rules"], study)
    lines = shown.splitlines()
    expect([line.split("|")[1].strip() for line in lines[2:5]] ==
           ["1", "4", "8"], shown)
    expect_words(lines[2], "(1.0) | - |")

    cells = study.simulations.out / "cells"
    before = {path: path.stat().st_mtime_ns for path in cells.glob("*/*")}
    cut = next(path for path in cells.glob("glyphs-test-local-sgd-8-*")
               if path.is_dir())
    unfinished = cut.with_name(cut.name + ".unfinished")
    cut.rename(unfinished)
    expect(printed(tables["rules"], study) == shown, "the same table")
    expect(not unfinished.exists() and cut.is_dir(), "simulated anew")
    for path, time in before.items():
        expect(path.parent == cut or path.stat().st_mtime_ns == time,
               f"{path}: simulated twice")
    return f"{len(list(cells.glob('*.json')))} cells"


def test_scaling(stage):
    _, tables, study = study_of(stage, list(scaling_rules()))
    import scaling
    scaling.GRIDS["glyphs"] = scaling.Grid((2, 4), 0.25, 20)
    shown = printed(tables["scaling"], study)
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in shown.splitlines() if line.startswith("|")]
    of = {tuple(row[:2]): row[2:] for row in rows if len(row) == 6}
    # a round waits for the all-reduce, or for the server's four reports
    for setup, steps in (("free", 4), ("all-reduce", 4 / (1 + 0.435)),
                         ("server", 4 / (1 + 4 * 0.2))):
        found = float(of[setup, "sync"][1])
        expect(abs(found / steps - 1) < 0.1, f"{setup}: {found}, not {steps}")
    expect(float(of["unequal", "sync"][1]) < 3.5, "unequal hosts wait")
    expect(float(of["free", "easgd"][3]) > 0, shown)
    expect_words(shown, "| server | easgd |", " rounds |", " results |",
                 "| sync, free | easgd, free |")
    return f"{len(of)} rules in set-ups"


def scaling_rules():
    import scaling
    return scaling.RULES


def cells_of(line):
    return [cell.strip() for cell in line.strip("| ").split("|")]


def test_assimilators(stage):
    """P1C2T2 and P3C2T2 of VC-ASGD, and its two kinds of consistency."""
    rules, tables, study = study_of(stage, [])
    shown = printed(tables["pxcytz"], study)
    one, three = map(cells_of, shown.splitlines()[2:])
    expect([one[0], three[0]] == ["P1C2T2", "P3C2T2"], shown)
    expect(one[4] == "0.0 %", f"one assimilator overwrites nothing: {one}")

    quick = {"prepare": 0.001, "read": 0.001, "step": 0.001, "write": 0.001}
    rules.write_constants({**rules.read_constants(), "assimilator": {
        "lenet": quick, "paper": quick, "large": {**quick, "prepare": 1}}})
    shown = printed(tables["consistency"], study)
    rows = [cells_of(line) for line in shown.splitlines()[2:]]
    expect(len(rows) == 10, shown)
    for row in rows:
        expect(row[1] == "eventual" or row[5] == "0.0 %", f"lost: {row}")
    busy = next(row for row in rows if row[:3] == ["from the paper", "eventual",
                                                   "9"])
    expect(busy[5] != "0.0 %", f"nothing was overwritten: {busy}")
    expect(printed(tables["consistency"], study) == shown, "the same table")

    # Four subtasks come each 2.25 s, and one assimilator takes 1 s for each.
    shown = printed(tables["servers"], study)
    rows = {tuple(row[:2]): float(row[2])
            for row in map(cells_of, shown.splitlines()[2:])}
    for consistency in ("strong", "eventual"):
        expect(rows["P1C2T2", consistency] < 1 <
               rows["P3C2T2", consistency], f"more are faster: {rows}")
    return f"{busy[5]} overwritten where updates come often"


if __name__ == "__main__":
    run(__doc__, test_tables, test_scaling, test_assimilators)
