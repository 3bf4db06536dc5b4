#!/usr/bin/env python3
"""Two runs share the hosts of a project, and end when their operator said.

Volunteers get units of both by the runs' shares, before and after a kill of the
server; a run ends with the accuracy that it was to have, the other with its
time; both ledgers replay.
"""

from support.project import (RUN, Project, Server, Volunteer, expect,
                             expect_words, run, wait_for)

OTHER = "other"
RUN_OPTIONS = ("--dataset", "glyphs", "--model", "mlp:16", "--batch", 32,
               "--local-steps", 20, "--quorum", 1, "--epochs", 100000)


def shown(project, name):
    return project.ask("train", "show", name)


def wait_for_share(project, begun):
    """Until both runs have had a good deal more since then."""
    def both():
        now = [shown(project, name)["host_seconds"] for name in (RUN, OTHER)]
        units = shown(project, RUN)["units_made"] - begun["units"]
        return now if units >= 16 else None
    now = wait_for("units of both runs", both, 60)
    had = [after - before for after, before in zip(now, begun["seconds"])]
    ratio = had[1] / had[0]
    expect(2.2 < ratio < 4, f"shares 1 and 3, but hosts' time {ratio:.2f}")
    return ratio


def so_far(project):
    return {"units": shown(project, RUN)["units_made"],
            "seconds": [shown(project, name)["host_seconds"]
                        for name in (RUN, OTHER)]}


def test_shares(stage):
    project = Project(stage, evaluate_every=0.2, evaluate_every_versions=5,
                      price_cpu=0.02)
    project.add_glyphs(10240)
    project.create_run(*RUN_OPTIONS)
    project.order("train", "create", OTHER, *RUN_OPTIONS, "--rule", "vc-asgd",
                  "--codec", "fp32", "--share", 3, "--until", "time=1h")
    for words, *options in ((["--share", "0 to 1000"], "--share", -1),
                            (["--until", "time=soon"], "--until", "time=soon"),
                            (["expected KEY=VALUE"], "--until", "soon")):
        stage.fails(words, "quorate", "-C", project.folder, "train", "change",
                    RUN, *options)
    server = Server(project).start()
    volunteers = [Volunteer(stage, name).attach(server).start()
                  for name in ("ada", "bert")]
    ratio = wait_for_share(project, so_far(project))
    stage.say(f"hosts' time 1 to {ratio:.2f}")
    server.kill()
    before = so_far(project)  # opens the project itself
    expect(before["units"] >= 16, f"lost by the kill: {before}")
    server.start()
    ratio = wait_for_share(project, so_far(project))
    stage.say(f"after a kill 1 to {ratio:.2f}")
    expect_words(project.order("status"), "SHARE", "OF HOSTS")
    expect_words(project.order("train", "show", OTHER), "share 3", "time=1h")

    project.order("train", "change", RUN, "--until", "accuracy=0.3")
    first = project.wait_until_finished(60)
    expect_words(first["reason"], "has the accuracy", "was to be 0.3")
    expect(first["cost"] > 0, f"cost {first['cost']}")
    project.order("train", "change", OTHER, "--until", "time=1s")
    wait_for("the end of the other run",
             lambda: shown(project, OTHER)["state"] == "finished", 20)
    for volunteer in volunteers:
        volunteer.stop()
    for name in (RUN, OTHER):
        expect(project.ask("replay", name)["version"] ==
               shown(project, name)["version"], f"replay of {name}")
    server.stop()
    return f"1 to {ratio:.2f}; {RUN}: {first['reason']}"


if __name__ == "__main__":
    run(__doc__, test_shares)
