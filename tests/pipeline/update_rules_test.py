#!/usr/bin/env python3
"""Every update rule, on the real system, against numpy.

Three volunteers train with each rule while the server is killed twice. Then the
rule's equations, written down here once more, repeat the training from the
ledger's results: every version that was published, and the last, must have the
same bits, and the model must have learned.
"""

import functools
import random
import struct
import time

import numpy as np

from support import update_codecs
from export_test import read_safetensors
from support.project import RUN, Project, Server, Volunteer, expect, run

KILLS = 2
F = np.float32


def fma(a, b, c):
    """One rounding: a product of two binary32 has 48 bits, and 64 are here."""
    return (np.multiply(a, b, dtype=np.longdouble) +
            np.asarray(c, np.longdouble)).astype(F)


def inverse(n):
    return F(1) / F(n)


def bounded(rate, s):
    return min(F(rate), F(1.5) / F(s + 1))


class Rule:
    """A rule as its equations have it. w: the model; e: the average."""

    in_rounds = False
    keep = 0.9
    # The accuracy that shows that it learns; chance is 0.1. A kill may leave
    # staleness of 26, and how much such results count is the rule's choice:
    # what is exact here are the bits.
    least_accuracy = 0.7

    def __init__(self, **settings):
        self.settings = settings

    def begin(self, w):
        """Whatever else it carries, of zeros."""

    def bases(self, w):
        """All that a unit of now may start from, by replica."""
        return [w]

    def average(self, version):
        """1 - c of the version that comes after `version`."""
        return F(1) - F(self.keep)


class VcAsgd(Rule):
    def step(self, w, result):
        if self.settings.get("alpha") == "var":
            e = F(result.epoch)
            alpha = e / (e + F(1))
        else:
            alpha = F(0.7)
        return fma(F(1) - alpha, (result.base + result.delta) - w, w)


class DeltaAsgd(Rule):
    def step(self, w, result):
        s = result.staleness
        return fma(bounded(F(1.2) / F(s + 1), s), result.delta, w)


class Downpour(Rule):
    def step(self, w, result):
        return fma(bounded(self.settings["rate"], result.staleness),
                   result.delta, w)


class DcAsgd(Rule):
    def strength(self, result, r):
        return F(0.5) * r

    def step(self, w, result):
        s = result.staleness
        r = F(1) / (F(result.steps) * result.learning_rate)
        q = (result.delta * result.delta) * (w - result.base)
        return fma(bounded(F(1.2) / F(s + 1), s),
                   fma(-self.strength(result, r), q, result.delta), w)


class DcAsgdAdaptive(DcAsgd):
    def begin(self, w):
        self.v = np.zeros_like(w)

    def strength(self, result, r):
        decay = F(0.95)
        g = result.delta * r
        self.v = fma(decay, self.v, (F(1) - decay) * (g * g))
        return (F(0.5) * r) / np.sqrt(self.v + F(1e-7))


class FedAsync(Rule):
    def share(self, s):
        kind = self.settings.get("weighting", "polynomial")
        if kind == "hinge":
            a, b = F(self.settings["a"]), F(self.settings["b"])
            return F(1) if s <= b else F(1) / (a * (F(s) - b) + F(1))
        return F(1) if kind == "constant" else F(s + 1) ** F(-0.5)

    def step(self, w, result):
        weight = F(0.6) * self.share(result.staleness)
        # Roots and powers of numpy may differ in the last bit.
        recorded = result.coefficients["weight"]
        expect(abs(weight - recorded) <= 1e-6 * weight,
               f"weight {recorded}, numpy has {weight}")
        return fma(recorded, (result.base + result.delta) - w, w)


class FedBuff(Rule):
    keep = 0.8

    def begin(self, w):
        self.sum = np.zeros_like(w)

    def closes(self, version):
        return (version + 1) % self.settings["buffer"] == 0

    def average(self, version):
        return super().average(version) if self.closes(version) else F(0)

    def step(self, w, result):
        n = self.settings["buffer"]
        steps = result.version // n - result.base_version // n
        rate = F(1) / F(n)
        drift = bounded(rate / np.sqrt(F(1) + F(steps)), result.staleness)
        self.sum = fma(drift / rate, result.delta, self.sum)
        if not self.closes(result.version):
            return w
        w = fma(rate, self.sum, w)
        self.sum = np.zeros_like(w)
        return w


class DelayedNesterov(Rule):
    def begin(self, w):
        self.buffer = np.zeros_like(w)
        self.m = np.zeros_like(w)

    def step(self, w, result):
        n, c = self.settings["delay"], F(self.settings["c"])
        gamma, beta = F(0.4), F(0.9)
        share = bounded(gamma / F(n), result.staleness) / gamma
        self.buffer = fma(share, result.delta, self.buffer)
        b = c * beta
        if (result.version + 1) % n == 0:
            b = (F(1) - c * F(n) + c) * beta
            self.m = fma(beta, self.m, self.buffer)
            self.buffer = np.zeros_like(w)
        return fma(gamma, fma(b, self.m, share * result.delta), w)


class Replicas(Rule):
    """Models side by side; units start from the one that they train."""

    count = 4

    def begin(self, w):
        self.x = [w] * self.count

    def bases(self, w):
        """All that a unit of now may start from."""
        return list(self.x)


class Easgd(Replicas):
    def step(self, w, result):
        i = result.replica
        x = self.x[i] + result.delta
        d = (F(0.9) / F(self.count)) * (x - w)
        self.x[i] = x - d
        return w + d


class SyncEasgd(Replicas):
    keep = 0.8

    def begin(self, w):
        super().begin(w)
        self.sum, self.arrived = np.zeros_like(w), set()

    def step(self, w, result):
        i = result.replica
        expect(i not in self.arrived, f"replica {i} twice in a round")
        self.arrived.add(i)
        x = self.x[i] + result.delta
        d = (F(0.9) / F(self.count)) * (x - w)
        self.sum = self.sum + d
        self.x[i] = x - d
        self.has_stepped = len(self.arrived) == self.count
        if self.has_stepped:
            w = w + self.sum
            self.sum, self.arrived = np.zeros_like(w), set()
        return w

    def average(self, version):
        return super().average(version) if self.has_stepped else F(0)


class Gossip(Replicas):
    def begin(self, w):
        super().begin(w)
        self.weights = [F(1)] * self.count

    def step(self, w, result):
        i, j = result.replica, int(result.coefficients["peer"])
        expect(i != j, "a replica met itself")
        before = self.x[i], self.x[j]
        kind = self.settings.get("exchange", "pull")
        if kind == "push-sum":
            return self.push_sum(w, result, i, j)
        u = self.x[i] + result.delta
        half = F(0.5)
        if kind == "pull":
            self.x[i] = fma(half, self.x[j] - u, u)
        else:
            self.x[i] = u
            self.x[j] = fma(half, u - self.x[j], self.x[j])
        changes = (self.x[i] - before[0]) + (self.x[j] - before[1])
        return fma(inverse(self.count), changes, w)

    def push_sum(self, w, result, i, j):
        step = min(F(1) / self.weights[i], F(1.5))
        half = self.weights[i] / F(2)
        share = half / (self.weights[j] + half)
        w = fma(step * self.weights[i] / F(self.count), result.delta, w)
        self.x[i] = fma(step, result.delta, self.x[i])
        self.x[j] = fma(share, self.x[i] - self.x[j], self.x[j])
        self.weights[i] = half
        self.weights[j] += half
        return w


class LocalSgd(Rule):
    in_rounds = True
    keep = 0.8
    least_accuracy = 0.9

    @staticmethod
    def mean(deltas):
        """Of fewer than 64: one chain from +0."""
        total = functools.reduce(np.add, deltas, np.zeros_like(deltas[0]))
        return total * inverse(len(deltas))

    def step_round(self, w, deltas):
        return w + self.mean(deltas)


class Sync(LocalSgd):
    least_accuracy = 0.8


class Diloco(LocalSgd):
    def begin(self, w):
        self.m = np.zeros_like(w)

    def step_round(self, w, deltas):
        gamma, beta = F(0.7), F(0.9)
        mean = self.mean(deltas)
        self.m = fma(beta, self.m, mean)
        return fma(gamma, fma(beta, self.m, mean), w)


class Result:
    """What the ledger and the sealed task say of one result."""

    def __init__(self, project, entry, bases, tensors):
        task = project.task(entry["workunit"])
        self.version = entry["version_before"]
        self.base_version = entry["base_version"]
        self.staleness = entry["staleness"]
        self.epoch = task["epoch"] + 1
        self.steps = task["steps"]
        self.learning_rate = of_bits(task["learning_rate"])
        self.unit_index = entry["unit_index"]
        self.replica = task.get("replica", 0)
        self.delta = update(project, task["codec"], tensors, entry["update"])
        self.base = bases[self.base_version][self.replica]
        self.coefficients = {name: of_bits(value) for name, value in
                             entry["coefficients"].items()}


def of_bits(text):
    return F(struct.unpack(">f", bytes.fromhex(text))[0])


def parameters(project, digest):
    """All tensors of an object, one after another as they stand in it."""
    tensors, _ = read_safetensors(project.object(digest))
    return np.concatenate([np.ravel(tensor) for tensor in tensors.values()])


def learned_tensors(project, digest):
    """Sizes of the tensors of an object that gradients change."""
    tensors, _ = read_safetensors(project.object(digest))
    return [tensor.size for name, tensor in tensors.items()
            if "running_" not in name]


def update(project, codec, tensors, digest):
    """The values of an update of a model with these learned tensors."""
    if codec == "fp32":
        return parameters(project, digest)
    parts, _ = read_safetensors(project.object(digest))
    return update_codecs.decode(codec, tensors, parts)


def expect_same_bits(what, found, expected):
    different = np.flatnonzero(found.view(np.uint32) !=
                               expected.view(np.uint32))
    expect(len(different) == 0,
           f"{what}: {len(different)} of {len(found)} parameters differ, "
           f"first number {different[:1]}")


def rounded(rule, version, tensors, w, u):
    """What hosts get of the version u after w."""
    codec = rule.settings["snapshots"]
    if codec == "fp32":
        return u
    learned = sum(tensors)
    change = np.concatenate([u[:learned] - w[:learned], u[learned:]])
    words = update_codecs.words_of_delta(version, tensors)
    change = update_codecs.decode(codec, tensors, update_codecs.code(
        codec, words, tensors, change))
    return np.concatenate([w[:learned] + change[:learned], change[learned:]])


def repeat(project, rule, entries):
    """Trains again with numpy; returns how many published versions it met."""
    w = parameters(project, entries[0]["initial"])
    tensors = learned_tensors(project, entries[0]["initial"])
    e = u = w
    rule.begin(w)
    bases, waiting, met = {0: rule.bases(w)}, [], 0
    for entry in entries[1:]:
        if entry["kind"] in ("snapshot", "end"):
            for name, found in (("parameters", w), ("published", e)):
                if project.object(entry[name]).exists():
                    expect_same_bits(
                        f"version {entry['version']}, {name}", found,
                        parameters(project, entry[name]))
                    met += 1
            continue
        result = Result(project, entry, bases, tensors)
        if rule.in_rounds:
            waiting.append(result)
            if entry["version_after"] == entry["version_before"]:
                continue
            waiting.sort(key=lambda one: one.unit_index)
            u = rule.step_round(u, [one.delta for one in waiting])
            w = rounded(rule, entry["version_after"], tensors, w, u)
            waiting = []
        else:
            u = w = rule.step(w, result)
        e = fma(rule.average(entry["version_before"]), u - e, e)
        bases[entry["version_after"]] = rule.bases(w)
    return met


def train(stage, name, rule, *arguments):
    project = Project(stage)
    project.add_glyphs(10240)
    if rule.in_rounds:
        rule.settings.setdefault("snapshots", "fp32")
    settings = [word for key, value in rule.settings.items()
                for word in ("--set", f"{key}={value}")]
    project.create_run("--dataset", "glyphs", "--model", "mlp:64", "--batch",
                       32, "--quorum", 1, "--rule", name, *settings, *arguments)
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(server).start()
                  for i in range(3)]
    draw = random.Random(stage.seed)
    for _ in range(KILLS):
        time.sleep(draw.uniform(0.5, 1.5))
        server.kill()
        server.start()
    project.wait_until_finished(120)
    shown = project.show_evaluated()
    entries = project.ledger()
    report = project.ask("replay", RUN)
    for process in [*volunteers, server]:
        process.stop()
    expect(report["ok"], f"replay: {report}")
    stale = max(entry["staleness"] for entry in entries
                if entry["kind"] == "result")
    expect(rule.in_rounds or stale >= 1, f"staleness is {stale} at most")
    met = repeat(project, rule, entries)
    expect(met >= 4, f"{met} published models are there to compare with")
    expect(shown["accuracy"] >= rule.least_accuracy,
           f"accuracy {shown['accuracy']}")
    return (f"{name}: {shown['version']} versions, staleness up to {stale}, "
            f"{met} models equal, accuracy {100 * shown['accuracy']:.1f} %")


STEPS = ("--local-steps", 20, "--epochs", 20)


def test_vc_asgd(stage):
    return train(stage, "vc-asgd", VcAsgd(), *STEPS)


def test_vc_asgd_var(stage):
    return train(stage, "vc-asgd", VcAsgd(alpha="var"), *STEPS)


def test_delta_asgd(stage):
    return train(stage, "delta-asgd", DeltaAsgd(), *STEPS)


def test_downpour(stage):
    return train(stage, "downpour", Downpour(rate=0.3), *STEPS)


def test_dc_asgd(stage):
    return train(stage, "dc-asgd", DcAsgd(), *STEPS)


def test_dc_asgd_adaptive(stage):
    return train(stage, "dc-asgd-adaptive", DcAsgdAdaptive(), *STEPS)


def test_fedasync(stage):
    return train(stage, "fedasync", FedAsync(), *STEPS)


def test_fedasync_hinge(stage):
    return train(stage, "fedasync", FedAsync(weighting="hinge", a=1, b=1),
                 *STEPS)


def test_fedbuff(stage):
    return train(stage, "fedbuff", FedBuff(buffer=3), *STEPS)


def test_delayed_nesterov(stage):
    return train(stage, "delayed-nesterov",
                 DelayedNesterov(delay=16, c=0.03125), *STEPS)


def test_easgd(stage):
    return train(stage, "easgd", Easgd(replicas=4), *STEPS, "--lr", 0.3)


def test_sync_easgd(stage):
    return train(stage, "sync-easgd", SyncEasgd(replicas=4), *STEPS, "--lr",
                 0.3)


def test_eamsgd(stage):
    return train(stage, "eamsgd", Easgd(replicas=4), *STEPS)


def test_gossip_pull(stage):
    return train(stage, "gossip", Gossip(replicas=4), *STEPS)


def test_gossip_push(stage):
    return train(stage, "gossip", Gossip(replicas=4, exchange="push"), *STEPS)


def test_gossip_push_sum(stage):
    return train(stage, "gossip", Gossip(replicas=4, exchange="push-sum"),
                 *STEPS)


def test_sync(stage):
    return train(stage, "sync", Sync(), "--round-units", 4,
                 "--round-share", 0.75, "--epochs", 3, "--lr", 0.8)


def test_local_sgd(stage):
    return train(stage, "local-sgd", LocalSgd(), "--round-units", 4, *STEPS)


def test_diloco(stage):
    return train(stage, "diloco", Diloco(), "--round-units", 4, *STEPS)


def test_rounded_int8(stage):
    return train(stage, "diloco", Diloco(snapshots="int8"), "--round-units", 4,
                 *STEPS)


def test_rounded_int4(stage):
    return train(stage, "diloco", Diloco(snapshots="int4"), "--round-units", 4,
                 *STEPS)


if __name__ == "__main__":
    run(__doc__, test_vc_asgd, test_vc_asgd_var, test_delta_asgd,
        test_downpour, test_dc_asgd, test_dc_asgd_adaptive, test_fedasync,
        test_fedasync_hinge, test_fedbuff, test_delayed_nesterov, test_easgd,
        test_eamsgd, test_gossip_pull, test_gossip_push, test_gossip_push_sum,
        test_sync_easgd, test_sync,
        test_local_sgd, test_diloco, test_rounded_int8, test_rounded_int4)
