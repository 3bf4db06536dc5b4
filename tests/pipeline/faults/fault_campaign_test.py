#!/usr/bin/env python3
"""Faults at random moments: nothing that was acknowledged is lost.

While three volunteers work on a run, through a proxy that stands for the
network, the server and the volunteers' clients and workers are killed, stopped,
asked to leave and started again, and the network stalls, refuses, and cuts in
the middle of messages. Now and then all is still and the books are checked; the
run must finish, with everything in its place: see invariants.py. Once with
updates taken one by one, once in rounds. --seed N repeats a campaign's draws.
"""

import collections
import itertools
import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.invariants import (check_end, check_ledger, check_results,
                                check_units)
from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)
from support.proxy import Proxy

VOLUNTEERS = 3
SAMPLES = 10240
START_SECONDS = 0.25  # of a server's start, within which it is killed again
SETTINGS = {"lease": 2, "heartbeat": 0.3}  # a long stop costs a lease
# Faults of one campaign; it is repeated with other seeds in the long form.
COUNTS = {"kill_server": 5, "kill_start": 3, "leave_server": 1,
          "stop_server": 2, "kill_client": 28, "leave_client": 2,
          "stop_client": 3, "kill_worker": 4, "stop_worker": 2, "cut": 4,
          "reset": 2, "truncate": 6, "stall": 2, "refuse": 2, "check": 1}
LONG_CAMPAIGNS = 10  # of either rule


class Campaign:
    """One run under faults. A method of this name does each."""

    def __init__(self, stage, project, server, seed):
        self.stage = stage
        self.project = project
        self.server = server
        self.draw = random.Random(seed)
        self.proxy = Proxy(server.port)
        self.volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(
            server, self.proxy.address(server)).start()
            for i in range(VOLUNTEERS)]
        self.turn = itertools.cycle(self.volunteers)
        self.done = collections.Counter()

    def moments(self):
        """(share of the run handed out, fault), in order."""
        faults = [name for name, count in COUNTS.items()
                  for _ in range(count)]
        self.draw.shuffle(faults)
        return zip(sorted(self.draw.uniform(0.02, 0.95) for _ in faults),
                   faults)

    def run(self):
        for share, fault in self.moments():
            wait_for(f"{share:.0%} of the run", lambda: self.project.admin(
                "train-show", run=RUN)["progress"] >= share, 120, 0.01)
            self.pause(0.05)
            getattr(self, fault)()
            self.done[fault] += 1
        self.project.wait_until_finished(120)
        for volunteer in self.volunteers:
            volunteer.stop()
        self.proxy.close()

    def pause(self, most):
        time.sleep(self.draw.uniform(0, most))

    def kill_server(self):
        self.server.kill()
        self.server.start()

    def kill_start(self):
        self.server.kill()
        self.server.spawn()
        self.pause(START_SECONDS)
        self.server.kill()
        self.server.start()

    def leave_server(self):
        self.server.stop()
        self.server.start()

    def stop_server(self):
        self.stop_and_go(self.server.child.pid, 0.7)

    def kill_client(self):
        volunteer = next(self.turn)
        volunteer.kill()
        self.pause(0.05)
        volunteer.start()

    def leave_client(self):
        volunteer = next(self.turn)
        if self.draw.random() < 0.5:
            self.wait_for_worker(volunteer)
        volunteer.stop()
        volunteer.start()

    def stop_client(self):
        # Now and then for longer than its leases.
        self.stop_and_go(next(self.turn).child.pid,
                         self.draw.choice([0.3, 0.3, 3]))

    def wait_for_worker(self, volunteer):
        return wait_for(f"{volunteer.name}: a worker",
                        volunteer.workers, 10)[0]

    def kill_worker(self):
        os.kill(self.wait_for_worker(next(self.turn)), signal.SIGKILL)

    def stop_worker(self):
        self.stop_and_go(self.wait_for_worker(next(self.turn)), 0.5)

    def stop_and_go(self, pid, most):
        os.kill(pid, signal.SIGSTOP)
        self.pause(most)
        os.kill(pid, signal.SIGCONT)

    def cut(self):
        self.proxy.cut()

    def reset(self):
        self.proxy.cut("reset")

    def truncate(self):
        self.proxy.truncate(self.draw.randrange(20000))

    def stall(self):
        self.proxy.stall()
        self.pause(0.7)
        self.proxy.heal()

    def refuse(self):
        self.proxy.refuse()
        self.proxy.cut()
        self.pause(0.7)
        self.proxy.heal()

    def check(self):
        """The books of a run that goes on, right after a server's death."""
        self.server.kill()
        check_results(self.project, self.volunteers)
        check_ledger(self.project)
        self.server.start()


def campaign(stage, rule, seed, epochs, house_workers):
    project = Project(stage, **SETTINGS)
    project.add_glyphs(SAMPLES)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--rule",
                       rule, "--batch", 32, "--local-steps", 8, "--quorum", 2,
                       "--epochs", epochs)
    server = Server(project, "--house-workers", house_workers).start()
    faults = Campaign(stage, project, server, seed)
    faults.run()
    stage.say(f"seed {seed}, {rule}: finished after {dict(faults.done)}")
    entries = project.ledger()
    server.stop()
    stage.expect_only([])
    acknowledged, rows = check_results(project, faults.volunteers)
    units = check_units(project, entries, epochs * SAMPLES)
    check_end(project, entries)
    outcomes = collections.Counter(row["outcome"] for row in rows)
    stage.say(f"{acknowledged} acknowledged results are in the table, once: "
              f"{dict(outcomes)}; units {dict(units)}; ledger of "
              f"{len(entries)} entries verified and replayed")
    return faults.done, acknowledged


def campaigns(stage, rule, epochs, house_workers):
    """The closing line of one campaign, or of many."""
    done = collections.Counter()
    acknowledged = 0
    for number in range(LONG_CAMPAIGNS if stage.is_long else 1):
        if number > 0:
            stage.begin_anew()
        faults, kept = campaign(stage, rule, stage.seed + number, epochs,
                                house_workers)
        done += faults
        acknowledged += kept
    killed = done["kill_server"] + 2 * done["kill_start"] + done["check"]
    return (f"{rule}, seed {stage.seed}: {sum(done.values())} faults, "
            f"{killed} kills of the server, {done['kill_client']} of clients, "
            f"{acknowledged} acknowledged results kept")


def test_one_by_one(stage):
    return campaigns(stage, "vc-asgd", 4, 0)


def test_rounds(stage):
    return campaigns(stage, "diloco", 3, 1)


if __name__ == "__main__":
    run(__doc__, test_one_by_one, test_rounds, at_once=True)
