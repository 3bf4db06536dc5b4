#!/usr/bin/env python3
"""What a person can get wrong: a line says what, where and what to do.

Wrong settings, files, folders, ports and addresses, while a project is served
to a volunteer. Each command must fail with such a line and leave no
trace; the run then ends as if none of them had been given.
"""

import gzip
import http.server
import pathlib
import re
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.invariants import check_end, check_results, check_units
from support.project import (RUN, Project, Server, Volunteer, expect,
                             free_port, run, wait_for)

SAMPLES = 4096
EPOCHS = 10


class Scene:
    """A project that is served, and a volunteer who works."""

    def __init__(self, stage):
        self.stage = stage
        self.project = Project(stage)
        self.project.add_glyphs(SAMPLES)
        self.project.create_run("--dataset", "glyphs", "--model", "mlp:16",
                                "--quorum", 1, "--local-steps", 8, "--batch",
                                32, "--epochs", EPOCHS)
        self.server = Server(self.project, "--house-workers", 0).start()
        self.ada = Volunteer(stage, "ada", "--cpu-percent", 20)
        self.ada.attach(self.server).start()
        self.refusals = 0

    def refuses(self, words, program, *arguments):
        self.stage.fails(words, program, *arguments)
        self.refusals += 1

    def operator(self, words, *arguments, folder=None):
        self.refuses(words, "quorate", "-C", folder or self.project.folder,
                     *arguments)

    def client(self, words, command, *arguments, folder="fresh"):
        self.refuses(words, "quorate-client", command, "--dir",
                     self.stage.folder / folder, *arguments)


def other_project(stage, name="other"):
    folder = stage.folder / name
    stage.run("quorate", "init", folder)
    return folder


def refuse_places(scene):
    """A port, a project and a client's folder that somebody uses; folders
    and runs that are not there."""
    taken = f"127.0.0.1:{scene.server.port}"
    other = other_project(scene.stage)
    scene.operator([taken, "in use"], "serve", "--listen", taken, folder=other)
    scene.operator([scene.project.folder, "another quorate serve runs",
                    f"process {scene.server.child.pid}",
                    "status"], "serve", "--listen",
                   f"127.0.0.1:{free_port()}")
    scene.client([scene.ada.folder, "already works", "Ctrl-C"], "run",
                 folder="ada")
    nowhere = scene.stage.folder / "nowhere"
    scene.operator([nowhere, "no project here", "quorate init"], "status",
                   folder=nowhere)
    scene.operator([scene.project.folder, "already"], "init",
                   scene.project.folder)
    scene.operator(['"second"', "known are first"], "train", "show", "second")
    scene.client(["does not exist", "quorate-client attach"], "run")


def refuse_settings(scene):
    other = other_project(scene.stage, "settings")
    file = other / "quorate.toml"
    text = file.read_text()
    for line, words in {
            "leese = 3": ['line', 'unknown setting "leese"', "lease"],
            'lease = "long"': ["lease"],
            "lease = -1": ["lease"],
            "max_connections = 1e99": ["max_connections"],
            "lease = ": ["line"]}.items():
        key = line.split()[0]
        file.write_text(re.sub(rf"(?m)^{key} = .*$", "", text) + line + "\n")
        scene.operator([file, *words], "serve", folder=other)
    scene.operator(['"eater"', "scheduler"], "serve", "--roles", "eater")
    file.write_text(text)
    scene.operator(['"here"', "ADDRESS:PORT"], "serve", "--listen", "here",
                   folder=other)
    scene.operator(["--house-workers", "64"], "serve", "--house-workers",
                   1000, folder=other)
    file.write_text(re.sub("(?m)^tls_certificate = .*$",
                           'tls_certificate = "/nope.pem"', text))
    scene.operator([file, "line", '"tls_certificate"'], "serve", folder=other)
    file.write_text(re.sub("(?m)^tls_(.*) = .*$", r'tls_\1 = "/nope.pem"',
                           text))
    scene.operator([file, "line", '"tls_certificate"', "/nope.pem"], "serve",
                   folder=other)
    file.write_text(text)
    scene.operator(["--quorum"], "train", "create", "x", "--dataset", "glyphs",
                   "--quorum", "-1")
    scene.operator(["--local-steps", '"often"'], "train", "create", "x",
                   "--dataset", "glyphs", "--local-steps", "often")
    scene.operator(["--samples"], "dataset", "add", "glyphs2", "glyphs",
                   "--samples", 999999999999)
    there = scene.stage.folder / "there.safetensors"
    there.write_text("precious")
    for out, words in (("/nope/x", ["/nope", "no folder"]),
                       ("..", ["folder"]), (there, ["--force"])):
        scene.operator(["--out", *words], "export", RUN, "--out", out)
    expect(there.read_text() == "precious", "export replaced a file")
    for words, *line in ((['"train pause"'], "pause"),
                         (['"train list"'], "train", "lst"),
                         (["before the command"], "status", "-C", "p1"),
                         (["frobnicate"], "frobnicate")):
        scene.operator(words, *line)
    scene.operator(['"nope"', "dataset add"], "train", "create", "x",
                   "--dataset", "nope")


def idx(magic, *sizes, data=b""):
    return struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + data


def refuse_data(scene):
    """Files that are not what their names say."""
    images = idx(0x803, 2, 28, 28, data=bytes(2 * 28 * 28))
    labels = idx(0x801, 2, data=b"\1\2")
    for content, words in {
            images[:-1]: [], images + b"x": [],
            b"\x89PNG\r\n\x1a\n" + bytes(100): [], labels: [], b"": [],
            idx(0x803, 2**32 - 1, 2**31, 2**31): [],
            gzip.compress(images)[:-9]: [],
            idx(0x803, 3, 28, 28, data=bytes(3 * 28 * 28)): ["3", "2"],
    }.items():
        folder = scene.stage.folder / "data"
        folder.mkdir(exist_ok=True)
        file = folder / "train-images-idx3-ubyte"
        file.write_bytes(content)
        (folder / "train-labels-idx1-ubyte").write_bytes(labels)
        scene.operator(["train-images-idx3-ubyte", *words], "dataset", "add",
                       "x", folder)
    scene.operator(["nowhere", "no such file"], "dataset", "add", "x",
                   scene.stage.folder / "nowhere")
    scene.operator(["unknown kind of file", "train-images-idx3"], "dataset",
                   "add", "x", scene.project.folder / "quorate.toml")


class SomethingElse(http.server.BaseHTTPRequestHandler):
    """A web server that is none of ours."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>welcome</html>")

    def log_message(self, *_):
        pass


def refuse_addresses(scene):
    good = scene.server.address()
    url, fingerprint = good.split("#")
    wrong = fingerprint[:-1] + ("0" if fingerprint[-1] != "0" else "1")
    scene.client([wrong, fingerprint], "attach", f"{url}#{wrong}")
    nobody = f"http://127.0.0.1:{free_port()}"
    scene.client([nobody, "connect"], "attach", f"{nobody}#{fingerprint}")
    scene.client(["ftp://x"], "attach", f"ftp://x#{fingerprint}")
    scene.client(["#xyz"], "attach", f"{url}#xyz")
    with http.server.HTTPServer(("127.0.0.1", 0), SomethingElse) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{other.server_port}"
        scene.client([at], "attach", f"{at}#{fingerprint}")
        other.shutdown()


def refuse_other_key(scene):
    """A key that is none of this project's."""
    key = scene.project.folder / "keys/project.key"
    own = key.read_bytes()
    key.write_bytes((other_project(scene.stage, "alien") /
                     "keys/project.key").read_bytes())
    scene.operator([key], "serve")
    key.write_bytes(own)


def refuse_impostor(scene):
    """Another project at the address: no work is taken, nothing is lost."""
    scene.server.stop()
    refuse_other_key(scene)
    impostor = Project(scene.stage, "impostor")
    impostor.add_glyphs(SAMPLES)
    impostor.create_run("--dataset", "glyphs", "--model", "mlp:16")
    server = Server(impostor, "--house-workers", 0, port=scene.server.port,
                    name="impostor").start()
    wait_for("the client's word on the impostor", lambda: "is another "
             "project served at this address?" in scene.ada.order("status"),
             20)
    expect(not impostor.results(), "the impostor's work was taken")
    server.stop()
    scene.server.start()
    scene.refusals += 1


def refuse_keys(scene):
    """A project whose key or store is not what it was does not start."""
    other = other_project(scene.stage, "keys")
    key = other / "keys/project.key"
    whole = key.read_bytes()
    for content in (whole[:20], b"", whole[::-1]):
        key.write_bytes(content)
        scene.operator([key], "serve", folder=other)
    key.unlink()
    scene.operator([key, "missing", "backup"], "serve", folder=other)


def refuse_new_projects(scene):
    """Places and names that no project can have."""
    stage = scene.stage
    for words, *arguments in (
            (["it is a file"], scene.project.folder / "quorate.toml"),
            (["/proc/nope", "make folder"], "/proc/nope"),
            ([scene.project.folder, "is a project"],
             scene.project.folder / "inner"),
            (["--name", "not blank"], stage.folder / "new", "--name", ""),
            (["--name", "64"], stage.folder / "new", "--name", 3000 * "x"),
            (["--url", "http"], stage.folder / "new", "--url", "ftp://x"),
            (["--url", "65535"], stage.folder / "new", "--url",
             "https://x:65536")):
        scene.refuses(words, "quorate", "init", *arguments)
    expect(not (stage.folder / "new").exists(), "a refused init left a folder")


def test_refusals(stage):
    scene = Scene(stage)
    for refuse in (refuse_places, refuse_settings, refuse_data,
                   refuse_addresses, refuse_keys, refuse_new_projects,
                   refuse_impostor):
        refuse(scene)
        stage.say(f"{refuse.__name__}: {scene.refusals} so far")
    scene.project.wait_until_finished(60)
    scene.ada.stop()
    expect("result_failed" not in scene.ada.text(), "a result was given up")
    entries = scene.project.ledger()
    scene.server.stop()
    kept, _ = check_results(scene.project, [scene.ada])
    check_units(scene.project, entries, EPOCHS * SAMPLES)
    check_end(scene.project, entries)
    return f"{scene.refusals} refusals, {kept} acknowledged results kept"


if __name__ == "__main__":
    run(__doc__, test_refusals)
