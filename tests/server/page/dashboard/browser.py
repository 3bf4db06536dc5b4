"""Chromium without a screen, driven through its DevTools protocol.

The protocol runs over a pair of pipes (descriptors 3 and 4 of the browser),
one JSON message after the other with a zero byte between, so that nothing but
the standard library is needed.
"""

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_SECONDS = 60  # the machine may be busy; a test that works waits less


class Browser:
    """One browser with one page at a time; use it in a `with`."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(
            ignore_cleanup_errors=True)
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def take_pipes():
            # Through copies, lest one overwrites the other.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-dev-shm-usage",
             "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            env={**os.environ, "TZ": "UTC"}, preexec_fn=take_pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.ids = itertools.count(1)
        self.unread = b""
        self.session = None
        self.target = None
        self.console = []  # texts of messages, errors and violations
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def new_page(self):
        """Closes the page for another, with a console of its own: an old
        page may complain that its server has gone after the next one came."""
        self.session = None
        if self.target:
            self.call("Target.closeTarget", targetId=self.target)
        self.target = self.call("Target.createTarget",
                                url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=self.target)["sessionId"]
        self.console.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Returns what the browser answers to one request."""
        message = {"id": next(self.ids), "method": method,
                   "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != message["id"]:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def receive(self):
        while b"\0" not in self.unread:
            more = os.read(self.from_browser, 1 << 16)
            if not more:
                raise RuntimeError("the browser has gone")
            self.unread += more
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        if event.get("sessionId") != self.session:
            return
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.console.append(
                details.get("exception", {}).get("description",
                                                 details["text"]))
        elif event.get("method") == "Log.entryAdded":
            self.console.append(parameters["entry"]["text"])

    # What a reader does and has.

    def look(self, width=1280, height=900, dark=False, still=False):
        """Sets the window's size and what the reader prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion",
             "value": "reduce" if still else "no-preference"}])

    def open(self, address):
        # A fragment alone would not load the page anew.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def press(self, key, code=None, number=0):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      code=code or key, windowsVirtualKeyCode=number)

    def tab(self):
        self.press("Tab", number=9)

    def ask(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Waits until it is true; fails with what the page says."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.ask(expression):
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"never true: {expression}; console: {self.console}; "
                    f"the page: {self.text()[:600]}")
            time.sleep(0.05)

    def text(self):
        """The text of the page that is not hidden, with single spaces."""
        return " ".join(self.ask("document.body.innerText").split())

    def screenshot(self, path):
        """Writes the whole page as PNG."""
        image = self.call("Page.captureScreenshot", format="png",
                          captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))
