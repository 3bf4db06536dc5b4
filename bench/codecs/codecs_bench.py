#!/usr/bin/env python3
"""Codecs of updates: bytes that a result sends, and what the model learns.

Two clients train each network with each codec, through a proxy that counts;
data, seed, units and their number are the same. Printed per codec:

  update     bytes of a result's update
  up         bytes that the clients sent, requests and headers too, per result
  less       how many times fewer than with fp32
  results    in the model at the end
  accuracy   of the last version, on 2,000 samples that were not trained on

QUORATE_CODECS names the codecs to run, separated by commas; otherwise all.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/pipeline"))
from support.project import Project, Server, Volunteer, run  # noqa: E402
from support.proxy import Proxy  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from results import append  # noqa: E402

CODECS = ("fp32", "int8", "int4", "int2", "ternary", "sign")
# Epochs of 16 units: 10,240 samples, 20 steps of 32 each.
EPOCHS = {"mlp": 20, "lenet": 8}


def train(stage, model, codec):
    project = Project(stage, f"{model}-{codec}")
    project.add_glyphs(10240, 2000)
    project.create_run("--dataset", "glyphs", "--model", model, "--batch", 32,
                       "--local-steps", 20, "--epochs", EPOCHS[model],
                       "--quorum", 1, "--codec", codec)
    server = Server(project, name=f"server-{model}-{codec}").start()
    sent = []
    proxy = Proxy(server.port, lambda _, data: sent.append(len(data)))
    clients = [Volunteer(stage, f"{model}-{codec}-{i}").attach(
        server, proxy.address(server)).start() for i in range(2)]
    project.wait_until_finished(540)
    shown = project.show_evaluated()
    update = next(entry["update"] for entry in project.ledger()
                  if entry["kind"] == "result")
    size = project.object(update).stat().st_size
    for client in clients:
        client.stop()
    proxy.close()
    server.stop()
    # The house worker computes a few, and sends nothing.
    sent_by = sum(len(client.acknowledged()) for client in clients)
    results = shown["results_assimilated"]
    return {"model": model, "codec": codec, "update": size,
            "up": round(sum(sent) / sent_by), "results": results,
            "accuracy": shown["accuracy"]}


def test_codecs(stage):
    chosen = os.environ.get("QUORATE_CODECS", ",".join(CODECS)).split(",")
    print("| network | codec | update | up | less | results | accuracy |")
    print("|---|---|---|---|---|---|---|")
    for model in EPOCHS:
        whole = None
        for codec in chosen:
            row = train(stage, model, codec)
            whole = whole or row["up"]
            print(f"| {model} | {codec} | {row['update']:,} | {row['up']:,} | "
                  f"{whole / row['up']:.1f} | {row['results']} | "
                  f"{100 * row['accuracy']:.1f} % |", flush=True)
            append({"bench": "codecs", **row})
    return f"{len(chosen)} codecs"


if __name__ == "__main__":
    run(__doc__, test_codecs)
