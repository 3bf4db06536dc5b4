#!/usr/bin/env python3
"""How often false hosts are found over the real wire, and how often they should.

Fifty runs of training with real hosts (bench-attack-hosts): in 25 of them new
hosts are false in one unit of twenty, in 25 hosts that were proven first are
false in one of four and one unit of five is checked. Each attacker leaves after
a fixed number of units. The shares that were found are compared with the
formulas of docs/validation.md at 99 % confidence; of proven hosts also the share
of false results without a partner that were checked.
"""

import dataclasses
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import Failure, Project, Server, expect, run  # noqa: E402
from support.swarm import Swarm, judge  # noqa: E402

RUNS = 25
ATTACKERS = 12
HONEST = 4
PROVEN_AFTER = 20
CONFIDENCE = 2.576  # standard deviations: 99 %
UNITS = 80          # of an epoch
TRIES = 5


@dataclasses.dataclass
class Case:
    name: str
    share: float       # of an attacker's units that are false
    check: float       # trust_spot_check
    honest_units: int  # that it does first
    units: int         # that it then does, some of them false
    expected: float    # share of attackers that are found

    def total(self):
        return self.honest_units + self.units


NEW = Case("new, false in 1 of 20", 0.05, 0.05, 0, PROVEN_AFTER,
           1 - 0.95 ** PROVEN_AFTER)
# Ten units more than it takes to be proven: what is under way when a host
# becomes proven is checked still.
PROVEN = Case("proven, false in 1 of 4, 1 of 5 checked", 0.25, 0.2,
              PROVEN_AFTER + 10, 40, 1 - (1 - 0.25 * 0.2) ** 40)


def one_run(stage, case):
    """The swarm's verdict once every attacker has left or was found."""
    each = case.total()
    project = Project(stage, lease=5, heartbeat=1, reservation=0.5,
                      trust_proven_after=PROVEN_AFTER,
                      trust_spot_check=case.check, trust_anchor="true",
                      trust_ban_after=3)
    project.add_glyphs(10240)
    # Honest hosts, which never rest, compute more than their share.
    project.create_run("--dataset", "glyphs", "--model", "mlp:8", "--batch",
                       32, "--local-steps", 4, "--epochs",
                       2 + 2 * (ATTACKERS + HONEST) * each // UNITS)
    server = Server(project).start()
    swarm = Swarm(server, "random", HONEST, ATTACKERS,
                  ("--share", case.share, "--after", case.honest_units,
                   "--units-each", each)).start()
    project.wait_until_finished(600)
    swarm.kill()
    verdict = judge(project, swarm)
    server.stop()
    return verdict


def whole_run(stage, case):
    """One that lasted until its attackers were done; honest hosts of a busy
    machine may be through with the run before that."""
    for _ in range(TRIES):
        stage.begin_anew()
        verdict = one_run(stage, case)
        if min(verdict.unfound_units, default=case.total()) >= case.total():
            return verdict
    raise Failure("the run ends before its attackers do")


def judge_share(what, count, trials, expected):
    """Prints a share beside what it should be; its distance in deviations."""
    share = count / trials
    deviation = math.sqrt(expected * (1 - expected) / trials)
    print(f"  {what}: {count} of {trials}: {share:.3f}, expected "
          f"{expected:.3f} +- {CONFIDENCE * deviation:.3f}", flush=True)
    return (share - expected) / deviation


def bench_case(stage, case):
    found = assimilated = revoked = checked = lone = 0
    for done in range(RUNS):
        verdict = whole_run(stage, case)
        expect(verdict.honest_found == 0, "an honest host was found false")
        expect(verdict.left_of_found == 0,
               "a found host's false update is in the model")
        expect(case.honest_units > 0 or verdict.assimilated == 0,
               "a new host's false update got in")
        found += verdict.found
        assimilated += verdict.assimilated
        revoked += verdict.revoked
        checked += verdict.lone_checked
        lone += verdict.lone_checked + verdict.lone_unchecked
        stage.say(f"{done + 1} runs: {found} hosts found, {checked} of {lone} "
                  f"false results without a partner checked")
    print(f"  {assimilated} false updates got in, {revoked} revoked")
    distance = judge_share(f"hosts found in {case.units} units", found,
                           RUNS * ATTACKERS, case.expected)
    expect(distance >= -CONFIDENCE, "fewer hosts found than the formula says")
    if case.honest_units == 0:
        expect(distance <= CONFIDENCE, "more than the formula says")
    else:
        # Some of their units have partners, who always show a lie.
        distance = judge_share("false results without a partner, checked",
                               checked, lone, case.check)
        expect(abs(distance) <= CONFIDENCE, "not as often as the setting says")
    return f"{case.name}: {RUNS} runs"


def bench_new_hosts(stage):
    return bench_case(stage, NEW)


def bench_proven_hosts(stage):
    return bench_case(stage, PROVEN)


if __name__ == "__main__":
    run(__doc__, bench_new_hosts, bench_proven_hosts)
