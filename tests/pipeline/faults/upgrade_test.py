"""A project and a volunteer's folder of an earlier version go on.

The programs of the earlier version, in QUORATE_OLD_BIN, make a project and
train; both sides are killed in the middle of it, and the programs of now go on
with the same folders, to the end of the run. In between, volunteers of each
version work for servers of the other. Nothing that was acknowledged is lost,
and the ledger replays.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.project import (RUN, Project, Server, Skip, Volunteer, expect,
                             run, wait_for)


def use(stage, folder, *processes):
    """What is started from now on, the processes too, is a program there."""
    stage.bin = folder
    for process in processes:
        process.command[0] = str(stage.program(
            pathlib.Path(process.command[0]).name))
        if isinstance(process, Volunteer):
            process.program = process.command[0]


def wait_for_results(volunteers, more=4):
    """Each of them gets this many more acknowledged."""
    before = {one: len(one.acknowledged()) for one in volunteers}
    for one in volunteers:
        wait_for(f"results of {one.name}",
                 lambda: len(one.acknowledged()) >= before[one] + more, 60)


def restart(*processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.start()


def expect_all_there(project, volunteers):
    """Returns how many results were acknowledged."""
    rows = {row["id"]: row for row in project.results()}
    told = [result for one in volunteers for result in one.acknowledged()]
    lost = [result for result in told if result not in rows or
            rows[result]["server_state"] in ("unsent", "in_progress")]
    expect(not lost, f"acknowledged and lost: {lost}")
    return len(set(told))


def test_upgrade(stage):
    if "QUORATE_OLD_BIN" not in os.environ:
        raise Skip("needs QUORATE_OLD_BIN, the programs of an earlier version")
    new, old = stage.bin, pathlib.Path(os.environ["QUORATE_OLD_BIN"]).resolve()

    stage.bin = old
    project = Project(stage, keep_payloads_days=30)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       2, "--local-steps", 2, "--epochs", 6)
    server = Server(project).start()
    ada, bob = (Volunteer(stage, name).attach(server).start()
                for name in ("ada", "bob"))
    wait_for_results([ada, bob])
    before = project.ledger()

    ada.kill()
    use(stage, new, ada)
    ada.start()
    wait_for_results([ada, bob])
    stage.say("a volunteer of now works for the earlier server")

    server.kill()
    use(stage, new, server)
    server.start()
    expect(project.ledger()[:len(before)] == before, "the ledger has changed")
    wait_for_results([ada, bob])
    stage.say("an earlier volunteer works for the server of now")

    use(stage, new, bob)
    restart(server, ada, bob)
    wait_for_results([ada, bob])
    project.wait_until_finished(300)
    count = expect_all_there(project, [ada, bob])
    verified = project.ask("verify-ledger", RUN)
    replayed = project.ask("replay", RUN)
    expect(verified["ok"] and replayed["ok"], f"{verified}, {replayed}")
    expect(replayed["final_snapshot"] == project.ledger()[-1]["parameters"],
           f"replay: {replayed}")
    return (f"{len(before)} entries of then, {verified['entries']} in all, "
            f"{count} acknowledged results kept, replay equal")


run(__doc__, test_upgrade)
