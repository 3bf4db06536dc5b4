#!/usr/bin/env python3
"""Hosts that earn trust and then betray it: found, rechecked, revoked.

A host is honest until it is proven, then falsifies every result. It is found by
a spot check; what had been taken in on its word is recomputed, what of that was
false is revoked, its credit withdrawn. At the end nothing false is in the
model: the ledger verifies, replays, and every result of it recomputes. The same
for what an operator purges, with the server killed at every stage of it.
"""

import time

from support.invariants import check_ledger
from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)

SAMPLES = 4096
PROVEN_AFTER = 6
TRUST = {"trust_proven_after": PROVEN_AFTER, "trust_anchor": "true",
         "trust_ban_after": 3}


def make_project(stage, epochs, spot_check):
    project = Project(stage, trust_spot_check=spot_check, **TRUST)
    project.add_glyphs(SAMPLES)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16",
                       "--local-steps", 4, "--batch", 32, "--epochs", epochs)
    return project


def state_of(project, volunteer):
    return next((host["state"] for host in project.ask("hosts")
                 if host["user"] == volunteer.name), None)


def revoked_in(entries):
    return {result for entry in entries if entry["kind"] == "revocation"
            for result in entry["results"]}


def check_books(project, volunteers):
    """Credit is that of the valid results, and of no other."""
    rows = project.results()
    for volunteer in volunteers:
        host = project.host_of(volunteer)
        valid = [row for row in rows if row["host"] == host["id"] and
                 row["validate_state"] == "valid"]
        expect(host["valid"] == len(valid) and
               abs(host["credit"] - sum(row["credit"] for row in valid)) < 1e-9,
               f"{volunteer.name}: {host}, {len(valid)} valid results")
        expect(all(row["credit"] == 0 for row in rows
                   if row["validate_state"] != "valid"),
               "credit for what is not valid")


def test_turncoat(stage):
    project = make_project(stage, 24, 0.05)
    server = Server(project).start()
    honest = [Volunteer(stage, name).attach(server).start()
              for name in ("ada", "bert")]
    wait_for("proven hosts", lambda: all(
        state_of(project, v) == "proven" for v in honest), 60)
    turncoat = Volunteer(stage, "eve", "--attack", "scaled", "--after",
                         5 * PROVEN_AFTER, program="quorate-attacker")
    turncoat.attach(server).start()
    project.wait_until_finished(300)
    for volunteer in [*honest, turncoat]:
        if volunteer.is_running():
            volunteer.stop()
    entries = project.ledger()
    falsified = set(turncoat.results_with("attack"))
    merged = {e["result"] for e in entries if e["kind"] == "result"}
    revoked = revoked_in(entries)
    expect(falsified & merged, "nothing false got in: nothing was tried")
    expect(falsified & merged == revoked,
           f"in the model: {sorted(falsified & merged - revoked)}; revoked "
           f"though honest: {sorted(revoked - falsified)}")
    expect(state_of(project, turncoat) in ("watched", "banned"),
           f"the turncoat is {state_of(project, turncoat)}")
    expect(all(state_of(project, v) == "proven" for v in honest),
           "an honest host lost its trust")
    check_books(project, [*honest, turncoat])
    check_ledger(project)
    audited = project.ask("audit", RUN, "--sample", 1)
    expect(audited["ok"] and audited["recomputed"] == len(merged - revoked),
           f"audit: {audited}")
    server.stop()
    return (f"a turncoat: {len(falsified & merged)} false updates had got in, "
            f"all revoked; {len(falsified - merged)} had not; "
            f"{len(merged)} units")


def test_purge(stage):
    """kill -9 while a purge goes on: it is finished, never half."""
    project = make_project(stage, 4000, 0)  # longer than the drill
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert")]
    wait_for("hosts", lambda: all(state_of(project, v) for v in volunteers), 20)
    kills = 0
    for round_, victim in enumerate(volunteers):
        wait_for("updates of it", lambda: len([
            e for e in project.ledger() if e["kind"] == "result" and
            e["host"] == project.host_of(victim)["key"]]) > 40, 60)
        purged = project.ask("host", "purge", project.host_of(victim)["id"],
                             "--reason", "a drill")
        expect(purged["state"] == "banned" and purged["revoking"] > 40,
               f"purge: {purged}")
        for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
            if len(revocations(project)) > round_:
                break
            time.sleep(delay)
            server.kill()
            kills += 1
            server.start()
        wait_for("the revocation",
                 lambda: len(revocations(project)) == round_ + 1, 60)
        entry = revocations(project)[-1]
        expect(len(entry["results"]) == purged["revoking"],
               f"{purged['revoking']} updates purged, {len(entry['results'])} "
               f"revoked")
    project.order("train", "stop", RUN)
    check_books(project, volunteers)
    check_ledger(project)
    ledger = project.ledger()
    revoked = revoked_in(ledger)
    hosts = {e["host"] for e in ledger if e["kind"] == "result" and
             e["result"] not in revoked}
    for victim in volunteers:
        expect(project.host_of(victim)["key"] not in hosts,
               f"{victim.name}: an update of it is in the model still")
    server.stop()
    return f"two hosts purged, the server killed {kills} times meanwhile"


def test_banned_account(stage):
    """Neither its hosts nor new ones of it work; a pardon lets both in."""
    project = make_project(stage, 4000, 0)
    server = Server(project).start()
    eve = Volunteer(stage, "eve").attach(server).start()
    wait_for("a result of eve", eve.acknowledged, 30)
    banned = project.ask("user", "ban", "eve", "--reason", "made-up results")
    expect(banned["state"] == "banned" and banned["hosts"] == 1 and
           state_of(project, eve) == "banned", f"ban: {banned}")
    why = "is banned from the project: made-up results: ask its operator"
    wait_for("eve hears it", lambda: "this host is banned from the project: "
             "its account is banned: made-up results" in eve.text())
    server.stop()
    server.start()
    attic = Volunteer(stage, "attic")
    stage.run(attic.program, "attach", "--dir", attic.folder, server.address(),
              "--account", eve.folder / "account.key", "--name", "eve")
    attic.order("prefs", "set", "on_battery", "yes")
    attic.start()
    wait_for("the new host is refused", lambda: "project_refuses" in
             attic.text() and f"this account {why}" in attic.text())
    expect([row["hosts"] for row in project.ask("users")] == [1],
           f"the new host is in: {project.ask('hosts')}")
    pardoned = project.ask("user", "pardon", "eve")
    expect(pardoned["state"] == "member", f"pardon: {pardoned}")
    for volunteer in (eve, attic):  # which else ask in an hour
        volunteer.stop()
        known = len(volunteer.acknowledged())
        volunteer.start()
        wait_for("a result", lambda: len(volunteer.acknowledged()) > known, 30)
    expect([row["hosts"] for row in project.ask("users")] == [2],
           f"{project.ask('users')}")
    expect(project.ask("user", "delete", "eve", "--yes")["state"] == "deleted",
           "eve is there")
    for volunteer in (eve, attic):
        volunteer.stop()
    eve.start()
    wait_for("eve hears it", lambda: "this account was deleted" in eve.text())
    eve.stop()
    status = server.get("/v1/status").decode()
    expect('"eve"' not in status, f"the page: {status}")
    expect(all("eve" not in row["arguments"] for row in project.ask("log")),
           f"the log of orders: {project.ask('log')}")
    server.stop()
    check_ledger(project)
    return "a banned account's hosts, old and new, refused until the pardon"


def revocations(project):
    return [e for e in project.ledger() if e["kind"] == "revocation"]


if __name__ == "__main__":
    run(__doc__, test_turncoat, test_purge, test_banned_account)
