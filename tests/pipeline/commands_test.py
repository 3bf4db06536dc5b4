#!/usr/bin/env python3
"""What the programs say about themselves: manual pages, completion, --json.

The manual page has every command, for it is made of the tree that parses the
command line: the tests take the list of commands from there.
"""

import json
import re
import shutil
import subprocess

from support.project import RUN, Project, Server, Skip, expect, run, wait_for

PROGRAMS = ("quorate", "quorate-client", "quorate-worker")
# Commands without --json, and why.
NO_JSON = {
    "quorate completion bash": "prints a script",
    "quorate-client completion bash": "prints a script",
    "quorate-client run": "prints nothing but its log",
    "quorate-client log": "prints the log as it is: a line an event",
}


def page_of(stage, program):
    return stage.run(program, "--man-page")


def commands_of(page):
    """(words of the command, its part of the page), of all but groups."""
    found = {}
    for part in page.split("\n.SS ")[1:]:
        head, text = part.split("\n", 1)
        head = head.replace("\\-", "-")
        if "COMMAND" in head and "--json" not in text.replace("\\-", "-"):
            continue
        words = re.findall(r"\\fB([^-\\][^\\]*)\\fR", head)
        found[" ".join(words)] = text.replace("\\-", "-")
    return found


def test_manual(stage):
    """Every command has its help, an example, and --json."""
    count = 0
    for program in PROGRAMS:
        page = page_of(stage, program)
        commands = commands_of(page)
        count += len(commands)
        expect("Example" in page, f"{program}: no example")
        for command, text in commands.items():
            expect("\n.nf\nExample" in text, f"{command}: no example")
            expect(("--json" in text) != (command in NO_JSON),
                   f"{command}: --json and its exceptions disagree")
    expect({c for c in NO_JSON} <= {c for p in PROGRAMS
                                    for c in commands_of(page_of(stage, p))},
           "an exception names no command")
    return f"{count} commands explained"


def test_roff(stage):
    if shutil.which("groff") is None:
        raise Skip("needs groff")
    for program in PROGRAMS:
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"],
                              input=page_of(stage, program), text=True,
                              capture_output=True, timeout=60, check=True)
        expect(not done.stderr, f"{program}.1: {done.stderr}")
    return "groff warns of nothing in the manual pages"


def expect_json(text, what):
    try:
        return json.loads(text)
    except ValueError:
        expect(False, f"{what}: no JSON: {text[:200]!r}")


def test_json(stage):
    """Commands print one JSON value and nothing else on standard output."""
    made = stage.run("quorate", "init", stage.folder / "other", "--json")
    expect(len(expect_json(made, "init")["fingerprint"]) == 32,
           f"init: {made}")
    made = stage.run("quorate", "-C", stage.folder / "other", "boinc", "key",
                     "new", "--json")
    expect(expect_json(made, "key new")["files"] == 0, f"key new: {made}")
    project = Project(stage)
    project.ask("dataset", "add", "glyphs", "--samples", 256,
                "--test-samples", 64)
    project.ask("dataset", "add", "more", "glyphs", "--samples", 64,
                "--test-samples", 64)
    project.ask("train", "create", RUN, "--dataset", "glyphs", "--model",
                "mlp:8", "--epochs", 100000)
    project.ask("boinc", "key", "new")  # so that its worker is published
    server = Server(project, "--json").start()
    # Its log, on standard error, is in the same file, and it answers a moment
    # before it says where.
    said = wait_for("serve: a JSON line", lambda: re.findall(
        r"(?m)^\{.*$(?=\n)", server.text()), 5)
    expect(len(said) == 1, f"serve: said {said}")
    address = expect_json(said[0], "serve")
    asked = [["dataset", "list"], ["dataset", "remove", "more"],
             ["train", "show", RUN], ["train", "list"],
             ["train", "pause", RUN], ["train", "resume", RUN], ["status"],
             ["hosts"], ["users"], ["workunits"], ["results"], ["snapshots"],
             ["validate"], ["assimilate"], ["validate", "--dry-run"],
             ["assimilate", "--dry-run"], ["verify-ledger", RUN],
             ["replay", RUN], ["backup", stage.folder / "backup"],
             ["train", "stop", RUN], ["boinc", "key", "show"],
             ["boinc", "key", "rotate"], ["boinc", "app", "list"],
             ["boinc", "app", "retire", 1]]
    for command in asked:
        project.ask(*command)
    folder = ["--dir", stage.folder / "ada", "--json"]
    said = {}
    for command in [["attach", address["attach"]], ["status"], ["prefs"],
                    ["pause", "--for", "2h"], ["resume"],
                    ["prefs", "set", "cores", "2"], ["prefs", "reset"],
                    ["detach", address["url"], "--delete-account"]]:
        text = stage.run("quorate-client", *command, *folder)
        said[" ".join(command)] = expect_json(text, command)
    expect(said["pause --for 2h"]["until"] > 0 and
           said["prefs set cores 2"]["cores"] == 2 and
           said[f"detach {address['url']} --delete-account"]
           ["account_deleted"], f"{said}")
    expect(any(user["name"].startswith("deleted-")
               for user in project.ask("users")), "nobody was deleted")
    server.stop()
    return f"{len(asked) + len(said) + 3} commands print JSON"


def complete(stage, program, line):
    """What bash offers for the last word of `line`."""
    script = r"""
source <("$0" completion bash)
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$1" "$0" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
"""
    function = "_" + program.replace("-", "_")
    done = subprocess.run(
        ["bash", "-u", "-c", script, str(stage.program(program)), function,
         program, *map(str, line)], text=True, capture_output=True,
        timeout=30, check=True, env=stage.environment)
    expect(not done.stderr, f"completion of {line}: {done.stderr}")
    return done.stdout.split()


def test_completion(stage):
    if shutil.which("bash") is None:
        raise Skip("needs bash")
    project = Project(stage)
    project.add_glyphs(256, 64)
    project.create_run("--dataset", "glyphs", "--model", "mlp:8")
    server = Server(project).start()
    wait_for("the server", server.is_up)
    here = ["-C", project.folder]
    cases = [
        ("quorate", [""], {"init", "backup", "-C", "--version"}, None),
        ("quorate", ["tr"], {"train"}, 1),
        ("quorate", ["train", "s"], {"show", "stop"}, 2),
        ("quorate", ["train", "create", "--loc"], {"--local-steps"}, 1),
        ("quorate", [*here, "train", "show", ""], {RUN}, None),
        ("quorate", [*here, "train", "show", RUN, "--j"], {"--json"}, 1),
        ("quorate", [*here, "train", "create", "x", "--dataset", ""],
         {"glyphs"}, 1),
        ("quorate", [*here, "host", "show", ""], {"1"}, None),
        ("quorate", ["workunit", ""], {"show"}, None),
        ("quorate", [*here, "results", "--host", ""], {"1"}, None),
        ("quorate", ["dataset", "add", "x", "--format", "c"],
         {"csv", "cifar"}, None),
        # A value, also one that is called like a command; then file names.
        ("quorate", ["-C", "train", "dat"], {"dataset"}, 1),
        ("quorate", ["export", "x", "--out", ""], set(), 0),
        ("quorate-client", ["prefs", "set", "max_l"], {"max_load"}, 1),
        ("quorate-client", ["--dir", "x", "pau"], {"pause"}, 1),
    ]
    for program, line, offered, count in cases:
        found = complete(stage, program, line)
        expect(offered <= set(found) and count in (None, len(found)),
               f"{program} {line}: offered {found}")
    server.stop()
    return f"{len(cases)} lines completed"


def test_names_are_harmless(stage):
    """What strangers call themselves never reaches the shell."""
    project = Project(stage)
    project.add_glyphs(256, 64)
    evil = project.folder / "datasets" / "$(touch oops).json"
    evil.write_text("{}")
    found = complete(stage, "quorate", [
        "-C", project.folder, "train", "create", "x", "--dataset", ""])
    expect(found == ["glyphs"], f"offered: {found}")
    return "names that a shell would run are not offered"


if __name__ == "__main__":
    run(__doc__, test_manual, test_roff, test_json, test_completion,
        test_names_are_harmless)
