"""What the study compares: rules by label, and what their constants are chosen
from. constants.json has the outcome, by network, label and number of slots."""

import json
import pathlib

CONSTANTS = pathlib.Path(__file__).with_name("constants.json")

# Client settings, by the length of units. Optimisers begin anew in every unit, so
# that plain serial training likes long ones: 200 steps are an epoch.
CLIENTS = {
    "lenet": [{"lr": 0.1, "momentum": 0}, {"lr": 0.2, "momentum": 0},
              {"lr": 0.05, "momentum": 0.9}],
    "gpt": [{"lr": 0.002}, {"lr": 0.004}],
}
LONG_CLIENTS = {
    "lenet": [{"lr": 0.01, "momentum": 0.9}, {"lr": 0.02, "momentum": 0.9},
              {"lr": 0.05, "momentum": 0.9}],
    "gpt": [{"lr": 0.002}, {"lr": 0.004}],
}
SHORT_CLIENTS = {
    "lenet": [*CLIENTS["lenet"], {"lr": 0.4, "momentum": 0}],
    "gpt": [*CLIENTS["gpt"], {"lr": 0.008}],
}
WITHOUT_MOMENTUM = {"easgd", "sync"}  # and without AdamW's averages
DEFAULT = "default"

SERIAL = {
    "serial plain": {"rule": "vc-asgd", "local_steps": 200,
                     "rule_settings": {"alpha": 0, "average": 0}},
    "serial average": {"rule": "vc-asgd", "rule_settings": {"alpha": 0}},
    "serial outer": {"rule": "diloco", "round_share": 1.0},
    "serial outer 5 steps": {"rule": "diloco", "round_share": 1.0,
                             "local_steps": 5},
    "serial outer 2 steps": {"rule": "diloco", "round_share": 1.0,
                             "local_steps": 2},
}
ONE_BY_ONE = {
    "vc-asgd": {"rule": "vc-asgd"},
    "vc-asgd var": {"rule": "vc-asgd", "rule_settings": {"alpha": "var"}},
    "vc-asgd 5 steps": {"rule": "vc-asgd", "local_steps": 5},
    "delta-asgd": {"rule": "delta-asgd"},
    "delta-asgd 5 steps": {"rule": "delta-asgd", "local_steps": 5},
    "downpour": {"rule": "downpour"},
    "dc-asgd": {"rule": "dc-asgd"},
    "dc-asgd-adaptive": {"rule": "dc-asgd-adaptive"},
    "fedasync poly": {"rule": "fedasync"},
    "fedasync hinge": {"rule": "fedasync",
                       "rule_settings": {"weighting": "hinge", "b": "slots"}},
    "fedbuff": {"rule": "fedbuff"},
    "delayed-nesterov": {"rule": "delayed-nesterov"},
    "delayed-nesterov 5 steps": {
        "rule": "delayed-nesterov", "local_steps": 5,
        "rule_settings": {"delay": "slots", "gamma": 0.7, "beta": 0.5}},
    # Meant as DyLU, but outside rounds a unit has at most 1/32 of an epoch: 6
    # steps of the LeNet's data, on nearly every host.
    "delayed-nesterov auto": {
        "rule": "delayed-nesterov", "local_steps": "auto",
        "rule_settings": {"delay": "slots", "gamma": 0.7, "beta": 0.5}},
    "easgd": {"rule": "easgd", "rule_settings": {"replicas": "slots"}},
    "eamsgd": {"rule": "eamsgd", "rule_settings": {"replicas": "slots"}},
    "gossip pull": {"rule": "gossip", "rule_settings": {"replicas": "slots"}},
    "gossip push-sum": {"rule": "gossip", "rule_settings": {
        "replicas": "slots", "exchange": "push-sum"}},
}
ROUNDS = {
    "sync": {"rule": "sync", "round_share": 1.0, "local_steps": 1},
    "local-sgd": {"rule": "local-sgd", "round_share": 1.0},
    "local-sgd 5 steps": {"rule": "local-sgd", "round_share": 0.6,
                          "local_steps": 5},
    "diloco all": {"rule": "diloco", "round_share": 1.0},
    "diloco": {"rule": "diloco", "round_share": 0.6},
    "diloco 5 steps": {"rule": "diloco", "round_share": 0.6, "local_steps": 5},
    "diloco 2 steps": {"rule": "diloco", "round_share": 0.6, "local_steps": 2},
    # 5 steps of a usual host, more or fewer of others.
    "diloco auto": {"rule": "diloco", "round_share": 0.6,
                    "local_steps": "auto"},
    # A new run as it is without options, with its rounded versions: the program
    # says all that is not here.
    DEFAULT: {"local_steps": "auto", "codec": "int4"},
}
RULES = {**ONE_BY_ONE, **ROUNDS}

# Constants beside the rule's defaults.
SETTINGS = {
    "serial outer": [{"gamma": 0.3, "beta": 0.7}, {"gamma": 0.7, "beta": 0.5},
                     {"average": 0}],
    "serial outer 5 steps": [{"gamma": 0.3, "beta": 0.7},
                             {"gamma": 0.7, "beta": 0.5}],
    "serial outer 2 steps": [{"gamma": 0.3, "beta": 0.7},
                             {"gamma": 0.7, "beta": 0.5}],
    "vc-asgd 5 steps": [{"average": 0.97}],
    "delta-asgd 5 steps": [{"average": 0.97}],
    "vc-asgd": [{"alpha": 0.5}, {"alpha": 0.9}, {"average": 0.97}],
    "delta-asgd": [{"rate": 0.8}, {"rate": 1.5}, {"average": 0.97}],
    "downpour": [{"rate": 0.05}, {"average": 0.97}],
    "dc-asgd": [{"lambda": 2}, {"rate": 1.5}],
    "dc-asgd-adaptive": [{"lambda": 2}, {"rate": 1.5}],
    "fedasync poly": [{"alpha": 0.9}, {"a": 0.25}],
    "fedasync hinge": [{"alpha": 0.9}],
    "fedbuff": [{"buffer": 5}, {"buffer": "slots"}],
    "delayed-nesterov": [{"delay": "slots"},
                         {"delay": "slots", "gamma": 0.7, "beta": 0.5},
                         {"delay": "slots", "average": 0.97}],
    "delayed-nesterov 5 steps": [{"beta": 0.9}, {"beta": 0.7}],
    "easgd": [{"beta": 0.5}],
    "eamsgd": [{"beta": 0.5}],
    "diloco all": [{"gamma": 1.0}, {"gamma": 0.7, "beta": 0.8}],
    "diloco": [{"gamma": 1.0}, {"gamma": 0.7, "beta": 0.8}],
    "diloco 5 steps": [{"gamma": 1.0}, {"gamma": 0.7, "beta": 0.8}],
    "diloco 2 steps": [{"gamma": 1.0}, {"gamma": 0.7, "beta": 0.8}],
}


def with_settings(run, settings):
    """A run whose rule has these settings as well."""
    return {**run, "rule_settings": {**run.get("rule_settings", {}),
                                     **settings}}


def steps_of(run, slots=8):
    """Local steps of a unit of a usual host; auto: see server/making/work_generator."""
    steps = run.get("local_steps", 25)
    if steps != "auto":
        return steps
    if run.get("rule") in {one["rule"] for one in ONE_BY_ONE.values()}:
        return 25  # for what is tried; what comes out is shorter, see RULES
    return 5 if slots < 32 else 2


def clients(network, label):
    """What is tried for a rule, by the length of its units."""
    if label == DEFAULT:
        return [{}]
    if network == "gpt" and label in WITHOUT_MOMENTUM:
        return [{"optimizer": "sgd", "momentum": 0, "lr": lr}
                for lr in (0.3, 1.0)]
    steps = steps_of({**SERIAL, **RULES}[label])
    some = (LONG_CLIENTS if steps > 25 else
            SHORT_CLIENTS if steps < 25 else CLIENTS)[network]
    return [client for client in some
            if label not in WITHOUT_MOMENTUM or not client.get("momentum")]


def read_constants():
    if not CONSTANTS.exists():
        return {}
    return json.loads(CONSTANTS.read_text(encoding="utf-8"))


def write_constants(constants):
    CONSTANTS.write_text(json.dumps(constants, indent=1) + "\n",
                         encoding="utf-8")


def tuned(network, label, slots):
    """The run with this label, with the constants of the largest number of
    slots that was tuned and is not above `slots`; {}: none was."""
    by_slots = read_constants().get(network, {}).get(label, {})
    known = [int(key) for key in by_slots if int(key) <= slots]
    return by_slots[str(max(known))] if known else {}
