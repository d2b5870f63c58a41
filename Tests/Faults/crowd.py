"""Thousands of clients in one process: as little of WebSocket as docs/server/protocol.md needs, so that the server is what is busy."""

from __future__ import annotations

import asyncio
import json
import random
import resource

from conftest import Site
from load import SEED, metric
from raw_websocket import frame, handshake
from tidings_client import Client

SUBPROTOCOL = "tidings.v1.json"


def raise_file_limit(wanted: int):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        assert hard >= wanted, f"needs {wanted} open files, the limit is {hard}"
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Member:
    """One client: a connection, and the one message it sends."""

    def __init__(self, number: int, token: str):
        self.name, self.peer = f"c{number}", f"c{number ^ 1}"
        self.token = token
        # Of its message: what the server said, each time.
        self.answers: set[str] = set()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self, port: int):
        while True:
            try:
                # More than the limit of any wait for one's turn: the last of the crowd is let in late, not turned away.
                async with asyncio.timeout(120):
                    self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
                    self._writer.write(handshake(SUBPROTOCOL))
                    head = await self._reader.readuntil(b"\r\n\r\n")
                    assert head.startswith(b"HTTP/1.1 101 "), head
                    self._send({"hello": {
                        "versionMin": 1, "versionMax": 1, "token": self.token, "device": f"d-{self.name}",
                        "platform": "python", "runState": {"state": "foreground"}, "after": "0"}})
                    while "welcome" not in await self._next():
                        pass
                return
            except (OSError, EOFError):
                self.drop()
                await asyncio.sleep(0.1)

    def send(self):
        self._send({"send": {
            "clientMessageId": f"m-{self.name}", "conversation": {"type": "PR", "target": self.peer},
            "objectName": "RC:TxtMsg", "content": json.dumps({"content": self.name})}})

    async def answer(self):
        while True:
            got = await self._next()
            assert "problem" not in got and "sendRefused" not in got, got
            if "sendAccepted" in got:
                self.answers.add(got["sendAccepted"]["messageId"])
                return

    def drop(self):
        if self._writer:
            self._writer.transport.abort()
            self._writer = None

    def _send(self, message: dict):
        self._writer.write(frame(0x1, json.dumps(message).encode()))

    async def _next(self) -> dict:
        first, second = await self._reader.readexactly(2)
        length = second & 0x7F
        if length >= 126:
            length = int.from_bytes(await self._reader.readexactly(2 if length == 126 else 8), "big")
        payload = await self._reader.readexactly(length)
        if first & 0x0F == 0x8:
            raise EOFError("closed")
        return json.loads(payload) if first & 0x0F == 0x1 else {}


class Crowd:
    """So many clients, in pairs that write to each other."""

    def __init__(self, site: Site, count: int):
        self.site = site
        self.members = [Member(number, "") for number in range(count)]

    async def connect(self):
        """All at once, and each until it is let in."""
        if not self.members[0].token:
            for member in self.members:
                member.token = await asyncio.to_thread(self.site.token, member.name)
        await asyncio.gather(*(member.connect(self.site.gateway_port) for member in self.members))

    async def send_without_waiting(self):
        for member in self.members:
            member.send()
        # Some have their answer, most have not.
        await self.members[0].answer()

    async def lose(self):
        for member in self.members:
            member.drop()

    async def send_and_wait(self):
        for member in self.members:
            member.send()
        async with asyncio.timeout(240):
            await asyncio.gather(*(member.answer() for member in self.members))

    async def leave(self):
        await self.lose()

    async def verify(self, sample: int) -> dict[str, int]:
        """Everybody's message has one id; of so many people, the log holds their own and their peer's message once each."""
        assert all(len(member.answers) == 1 for member in self.members)
        assert metric(self.site, "tidings_bugs") == 0
        by_name = {member.name: member for member in self.members}
        for member in random.Random(SEED).sample(self.members, sample):
            reader = Client(self.site.gateway, member.token)
            async with asyncio.timeout(90):
                await reader.connect()
            found = sorted(message["id"] for message in reader.messages)
            await reader.close()
            assert found == sorted(member.answers | by_name[member.peer].answers), member.name
        return {"clients": len(self.members), "repeated": int(metric(self.site, "tidings_messages_repeated"))}
