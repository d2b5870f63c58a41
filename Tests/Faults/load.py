"""People who write to each other while everything breaks, and what must be true afterwards (design.md P1, P2, P6)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import random
import re
import time
import urllib.request

import websockets
from conftest import Site
from tidings_client import Client, Refused

# The long form of every fault: `make prove-faults`.
IS_LONG = os.environ.get("TIDINGS_FAULTS") == "long"
# Chosen by chance unless told; printed with every failure, as all that a test prints.
SEED = int(os.environ.get("TIDINGS_SEED", random.SystemRandom().randrange(1 << 32)))
# Nothing here is about speed: a deadline only ends what would never come.
SECONDS = 90
# What may come and go with the allocator, with caches that fill, and with the people the server knows by now.
GROWTH_BYTES_MAX = 96 << 20

# Leases that end soon: what is waited for is the end of legs, not the time of it.
SETTINGS = {
    "lease": {"grace_milliseconds": 500, "restart_grace_milliseconds": 1000, "foreground_ack_milliseconds": 3000,
              "probe_milliseconds": 1000},
    "drain": {"spread_milliseconds": 200, "wait_milliseconds": 1000},
    # As much as the machine carries is the point here.
    "limits": {"mode": "none"},
}


def run(coroutine, seconds: float = 600 if IS_LONG else 300):
    print(f"TIDINGS_SEED={SEED}")
    return asyncio.run(asyncio.wait_for(coroutine, seconds))


class Load:
    """Pairs of people; each sends one message after the other, and repeats each until it is answered, as docs/server/protocol.md asks."""

    def __init__(self, site: Site, people: int = 12, gateway: str | None = None, answer_seconds: float = 20,
                 pause: float = 0.01):
        self.site = site
        self.answer_seconds = answer_seconds
        self.pause = pause
        self.names = [f"u{number}" for number in range(people)]
        self.clients = {name: Client(gateway or site.gateway, "") for name in self.names}
        # Client message id -> sender; in the order of sending.
        self.sent: dict[str, str] = {}
        # Client message id -> message id.
        self.acknowledged: dict[str, str] = {}
        # Sends that were asked for more than once before there was an answer.
        self.repeated = 0
        self.reconnects = 0
        self._tasks: list[asyncio.Task] = []
        self._is_stopping = False

    @staticmethod
    def peer(name: str) -> str:
        return f"u{int(name[1:]) ^ 1}"

    # MARK: the people

    async def start(self):
        self._is_stopping = False
        for name in self.names:
            self.clients[name].token = await self._token(name)
        self._tasks = [asyncio.create_task(self._live(name)) for name in self.names]
        await self.more(len(self.names))
        return self

    async def _token(self, name: str) -> str:
        # A day: clocks are moved.
        return await asyncio.to_thread(self.site.token, name, 86_400)

    async def _live(self, name: str):
        number = sum(1 for sender in self.sent.values() if sender == name)
        while not self._is_stopping:
            ident = f"{name}-{number:06}"
            number += 1
            self.sent[ident] = name
            self.acknowledged[ident] = await self._send_until_answered(name, ident)
            await asyncio.sleep(self.pause)

    async def _send_until_answered(self, name: str, ident: str) -> str:
        client = self.clients[name]
        tries = 0
        while True:
            try:
                if not is_open(client):
                    async with asyncio.timeout(self.answer_seconds):
                        await client.connect()
                tries += 1
                async with asyncio.timeout(self.answer_seconds):
                    answer = await client.send(self.peer(name), ident, client_message_id=ident)
                self.repeated += tries > 1
                return answer["messageId"]
            except Refused as refusal:
                if refusal.code not in ("unavailable", "superseded"):
                    raise
            except (OSError, TimeoutError, EOFError, websockets.WebSocketException):
                pass
            self.reconnects += 1
            await abandon(client)
            await asyncio.sleep(0.05)

    async def more(self, count: int):
        """Waits for so many more acknowledgements."""
        wanted = len(self.acknowledged) + count
        deadline = time.monotonic() + SECONDS
        while len(self.acknowledged) < wanted:
            for task in self._tasks:
                if task.done():
                    task.result()
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} acknowledgements, {wanted} wanted"
            await asyncio.sleep(0.02)

    async def stop(self):
        """Every message under way is answered, then nothing more is sent and everybody leaves."""
        self._is_stopping = True
        try:
            async with asyncio.timeout(SECONDS):
                await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
        assert set(self.sent) == set(self.acknowledged)
        for client in self.clients.values():
            with contextlib.suppress(Exception):
                async with asyncio.timeout(5):
                    await client.close()
            await abandon(client)

    async def give_up(self) -> set[str]:
        """Everybody falls silent at once, as if all phones lost the network. Returns the messages that were answered."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client in self.clients.values():
            await abandon(client)
        for ident in set(self.sent) - set(self.acknowledged):
            del self.sent[ident]
        return set(self.acknowledged)

    # MARK: what must be true

    async def verify(self, legs: int = 60) -> dict[str, int]:
        """Reads everything from the disk with new devices. Returns figures."""
        await self.verify_logs()
        await asyncio.to_thread(self.verify_legs, legs)
        bugs = await asyncio.to_thread(metric, self.site, "tidings_bugs")
        assert bugs == 0, f"the server found {bugs} bugs in itself: {self.site.server.tail()}"
        return {"acknowledged": len(self.acknowledged), "repeated": self.repeated, "reconnects": self.reconnects}

    async def verify_logs(self, exactly: bool = True):
        """Everything acknowledged is in both logs, once, under the id of its acknowledgement, in the order of its sender.

        `exactly`: and nothing else is.
        """
        for name in self.names:
            reader = Client(self.site.gateway, await self._token(name))
            async with asyncio.timeout(SECONDS):
                await reader.connect()
            messages = reader.messages
            await reader.close()
            found = [json.loads(message["content"])["content"] for message in messages]
            assert len(found) == len(set(found)), f"{name} has a message twice"
            expected = {
                ident for ident, sender in self.sent.items()
                if name in (sender, self.peer(sender)) and ident in self.acknowledged
            }
            assert not expected - set(found), f"{name} lacks {sorted(expected - set(found))[:5]}"
            assert not exactly or set(found) == expected, f"{name} has {sorted(set(found) - expected)[:5]} as well"
            for ident, message in zip(found, messages, strict=True):
                assert message["id"] == self.acknowledged.get(ident, message["id"]), f"{ident} has two ids"
            for sender in (name, self.peer(name)):
                own = [ident for ident in found if ident.startswith(f"{sender}-")]
                assert own == sorted(own), f"{name} has {sender}'s messages in another order than they were sent"
            ids = [message["id"] for message in messages]
            assert ids == sorted(ids), f"{name} has ids that go back"

    def verify_legs(self, count: int):
        """Of so many messages, the last ones of all among them: every leg has ended, and each recipient has one at least."""
        idents = sorted(self.acknowledged)
        chosen = random.Random(SEED).sample(idents, min(count, len(idents)))
        last = {}
        for ident in self.sent:
            last[self.sent[ident]] = ident
        deadline = time.monotonic() + SECONDS
        for ident in dict.fromkeys([*last.values(), *chosen]):
            while True:
                trace = self.site.trace(self.acknowledged[ident])
                ended = {leg["user"] for leg in trace["ended_legs"]}
                if not trace["open_legs"] and self.peer(self.sent[ident]) in ended:
                    break
                assert time.monotonic() < deadline, f"a leg has not ended: {json.dumps(trace)}"
                time.sleep(0.1)


def is_open(client: Client) -> bool:
    return client._socket is not None and client._reader is not None and not client._reader.done()


async def abandon(client: Client):
    """Lets go of a connection without a word."""
    if client._reader:
        client._reader.cancel()
        await asyncio.gather(client._reader, return_exceptions=True)
        client._reader = None
    if client._socket:
        client._socket.transport.abort()
        client._socket = None


def metric(site: Site, name: str) -> float:
    """The sum of a metric's series; 0 for one that was never counted."""
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(rf"{name}(_total)?[ {{]", line)
    )


class Usage:
    """Memory and file descriptors of a server, compared with what they were."""

    def __init__(self, site: Site):
        self.site = site
        self.pid = site.server.child_pid
        self.bytes = self._bytes()
        self.files = self._files()

    def _bytes(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10

    def _files(self) -> int:
        return len(list(pathlib.Path(f"/proc/{self.pid}/fd").iterdir()))

    def verify(self, growth: int = GROWTH_BYTES_MAX) -> dict[str, int]:
        """Nobody is connected any more: no descriptor is left, and memory has grown by less than the bound."""
        deadline = time.monotonic() + SECONDS
        while (files := self._files()) > self.files or metric(self.site, "tidings_gateway_connections") > 0:
            assert time.monotonic() < deadline, f"{files} descriptors, {self.files} before"
            time.sleep(0.1)
        grown = self._bytes() - self.bytes
        assert grown < growth, f"grown by {grown >> 20} MiB, at most {growth >> 20} are allowed"
        return {"files": files, "grown_kib": grown >> 10}


def tell(what: str, figures: dict):
    """What a test saw, for `make prove-faults`."""
    print(f"fault {what}: " + ", ".join(f"{value} {key}" for key, value in figures.items()))
