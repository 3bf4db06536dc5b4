#!/usr/bin/env python3
"""Attackers over the real wire, and the ledger beside their own log.

Short forms of bench/attacks, with the trust settings of a new project: whoever
sends what is not the unit's work in form (another's report or proof, an old
one, a body that was not signed, a unit sealed by itself, a report for what
another holds) never gets it in; nor do proven hosts with updates of 1e37, whose
word was enough before; nor five new hosts that agree on false updates. All of
them are found. Last, a volunteer's own client refuses a
unit that somebody on the way has changed, or has sealed with another key.
"""

import contextlib
import hashlib
import http.client
import http.server
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (SEAL_BYTES, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)
from support.swarm import Swarm, judge

TRUST = {"trust_proven_after": 20, "trust_spot_check": 0.05,
         "trust_anchor": "true", "trust_ban_after": 3}
STRUCTURAL = ["copied-result", "copied-proof", "wrong-payload", "replayed",
              "forged-seal", "stolen-lease", "stale-snapshot", "wrong-samples",
              "other-unit", "non-finite", "unsigned"]
EPOCHS = 8  # of 80 units


def train(stage, attack, honest, attackers, *arguments):
    """A whole run with these hosts; what became of the attackers' work."""
    project = Project(stage, **TRUST)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:8", "--batch",
                       32, "--local-steps", 4, "--epochs", EPOCHS)
    server = Server(project).start()
    swarm = Swarm(server, attack, honest, attackers, arguments).start()
    project.wait_until_finished(120)
    expect(swarm.is_running(), f"the swarm ended: {swarm.last_line()}")
    swarm.kill()
    verdict = judge(project, swarm)
    expect_no_unsigned(project, swarm)
    expect(project.ask("verify-ledger", "first")["ok"], "verify-ledger")
    server.stop()
    # Whom the server sends work is chance.
    expect(verdict.attackers >= 0.6 * attackers,
           f"only {verdict.attackers} of {attackers} attackers got a turn")
    expect(verdict.honest_found == verdict.honest_invalid == 0,
           f"honest hosts were held to be false: {verdict}")
    stage.say(f"{verdict}")
    return verdict


def expect_no_unsigned(project, swarm):
    """What was uploaded and never reported is not kept."""
    sent = {line["victim_update"] for line in swarm.lines()
            if "victim" in line and line["victim"] == line["result"]}
    wait_for("the last uploads to go",
             lambda: not list((project.folder / "uploads").iterdir()), 10)
    kept = [name for name in sent
            if (project.folder / "objects" / name[:2] / name).exists()]
    expect(not kept, f"{len(kept)} of {len(sent)} unsigned uploads were kept")


def test_structural(stage):
    verdict = train(stage, ",".join(STRUCTURAL), 8, len(STRUCTURAL))
    expect(verdict.assimilated == 0,
           f"{verdict.assimilated} false updates got in: {verdict}")
    expect(0 < verdict.witness_bytes < 8192,
           f"a witness sent {verdict.witness_bytes} bytes")
    return (f"{verdict.units} units, {verdict.falsified} attacks by "
            f"{verdict.attackers} hosts, each in its way, none got in")


def test_huge(stage):
    verdict = train(stage, "huge", 8, 5, "--after", 45)
    expect(verdict.assimilated == 0 and verdict.found == verdict.attackers,
           f"proven hosts that send 1e37: {verdict}")
    return (f"{verdict.units} units, {verdict.falsified} updates of 1e37 by "
            f"proven hosts, none got in, all {verdict.found} hosts were found")


def test_colluders(stage):
    verdict = train(stage, "agreed", 8, 5)
    expect(verdict.assimilated == 0 and
           verdict.found == verdict.attackers,
           f"five new hosts that agree: {verdict}")
    # Whether anybody is a witness here is chance: see test_structural.
    expect(verdict.witness_bytes < 8192,
           f"a witness sent {verdict.witness_bytes} bytes")
    return (f"{verdict.units} units, {verdict.falsified} false results that "
            f"agree, none got in, all {verdict.found} hosts were found")


class Forger(http.server.BaseHTTPRequestHandler):
    """Passes requests on to a server; the sealed units that come back are
    `forge(sealed)`, under the hash that they then have."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(OSError):  # the client has left
            super().handle()

    def handle_one(self):
        owner = self.server
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if self.path.rpartition("/")[2] in owner.forged:
            return self.answer(200, owner.forged[self.path.rpartition("/")[2]])
        status, reply = self.ask(self.command, self.path, body)
        if self.path == "/v1/work" and status == 200:
            reply = self.with_forged_units(reply)
        return self.answer(status, reply)

    do_GET = do_POST = do_PUT = do_HEAD = handle_one

    def ask(self, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1",
                                                self.server.target, timeout=60)
        keep = {name: value for name, value in self.headers.items()
                if name in ("Authorization", "Content-Range", "Range")}
        connection.request(method, path, body, keep)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.status, content

    def with_forged_units(self, reply):
        work = json.loads(reply)
        for assignment in work["assignments"]:
            unit = assignment["objects"][0]
            status, sealed = self.ask(
                "GET", f"/v1/objects/{unit['hash']}", b"")
            if status != 200:
                continue
            forged = self.server.forge(sealed)
            unit["hash"] = hashlib.sha256(forged).hexdigest()
            unit["size"] = len(forged)
            self.server.forged[unit["hash"]] = forged
        return json.dumps(work).encode()

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def start_forger(server, forge):
    forger = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forger)
    forger.target = server.port
    forger.forge = forge
    forger.forged = {}
    threading.Thread(target=forger.serve_forever, daemon=True).start()
    return forger


def another_unit(stage):
    """A unit that a second project has sealed with its own key."""
    project = Project(stage, "other", house_workers=1)
    project.add_glyphs(2048)
    project.create_run("--dataset", "glyphs", "--model", "mlp:8", "--batch",
                       32, "--local-steps", 4, "--epochs", 1)
    server = Server(project, name="other-server").start()
    wait_for("a unit of the other project", project.workunits, 30)
    sealed = project.sealed_task(project.workunits()[0]["object"])
    server.stop()
    return sealed


def with_another_index(sealed):
    """The unit under another number, with the old seal."""
    task = sealed[:-SEAL_BYTES]
    at = task.index(b'"unit_index":') + len(b'"unit_index":')
    digit = b"1" if task[at:at + 1] != b"1" else b"2"
    return task[:at] + digit + task[at + 1:] + sealed[-SEAL_BYTES:]


def test_forged_units(stage):
    project = Project(stage, house_workers=0, **TRUST)
    project.add_glyphs(2048)
    project.create_run("--dataset", "glyphs", "--model", "mlp:8", "--batch",
                       32, "--local-steps", 4, "--epochs", 1)
    server = Server(project).start()
    foreign = another_unit(stage)
    for name, forge, words in (
            ("changed", with_another_index, "the seal does not fit"),
            ("resealed", lambda _: foreign, "sealed with key")):
        forger = start_forger(server, forge)
        address = server.address().replace(f":{server.port}",
                                           f":{forger.server_port}")
        victim = Volunteer(stage, name).attach(server, address).start()
        wait_for(f"{name}: a unit refused",
                 lambda: words in victim.text(), 30)
        expect(forger.forged, f"{name}: nothing was forged")
        expect(not victim.acknowledged(),
               f"{name}: a forged unit was computed")
        victim.stop()
        forger.shutdown()
        expect_words(victim.text(), "result_delayed", words)
        expect(not any(row["outcome"] == "success"
                       for row in project.results()),
               f"{name}: the server has a result")
    server.stop()
    return "changed and foreign units are refused by the client"


if __name__ == "__main__":
    run(__doc__, test_structural, test_huge, test_colluders, test_forged_units)
