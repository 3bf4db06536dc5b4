#!/usr/bin/env python3
"""One run of training per attack: 20 hosts over the real wire, 7 false.

A server with the settings that `quorate init` writes, a network of 8 hidden
neurons, units of 4 steps; 13 honest hosts and 7 that attack, all played by one
program (bench-attack-hosts), with keys, sessions and signatures of their own.
The attackers' log says which results were false; ledger and tables say what
became of them. Printed per attack:

  units       assimilated
  false       results that the attackers falsified
  ever        of them, assimilated at any time
  revoked     of those, taken out again
  left        of those, in the final model: of hosts found / not found
  found       attackers watched or banned, of those that were false
  after       units that they had reported by then, median (most)
  work        results computed by anyone, house workers too, for each unit
  hosts hurt  honest hosts watched or banned
  witness     most bytes that a witness sent
  effect      by how many points of accuracy the model was better when what was
              false had been taken out of it than just before: what that had
              cost by then; "-" where none got in, or it is not measured

QUORATE_ATTACKS names the attacks to run, separated by commas; otherwise all.
"""

import dataclasses
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import Process, Project, Server, expect, run  # noqa: E402
from support.swarm import Swarm, judge, open_store  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

EPOCHS = 26  # of 80 units: 10,240 samples, 4 steps of 32 each
LONG = 4 * EPOCHS  # for those who are false seldom, or late
# What `quorate init` writes; the tests' own settings are others. But not the
# ten minutes that it takes to become proven, which a whole case does not last.
DEFAULTS = {"lease": 120, "heartbeat": 30, "reservation": 5,
            "trust_proven_after": 20, "trust_proven_time": 0,
            "trust_spot_check": 0.05,
            "trust_anchor": "true", "trust_ban_after": 3}
STRUCTURAL = {"wrong-payload", "copied-proof", "copied-result", "forged-seal",
              "replayed", "stolen-lease", "other-unit", "stale-snapshot",
              "wrong-samples", "non-finite", "unsigned"}


@dataclasses.dataclass
class Case:
    """A run of the bench."""
    name: str
    attack: str = ""        # of bench-attack-hosts; "": as the name
    attackers: int = 7
    arguments: tuple = ()
    epochs: int = EPOCHS
    flood: int = 0          # connections that register accounts
    codec: str = "fp32"     # of updates
    # Evaluates every version, on more samples, to see what they cost.
    is_effect_measured: bool = False

    def kind(self):
        return self.attack or self.name


CASES = [
    Case("none"),
    Case("random"),
    Case("scaled"),
    Case("sign-flip"),
    Case("skipped-steps"),
    Case("cheap-optimizer"),
    Case("stale-snapshot"),
    Case("wrong-samples"),
    Case("false-digests"),
    Case("other-unit"),
    Case("copied-result"),
    Case("copied-proof"),
    Case("wrong-payload"),
    Case("non-finite"),
    Case("replayed"),
    Case("forged-seal"),
    Case("stolen-lease"),
    Case("unsigned"),
    Case("one-in-twenty", "random", epochs=LONG,
         arguments=("--share", 0.05)),
    Case("colluding-2", "agreed", attackers=2),
    Case("colluding-5", "agreed", attackers=5),
    # False only when both results that decide a unit are theirs.
    Case("conspiring-7", "agreed", arguments=("--conspire",)),
    # Three of them never become proven, so that a proven accomplice is drawn
    # to vouch for them now and then.
    Case("vouching-7", "agreed", epochs=LONG,
         arguments=("--conspire", "--unproven", 3)),
    # More than accounts that may join at once; each leaves before it could
    # become proven.
    Case("many-identities", "agreed", attackers=100,
         arguments=("--units-each", 15)),
    Case("late-turncoat", "random", epochs=LONG,
         arguments=("--after", 200)),
    # Of proven hosts, whose word was enough.
    *(Case(name, is_effect_measured=True, arguments=("--after", 40),
           **{"attack": name.split("-")[0], **more})
      for name, more in (("huge", {}), ("huge-alone", {"attackers": 1}),
                         ("large", {}), ("growing", {}),
                         ("growing-alone", {"attackers": 1}),
                         ("flip-proven", {"attack": "sign-flip"}),
                         ("huge-int4", {"codec": "int4"}),
                         ("growing-int4", {"codec": "int4"}))),
    Case("registration-flood", "none", flood=8),
]


def run_case(stage, case):
    """The verdict on one run, and how long it took."""
    every_version = {"evaluate_every": 0, "evaluate_every_versions": 1}
    project = Project(stage, **DEFAULTS,
                      **(every_version if case.is_effect_measured else {}))
    project.add_glyphs(10240, 5000 if case.is_effect_measured else 500)
    project.create_run("--dataset", "glyphs", "--model", "mlp:8", "--batch",
                       32, "--local-steps", 4, "--epochs", case.epochs,
                       "--codec", case.codec)
    server = Server(project).start()
    swarm = Swarm(server, case.kind(), 20 - min(7, case.attackers),
                  case.attackers, case.arguments).start()
    began = time.monotonic()
    flood = None
    if case.flood:
        flood = Process(stage, "flood", [
            stage.program("bench-attack-hosts"), "--port", server.port,
            "--flood", case.flood])
        flood.spawn()
    project.wait_until_finished(1800)
    seconds = time.monotonic() - began
    expect(swarm.is_running(), f"the swarm ended: {swarm.last_line()}")
    swarm.kill()
    if flood:
        flood.kill()
        stage.say(f"flood: {flood.last_line()}")
    verdict = judge(project, swarm)
    project.show_evaluated()
    expect(project.ask("verify-ledger", "first")["ok"], "verify-ledger")
    effect = effect_of_false(project) if case.is_effect_measured else None
    server.stop()
    return verdict, seconds, effect


def effect_of_false(project):
    """Points by which each revocation made the model better than the evaluated
    version before it was, all together; None without any."""
    made = [entry["version_after"] for entry in project.ledger()
            if entry["kind"] == "revocation"]
    if not made:
        return None
    with open_store(project) as store:
        accuracy = dict(store.execute(
            "SELECT version, accuracy FROM evaluations").fetchall())
    points = 0
    for version in made:
        before = max((v for v in accuracy if v < version), default=None)
        if before is None or version not in accuracy:
            return None
        points += 100 * (accuracy[version] - accuracy[before])
    return points


def row_of(case, verdict, seconds, effect):
    after = verdict.found_after
    return {"attack": case.name, "units": verdict.units,
            "attackers": case.attackers,
            "falsified": verdict.falsified,
            "false_ever": verdict.assimilated, "revoked": verdict.revoked,
            "false_in_final_model": verdict.left_of_found +
            verdict.left_of_others,
            "false_of_found_in_final_model": verdict.left_of_found,
            "found": verdict.found, "false_hosts": verdict.attackers,
            "found_after_units": statistics.median(after) if after else None,
            "found_after_units_most": max(after, default=None),
            "extra_work": round(verdict.extra_work(), 3),
            "honest_hosts_found": verdict.honest_found,
            "honest_results_invalid": verdict.honest_invalid,
            "witness_bytes": verdict.witness_bytes,
            "effect_points": effect and round(effect, 2),
            "seconds": round(seconds, 1)}


def print_row(row):
    after = ("-" if row["found_after_units"] is None else
             f"{row['found_after_units']:.0f} "
             f"({row['found_after_units_most']})")
    points = row["effect_points"]
    effect = "-" if points is None else f"{points:.2f}"
    of_found = row["false_of_found_in_final_model"]
    left = f"{of_found}/{row['false_in_final_model'] - of_found}"
    print(f"{row['attack']:19}{row['units']:6}{row['falsified']:7}"
          f"{row['false_ever']:6}{row['revoked']:8}{left:>8}"
          f"{row['found']:4}/{row['false_hosts']:<4}{after:>10}"
          f"{row['extra_work']:6.2f}{row['honest_hosts_found']:6}"
          f"{row['witness_bytes']:8}{effect:>8}{row['seconds']:6.0f} s",
          flush=True)


def bench_attacks(stage):
    print(f"{'attack':19}{'units':>6}{'false':>7}{'ever':>6}{'revoked':>8}"
          f"{'left':>8}{'found':>8}{'after':>11}{'work':>6}{'hurt':>6}"
          f"{'witness':>8}{'effect':>8}", flush=True)
    wanted = os.environ.get("QUORATE_ATTACKS", "")
    names = wanted.split(",") if wanted else [case.name for case in CASES]
    through = []
    for case in CASES:
        if case.name not in names:
            continue
        stage.begin_anew()
        row = row_of(case, *run_case(stage, case))
        print_row(row)
        append(row)
        if row["false_of_found_in_final_model"] or (
                case.kind() in STRUCTURAL and row["false_ever"]):
            through.append(case.name)
    expect(not through, f"got through: {', '.join(through)}")
    return f"{len(names)} runs"


if __name__ == "__main__":
    run(__doc__, bench_attacks)
