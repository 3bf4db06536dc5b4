"""Several assimilators of a run, over the wire: strong consistency overwrites
nothing, eventual may; either ledger verifies and replays to the same bits, also
through a kill -9 of the server."""

import os
import signal

from support.project import (RUN, Project, Server, Volunteer, expect, run,
                             wait_for)


def train(stage, consistency, assimilators):
    stage.begin_anew()
    project = Project(stage)
    project.add_glyphs(5120)
    project.create_run("--dataset", "glyphs", "--model", "mlp:64", "--quorum",
                       1, "--local-steps", 2, "--epochs", 4, "--assimilators",
                       assimilators, "--consistency", consistency)
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bob")]
    wait_for("some versions", lambda: project.show()["version"] >= 20, 60)
    os.kill(server.child.pid, signal.SIGKILL)
    server.child.wait(60)
    server.start()
    shown = project.wait_until_finished(120)
    told = {result for one in volunteers for result in one.acknowledged()}
    kept = {row["id"] for row in project.results()}
    expect(told <= kept, f"acknowledged and lost: {sorted(told - kept)}")
    verified = project.ask("verify-ledger", RUN)
    replayed = project.ask("replay", RUN)
    expect(verified["ok"] and replayed["ok"], f"{verified}, {replayed}")
    expect(replayed["final_snapshot"] == project.ledger()[-1]["parameters"],
           f"replay: {replayed}")
    overwritten = [entry for entry in project.ledger()
                   if "read_version" in entry]
    return shown["version"], len(overwritten)


def test_strong(stage):
    version, overwriting = train(stage, "strong", 4)
    expect(overwriting == 0, f"strong: {overwriting} updates overwrite others")
    return f"strong, 4 assimilators: {version} versions, nothing overwritten"


def test_eventual(stage):
    parts = []
    for assimilators in (1, 2, 4):
        version, overwriting = train(stage, "eventual", assimilators)
        expect(assimilators > 1 or overwriting == 0, "one overwrites itself")
        parts.append(f"{assimilators}: {overwriting} of {version}")
    return f"eventual, updates that overwrite others: {', '.join(parts)}"


run(__doc__, test_strong, test_eventual)
