"""How training scales with the number of nodes, beside Das et al. and Jin et
al.: throughput and time to an accuracy of synchronous and asynchronous rules,
with what communication costs, and a model of it that says from how many nodes
which is ahead.

Nodes take the batch of one node each, so that a synchronous step has p batches.
Costs are in units of the time that a node takes for its step:

- free:        none, as in the other tables
- all-reduce:  2 (p - 1) / p transfers of the model over a node's link and
               2 (p - 1) latencies, once a step (a ring; synchronous rules)
- server:      the server takes some time for each report, one after another

The first two and "server" have hosts that do not differ; "unequal" are those of
the other tables, with free communication. What a rule that waits for all learns in a
round does not depend on how long the round takes: such rules are trained to the
target once, with free communication, and otherwise only for as long as it takes to
know the time of a round.
"""

import dataclasses
import math

import numpy

from simulations import NETWORKS, UNIT_SECONDS, Cell

TRANSFER = 0.25  # of the model over a link, in steps of a node
HOP = 0.01       # of an all-reduce's latencies
REPORT = 0.2     # of the server for a report

TAU = 10  # steps of a unit of the rules that communicate seldom
CLIENT = {"lr": 0.2, "momentum": 0}
# Rule, local steps, set-ups, whether it waits for all.
RULES = {
    "sync": ("sync", 1, ("free", "all-reduce", "server", "unequal"), True),
    "local-sgd": ("local-sgd", TAU, ("free", "unequal"), True),
    "sync-easgd": ("sync-easgd", TAU, ("free", "unequal"), True),
    "easgd": ("easgd", TAU, ("free", "server", "unequal"), False),
    "gossip pull": ("gossip", TAU, ("free", "unequal"), False),
}


@dataclasses.dataclass(frozen=True)
class Grid:
    """What is simulated: nodes, the accuracy that counts, at most how many
    units of time."""
    nodes: tuple
    target: float
    after: float


GRIDS = {"mlp": Grid((4, 16, 64), 0.75, 80)}
# Units of time that show how long a round takes, by local steps.
SHOWS = {1: 6, TAU: 20}


def all_reduce(nodes):
    """Of a ring, in steps of a node."""
    return 2 * (nodes - 1) / nodes * TRANSFER + 2 * (nodes - 1) * HOP


def step_seconds(network):
    return UNIT_SECONDS / NETWORKS[network]["run"]["local_steps"]


def cell_of(network, grid, label, setup, nodes, seed):
    rule, steps, _, waits = RULES[label]
    run = {"rule": rule, "local_steps": steps, **CLIENT}
    if "easgd" in rule or rule == "gossip":
        run["rule_settings"] = {"replicas": "slots"}
    elif waits:
        run["round_share"] = 1.0
    step = step_seconds(network)
    learns = setup == "free" or not waits
    return Cell(f"scaling {label} {setup}", run, nodes,
                after=grid.after if learns else SHOWS[steps], seed=seed, network=network, is_equal=setup != "unequal",
                latency=step * all_reduce(nodes) / 2
                if setup == "all-reduce" else 0,
                report_time=step * REPORT if setup == "server" else 0,
                evaluate_every=UNIT_SECONDS / 2,
                accuracy=grid.target if learns else 0)


@dataclasses.dataclass(frozen=True)
class Measured:
    """A rule in a set-up on some nodes; times in steps of a node."""
    label: str
    setup: str
    nodes: int
    steps: float    # of all nodes together, in a step's time
    time: float     # to the target; None: not reached
    results: float  # until then

    def rounds(self):
        return self.results / self.nodes


def crossing(curve, target):
    """Time and results of the first version that has the target, between
    evaluations by linear interpolation."""
    for before, now in zip(curve, curve[1:]):
        if now.metric >= target > before.metric:
            part = (target - before.metric) / (now.metric - before.metric)
            return (before.time + part * (now.time - before.time),
                    before.results + part * (now.results - before.results))
    return None, None


def pace(network, curve):
    """Steps of all nodes together in a step's time, between two versions."""
    run = NETWORKS[network]["run"]
    first, last = curve[0], curve[-1]
    return ((last.samples - first.samples) / run["batch"] /
            ((last.time - first.time) * run["local_steps"]))


def measured(network, grid, asked, curves, free):
    """free: what was measured of the same rule with free communication."""
    label, setup, nodes = asked
    _, tau, _, waits = RULES[label]
    steps = float(numpy.mean([pace(network, curve) for curve in curves]))
    if waits and setup != "free":
        results = free.results if free else None
        time = results and results * tau / steps
        return Measured(label, setup, nodes, steps, time, results)
    reached = [crossing(curve, grid.target) for curve in curves]
    if any(time is None for time, _ in reached):
        return Measured(label, setup, nodes, steps, None, None)
    time, results = (float(value) for value in numpy.mean(reached, axis=0))
    return Measured(label, setup, nodes, steps,
                    time * NETWORKS[network]["run"]["local_steps"], results)


def measure(study, network, grid):
    asked = [(label, setup, nodes) for label, (_, _, setups, _) in RULES.items()
             if study.wants(label) for setup in setups
             for nodes in study.slots or grid.nodes]
    cells = [cell_of(network, grid, *one, seed) for one in asked
             for seed in range(study.seeds)]
    curves = study.simulations.curves(cells)
    lines = {}
    for k, (label, setup, nodes) in enumerate(asked):
        lines[label, setup, nodes] = measured(
            network, grid, (label, setup, nodes),
            curves[study.seeds * k:study.seeds * (k + 1)],
            lines.get((label, "free", nodes)))
    return list(lines.values())


def show(lines):
    """A row for each rule in a set-up: steps of all nodes together in a step's
    time, then the time to the target in steps, both by the number of nodes."""
    nodes = sorted({line.nodes for line in lines})
    rows = {}
    for line in sorted(lines, key=lambda one: one.setup):
        rows.setdefault((line.setup, line.label), {})[line.nodes] = line
    print("| set-up | rule | " +
          " | ".join([f"steps, {p} nodes" for p in nodes] +
                     [f"time, {p} nodes" for p in nodes]) + " |\n" +
          "|---" * (2 + 2 * len(nodes)) + "|")
    for (setup, label), row in rows.items():
        cells = [f"{row[p].steps:.1f}" for p in nodes] + [
            "-" if row[p].time is None else f"{row[p].time:.0f}"
            for p in nodes]
        print(f"| {setup} | {label} | " + " | ".join(cells) + " |", flush=True)


def fit(xs, ys):
    """ys as intercept + slope x, with the least squares of relative errors."""
    xs, ys = numpy.array(xs, float), numpy.array(ys, float)
    columns = numpy.stack([numpy.ones_like(xs), xs], axis=1) / ys[:, None]
    (intercept, slope), *_ = numpy.linalg.lstsq(columns, numpy.ones_like(xs),
                                                rcond=None)
    return max(0.0, float(intercept)), float(slope)


class Model:
    """Time to the target of a rule in a set-up on p nodes, in steps' time:

    rounds (a + b / p) times what a round takes, for a rule that waits for all;
    results (a + b p) over how many come in a step's time, for one that does
    not. a and b are fitted, and a number of nodes that did not reach the target
    counts as never; what a round takes follows from the set-up, with
    unequal hosts 1 + k ln p, of which k is fitted."""

    def __init__(self, lines):
        _, self.tau, _, self.waits = RULES[lines[0].label]
        self.label, self.setup = lines[0].label, lines[0].setup
        self.fails_from = min((line.nodes for line in lines if not line.time),
                              default=math.inf)
        lines = [line for line in lines if line.time]
        nodes = [line.nodes for line in lines]
        self.count = len(lines)
        if self.count < 2:
            return
        if self.waits:
            self.a, self.b = fit([1 / p for p in nodes],
                                 [line.rounds() for line in lines])
        else:
            self.a, self.b = fit(nodes, [line.results for line in lines])
        # How much longer than its steps a round of unequal hosts takes; how
        # much of what equal ones do unequal ones do together.
        waste = [line.nodes / line.steps - 1 for line in lines]
        logs = [math.log(p) for p in nodes]
        self.k = (sum(w * x for w, x in zip(waste, logs)) /
                  sum(x * x for x in logs))
        self.pace = float(numpy.mean([line.steps / line.nodes
                                      for line in lines]))
        self.error = float(numpy.mean([abs(self.time(line.nodes) / line.time - 1)
                                       for line in lines]))

    def round_time(self, p):
        return {"free": self.tau, "all-reduce": self.tau + all_reduce(p),
                "server": self.tau + p * REPORT,
                "unequal": self.tau * (1 + self.k * math.log(p))}[self.setup]

    def time(self, p):
        if p >= self.fails_from:
            return math.inf
        if self.waits:
            return max(1.0, self.a + self.b / p) * self.round_time(p)
        pace = self.pace if self.setup == "unequal" else 1
        rate = p * pace / self.tau
        if self.setup == "server":
            rate = min(p / (self.tau + REPORT), 1 / REPORT)
        return (self.a + self.b * p) / rate

    def text(self):
        fitted = (f"{self.a:.0f} {self.b:+.0f} / p rounds" if self.waits
                  else f"{self.a:.0f} {self.b:+.1f} p results")
        if self.fails_from < math.inf:
            fitted += f"; not reached on {self.fails_from} nodes"
        return fitted


# Who is compared with whom, by (rule, set-up).
RIVALS = [(("sync", "free"), ("easgd", "free")),
          (("sync", "free"), ("gossip pull", "free")),
          (("local-sgd", "free"), ("easgd", "free")),
          (("sync-easgd", "free"), ("easgd", "free")),
          (("sync", "all-reduce"), ("easgd", "free")),
          (("sync", "all-reduce"), ("gossip pull", "free")),
          (("sync", "server"), ("easgd", "server")),
          (("sync", "unequal"), ("easgd", "unequal")),
          (("sync", "unequal"), ("gossip pull", "unequal")),
          (("local-sgd", "unequal"), ("easgd", "unequal"))]
MOST = 4096  # nodes that a model is asked about


def spans(first, second):
    """Which model is ahead on how many nodes, as "first to 31, then second"."""
    ahead = []
    for p in range(2, MOST + 1):
        one, other = first.time(p), second.time(p)
        ahead.append("neither" if one == other == math.inf else
                     first.label if one <= other else second.label)
    said = [ahead[0]]
    for p, (one, next_one) in enumerate(zip(ahead, ahead[1:]), 2):
        if one != next_one:
            said[-1] += f" to {p}"
            said.append(next_one)
    return ", then ".join(said)


def show_models(lines):
    models = {}
    for label, (_, _, setups, _) in RULES.items():
        for setup in setups:
            some = [line for line in lines
                    if (line.label, line.setup) == (label, setup)]
            model = Model(some) if some else None
            if model and model.count >= 2:
                models[label, setup] = model
    print("\n| set-up | rule | to the target | mean error of the time |\n" +
          "|---" * 4 + "|")
    for (label, setup), model in models.items():
        print(f"| {setup} | {label} | {model.text()} | "
              f"{100 * model.error:.0f} % |")
    print(f"\n| waits | does not | ahead, of 2 to {MOST} nodes |\n|---|---|---|")
    for first, second in RIVALS:
        if first in models and second in models:
            print(f"| {', '.join(first)} | {', '.join(second)} | "
                  f"{spans(models[first], models[second])} |")


def scaling_table(study):
    """Throughput and time to an accuracy against the number of nodes."""
    network = study.network if study.network in GRIDS else "mlp"
    grid = GRIDS[network]
    lines = measure(study, network, grid)
    show(lines)
    show_models(lines)
    print(f"\ntarget: {100 * grid.target:g} %")
