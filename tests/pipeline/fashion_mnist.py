#!/usr/bin/env python3
"""Fashion-MNIST: what the default network and a lenet reach, and how soon.

Quorum 2, four volunteers of one thread each. A multilayer perceptron with the
product's defaults, once with vc-asgd, once with diloco, must reach 87 % of the
test part in 6 minutes; a lenet with diloco 89 % in 10. Prints how the accuracy
grew. Called by hand, on a machine with nothing else to do:

    python3 tests/pipeline/fashion_mnist.py --data FOLDER_WITH_IDX_FILES

--only vc_asgd, --only diloco or --only lenet runs one of the three.
"""

import resource
import time

from support.project import (RUN, Failure, Project, Server, Volunteer, expect,
                             run)

VOLUNTEERS = 4


def cpu_seconds():
    """Of everything that was started and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def curve(project, began):
    """(minutes since the start, version, accuracy) of every evaluation."""
    rows = sorted(project.ask("snapshots", RUN), key=lambda r: r["version"])
    return [((row["time"] / 1000 - began) / 60, row["version"],
             row["accuracy"]) for row in rows]


def train(stage, rule, least, minutes, *settings):
    expect(stage.data, "name the folder with the IDX files with --data")
    project = Project(stage, lease=120, heartbeat=30, reservation=5)
    project.order("dataset", "add", "fashion", stage.data)
    project.create_run("--dataset", "fashion", "--rule", rule,
                       "--codec", "int4", *settings)
    used_before = cpu_seconds()
    server = Server(project).start()
    volunteers = [Volunteer(stage, f"volunteer-{i + 1}").attach(server)
                  for i in range(VOLUNTEERS)]
    began = time.time()
    for volunteer in volunteers:
        volunteer.start()
    try:
        project.wait_until_finished(minutes * 60)
        project.show_evaluated()
        end = "finished"
    except Failure as failure:
        end = str(failure)
    shown = project.show()
    points = curve(project, began)
    step = max(1, len(points) // 12)
    for after, version, accuracy in points[::step] + points[-1:]:
        stage.say(f"{rule}: {after:5.2f} min  version {version:5d}  "
                  f"{100 * accuracy:.2f} %")
    best = max((accuracy for _, _, accuracy in points), default=0)
    reached = next((after for after, _, accuracy in points
                    if accuracy >= least), None)
    text = (f"{rule}: {end}, {100 * shown['progress']:.0f} % of the run, "
            f"{shown['version']} versions, best {100 * best:.2f} %, "
            f"{100 * least:.0f} % " +
            (f"after {reached:.2f} min" if reached else "not reached"))
    for volunteer in volunteers:
        volunteer.stop()
    server.stop()
    text += f", {(cpu_seconds() - used_before) / 60:.1f} CPU minutes"
    stage.say(text)
    expect(reached is not None and reached <= minutes, text)
    return text


def vc_asgd(stage):
    return train(stage, "vc-asgd", 0.87, 6)


def diloco(stage):
    return train(stage, "diloco", 0.87, 6)


def lenet(stage):
    return train(stage, "diloco", 0.89, 10, "--model", "lenet",
                 "--epochs", 20)


if __name__ == "__main__":
    run(__doc__, vc_asgd, diloco, lenet)
