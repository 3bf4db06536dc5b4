"""Honest and false hosts played by bench-attack-hosts, and what a project made
of their results: its ledger and tables against the attackers' own log."""

import collections
import contextlib
import dataclasses
import json
import sqlite3

from support.project import Process, expect, wait_for

FOUND = ("host_watched", "host_banned")  # events


class Swarm(Process):
    """Hosts of a server, `attackers` of them false in one way."""

    def __init__(self, server, attack="none", honest=13, attackers=7,
                 arguments=(), name="swarm"):
        super().__init__(server.stage, name, [
            server.stage.program("bench-attack-hosts"), "--port", server.port,
            "--honest", honest, "--attackers", attackers, "--attack", attack,
            *arguments])
        self.hosts = honest + attackers

    def start(self):
        self.spawn()
        wait_for("the hosts of the swarm", self.is_enrolled, 60, 0.1)
        return self

    def is_enrolled(self):
        expect(self.is_running(), f"swarm: ended: {self.last_line()}")
        return len([line for line in self.lines() if "enrolled" in line
                    ]) == self.hosts

    def lines(self):
        """What it printed, without a last line that is not whole yet."""
        whole = self.text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()
                if line.startswith("{")]


@dataclasses.dataclass
class Verdict:
    """What became of the work of a swarm."""
    units: int = 0
    falsified: int = 0        # reports that attacked, themselves or beside
    rejected: int = 0         # of them, found false or refused
    assimilated: int = 0      # of them, part of the model at any time
    revoked: int = 0          # of those, taken out again
    attackers: int = 0        # that falsified anything
    found: int = 0            # of them, watched or banned in the end
    found_after: list = dataclasses.field(default_factory=list)
    unfound_units: list = dataclasses.field(default_factory=list)
    lone_checked: int = 0     # false results of proven hosts without a partner
    lone_unchecked: int = 0   # see lone_results()
    left_of_found: int = 0    # false updates of theirs in the final model
    left_of_others: int = 0
    honest_found: int = 0     # honest hosts watched or banned
    honest_invalid: int = 0   # results of honest hosts judged invalid
    computed: int = 0         # results, by anyone
    witness_bytes: int = 0    # most that a witness sent

    def extra_work(self):
        return self.computed / max(1, self.units)


def revoked_results(entries):
    """Ids of results whose updates the ledger takes out again."""
    return {result for entry in entries if entry["kind"] == "revocation"
            for result in entry["results"]}


def judge(project, swarm):
    """The ledger and the tables against the swarm's log. The swarm must have
    stopped; the server is up."""
    lines = swarm.lines()
    attackers = {line["enrolled"] for line in lines if line.get("attack")}
    reports = [line for line in lines if "result" in line]
    honest_update = {line["unit"]: line["honest"] for line in reports}
    false_results = {line["result"] for line in reports if line["false"]}
    false_of = collections.Counter(line["host"] for line in reports
                                   if line["false"] or line["victim"])
    rows = project.results()
    by_id = {row["id"]: row for row in rows}
    ledger = project.ledger()
    entries = [entry for entry in ledger if entry["kind"] == "result"]
    revoked = revoked_results(ledger)

    verdict = Verdict(units=len(entries),
                      falsified=sum(false_of.values()))
    verdict.rejected = sum(by_id[result]["validate_state"] in
                           ("invalid", "error") or
                           by_id[result]["outcome"] == "validate_error"
                           for result in false_results)
    in_model = [entry for entry in entries
                if entry["result"] in false_results or entry["update"] !=
                honest_update.get(entry["workunit"], entry["update"])]
    verdict.assimilated = len(in_model)
    verdict.lone_checked, verdict.lone_unchecked = lone_results(project,
                                                                false_results)
    left = [entry for entry in in_model if entry["result"] not in revoked]
    verdict.revoked = len(in_model) - len(left)
    found = times_found(project)
    for entry in left:
        if by_id[entry["result"]]["host"] in found:
            verdict.left_of_found += 1
        else:
            verdict.left_of_others += 1
    verdict.attackers = len(false_of)
    verdict.found = len(found.keys() & attackers)
    verdict.found_after = [units_until(rows, host, time)
                           for host, time in found.items()
                           if host in attackers]
    units_of = collections.Counter(line["host"] for line in reports)
    verdict.unfound_units = [units_of[host]
                             for host in attackers - found.keys()]
    verdict.honest_found = len(found.keys() - attackers)
    verdict.honest_invalid = sum(
        row["validate_state"] == "invalid" and row["host"] not in attackers
        for row in rows)
    verdict.computed = sum(row["outcome"] in ("success", "validate_error")
                           for row in rows)
    verdict.witness_bytes = max((line["reported"] for line in reports
                                 if line["witness"]), default=0)
    return verdict


def open_store(project):
    return contextlib.closing(sqlite3.connect(
        f"file:{project.folder}/db/quorate.sqlite?mode=ro", uri=True))


def lone_results(project, results):
    """(checked, unchecked): how many of the results that proven hosts sent for
    units of their own were drawn for a check, and how many were taken on their
    word. Of each host up to the first that was not taken: while that one is
    judged the host is not yet found, and what it sends then, a check will
    wait for, too, but its word is still taken."""
    checked = unchecked = 0
    over = set()
    with open_store(project) as store:
        # A unit that is made for a proven host begins with one result; others
        # begin with two, which have ids in a row. User 1 is the house.
        rows = store.execute(
            "SELECT r.id, r.host, r.id = (SELECT min(id) FROM results o WHERE "
            "o.workunit = r.workunit) AND NOT EXISTS (SELECT 1 FROM results o "
            "WHERE o.workunit = r.workunit AND o.id = r.id + 1), "
            "EXISTS (SELECT 1 FROM ledger WHERE result = r.id), "
            "EXISTS (SELECT 1 FROM results o WHERE o.workunit = r.workunit AND "
            "o.user = 1), r.validate_state = 2 FROM results r "
            "WHERE r.received > 0 ORDER BY r.received, r.id").fetchall()
    for result, host, is_lone, is_taken, has_house, is_invalid in rows:
        if result not in results or host in over:
            continue
        if is_lone and is_taken:
            unchecked += 1
        elif is_invalid:
            checked += is_lone and has_house
            over.add(host)
    return checked, unchecked


def times_found(project):
    """When the project first found a host false, by the host's id."""
    with open_store(project) as store:
        return dict(store.execute(
            "SELECT host, min(time) FROM events WHERE kind IN (?, ?) "
            "GROUP BY host", FOUND))


def units_until(rows, host, time):
    """How many units a host had reported by then."""
    return sum(row["host"] == host and 0 < row["received"] <= time
               for row in rows)
