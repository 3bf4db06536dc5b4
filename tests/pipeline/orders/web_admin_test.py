#!/usr/bin/env python3
"""Administration in a browser, on a real server over TLS.

Somebody logs in with a password and a one-time code, and gives an order that
stands in the signed order log as theirs. A guest, a wrong code, a code that was
used, a request without the page's token, another site's page and a server that
speaks plain HTTP to others are refused. The server is killed in between: the
order is still there, the session is not, and the code is not good again.
"""

import base64
import hashlib
import hmac
import http.client
import json
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.project import (RUN, Project, Server, Skip, TlsServer, Volunteer,
                             expect, expect_words, run, wait_for)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "server/page/dashboard"))
import browser

PASSWORD = "correct horse battery staple"
STEP = 30
COOKIE = "__Host-quorate-admin"
HOSTILE = "<img src=x onerror=alert(1)>"


def code_of(secret, step):
    """RFC 6238, by another hand than the server's."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    mac = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    at = mac[-1] & 15
    number = struct.unpack(">I", mac[at:at + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06}"


class Account:
    """An account of the page, and the app with its secret."""

    def __init__(self, project, name, *arguments):
        self.name = name
        file = project.stage.folder / f"{name}.password"
        file.write_text(PASSWORD + "\n")
        made = project.ask("operators", "web", name, "--password-file", file,
                           *arguments)
        self.secret = made["secret"]
        expect(f"secret={self.secret}" in made["otpauth"], f"made: {made}")
        self.last = 0

    def code(self, after):
        """The next one that is good: none that was used, nor was shown when
        the server started (`after`)."""
        least = max(self.last, int(after) // STEP) + 1
        wait_for("the next code", lambda: time.time() // STEP >= least, 40, 0.2)
        self.last = int(time.time()) // STEP
        return code_of(self.secret, self.last)


class Page:
    """What the page in a browser has: a cookie, and the session's token."""

    def __init__(self, server):
        self.server = server
        self.cookie = ""
        self.token = ""

    def ask(self, method, path, body=None, **headers):
        """(status, answer, headers)"""
        connection = self.server.connection()
        known = {"Content-Type": "application/json", "Cookie": self.cookie,
                 "X-Quorate-Token": self.token}
        known.update({name.replace("_", "-"): value
                      for name, value in headers.items()})
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body),
                {name: value for name, value in known.items() if value})
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        is_json = reply.headers["Content-Type"] == "application/json"
        return reply.status, json.loads(text) if is_json else text, reply.headers

    def log_in(self, name, code, password=PASSWORD):
        status, answer, headers = self.ask(
            "POST", "/admin/login",
            {"name": name, "password": password, "code": code})
        if status == 200:
            self.cookie = headers["Set-Cookie"].split(";")[0]
            self.token = answer["token"]
        return status, answer, headers

    def order(self, command, confirmed=False, headers=None, **arguments):
        status, answer, _ = self.ask(
            "POST", f"/admin/orders/{command}",
            {"arguments": arguments, "confirmed": confirmed}, **(headers or {}))
        return status, answer


def start(stage, name="project", server=TlsServer, arguments=(), **settings):
    project = Project(stage, name, house_workers=0, **settings)
    project.add_glyphs(10240)
    project.create_run("--dataset", "glyphs", "--model", "mlp:16", "--batch",
                       32, "--local-steps", 20, "--quorum", 2, "--epochs", 200)
    return project, server(project, *arguments,
                           name=f"server-{name}").start()


def expect_off(server):
    """Without an account there is no administration."""
    for path in ("/admin", "/admin/session", "/admin/admin.js"):
        status, answer, _ = Page(server).ask("GET", path)
        expect(status == 404 and "is off" in answer["message"],
               f"{path} without accounts: {status} {answer}")


def expect_cookie(text):
    parts = set(text.split("; ")[1:])
    expect(text.startswith(f"{COOKIE}=") and
           {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= parts, text)


def expect_page(server):
    status, text, headers = Page(server).ask("GET", "/admin")
    policy = headers["Content-Security-Policy"]
    expect(status == 200 and "<title>Administration" in text and
           "default-src 'none'" in policy and "unsafe" not in policy,
           f"/admin: {status} {policy}")


def waiting(project):
    """Results that wait for another user's, of different units."""
    found = [row for row in project.results() if row["outcome"] == "success"
             and row["validate_state"] == "init"]
    return found if len(found) >= 4 else None


def give_orders(project, page):
    """Orders of every kind; returns the result that was rejected."""
    rows = wait_for("results", lambda: waiting(project), 60)
    first, second, third, fourth = [row["id"] for row in rows[:4]]
    units = {row["id"]: row["workunit"] for row in rows}
    status, unit = page.order("workunit-show", result=first)
    expect(status == 200 and unit["results"][0]["claim"], f"{unit}")
    status, row = page.order("result-reject", result=first, why="")
    expect(status == 400 and "--why" in row["message"], f"no why: {row}")
    status, row = page.order("result-reject", result=first, why="it is false")
    expect(status == 200 and row["result_state"] == "invalid", f"{row}")
    # What cannot be undone is asked for.
    given = {"workunit": units[second], "why": "its shard"}
    status, row = page.order("workunit-cancel", **given)
    expect(status == 409 and "is over" in row["message"], f"cancel: {row}")
    expect(not any(one["command"] == "workunit-cancel"
                   for one in project.ask("log")), "an order without a yes")
    status, row = page.order("workunit-cancel", confirmed=True, **given)
    expect(status == 200 and row["workunit_state"] == "cancelled", f"{row}")
    status, row = page.order("workunit-reissue", workunit=units[third],
                             why="again")
    expect(status == 200, f"reissue: {row}")
    given = {"result": fourth, "unverified": True, "why": "nobody else"}
    expect(page.order("result-accept", **given)[0] == 409, "unverified, unasked")
    status, row = page.order("result-accept", confirmed=True, **given)
    expect(status == 200 and row["result_state"] == "valid", f"{row}")
    for command, given in (("train-pause", {}), ("train-resume", {}),
                           ("train-change", {"share": 2})):
        status, row = page.order(command, run=RUN, why="a look", **given)
        expect(status == 200, f"{command}: {row}")
    status, row = page.order("validate", dry_run=True)
    expect(status == 200 and row["units"], f"validate: {row}")
    return first


def expect_refusals(page, server):
    """Each of what keeps others out, on an order that would be carried out."""
    order = {"run": RUN, "why": "not mine"}
    token = page.token
    for why, headers in (
            ("another site", {"Sec_Fetch_Site": "cross-site"}),
            ("another origin", {"Origin": "https://elsewhere.example"}),
            ("a form", {"Content_Type": "application/x-www-form-urlencoded"}),
            ("no token", {"X_Quorate_Token": ""}),
            ("a wrong token", {"X_Quorate_Token": token[::-1]})):
        status, answer = page.order("train-pause", headers=headers, **order)
        expect(status == 403, f"{why}: {status} {answer}")
    stranger = Page(server)
    stranger.token = token
    expect(stranger.order("train-pause", **order)[0] == 401, "no cookie")
    stranger.cookie = f"{COOKIE}={'0' * 64}"
    expect(stranger.order("train-pause", **order)[0] == 401, "a made-up cookie")
    status, answer = page.order("no-such-order")
    expect(status == 400 and "unknown command" in answer["message"], answer)
    status, _, _ = page.ask("POST", "/admin/orders/train-pause",
                            {"arguments": {"x": "y" * (70 << 10)}})
    expect(status == 413, f"a large order: {status}")


def expect_guest(project, page):
    expect(page.order("train-list")[0] == 200, "a guest may not look")
    for command, given in (("train-pause", {"run": RUN}), ("validate", {}),
                           ("peers-allow", {"project": "0" * 32})):
        status, answer = page.order(command, **given)
        expect(status == 403 and "guest" in answer["message"],
               f"a guest's {command}: {status} {answer}")
    expect(project.show()["state"] == "running", "a guest paused a run")


def expect_no_secrets(project, server, accounts):
    """Neither logs nor what anybody may ask have them."""
    said = server.text() + (project.folder / "log/quorate.log").read_text()
    said += json.dumps(project.ask("log")) + project.order("operators", "list")
    for secret in (PASSWORD, *(account.secret for account in accounts)):
        expect(secret not in said, "a secret is in the logs")
    file = project.folder / "keys/web_operators.json"
    expect(file.stat().st_mode & 0o777 == 0o600, "others may read accounts")


def test_orders(stage):
    project, server = start(stage)
    volunteer = Volunteer(stage, "ada").attach(server).start()
    expect_off(server)
    began = time.time()
    anna = Account(project, "anna")
    eve = Account(project, "eve", "--role", "guest")
    expect_page(server)
    page, code = Page(server), anna.code(began)
    expect(page.ask("GET", "/admin/session")[0] == 401, "nobody, yet somebody")
    wrong = f"{(int(code) + 1) % 10**6:06}"
    expect(page.log_in("anna", wrong)[0] == 401, "a wrong code")
    expect(page.log_in("anna", code, "wrong")[0] == 401, "a wrong password")
    status, answer, headers = page.log_in("anna", code)
    expect(status == 200, f"log in: {status} {answer}")
    expect_cookie(headers["Set-Cookie"])
    expect(Page(server).log_in("anna", code)[0] == 401, "a code, twice")
    rejected = give_orders(project, page)
    expect_refusals(page, server)

    guest = Page(server)
    expect(guest.log_in("eve", eve.code(began))[0] == 200, "a guest's login")
    expect_guest(project, guest)
    server.kill()
    server.start()
    began = time.time()
    expect(page.order("train-list")[0] == 401, "a session outlived its server")
    expect(page.log_in("anna", code_of(anna.secret, anna.last))[0] == 401,
           "a used code is good again")
    log = [(row["who"], row["command"], row["why"]) for row in
           project.ask("log")]
    expect(log.count(("web:anna", "result-reject", "it is false")) == 1, log)
    expect([who for who, _, _ in log[1:]] == ["web:anna"] * 7, log)
    expect(project.ask("log", "--verify")["orders"] == len(log), "verify")
    expect(next(row for row in project.results() if row["id"] == rejected)
           ["validate_state"] == "invalid", "an order was lost")

    status, answer, _ = page.log_in("anna", anna.code(began))
    expect(status == 200, f"log in again: {status} {answer}")
    expect(page.ask("POST", "/admin/logout", {})[0] == 200, "log out")
    expect(page.order("train-list")[0] == 401, "logged out, and still in")
    expect_no_secrets(project, server, (anna, eve))
    volunteer.stop()
    server.stop()
    return f"{len(log) - 1} orders of web:anna over a kill"


def test_accounts(stage):
    """What ends a session, and who waits; no TLS on this machine alone."""
    project, server = start(stage, server=Server)
    began = time.time()
    anna = Account(project, "anna")
    page = Page(server)
    code = anna.code(began)
    status, _, headers = page.log_in("anna", code)
    expect(status == 200 and "Secure" not in headers["Set-Cookie"],
           f"log in on loopback: {status}")
    for header in ("X_Forwarded_For", "X_Forwarded_Proto"):
        status, answer, _ = page.ask("GET", "/admin/session",
                                     **{header: "http"})
        expect(status == 403 and "TLS" in answer["message"],
               f"{header}: {status} {answer}")
    expect_words(project.order("operators", "list"), "anna", "operator")
    # Another password, another authenticator: whoever was in is out.
    expect(page.order("train-list")[0] == 200, "not logged in")
    Account(project, "anna", "--role", "guest")
    expect(page.order("train-list")[0] == 401, "an old password's session")
    waits = []
    for _ in range(5):
        status, answer, headers = Page(server).log_in("anna", "000000", "no")
        waits.append((status, headers["Retry-After"]))
    expect(waits[0] == (401, None) and waits[-1][0] == 429 and waits[-1][1],
           f"failed logins: {waits}")
    project.order("operators", "web", "anna", "--remove")
    expect_off(server)
    stage.fails(["there is none of this name"], "quorate", "-C",
                project.folder, "operators", "web", "anna", "--remove")
    short = stage.folder / "short"
    short.write_text("short")
    stage.fails(["has 10 to 200 bytes"], "quorate", "-C", project.folder,
                "operators", "web", "ben", "--password-file", short)
    server.stop()
    return "sessions end with their account"


def test_plain(stage):
    """Plain HTTP to other machines: nothing is served, and the reason said."""
    project, server = start(stage, server=Server, plain_http="true")
    server.stop()
    server.command[server.command.index("--listen") + 1] = (
        f"0.0.0.0:{server.port}")
    file = stage.folder / "password"
    file.write_text(PASSWORD)
    project.set(listen='"0.0.0.0:8470"')
    expect_words(project.order("operators", "web", "anna", "--password-file",
                               file), "plain HTTP", "is not served")
    server.start()
    for path in ("/admin", "/admin/session"):
        status, answer, _ = Page(server).ask("GET", path)
        expect(status == 403 and "over TLS" in answer["message"],
               f"{path}: {status} {answer}")
    expect(Page(server).log_in("anna", "000000")[0] == 403, "a login in clear")
    server.stop()
    return "refused in clear"


def click(page, selector, text):
    page.wait_for(f"""(() => {{
      const found = [...document.querySelectorAll({json.dumps(selector)})].find(
          (one) => one.checkVisibility() && !one.disabled &&
                   one.textContent === {json.dumps(text)});
      found?.click();
      return Boolean(found);
    }})()""")


def fill_in(page, form, submit=True, **values):
    page.ask(f"""(() => {{
      const form = document.querySelector({json.dumps(form)});
      for (const [name, value] of Object.entries({json.dumps(values)})) {{
        form.elements[name].value = value;
        form.elements[name].dispatchEvent(new Event('input', {{bubbles: true}}));
      }}
      if ({json.dumps(submit)}) form.requestSubmit();
    }})()""")


def use_page(page, server, account, began):
    """Logs in, rejects a result, cancels a workunit, looks at the log."""
    page.open(f"{server.url}/admin")
    page.wait_for("document.getElementById('login')?.checkVisibility()")
    fill_in(page, "#login", name="anna", password=PASSWORD,
            code=account.code(began))
    page.wait_for("document.querySelector('#runs tbody')?.innerText"
                  f".includes('{RUN}')")
    click(page, "#views button", "Results")
    fill_in(page, "#results form", state="waiting")
    click(page, "#results td button", "Unit")
    page.wait_for("document.querySelector('#unit .claims')?.checkVisibility()")
    click(page, "#results td button", "Reject")
    page.wait_for("document.querySelectorAll('#order-preview li').length > 2")
    fill_in(page, "#order form", submit=False, why=HOSTILE)
    click(page, "#order button", "Give the order")
    page.wait_for("document.getElementById('said').innerText"
                  ".startsWith('Done')")
    click(page, "#views button", "Workunits")
    fill_in(page, "#workunits form", state="open")
    page.wait_for("document.querySelector('#workunits tbody')?.rows.length > 0")
    click(page, "#workunits td button", "Cancel")
    fill_in(page, "#order form", submit=False, why="its shard")
    click(page, "#order button", "Give the order")
    page.wait_for("document.getElementById('order-warning').innerText"
                  ".includes('is over')")
    click(page, "#order button", "Yes, give it all the same")
    page.wait_for("!document.getElementById('order').open")
    click(page, "#views button", "By hand")
    click(page, "#by-hand button", "Look at the verdicts")
    page.wait_for("document.querySelector('#by-hand tbody')?.rows.length > 0")
    click(page, "#views button", "Log")
    page.wait_for("document.querySelector('#log tbody')?.innerText"
                  ".includes('workunit-cancel')")
    expect_words(page.text(), "web:anna", HOSTILE)
    expect(page.ask("document.querySelectorAll('img').length") == 0,
           "a reason became HTML")


def test_browser(stage):
    if browser.PROGRAM is None:
        raise Skip("needs chromium")
    project, server = start(stage, server=Server)
    began = time.time()
    account = Account(project, "anna")
    volunteer = Volunteer(stage, "ada").attach(server).start()
    wait_for("results", lambda: waiting(project), 60)
    with browser.Browser() as page:
        page.new_page()
        page.look()
        use_page(page, server, account, began)
        # Its own answers that are no success stand there, too.
        wrong = [text for text in page.console
                 if not text.startswith("Failed to load resource")]
        expect(not wrong, f"the browser's console: {wrong}")
        click(page, "button", "Log out")
        page.wait_for("document.getElementById('login').checkVisibility()")
    log = [(row["who"], row["command"], row["why"]) for row in
           project.ask("log")][1:]
    expect(log == [("web:anna", "result-reject", HOSTILE),
                   ("web:anna", "workunit-cancel", "its shard")], log)
    volunteer.stop()
    server.stop()
    return "two orders from a browser"


if __name__ == "__main__":
    run(__doc__, test_orders, test_accounts, test_plain, test_browser)
