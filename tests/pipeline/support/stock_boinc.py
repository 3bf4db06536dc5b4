"""The stock BOINC client (Debian's boinc-client) as a program of a stage: its
own folder, port and password, nothing outside that folder, and no talk with
anybody but the projects that a test attaches it to."""

import dataclasses
import re
import shutil
import subprocess
import time
import urllib.request

from support.project import Failure, Process, Skip, expect, free_port, wait_for

PROGRAMS = ("boinc", "boinccmd")
PASSWORD = "stage"
# A client takes its proxy from these.
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY",
           "HTTPS_PROXY", "ALL_PROXY", "SOCKS_SERVER", "SOCKS5_SERVER")


def need_stock_boinc():
    """Skips a test where the client is not installed."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise Skip(f"needs {', '.join(missing)}: apt-get install boinc-client")


@dataclasses.dataclass
class Setup:
    """What a client is started with: cc_config.xml and preferences."""
    cpus: int = 1              # how many it believes to have
    has_gpus: bool = False     # whether it looks for some
    buffer_days: float = 0     # of work that it keeps (work_buf_min_days)
    more_days: float = 0       # and asks for beyond (work_buf_additional_days)
    checkpoint_seconds: int = 2
    # More than what it logs anyhow: sched_op_debug, file_xfer_debug,
    # task_debug, work_fetch_debug, unparsed_xml, ...
    log_flags: tuple = ()
    # Words of env(1) before the program: LD_LIBRARY_PATH=..., or a program
    # that runs it, such as "faketime", "+1h".
    prefix: tuple = ()


def new_account(master, name):
    """The key of a new account at the project with this master URL."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{master}create_account.php?user_name={name}",
                     timeout=60) as reply:
        text = reply.read().decode()
    found = re.search("<authenticator>([0-9a-f]{32})</", text)
    expect(found, f"no authenticator in {text}")
    return found[1]


def elements(values):
    return "\n".join(f"<{name}>{value}</{name}>"
                     for name, value in values.items())


def cc_config(setup):
    """Its options: no benchmarks, no look at the project lists or at the
    reference site, and as many clients on this machine as there are."""
    options = {"skip_cpu_benchmarks": 1, "no_info_fetch": 1,
               "dont_contact_ref_site": 1, "allow_multiple_clients": 1,
               "no_priority_change": 1,
               "ncpus": setup.cpus, "no_gpus": int(not setup.has_gpus)}
    flags = {flag: 1 for flag in setup.log_flags}
    return (f"<cc_config>\n<log_flags>\n{elements(flags)}\n</log_flags>\n"
            f"<options>\n{elements(options)}\n</options>\n</cc_config>\n")


def preferences(setup):
    """Compute always, whatever the machine does beside."""
    values = {"run_on_batteries": 1, "run_if_user_active": 1,
              "run_gpu_if_user_active": 1, "suspend_cpu_usage": 0,
              "suspend_if_no_recent_input": 0, "max_ncpus_pct": 100,
              "cpu_usage_limit": 100, "work_buf_min_days": setup.buffer_days,
              "work_buf_additional_days": setup.more_days,
              "disk_interval": setup.checkpoint_seconds}
    return (f"<global_preferences>\n{elements(values)}\n"
            f"</global_preferences>\n")


class StockBoinc(Process):
    """A client. text() is its log, kill() is kill -9; a client that was killed
    or stopped can be started again, on its folder as it is then."""

    def __init__(self, stage, name="boinc", setup=None, folder=None):
        need_stock_boinc()
        self.folder = folder or stage.folder / name
        self.port = free_port()
        self.setup = setup or Setup()
        no_proxy = [f"--unset={proxy}" for proxy in PROXIES]
        super().__init__(stage, name, [
            "env", *no_proxy, *self.setup.prefix, "boinc", "--dir",
            self.folder, "--gui_rpc_port", self.port,
            "--allow_multiple_clients"])

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    @property
    def password_file(self):
        return self.folder / "gui_rpc_auth.cfg"

    def configure(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.password_file.write_text(PASSWORD + "\n")
        self.password_file.chmod(0o600)
        (self.folder / "cc_config.xml").write_text(cc_config(self.setup))
        (self.folder / "global_prefs_override.xml").write_text(
            preferences(self.setup))

    def start(self):
        self.configure()
        self.spawn()

        def answers():
            expect(self.is_running(),
                   f"{self.name}: ended: {self.last_line()}")
            return self.ask("--client_version").returncode == 0
        wait_for(f"{self.name}: an answer of the client", answers, 30, 0.1)
        return self

    def ask(self, *arguments):
        """boinccmd, whatever becomes of it."""
        return subprocess.run(
            ["boinccmd", "--host", self.host, "--passwd", PASSWORD,
             *map(str, arguments)], text=True, capture_output=True, timeout=240,
            check=False, env=self.stage.environment, cwd=self.folder)

    def boinccmd(self, *arguments):
        """What boinccmd prints, which must succeed."""
        done = self.ask(*arguments)
        expect(done.returncode == 0,
               f"boinccmd {' '.join(map(str, arguments))}: exit code "
               f"{done.returncode}: {done.stderr}{done.stdout}")
        return done.stdout

    def attach(self, url, key):
        """To a project's master URL."""
        self.boinccmd("--project_attach", url, key)
        return self

    def update(self, url):
        """Contacts the project now, whatever it waits for."""
        self.boinccmd("--project", url, "update")

    def messages(self, words=""):
        """Its messages, oldest first: those with the words."""
        found = re.split(r"(?m)^(?=\d+: )", self.boinccmd("--get_messages"))
        return [message.strip() for message in found if words in message and
                message.strip()]

    def tasks(self):
        """Its tasks, as dictionaries of what boinccmd tells of them: "name",
        "state", "active_task_state", "fraction done", ..."""
        tasks = []
        for line in self.boinccmd("--get_tasks").splitlines():
            if re.match(r"\d+\) -", line):
                tasks.append({})
            name, colon, value = line.partition(": ")
            if colon and tasks:
                tasks[-1][name.strip()] = value.strip()
        return tasks

    def attach_with(self, program, url, key):
        """Attaches, and puts another program in the place of the one that the
        project sends before that has computed anything. A client that starts
        looks at nothing but the file's size."""
        self.boinccmd("--set_run_mode", "never")
        self.attach(url, key)

        def is_here():
            return not self.transfers() and self.programs()
        wait_for(f"{self.name}: the project's program", is_here, 60, 0.2)
        self.stop()
        file = self.programs()[0]
        launcher = f"#!/bin/sh\nexec '{program}' \"$@\"\n".encode()
        file.write_bytes(launcher.ljust(file.stat().st_size, b"\n"))
        self.start()
        self.boinccmd("--set_run_mode", "always")
        return self

    def programs(self):
        """Of workers that projects sent."""
        return list(self.folder.glob("projects/*/quorate-worker*"))

    def transfers(self):
        """Names of the files on their way."""
        return re.findall(r"(?m)^ +name: (\S+)",
                          self.boinccmd("--get_file_transfers"))

    def stop(self, seconds=80):
        """As its manager ends it; returns how long that took."""
        began = time.monotonic()
        self.boinccmd("--quit")
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name}: still there {seconds} s after "
                          f"--quit") from None
        return time.monotonic() - began
