"""The tables of the study."""

import json
import statistics
import sys

from scaling import scaling_table
from rules import DEFAULT, RULES, SERIAL, steps_of, tuned
from simulations import NETWORKS, Cell, final, reached
from tuning import tune_table

# Units of time that a simulation lasts, by number of slots.
AFTER = {"lenet": {1: 120, 8: 24, 32: 10, 128: 5},
         "gpt": {1: 120, 8: 24, 32: 16, 128: 6}}
TARGETS = {"lenet": (0.75, 0.80, 0.83, 0.85, 0.86),
           "gpt": (2.4, 2.2, 2.1, 2.0, 1.9)}
COUNTED = 1  # the target until which samples and bytes are counted


def is_higher_better(network):
    return NETWORKS[network]["metric"] == "accuracy"


def mean_of(points, field):
    """The mean of a field over simulations; None: one of them had none."""
    if any(point is None for point in points):
        return None
    return statistics.mean(getattr(point, field) for point in points)


def text(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def percent(network, metric):
    return f"{100 * metric:.2f}" if is_higher_better(
        network) else f"{metric:.3f}"


class Line:
    """One rule on one number of slots: its curves over the seeds."""

    def __init__(self, network, label, slots, curves):
        self.label, self.slots, self.curves = label, slots, curves
        self.at = {
            target: [reached(curve, target, is_higher_better(network))
                     for curve in curves] for target in TARGETS[network]}
        self.final = statistics.mean(map(final, curves))

    def time(self, target):
        return mean_of(self.at[target], "time")


def rules_table(study):
    """Each rule on each number of slots: units of time to a metric; how many
    times faster than the fastest serial line; samples and bytes until then."""
    network = study.network
    targets = TARGETS[network]
    asked = [(label, slots) for slots in study.slots or AFTER[network]
             for label in (SERIAL if slots == 1 else RULES)
             if (study.wants(label) or slots == 1)
             and tuned(network, label, slots)]
    cells = [Cell(label, tuned(network, label, slots), slots,
                  after=AFTER[network][slots], seed=seed, network=network)
             for seed in range(study.seeds) for label, slots in asked]
    curves = study.simulations.curves(cells)
    lines = [Line(network, label, slots, curves[k::len(asked)])
             for k, (label, slots) in enumerate(asked)]
    serial = {target: min((line.time(target) for line in lines
                           if line.slots == 1 and line.time(target)),
                          default=None) for target in targets}
    counted = targets[COUNTED]
    scale = 100 if is_higher_better(network) else 1
    head("slots", "rule", *[f"t {scale * target:g}" for target in targets],
         "final", "samples", "MB up", "MB down")
    for line in lines:
        times = []
        for target in targets:
            time, base = line.time(target), serial[target]
            times.append(text(time) + (f" ({base / time:.1f})"
                                       if time and base else ""))
        at = line.at[counted]
        bytes_of = [mean_of(at, field) for field in ("up", "down")]
        row(line.slots, line.label, *times, percent(network, line.final),
            text(mean_of(at, "samples"), 0),
            *[text(value and value / 1e6) for value in bytes_of])
    print(f"\nsamples, MB: until {scale * counted:g}; MB with the data")


def constants_of(label, slots):
    run = tuned("lenet", label, slots)
    if not run:
        sys.exit(f"{label} has no constants for {slots} slots: make the table "
                 f"\"tune\" first")
    return run


def alphas_table(study):
    """vc-asgd as in its paper: 50 shards, 10 slots, 40 epochs; its alphas. The
    versions themselves, which is what the paper shows, not their average."""
    shards, slots, epochs = 50, 10, 40
    run = {**constants_of("vc-asgd", 8), "local_steps": 4}
    alphas = (0.7, 0.95, 0.999, "var")
    cells = [Cell("alphas", {**run, "rule_settings": {"alpha": alpha,
                                                      "average": 0}},
                  slots, results=epochs * shards, seed=seed)
             for alpha in alphas for seed in range(study.seeds)]
    curves = grouped(study.simulations.curves(cells), study.seeds)
    marks = (5, 10, 20, 30)
    head("alpha", *[f"epoch {mark}" for mark in marks], "final", "sd of it")
    for alpha, some in zip(alphas, curves):
        row(alpha, *[mean_percent(metric_at(curve, "results", shards * mark)
                                  for curve in some) for mark in marks],
            mean_percent(map(final, some)), mean_percent(map(spread, some)))


def grouped(curves, seeds):
    return [curves[k:k + seeds] for k in range(0, len(curves), seeds)]


def mean_percent(values):
    return f"{100 * statistics.mean(values):.2f}"


def metric_at(curve, field, value):
    """Of the last evaluation whose field is not above the value."""
    return [point.metric for point in curve if getattr(point, field) <= value
            or point is curve[0]][-1]


def spread(curve):
    """Standard deviation over the evaluations of the last fifth."""
    return statistics.pstdev(
        point.metric for point in curve[-max(1, len(curve) // 5):])


# Codec and local steps of a unit; each line has the samples of the first.
CODECS = [("fp32", 25), ("int8", 25), ("int4", 25), ("int2", 25),
          ("ternary", 25), ("sign", 25), ("fp32", 50), ("fp32", 100),
          ("int4", 75), ("int2", 50), ("ternary", 50), ("sign", 50),
          ("int4", 175), ("int2", 100), ("ternary", 75)]


def codecs_table(study):
    """diloco on 8 slots with each codec, and with longer units: bytes up to the
    end as times less than fp32's; accuracy."""
    slots, results = 8, 300
    base = constants_of("diloco", slots)
    asked = [(codec, steps) for codec, steps in CODECS
             if study.wants(f"{codec} {steps}") or (codec, steps) == CODECS[0]]
    cells = [Cell("codecs", {**base, "codec": codec, "local_steps": steps},
                  slots, results=results * 25 // steps, seed=seed)
             for codec, steps in asked for seed in range(study.seeds)]
    lines = grouped(study.simulations.curves(cells), study.seeds)
    whole = sum(curve[-1].up for curve in lines[0])
    base_final = statistics.mean(map(final, lines[0]))
    head("codec", "local steps", "results", "bytes up a result",
         "bytes down a result", "up, times less", "final", "to fp32")
    for (codec, steps), some in zip(asked, lines):
        score = statistics.mean(map(final, some))
        row(codec, steps, some[0][-1].results,
            *[f"{statistics.mean(bytes_a_result(c, way) for c in some):,.0f}"
              for way in ("up", "down")],
            f"{whole / sum(curve[-1].up for curve in some):.1f}",
            f"{100 * score:.2f}", f"{100 * (score - base_final):+.2f}")


def bytes_a_result(curve, way):
    """Once every host has the data: from the first evaluation to the last."""
    first, last = curve[0], curve[-1]
    return ((getattr(last, way) - getattr(first, way)) /
            (last.results - first.results))


SNAPSHOTS = [("fp32", "fp32"), ("int4", "fp32"), ("int4", "int8"),
             ("int4", "int4"), ("int4", "int2"), ("int4", "ternary"),
             ("int4", "sign")]


def snapshots_table(study):
    """diloco with short units, by how updates go up and how versions come down:
    bytes a result, and accuracy (or loss) after as many results as codecs."""
    network, label = study.network, "diloco 5 steps"
    slots = (study.slots or [8])[0]
    base = tuned(network, label, slots)
    asked = [pair for pair in SNAPSHOTS
             if study.wants("/".join(pair)) or pair == SNAPSHOTS[0]]
    cells = [Cell("snapshots", {
        **base, "codec": up, "rule_settings": {
            **base.get("rule_settings", {}), "snapshots": down}},
        slots, results=1500, seed=seed, network=network)
        for up, down in asked for seed in range(study.seeds)]
    lines = grouped(study.simulations.curves(cells), study.seeds)
    head("up", "down", "bytes up a result", "bytes down a result", "final")
    for (up, down), some in zip(asked, lines):
        row(up, down,
            *[f"{statistics.mean(bytes_a_result(c, way) for c in some):,.0f}"
              for way in ("up", "down")],
            percent(network, statistics.mean(map(final, some))))


CROSSOVER = {
    "sync": ("sync", 1), "local-sgd tau 10": ("local-sgd", 10),
    "easgd tau 10": ("easgd", 10), "gossip pull tau 10": ("gossip pull", 10)}


def crossover_table(study):
    """Asynchronous beside synchronous training on 4 to 128 nodes: accuracy
    after the same simulated time."""
    after, marks = 12, (4, 8, 12)
    asked = [(label, nodes) for nodes in study.slots or (4, 8, 16, 32, 64, 128)
             for label in CROSSOVER if study.wants(label)]
    cells = []
    for label, nodes in asked:
        rule, steps = CROSSOVER[label]
        run = {**constants_of(rule, max(8, nodes)), "local_steps": steps}
        cells += [Cell(f"crossover {label}", run, nodes, after=after, seed=seed)
                  for seed in range(study.seeds)]
    curves = grouped(study.simulations.curves(cells), study.seeds)
    head("nodes", "rule", *[f"after {mark}" for mark in marks], "samples")
    for (label, nodes), some in zip(asked, curves):
        row(nodes, label, *[mean_percent(metric_at(curve, "time", mark)
                                         for curve in some) for mark in marks],
            some[0][-1].samples)


BALANCE_AFTER = 24
FAILING = ("diloco 5 steps", "diloco auto", DEFAULT, "diloco", "vc-asgd")


def failures_table(study):
    """What machines that are lost cost, on hosts with speeds 1 to 6: units of
    time to a metric without losses, with 30 % of the machines lost in a unit of
    time, and with 30 % of the tasks lost, however short."""
    network = study.network
    targets = TARGETS[network]
    asked = []
    for slots in study.slots or (8, 32):
        for label in FAILING:
            if not study.wants(label):
                continue
            run = constants_of(label, slots)
            steps = steps_of(run, slots)
            asked += [(label, run, slots, name, preempted)
                      for name, preempted in (
                          ("none", 0), ("a unit of time",
                                        1 - 0.7 ** (steps / 25)),
                          ("a task", 0.3))
                      if name != "a task" or steps < 25]
    cells = [Cell(f"failures {label}", run, slots, seed=seed, spread=6,
                  after=AFTER[network][slots], preempted=round(preempted, 4),
                  network=network)
             for label, run, slots, _, preempted in asked
             for seed in range(study.seeds)]
    curves = grouped(study.simulations.curves(cells), study.seeds)
    head("slots", "rule", "30 % lost in", *[f"t {100 * target:g}"
                                            for target in targets], "final")
    whole = None
    for (label, _, slots, name, preempted), some in zip(asked, curves):
        line = Line(network, label, slots, some)
        whole = whole if preempted else line
        row(slots, label, name, *[
            text(line.time(target)) + longer(line.time(target),
                                             whole.time(target))
            for target in targets], percent(network, line.final))


BALANCED = {
    "equal units, rounds": {"rule": "local-sgd", "round_share": 1.0},
    "units by speed, rounds": {"rule": "local-sgd", "round_share": 1.0,
                               "local_steps": "auto"},
    "equal units, gossip": {"rule": "gossip", "rule_settings": {
        "replicas": "slots"}},
    "units by speed, gossip": {"rule": "gossip", "local_steps": "auto",
                               "rule_settings": {"replicas": "slots"}},
}


def balance_table(study):
    """A processor and a co-processor of up to six times its speed: how long
    each is idle, and what comes out after the same time. "steady": units take
    as long as the device's speed says; else they differ by chance, too, for
    which rounds wait whatever their split."""
    asked = [(label, ratio, steady) for ratio in (1, 2, 4, 6)
             for label in BALANCED for steady in (True, False)
             if study.wants(label) and (steady or "rounds" in label)]
    cells = [Cell(f"balance {label}", {"lr": 0.1, "momentum": 0,
                                       **BALANCED[label]}, 2, seed=seed,
                  after=BALANCE_AFTER, spread=ratio, is_equal=steady,
                  network=study.network)
             for label, ratio, steady in asked for seed in range(study.seeds)]
    curves = grouped(study.simulations.curves(cells), study.seeds)
    folders = grouped(study.simulations.run(cells), study.seeds)
    head("speeds", "split", "units", "idle, slow", "idle, fast",
         f"after {BALANCE_AFTER}", "samples")
    for (label, ratio, steady), some, kept in zip(asked, curves, folders):
        busy = [json.loads((folder / "summary.json").read_text())["busy"]
                for folder in kept]
        # What is under way at the end counts as computed.
        idle = [max(0, 1 - sum(b[f"host {k}"] for b in busy) / len(busy))
                for k in (0, 1)]
        row(f"1 to {ratio}", label, "steady" if steady else "by chance", *[
            f"{100 * part:.1f} %" for part in idle], mean_percent(
                metric_at(curve, "time", BALANCE_AFTER) for curve in some),
            some[0][-1].samples)


def longer(time, base):
    if not time or not base or time == base:
        return ""
    return f" ({100 * (time / base - 1):+.0f} %)"


TABLES = {"tune": tune_table, "rules": rules_table, "alphas": alphas_table,
          "codecs": codecs_table, "snapshots": snapshots_table,
          "crossover": crossover_table, "scaling": scaling_table,
          "failures": failures_table, "balance": balance_table}
