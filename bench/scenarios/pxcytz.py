"""VC-ASGD as its paper has it: P assimilators (its parameter servers), C clients,
T subtasks at a time on each; and its two ways to share the model.

An epoch has 50 subtasks, there are 40 epochs (10 of a ResNet-20). A subtask
takes 144 seconds; a client has the power of four at a time, so that more of them
slow each other down. What an assimilator takes for an update is a figure of the
paper, or was measured on ours (bench/assimilator, --constants).
"""

import json
import math
import statistics

from rules import read_constants
from simulations import Cell, final
from tables import head, row, text

SHARDS = 50
SUBTASK = 144         # seconds
AT_FULL_SPEED = 4     # subtasks of a client
# Steps of a subtask: of 50 images, a fiftieth of the study's data.
LOCAL_STEPS, EPOCHS = 4, 40
LENGTHS = {"resnet20": (2, 10)}  # of half as many images
# Seconds per update, averages of the paper's system: Redis, and MySQL.
PAPER = {"eventual": 0.87, "strong": 1.29}
RULE = {"rule": "vc-asgd", "lr": 0.05, "momentum": 0.9,
        "local_steps": LOCAL_STEPS, "epochs": 1000,
        "rule_settings": {"alpha": 0.95, "average": 0}}


def name_of(p, c, t):
    return f"P{p}C{c}T{t}"


def cell_of(study, shape, consistency, times, seed, seconds=SUBTASK):
    p, c, t = shape
    steps, epochs = LENGTHS.get(study.network, (LOCAL_STEPS, EPOCHS))
    run = {**RULE, "local_steps": steps, "assimilators": p,
           "consistency": consistency}
    return Cell(name_of(*shape), run, c * t, seed=seed, network=study.network,
                results=40 if study.quick else SHARDS * epochs, workers=t,
                unit_seconds=seconds * max(1, t / AT_FULL_SPEED),
                assimilator=times)


def transaction(seconds):
    """All of it reading, step and writing the model."""
    return (0, 0, seconds, 0)


def outcomes(study, cells):
    """Summaries and curves, in groups of the seeds."""
    folders = study.simulations.run(cells)
    summaries = [json.loads((folder / "summary.json").read_text())
                 for folder in folders]
    found = list(zip(summaries, study.simulations.curves(cells)))
    return [found[k:k + study.seeds]
            for k in range(0, len(found), study.seeds)]


def mean(some, field):
    return statistics.mean(summary[field] for summary, _ in some)


def accuracy(some):
    """Mean over the seeds, and their standard deviation."""
    finals = [100 * final(curve) for _, curve in some]
    return (f"{statistics.mean(finals):.2f}",
            f"{statistics.pstdev(finals):.2f}" if len(finals) > 1 else "-")


def lost(some):
    return (f"{100 * mean(some, 'overwritten') / mean(some, 'version'):.1f} %")


def grid(study):
    if study.quick:
        return [(1, 2, 2), (3, 2, 2)]
    return [(p, c, t) for c in (3, 5) for t in (2, 4, 8) for p in (1, 3, 5)]


def pxcytz_table(study):
    """The paper's grid, eventual consistency as with its Redis."""
    shapes = [shape for shape in grid(study) if study.wants(name_of(*shape))]
    times = transaction(PAPER["eventual"])
    cells = [cell_of(study, shape, "eventual", times, seed)
             for shape in shapes for seed in range(study.seeds)]
    head("", "hours", "updates an hour", "seconds per update", "overwritten",
         "final", "sd of seeds")
    for shape, some in zip(shapes, outcomes(study, cells)):
        hours = mean(some, "seconds") / 3600
        row(name_of(*shape), text(hours, 2),
            text(mean(some, "version") / hours, 0),
            text(mean(some, "seconds_per_update"), 2), lost(some),
            *accuracy(some))


def servers_table(study):
    """What more assimilators bring where updates cost time: with the times that
    ours needs for 25 million parameters, and subtasks of few seconds."""
    asked = [((p, c, t), consistency)
             for c, t in ([(2, 2)] if study.quick else [(5, 2), (5, 8)])
             for consistency in PAPER for p in (1, 3, 5)
             if study.wants(name_of(p, c, t))]
    cells = [cell_of(study, shape, consistency, measured("large"), seed,
                     SUBTASK / 64)
             for shape, consistency in asked for seed in range(study.seeds)]
    head("", "consistency", "updates a second", "seconds per update",
         "overwritten", "minutes", "final", "sd of seeds")
    for (shape, consistency), some in zip(asked, outcomes(study, cells)):
        row(name_of(*shape), consistency,
            text(mean(some, "version") / mean(some, "seconds"), 2),
            text(mean(some, "seconds_per_update"), 2), lost(some),
            text(mean(some, "seconds") / 60, 1), *accuracy(some))


def measured(name):
    times = read_constants()["assimilator"][name]
    return tuple(times[part] for part in ("prepare", "read", "step", "write"))


def consistency_table(study):
    """Strong and eventual consistency with the times of the paper's store and of
    our server, and where updates come so often that assimilators overlap."""
    shape = (3, 2, 2) if study.quick else (5, 5, 2)
    slots = shape[1] * shape[2]
    asked = []
    for consistency, seconds in PAPER.items():
        asked += [("from the paper", consistency, transaction(seconds),
                   SUBTASK),
                  ("from the paper", consistency, transaction(seconds),
                   SUBTASK / 16)]
        asked += [(f"ours, {title}", consistency, measured(name), SUBTASK)
                  for name, title in (("lenet", "61,706 parameters"),
                                      ("paper", "4.97 M parameters"),
                                      ("large", "25 M parameters"))]
    asked = sorted((one for one in asked if study.wants(one[1])),
                   key=lambda one: (one[0], -one[3]))
    cells = [cell_of(study, shape, consistency, times, seed, seconds)
             for _, consistency, times, seconds in asked
             for seed in range(study.seeds)]
    head("times", "consistency", "s of a subtask", "s of an update alone",
         "seconds per update", "overwritten", "1 - exp(-rate s)", "hours",
         "final", "sd of seeds")
    for (title, consistency, times, seconds), some in zip(
            asked, outcomes(study, cells)):
        share = 1 - math.exp(-slots / seconds * sum(times[1:]))
        row(title, consistency, f"{seconds:g}", f"{sum(times):.2g}",
            f"{mean(some, 'seconds_per_update'):.2g}", lost(some),
            f"{100 * share:.1f} %" if consistency == "eventual" else "-",
            text(mean(some, "seconds") / 3600, 2), *accuracy(some))


TABLES = {"pxcytz": pxcytz_table, "consistency": consistency_table,
          "servers": servers_table}
