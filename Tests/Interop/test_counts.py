"""What a message between two people takes is held to the numbers of counts.toml: what has no time of its own cannot drift unseen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import shutil
import sqlite3
import subprocess
import time
import tomllib
import urllib.request

from conftest import ROOT, Site, tool
from tidings_client import Client

HELD: dict[str, dict] = tomllib.loads((ROOT / "Tests" / "Interop" / "counts.toml").read_text())
MESSAGES = 20
# Of the metrics, the sum of each.
METRICS = {
    "frames_received": "tidings_gateway_frames_received",
    "frames_sent": "tidings_gateway_frames_sent",
    "store_commands": "tidings_store_batch_commands_sum",
    "store_batches": "tidings_store_batch_commands_count",
}
TABLES = ("journal", "client_message", "message_index", "person_log", "open_leg")


class Counts:
    """What a server has done so far."""

    def __init__(self, site: Site, trace: pathlib.Path):
        self.site, self.trace = site, trace

    def metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"{self.site.api}/metrics", timeout=20) as answer:
            lines = [line.rpartition(" ") for line in answer.read().decode().splitlines()]
        return {
            name: sum(float(value) for key, _, value in lines if key.partition("{")[0].removesuffix("_total") == metric)
            for name, metric in METRICS.items()
        }

    @contextlib.contextmanager
    def database(self):
        """A copy: the server has the file to itself."""
        copy = self.site.folder / "copy.sqlite"
        for end in ("", "-wal"):
            shutil.copyfile(f"{self.site.database}{end}", f"{copy}{end}")
        with contextlib.closing(sqlite3.connect(copy)) as database:
            yield lambda question, *given: database.execute(question, given).fetchone()

    def stored(self) -> dict[str, int]:
        with self.database() as ask:
            newest, derived = ask("SELECT (SELECT max(position) FROM journal), watermark FROM store")
            rows = {f"{table}_rows": ask(f"SELECT count(*) FROM {table}")[0] for table in TABLES}
        return {**rows, "newest_row": newest, "derived": derived}

    def row_after(self, position: float) -> int:
        """Where the row after this one begins: as many records were before it."""
        with self.database() as ask:
            return ask("SELECT min(position) FROM journal WHERE position > ?", position)[0]

    def all(self) -> dict[str, float]:
        syncs = self.trace.read_text().count("sync(")
        return {**self.metrics(), **self.stored(), "syncs": syncs}

    def settled(self) -> dict[str, float]:
        """Once the server has nothing more to do: what was counted twice and is the same, all of it derived."""
        deadline = time.monotonic() + 60
        before = self.all()
        while True:
            time.sleep(0.3)
            now = self.all()
            if now == before and now["derived"] >= now["newest_row"]:
                return now
            assert time.monotonic() < deadline, f"the server does not come to rest: {before}, {now}"
            before = now


async def converse(counts: Counts) -> dict[str, float]:
    """One message after another, each settled before the next; what each has taken."""
    site = counts.site
    alice, bob = Client(site.gateway, site.token("alice")), Client(site.gateway, site.token("bob"))
    await alice.connect()
    await bob.connect()

    async def send(number: int):
        await alice.send("bob", f"number {number}")
        await bob.wait_for(lambda: len(bob.messages) == number)
        # Both pongs come after what was sent before the pings was taken.
        await bob.ping()
        await alice.ping()
        commands = None
        while commands != (commands := (await asyncio.to_thread(counts.metrics))["store_commands"]):
            await asyncio.sleep(0.05)

    await send(1)
    before = await asyncio.to_thread(counts.settled)
    for number in range(2, MESSAGES + 2):
        await send(number)
    after = await asyncio.to_thread(counts.settled)
    # What comes next begins a row, which says how many records there were.
    await send(MESSAGES + 2)
    await asyncio.to_thread(counts.settled)
    await alice.close()
    await bob.close()
    taken = {name: (after[name] - before[name]) / MESSAGES for name in before if name not in ("newest_row", "derived")}
    first, last = (counts.row_after(state["newest_row"]) for state in (before, after))
    taken["journal_records"] = (last - first) / MESSAGES
    # The pings, and their pongs, are the test's.
    taken["frames_received"] -= 2
    taken["frames_sent"] -= 2
    return taken


def test_a_message_between_two_people_takes_no_more_than_is_held(make_site):
    site = make_site(settings={"limits": {"mode": "none"}})
    trace = site.folder / "syncs"
    site.wrapper = ["strace", "--follow-forks", "--trace=fdatasync,fsync", f"--output={trace}"]
    site.start()
    taken = asyncio.run(converse(Counts(site, trace)))
    held = HELD["message"]
    assert set(taken) == set(held), "counts.toml holds other counts than the test"
    wrong = {name: count for name, count in taken.items() if not held[name]["least"] <= count <= held[name]["most"]}
    assert not wrong, f"counts.toml holds others than {wrong}; all counts: {taken}. If that is meant, change the number there, and say why"
    assert all(entry["why"] for entry in held.values())


def test_an_idle_connection_takes_as_much_memory_as_is_held():
    held = HELD["idle"]["resident_bytes"]
    done = subprocess.run(
        [tool(), "bench", "idle", "--connections", str(held["connections"]), "--json"], capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)["resident_bytes_a_connection"]
    assert abs(counted - held["count"]) <= held["count"] / 10, f"{counted} bytes; counts.toml holds {held['count']}"
