"""Stores as large as years of a project make them.

What happened once, over the wire, is copied with other ids, in the file of a
server that is stopped.
"""

import contextlib
import sqlite3

ASSIMILATED = 2
VALID = 1
# Tables with ids of their own, and those that name one of these.
OF_IDS = {"users": "id", "hosts": "id", "runs": "id", "workunits": "id",
          "results": "id", "events": "id", "sealed_tasks": "workunit",
          "boinc_accounts": "user", "boinc_hosts": "host", "ledger": "run",
          "run_totals": "run", "evaluations": "run", "host_shares": "run",
          "device_records": "host"}


def path_of(project):
    return project.folder / "db/quorate.sqlite"


@contextlib.contextmanager
def opened(project):
    store = sqlite3.connect(path_of(project))
    with contextlib.closing(store), store:
        yield store


@contextlib.contextmanager
def in_haste(store):
    """For a change of gigabytes: without a journal, and without the triggers
    that keep totals. The server brings its journal back."""
    triggers = store.execute("SELECT name, sql FROM sqlite_master "
                             "WHERE type = 'trigger'").fetchall()
    for order in ("journal_mode = OFF", "synchronous = OFF",
                  "cache_size = -1000000"):
        store.execute(f"PRAGMA {order}").fetchall()
    for name, _ in triggers:
        store.execute(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        store.execute(sql)


def count(project, table):
    with opened(project) as store:
        return store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def copy_rows(store, table, changes, where):
    """Rows of a table once more, with changes: column -> expression."""
    columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(changes.get(column, column) for column in columns)
    store.execute(f"INSERT INTO {table} SELECT {values} FROM {table} "
                  f"WHERE {where}")


def multiply(project, units):
    """Copies assimilated units, each with its task, valid results and entry in
    the ledger, until there are so many."""
    with opened(project) as store, in_haste(store):
        def most(table, column="id"):
            return store.execute(
                f"SELECT max({column}) FROM {table}").fetchone()[0]
        last_unit, last_result = most("workunits"), most("results")
        last_entry = most("ledger", "seq")
        made = f"state = {ASSIMILATED} AND id <= {last_unit}"
        of_those = f"workunit IN (SELECT id FROM workunits WHERE {made})"
        there = store.execute(
            f"SELECT count(*) FROM workunits WHERE {made}").fetchone()[0]
        for time in range(1, -(-units // there)):
            unit, result = time * last_unit, time * last_result
            copy_rows(store, "workunits", {
                "id": f"id + {unit}", "object": "randomblob(32)",
                "canonical_result": f"canonical_result + {result}"}, made)
            copy_rows(store, "sealed_tasks",
                      {"workunit": f"workunit + {unit}"}, of_those)
            copy_rows(store, "results", {
                "id": f"id + {result}", "workunit": f"workunit + {unit}"},
                f"validate_state = {VALID} AND {of_those}")
            copy_rows(store, "ledger", {
                "seq": f"seq + {time * (last_entry + 1)}",
                "result": f"result + {result}"}, f"seq <= {last_entry}")


class Bookmark:
    """What a store holds now, to come back to."""

    def __init__(self, project):
        self.project = project
        with opened(project) as store:
            self.last = {table: store.execute(
                f"SELECT ifnull(max({column}), 0) FROM {table}").fetchone()[0]
                for table, column in OF_IDS.items()}

    def restore(self):
        """Removes all rows that came since."""
        with opened(self.project) as store:
            for table, column in OF_IDS.items():
                store.execute(f"DELETE FROM {table} WHERE {column} > ?",
                              (self.last[table],))
