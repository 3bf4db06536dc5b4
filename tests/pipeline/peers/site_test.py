#!/usr/bin/env python3
"""Gossip among the hosts of a site.

Three volunteers train the replicas of `gossip` twice: each replica fetched from
the server, and exchanged among the three, who have one site's secret. Both
learn as well, the second moves a fraction of the bytes over the server, and
both ledgers replay. No answer of the server has the address of a volunteer, nor
does a volunteer of another site get a contact. A mate that gives others spoilt
replicas is found and asked no more, and the training goes on through kill -9.
"""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.meddler import Meddler
from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)

NAMES = ("ada", "bert", "cleo")
HOME = "127.0.0.77"  # where mates reach each other
EPOCHS = 100
# Of the server's bytes without a site.
MOST_BYTES = 1 / 3


def start_project(stage, name, among, epochs, replicas=3):
    project = Project(stage, name, evaluate_every=1)
    project.add_glyphs(2048)
    project.create_run("--dataset", "glyphs", "--model", "mlp:256",
                       "--rule", "gossip", "--codec", "int8", "--batch", 32,
                       "--local-steps", 64, "--quorum", 1, "--epochs", epochs,
                       "--set", f"among={among}", "--set", f"replicas={replicas}")
    server = Server(project, "--house-workers", 1, name=f"{name}-server")
    return project, server.start()


def join_site(volunteers, secret=None):
    """All of them; the first makes the secret, unless there is one."""
    for volunteer in volunteers:
        if secret is None:
            made = volunteer.order("site", "create", "--address", HOME,
                                   "--json")
            secret = json.loads(made)["secret"]
        else:
            volunteer.order("site", "join", secret, "--address", HOME)
    return secret


def attach(stage, server, proxy, name, **options):
    """By way of the proxy, which reads along."""
    address = server.address().replace(f":{server.port}", f":{proxy.port}")
    return Volunteer(stage, name, **options).attach(server, address)


def bytes_over(proxy):
    return sum(len(one.body or b"") + len(one.reply or b"")
               for one in proxy.seen)


def site_of(volunteer):
    return json.loads(volunteer.order("site", "show", "--json"))


def train(stage, among):
    """Returns the accuracy, and the bytes over the server for each result."""
    project, server = start_project(stage, among, among, EPOCHS)
    proxy = Meddler(server.port)
    volunteers = [attach(stage, server, proxy, f"{name}-{among}")
                  for name in NAMES]
    if among == "hosts":
        join_site(volunteers)
    for volunteer in volunteers:
        volunteer.start()
    project.wait_until_finished(120)
    shown = project.show_evaluated()
    results = sum(len(one.acknowledged()) for one in volunteers)
    if among == "hosts":
        moved = sum(site_of(one)["bytes_received"] for one in volunteers)
        expect(moved > 0, "nothing was exchanged among the hosts")
        expect_private(project, proxy, volunteers)
    for volunteer in volunteers:
        volunteer.stop()
    replay = project.ask("replay", RUN)
    expect(replay["version"] == shown["version"], f"{among}: the replay")
    server.stop()
    each = bytes_over(proxy) / results
    stage.say(f"among {among}: accuracy {shown['accuracy']:.3f}, {results} "
              f"results, {each / 1000:.0f} kB over the server for each")
    return shown["accuracy"], each


def expect_private(project, proxy, volunteers):
    """The secret and where mates are is told to nobody."""
    secret = json.loads((volunteers[0].folder / "site.json").read_text())
    for word in (HOME, secret["secret"]):
        for one in proxy.seen:
            expect(word.encode() not in (one.reply or b""),
                   f"{word} in an answer to {one.path}")
            expect(word.encode() not in (one.body or b""),
                   f"{word} in a request to {one.path}")
        for file in project.folder.rglob("*"):
            if file.is_file() and "objects" not in file.parts:
                expect(word.encode() not in file.read_bytes(),
                       f"{word} in {file.name}")


def test_fewer_bytes(stage):
    accuracy, each = zip(*(train(stage, among)
                           for among in ("server", "hosts")))
    expect(each[1] < MOST_BYTES * each[0], f"bytes for each result: {each}")
    expect(min(accuracy) > 0.8, f"accuracy {accuracy}")
    return (f"{each[1] / each[0]:.2f} of the bytes, accuracy "
            f"{accuracy[0]:.3f} and {accuracy[1]:.3f}")


def test_liar(stage):
    project, server = start_project(stage, "project", "hosts", 100000,
                                    replicas=4)
    proxy = Meddler(server.port)
    honest = [attach(stage, server, proxy, name) for name in NAMES[:2]]
    liar = Volunteer(stage, "eve", "--attack", "spoilt-replicas",
                     program="quorate-attacker").attach(server)
    secret = join_site(honest + [liar])
    stranger = attach(stage, server, proxy, "sam")
    join_site([stranger])
    for volunteer in honest + [liar, stranger]:
        volunteer.start()

    def excluding():
        return [one.name for one in honest
                for mate in site_of(one)["mates"]
                if mate["state"] == "excluded" and mate["bytes"] >= 0]
    wait_for("the exclusion of the liar", lambda: len(excluding()) == 2, 60)
    expect(len(excluding()) == 2, f"excluded by {excluding()}")

    # Nothing depends on anybody: server and hosts are killed in between.
    for victim in random.sample(honest, 2) + [server]:
        victim.kill()
        victim.start()
    before = project.show()["version"]
    wait_for("versions after the kills",
             lambda: project.show()["version"] > before + 20, 60)
    others = [mate["name"] for mate in site_of(stranger)["mates"]]
    expect(others == [], f"mates of who is alone in a site: {others}")
    project.order("train", "stop", RUN)
    for volunteer in honest + [liar, stranger]:
        volunteer.stop()
    rows = project.results()
    lost = [row for row in rows if row["validate_state"] == "invalid"]
    expect(not lost, f"false results, but all were computed: {lost}")
    expect(project.ask("replay", RUN)["version"] == project.show()["version"],
           "the replay")
    server.stop()
    return f"{len(rows)} results, the liar excluded by both others"


if __name__ == "__main__":
    run(__doc__, test_fewer_bytes, test_liar)
