#!/usr/bin/env python3
"""quorate-client boinc: attaches a real stock client, tells what it does, and
detaches it. The project is a stub of what such a client meets first: master
page, configuration, accounts, and a scheduler that has no work."""

import http.server
import json
import pathlib
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (Project, Server, expect, expect_words, run,
                             wait_for)
from support.stock_boinc import StockBoinc

KEY = "0123456789abcdef0123456789abcdef"
HOST = 7001


class StubProject(http.server.ThreadingHTTPServer):
    """Answers at url + "/boinc/". Sees names (of new accounts) and keys."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), StubHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.names = []
        self.keys = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)


class StubHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, text, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        master = f"{self.server.url}/boinc/"
        if path == "/boinc/":
            self.reply(f'<html>\n<link rel="boinc_scheduler" '
                       f'href="{master}cgi">\n</html>\n')
        elif path == "/boinc/get_project_config.php":
            self.reply(f"<project_config>\n<name>Stub</name>\n"
                       f"<master_url>{master}</master_url>\n"
                       f"</project_config>\n")
        elif path == "/boinc/create_account.php":
            asked = urllib.parse.parse_qs(query)
            self.server.names += asked.get("user_name", [""])
            self.reply(f"<account_out>\n<authenticator>{KEY}</authenticator>\n"
                       f"</account_out>\n")
        else:
            self.reply("", 404)

    def do_POST(self):
        request = self.rfile.read(
            int(self.headers["Content-Length"])).decode()
        key = re.search("<authenticator>(.*)</authenticator>", request)[1]
        self.server.keys.append(key)
        answer = (f"<project_name>Stub</project_name>\n"
                  f"<master_url>{self.server.url}/boinc/</master_url>\n"
                  f"<request_delay>7</request_delay>\n")
        if key == KEY:
            answer += (f"<user_name>ada</user_name>\n<hostid>{HOST}</hostid>\n"
                       f"<user_total_credit>12.5</user_total_credit>\n"
                       f"<host_total_credit>4.5</host_total_credit>\n")
        else:
            answer += ('<message priority="notice">Unknown account key'
                       '</message>\n')
        self.reply(f"<scheduler_reply>\n<scheduler_version>720"
                   f"</scheduler_version>\n{answer}</scheduler_reply>\n")


class Front:
    """quorate-client boinc for one client."""

    def __init__(self, stage, client):
        self.stage = stage
        self.client = client
        self.where = ["--host", client.host, "--password-file",
                      client.password_file]

    def order(self, command, *arguments):
        return self.stage.run("quorate-client", "boinc", command, *arguments,
                              *self.where)

    def ask(self, command, *arguments):
        return json.loads(self.order(command, *arguments, "--json"))

    def fails(self, words, command, *arguments):
        self.stage.fails(words, "quorate-client", "boinc", command,
                         *arguments, *self.where)


def attach_and_detach(front, url):
    """The life of a client at a project with this address; returns the key of
    the account that was made."""
    expect_words(front.order("status"), "BOINC client 7.",
                 "no Quorate project yet")
    said = front.ask("attach", url, "--name", "ada")
    expect(said["url"] == f"{url}/boinc/" and said["host"] > 0 and
           not said["was_attached"], f"attach: {said}")
    again = front.ask("attach", url)
    expect(again["was_attached"] and "key" not in again, f"again: {again}")
    expect_words(front.order("attach", url), "already: nothing changed")
    status = front.ask("status")
    expect(len(status["projects"]) == 1, f"status: {status}")
    project = status["projects"][0]
    expect(project["user"] == "ada" and project["host"] == said["host"] and
           project["failures"] == 0, f"status: {project}")
    expect_words(front.order("status"), project["name"],
                 f"ada, computer {project['host']}")
    front.fails(["task", "--yes"], "detach", url)
    left = front.ask("detach", url, "--yes")
    expect(left["url"] == f"{url}/boinc/", f"detach: {left}")
    expect(not front.ask("status")["projects"], "detached, and still there")
    front.fails(["is not attached"], "detach", url, "--yes")
    return said["key"]


def test_attach(stage):
    """Attach, attach again, status, detach; with a name, then with a key."""
    front = Front(stage, StockBoinc(stage).start())
    with StubProject() as stub:
        key = attach_and_detach(front, stub.url)
        expect(key == KEY and stub.names == ["ada"], f"accounts: {stub.names}")
        text = front.order("attach", stub.url, "--key", key)
        expect_words(text, f"to Stub ({stub.url}/boinc/)", key, "next")
        expect(stub.names == ["ada"], "an account was made beside the key")
        project = front.ask("status")["projects"][0]
        expect(project["credit"] == 4.5 and project["user_credit"] == 12.5,
               f"credit: {project}")
        # Suspended by its own manager, which status tells.
        front.client.boinccmd("--set_run_mode", "never")
        wait_for("the suspension", lambda: front.ask("status")
                 ["cpu_suspended"] == "somebody suspended it", 10, 0.2)
        expect_words(front.order("status"), "computing is suspended")
    front.client.stop()
    return "a stock client is attached, told of and detached"


def test_refusals(stage):
    """What goes wrong at the client or at the project is said in one line."""
    front = Front(stage, StockBoinc(stage).start())
    client = front.client
    with StubProject() as stub:
        client.password_file.write_text("wrong\n")
        front.fails(["refuses the password", "--password-file"], "status")
        client.password_file.unlink()
        front.fails(["no such file"], "attach", stub.url)
        client.configure()
        front.fails(["does not admit BOINC clients"], "attach",
                    f"{stub.url}/elsewhere", "--key", KEY)
        front.fails(["Unknown account key", "boinc detach"], "attach",
                    stub.url, "--key", "f" * 32)
        front.order("detach", stub.url, "--yes")
        # Somebody else listens there.
        stage.fails(["BOINC client at", "does not answer"], "quorate-client",
                    "boinc", "status", "--host", stub.url[len("http://"):],
                    "--password-file", client.password_file)
    front.fails(["attach to"], "attach", stub.url)  # the project is gone
    front.fails(["attach to"], "attach", stub.url, "--key", KEY)
    expect(not front.ask("status")["projects"], "attached to nobody")
    client.stop()
    front.fails(["nobody listens there", "systemctl start"], "status")
    front.fails(["nobody listens there"], "detach", stub.url, "--yes")
    return "refusals are said in one line"


def test_fingerprint(stage):
    """Nothing is made at a project that is not the one that was meant."""
    front = Front(stage, StockBoinc(stage).start())
    project = Project(stage)
    project.order("boinc", "key", "new")
    server = Server(project).start()
    front.fails(["expected project", "0" * 32], "attach",
                f"{server.url}#{'0' * 32}")
    expect(not front.ask("status")["projects"], "attached, nevertheless")
    server.stop()
    front.client.stop()
    return "a project with another fingerprint is refused"


if __name__ == "__main__":
    run(__doc__, test_attach, test_refusals, test_fingerprint, at_once=True)
