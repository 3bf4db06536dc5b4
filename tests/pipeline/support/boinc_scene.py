"""What tests with stock BOINC clients have in common: a project, its server,
and a proxy between server and clients."""

from support.meddler import Meddler
from support.project import Project, Server, expect, wait_for
from support.stock_boinc import Setup, StockBoinc, new_account

SHORT = ("--model", "mlp:16", "--batch", 32, "--local-steps", 40)
# A minute for one core.
LONG = ("--model", "resnet-20", "--batch", 32, "--local-steps", 100)


class Scene:
    """A project with a run, its server, and the proxy before it."""

    def __init__(self, stage, *run_arguments, quorum=1, samples=5120,
                 **settings):
        self.stage = stage
        self.project = Project(stage, **{"boinc_contact": 5, "boinc_lease": 60,
                                         "house_workers": 0, **settings})
        self.project.add_glyphs(samples)
        self.project.create_run("--dataset", "glyphs", "--quorum", quorum,
                                *(run_arguments or (*SHORT, "--epochs", 50)))
        self.project.order("boinc", "key", "new")
        self.server = Server(self.project).start()
        self.proxy = Meddler(self.server.port)
        self.master = self.proxy.master

    def client(self, name="vera", attach=True, **setup):
        client = StockBoinc(self.stage, name, Setup(**setup)).start()
        if attach:
            client.attach(self.master, new_account(self.master, name))
        return client

    def rows(self, **wanted):
        """Results with these members."""
        return [row for row in self.project.results()
                if all(row[name] == value for name, value in wanted.items())]

    def valid(self):
        return self.rows(validate_state="valid")

    def wait_for_valid(self, count, seconds=90):
        wait_for(f"{count} valid results",
                 lambda: len(self.valid()) >= count, seconds, 0.5)

    def hosts(self):
        return [host for host in self.project.ask("hosts")
                if host["door"] == "boinc"]

    def retry_transfers(self, client):
        """Lets the client try broken transfers again at once."""
        for name in client.transfers():
            client.ask("--file_transfer", self.master, name, "retry")

    def wait_with_retries(self, what, condition, client, seconds=90):
        def retried():
            if condition():
                return True
            self.retry_transfers(client)
            return False
        wait_for(what, retried, seconds, 1)

    def close(self):
        self.proxy.close()


def expect_counted_once(scene):
    """Host and ledger count each valid result, and each once."""
    valid = scene.valid()
    expect(valid, "no valid result")
    counted = sum(host["valid"] for host in scene.project.ask("hosts"))
    expect(counted == len(valid), f"{counted} counted, {len(valid)} valid")
    entries = [entry["result"] for entry in scene.project.ledger()
               if entry["kind"] == "result"]
    expect(len(entries) == len(set(entries)), "an entry of the ledger twice")
    expect(set(entries) <= {row["id"] for row in valid},
           "the ledger has what is not valid")
