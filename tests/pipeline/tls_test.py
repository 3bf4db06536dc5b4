#!/usr/bin/env python3
"""TLS as operators have it: the project's own certificate, certificate files,
a renewed certificate, one with another key, and a stranger's."""

import shutil
import subprocess

from support.project import (Project, Skip, TlsServer, Volunteer, expect, run,
                             wait_for)

ALONE = ("--house-workers", "0")


def certificate(folder, name, key):
    """A certificate of this key, as an authority would issue it."""
    file = folder / f"{name}.crt"
    subprocess.run(["openssl", "req", "-x509", "-key", key, "-out", file,
                    "-days", "90", "-subj", f"/CN={name}"], check=True,
                   capture_output=True, timeout=60)
    return file


def new_key(folder, name):
    file = folder / f"{name}.key"
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-out", file], check=True,
                   capture_output=True, timeout=60)
    return file


def use_files(project, cert, key):
    settings = project.folder / "quorate.toml"
    lines = [line for line in settings.read_text().splitlines()
             if not line.startswith(("tls_certificate", "tls_key"))]
    lines += [f'tls_certificate = "{cert}"', f'tls_key = "{key}"']
    settings.write_text("\n".join(lines) + "\n")


def new_result(volunteer):
    before = len(volunteer.acknowledged())
    wait_for("a result", lambda: len(volunteer.acknowledged()) > before, 60)


def test_tls(stage):
    if shutil.which("openssl") is None:
        raise Skip("needs openssl")
    project = Project(stage)
    project.add_glyphs(20480)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--quorum",
                       1, "--local-steps", 2, "--epochs", 100)
    server = TlsServer(project, *ALONE).start()
    expect(server.address().startswith("https://"), server.text())
    first = Volunteer(stage, "ada").attach(server).start()
    new_result(first)
    first.stop()
    server.stop()

    key = new_key(stage.folder, "host")
    use_files(project, certificate(stage.folder, "old", key), key)
    server = TlsServer(project, *ALONE, port=server.port).start()
    second = Volunteer(stage, "bob").attach(server).start()
    new_result(second)
    server.stop()
    use_files(project, certificate(stage.folder, "renewed", key), key)
    server = TlsServer(project, *ALONE, port=server.port).start()
    new_result(second)

    # Whoever joined under another key follows: the project's seal says so.
    first.start()
    new_result(first)
    expect("project_renewed" in first.text(), first.last_line())

    # But not to a stranger at the project's address.
    server.stop()
    stranger = Project(stage, name="stranger")
    other = TlsServer(stranger, *ALONE, port=server.port).start()
    wait_for("the refusal of a stranger",
             lambda: "statement_refused" in first.text(), 30)
    expect(all(host["user"] not in (first.name, second.name)
               for host in stranger.ask("hosts")), "a stranger was trusted")
    other.stop()
    server.start()
    new_result(first)
    new_result(second)
    return "own certificate, files, renewal, another key, a stranger's"


if __name__ == "__main__":
    run(__doc__, test_tls)
