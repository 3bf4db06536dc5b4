"""The demo with stock BOINC clients (packaging/demo.sh --boinc).

Two clients as Debian has them, a third whose owner put a program that cheats
in the place of ours, and two volunteers with our own client train one
network; every result counts only if another volunteer's agrees.
"""

import collections
import os
import pathlib
import sys
import types

from demo import SETTINGS, Demo, Failure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] /
                       "tests/pipeline"))
from support import project  # noqa: E402  the folder of the tests
from support.stock_boinc import (StockBoinc, need_stock_boinc,  # noqa: E402
                                 new_account)

LEAST_MIXED = 0.25  # of the quorums


class BoincDemo(Demo):
    # Clients come often, and each unit is computed by two volunteers.
    settings = {**SETTINGS, "boinc_contact": 5, "boinc_lease": 30,
                "trust_proven_after": 0, "trust_anchor": "false"}
    roles = ["boinc", "boinc", "boinc-attacker", "slow", "slow"]
    role_text = {
        "boinc": "stock BOINC client",
        "boinc-attacker": "BOINC client, falsifies its results",
        "slow": "our client, computes 30 % of the time",
        "honest": "our client",
    }
    # A BOINC client pays a second or two for each unit: they are longer than
    # in the other demo.
    training = {"diloco": ("0.1", 12), "vc-asgd": ("0.1", 8)}
    default_rule = "vc-asgd"
    network = ("--model", "lenet", "--local-steps", "160")

    def make_project(self):
        super().make_project()
        # On the server: this one is gone soon. docs/operator.md has better.
        self.quorate("boinc", "key", "new")

    def attach(self, volunteer):
        if not volunteer.role.startswith("boinc"):
            return super().attach(volunteer)
        master = self.address.split("#")[0] + "/boinc/"
        stage = types.SimpleNamespace(folder=self.extra, processes=[],
                                      environment=dict(os.environ))
        client = StockBoinc(stage, volunteer.name).start()
        volunteer.process = client.child
        key = new_account(master, volunteer.name)
        if volunteer.role == "boinc":
            client.attach(master, key)
        else:
            client.attach_with(self.bin / "quorate-false-worker", master, key)
        volunteer.process = client.child
        return None

    def run_volunteer(self, volunteer):
        if not volunteer.role.startswith("boinc"):
            super().run_volunteer(volunteer)

    def quorums(self):
        """Of each unit on which volunteers agree: their doors."""
        doors = {host["id"]: host["door"] for host in self.ask("hosts")}
        doors_of = collections.defaultdict(list)
        for row in self.ask("results", "--limit", "1000000"):
            door = doors.get(row["host"], "house")
            if row["validate_state"] == "valid" and door != "house":
                doors_of[row["workunit"]].append(door)
        return [set(found) for found in doors_of.values() if len(found) > 1]

    def promises(self, run):
        quorums = self.quorums()
        mixed = sum(doors == {"boinc", "native"} for doors in quorums)
        yield mixed >= LEAST_MIXED * len(quorums) > 0, (
            f"{mixed} of {len(quorums)} quorums are of a BOINC client and one "
            f"of ours, at least a quarter")
        for volunteer in self.volunteers:
            if volunteer.role == "boinc-attacker":
                state = self.host_of(volunteer).get("state", "unknown")
                yield state in ("watched", "banned"), (
                    f"{volunteer.name}: found out: {state}")
        yield from super().promises(run)

    def play(self):
        try:
            need_stock_boinc()
            return super().play()
        except (project.Failure, project.Skip) as error:
            raise Failure(str(error)) from None
