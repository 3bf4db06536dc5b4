"""Chooses each rule's constants on the tuning part: first the client's learning
rate and momentum, with the rule's own constants as they are by default, then
these. A rule that has constants for fewer slots begins with those, and keeps
their client. What is best at the end of a short run is taken, and goes to
constants.json."""

from rules import (RULES, SERIAL, SETTINGS, clients, read_constants, tuned,
                   with_settings, write_constants)
from simulations import NETWORKS, Cell, final

# Units of time of a tuning run, by number of slots; 128 take what 32 have.
AFTER = {"lenet": {1: 120, 8: 16, 32: 6}, "gpt": {1: 50, 8: 10, 32: 5}}


class Candidate:
    """A run that was tried, how it differs, and its metric."""

    def __init__(self, change, run):
        self.change, self.run, self.metric = change, run, None


def try_all(study, candidates):
    """Simulates lists of candidates, by (label, slots)."""
    network = study.network
    flat = [(label, slots, candidate)
            for (label, slots), some in candidates.items()
            for candidate in some]
    curves = study.simulations.curves([
        Cell(label, candidate.run, slots, after=AFTER[network][slots],
             network=network, part="tuning")
        for label, slots, candidate in flat])
    for (_, _, candidate), curve in zip(flat, curves):
        candidate.metric = final(curve)


def best_of(network, candidates):
    best = max if NETWORKS[network]["metric"] == "accuracy" else min
    return best(candidates, key=lambda candidate: candidate.metric)


def keep(network, label, slots, run):
    constants = read_constants()
    by_slots = constants.setdefault(network, {}).setdefault(label, {})
    by_slots[str(slots)] = run
    write_constants(constants)


def tune_table(study):
    """What was tried for each rule and number of slots, and what is taken."""
    network = study.network
    asked = [(label, slots) for slots in study.slots or AFTER[network]
             for label in (SERIAL if slots == 1 else RULES)
             if study.wants(label)]
    first, second = {}, {}
    for label, slots in asked:
        base = {**SERIAL, **RULES}[label]
        known = tuned(network, label, slots - 1)
        first[label, slots] = [Candidate(chosen(known), known)] if known else [
            Candidate(client, {**base, **client})
            for client in clients(network, label)]
    try_all(study, first)
    for key in asked:
        run = best_of(network, first[key]).run
        second[key] = [Candidate(settings, with_settings(run, settings))
                       for settings in SETTINGS.get(key[0], [])]
    try_all(study, second)

    print("| slots | rule | tried: metric on the tuning part | taken |\n"
          "|---|---|---|---|")
    for label, slots in asked:
        tried = first[label, slots] + second[label, slots]
        run = best_of(network, tried).run
        keep(network, label, slots, run)
        print(f"| {slots} | {label} | " + "; ".join(
            f"{text_of(one.change)}: {one.metric:.4f}" for one in tried) +
            f" | {text_of(chosen(run))} |", flush=True)


def chosen(run):
    """What was chosen in a run: what its label does not say."""
    names = ("lr", "momentum", "rule_settings")
    return {name: run[name] for name in names if name in run}


def text_of(change):
    """{"lr": 0.1, "rule_settings": {"alpha": 0.5}} as "lr 0.1, alpha 0.5"."""
    flat = {**change, **change.get("rule_settings", {})}
    flat.pop("rule_settings", None)
    return ", ".join(f"{name} {value}" for name, value in flat.items())
