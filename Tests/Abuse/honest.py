"""Honest phones, as a process of their own: they write to each other at a steady rate, and time and check every message.

Started by `ground.py`. The first line of the standard input is the ground (JSON), each further one is a command; each is answered by
one line of JSON:

    begin                  a window begins
    end SECONDS            it ends; its messages are waited for, for at most so many seconds more; the figures of the window
    finish SECONDS         nothing more is sent; what is missing is waited for; what is true of everything since the start
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from dataclasses import dataclass, field

from wire import HANDSHAKE, Frames, hello, json_frame, pong_frame, send

HEARTBEAT = 15
# What honest phones write; anything else that reaches them is an attacker's, and is stored and acknowledged like all else.
MARK = "honest "


@dataclass
class Sent:
    """One message on its way: who has to get it, and when what happened to it."""

    kind: str
    at: float
    # Who lacks it still.
    missing: set[str]
    accepted: float = 0.0
    # Times from the send until it was there, by recipient.
    taken: dict[str, float] = field(default_factory=dict)
    is_chat_room: bool = False
    # Said again after a refusal, by then perhaps behind later ones.
    was_refused: bool = False


class Phone(asyncio.Protocol):
    """One phone: keeps its log without gaps, acknowledges at once, says again what was not answered."""

    def __init__(self, crowd: Crowd, name: str, token: str):
        self.crowd, self.name, self.token = crowd, name, token
        # One for each, as phones have: limits by address are not for all of them together.
        self.address = f"127.1.{len(crowd.addresses) // 250}.{len(crowd.addresses) % 250 + 1}"
        crowd.addresses.append(self.address)
        self.transport: asyncio.Transport | None = None
        self.is_welcome = False
        self.stored = 0
        self._beyond: set[int] = set()
        self._open: dict[str, dict] = {}
        self._last: dict[tuple[str, str], int] = {}
        self._numbers: dict[str, int] = {}
        self._requests = 0
        self._is_leaving = False

    # MARK: the connection

    async def connect(self):
        self.is_welcome = False
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(30):
                    await loop.create_connection(
                        lambda: self, "127.0.0.1", self.crowd.port, local_addr=(self.address, 0))
                    while not self.is_welcome and self.transport:
                        await asyncio.sleep(0.005)
                if self.is_welcome:
                    return
            except OSError:
                pass
            except TimeoutError:
                if self.transport:
                    self.transport.abort()
            await asyncio.sleep(0.1)

    def connection_made(self, transport):
        self.transport = transport
        self._frames = Frames()
        self._is_open = False
        self._head = b""
        transport.write(HANDSHAKE)

    def data_received(self, data: bytes):
        if not self._is_open:
            head, gap, data = (self._head + data).partition(b"\r\n\r\n")
            if not gap:
                self._head = head
                return
            if not head.startswith(b"HTTP/1.1 101 "):
                self.crowd.count("turned away")
                self.transport.abort()
                return
            self._is_open = True
            self.say(hello(self.token, f"d-{self.name}", self.stored))
        for opcode, payload in self._frames.take(data):
            if opcode == 0x1:
                self._take(payload)
            elif opcode == 0x9:
                self.transport.write(pong_frame(payload))

    def connection_lost(self, _):
        self.transport = None
        if self.is_welcome and not self._is_leaving:
            self.crowd.count("cut off")
            self.crowd.spawn(self.connect())
        self.is_welcome = False

    def say(self, message: dict):
        if self.transport:
            self.transport.write(json_frame(message))

    def leave(self):
        self._is_leaving = True
        if self.transport:
            self.transport.abort()

    # MARK: what it writes

    def write(self, kind: str, target: str, recipients: set[str]):
        number = self._numbers[target] = self._numbers.get(target, 0) + 1
        ident = f"{self.name}/{target}/{number}"
        self.crowd.sent[ident] = Sent(
            "push" if target in self.crowd.frozen else {"PR": "one to one", "GRP": "group", "CHRM": "room"}[kind], time.monotonic(),
            set(recipients), is_chat_room=kind == "CHRM")
        self._open[ident] = send(ident.replace("/", "-"), kind, target, MARK + ident)
        self.say(self._open[ident])

    # MARK: what it hears

    def _take(self, payload: bytes):
        if payload.startswith(b'{"signal"'):
            # An attacker's in a room are large and many: they are read, and looked at no further.
            if MARK.encode() in payload[:4096]:
                self._hear(json.loads(payload)["signal"])
            else:
                self.crowd.count("foreign signals")
            return
        ((kind, body),) = json.loads(payload).items()
        match kind:
            case "entry":
                position = int(body["position"])
                if position == self.stored + 1:
                    self._keep(body)
                    self._advance()
                elif position > self.stored:
                    self.say({"sync": {"after": str(self.stored), "limit": 100}})
            case "sendAccepted":
                self._accepted(body)
            case "sendRefused":
                problem = body["problem"]
                # A message sent before the refusal of the one in front of it has come is refused, so that it does not overtake.
                follows = problem["code"] == "unavailable" and problem.get("rule", "").startswith("must follow ")
                self.crowd.count("refused until the one before has come" if follows else f"refused {problem['code']}")
                ident = body["clientMessageId"].replace("-", "/")
                self.crowd.sent[ident].was_refused = True
                wait = int(body["problem"].get("retryAfterMs", 1_000)) / 1_000
                asyncio.get_running_loop().call_later(wait, self._again, ident)
            case "page":
                for entry in body.get("entries", []):
                    if int(entry["position"]) > self.stored and int(entry["position"]) not in self._beyond:
                        self._keep(entry)
                self._advance()
                if self.stored < int(body.get("head", "0")):
                    self.say({"sync": {"after": str(self.stored), "limit": 100}})
            case "welcome":
                self.is_welcome = True
                if int(body.get("head", "0")) > self.stored:
                    self.say({"sync": {"after": str(self.stored), "limit": 100}})
                if self.crowd.hears_room(self.name):
                    self._ask({"enterRoom": {"conversation": {"type": "CHRM", "target": self.crowd.room}}})
                for message in self._open.values():
                    self.say(message)
            case "problem":
                self.crowd.count(f"problem {body['code']}")
            case "answer":
                if "refused" in body:
                    self.crowd.count(f"request refused {body['refused']['code']}")

    def _keep(self, entry: dict):
        self._beyond.add(int(entry["position"]))
        if message := entry.get("message"):
            self._arrived(message)

    def _advance(self):
        """The log is held without gaps up to `stored`; whatever that has grown by is acknowledged."""
        before = self.stored
        while self.stored + 1 in self._beyond:
            self.stored += 1
            self._beyond.discard(self.stored)
        if self.stored > before:
            self.say({"ack": {"stored": str(self.stored), "settled": [
                {"upTo": str(self.stored), "disposition": "left_to_app"}]}})

    def _arrived(self, message: dict):
        text = json.loads(message["content"]).get("content", "")
        if not text.startswith(MARK) or message["sender"] == self.name:
            return
        ident = text.removeprefix(MARK)
        sender, target, number = ident.split("/")
        sent = self.crowd.sent.get(ident)
        if sent is None or self.name in sent.taken:
            self.crowd.wrong(f"{self.name} got {ident} twice")
            return
        last = self._last.get((sender, target), 0)
        if int(number) <= last and not sent.was_refused:
            self.crowd.wrong(f"{self.name} got {ident} after a later one")
        self._last[sender, target] = max(last, int(number))
        sent.missing.discard(self.name)
        sent.taken[self.name] = time.monotonic() - sent.at

    def _hear(self, signal: dict):
        if room := signal.get("room"):
            self._arrived(room)

    def _accepted(self, body: dict):
        ident = body["clientMessageId"].replace("-", "/")
        if position := int(body.get("position", "0")):
            self._beyond.add(position)
            self._advance()
        if self._open.pop(ident, None):
            sent = self.crowd.sent[ident]
            sent.accepted = time.monotonic() - sent.at
            if sent.kind == "push":
                self.crowd.pushes[body["messageId"]] = sent
                if early := self.crowd.early.pop(body["messageId"], None):
                    self.crowd.pushed(*early)

    def _again(self, ident: str):
        if message := self._open.get(ident):
            self.say(message)

    def _ask(self, question: dict):
        self._requests += 1
        self.say({"request": {"number": str(self._requests), **question}})


class Frozen:
    """A phone whose app does not run: it takes every push at once."""

    def __init__(self, crowd: Crowd, name: str, token: str):
        self.crowd, self.name, self.token = crowd, name, token

    async def start(self, courier: int, topic: str):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", courier)
        self._say({"type": "hello", "phone": self.name})
        self._say({"type": "register", "id": 1, "topic": topic, "environment": "sandbox"})
        push_token = ""
        while not push_token:
            push_token = (await self._hear()).get("token", "")
        # The app runs for as long as it takes to register.
        app = Phone(self.crowd, self.name, self.token)
        await app.connect()
        app.say({"registerPush": {"token": push_token, "environment": "sandbox", "topic": topic}})
        app.say({"runState": {"state": "suspending"}})
        app.say({"ping": {"nonce": "1"}})
        await asyncio.sleep(0.3)
        app.leave()
        self._task = asyncio.create_task(self._live())

    def _say(self, line: dict):
        self._writer.write(json.dumps(line).encode() + b"\n")

    async def _hear(self) -> dict:
        return json.loads(await self._reader.readuntil(b"\n"))

    async def _live(self):
        while True:
            line = await self._hear()
            if line["type"] == "push":
                self._say({"type": "ack", "delivery": line["delivery"]})
                self.crowd.pushed(line["collapse_id"], self.name)


class Crowd:
    """All of them, and what is true of what they wrote."""

    def __init__(self, ground: dict):
        self.port = ground["gateway_port"]
        self.addresses: list[str] = []
        self.rate = ground["rate"]
        self.room = ground["room"]
        self.groups: dict[str, list[str]] = ground["groups"]
        self.frozen: dict[str, str] = ground["frozen"]
        self.hearers = set(ground["hearers"])
        self.phones = {name: Phone(self, name, token) for name, token in ground["phones"].items()}
        self.ground = ground
        self.sent: dict[str, Sent] = {}
        # Messages to frozen phones by id, once accepted; pushes that came before that was known.
        self.pushes: dict[str, Sent] = {}
        self.early: dict[str, tuple[str, str]] = {}
        self._counts: dict[str, int] = {}
        self._window: dict[str, int] = {}
        self._wrong: list[str] = []
        self._tasks: set[asyncio.Task] = set()
        # How late this process was itself: its own fault, or the machine's.
        self._lags: list[float] = []
        self._began = 0.0

    def hears_room(self, name: str) -> bool:
        return name in self.hearers

    def count(self, what: str):
        self._counts[what] = self._counts.get(what, 0) + 1
        self._window[what] = self._window.get(what, 0) + 1

    def wrong(self, what: str):
        self._wrong.append(what)

    def pushed(self, message: str, name: str):
        sent = self.pushes.get(message)
        if sent is None:
            self.early[message] = (message, name)
        elif name in sent.missing:
            sent.missing.discard(name)
            sent.taken[name] = time.monotonic() - sent.at
        elif not sent.missing:
            self.wrong(f"{name} got the push of {message} twice")

    def spawn(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def start(self):
        self._frozen_phones = [Frozen(self, name, token) for name, token in self.frozen.items()]
        await asyncio.gather(*(
            phone.start(self.ground["courier_port"], self.ground["topic"]) for phone in self._frozen_phones))
        await asyncio.gather(*(phone.connect() for phone in self.phones.values()))
        self._writing = asyncio.create_task(self._write())

    async def _write(self):
        """At its times, whatever has become of what was written before: a server that is slow is not written to less."""
        names = list(self.phones)
        index = {name: number for number, name in enumerate(names)}
        groups, frozen = list(self.groups), list(self.frozen)
        turn, at = 0, time.monotonic()
        while True:
            turn += 1
            at += 1 / self.rate
            await asyncio.sleep(max(0, at - time.monotonic()))
            self._lags.append(time.monotonic() - at)
            # 7 has no factor in common with the number of phones: everybody has a turn.
            sender = names[turn * 7 % len(names)]
            phone = self.phones[sender]
            if turn % 40 == 0:
                phone = self.phones[self.ground["hearers"][turn // 40 % len(self.hearers)]]
                phone.write("CHRM", self.room, self.hearers - {phone.name})
            elif turn % 20 == 10:
                group = groups[turn // 20 % len(groups)]
                members = self.groups[group]
                self.phones[members[turn // 20 % len(members)]].write("GRP", group, set(members) - {
                    members[turn // 20 % len(members)]})
            elif frozen and turn % 20 == 5:
                target = frozen[turn // 20 % len(frozen)]
                phone.write("PR", target, {target})
            else:
                peer = names[index[sender] ^ 1]
                phone.write("PR", peer, {peer})
            if turn % (self.rate * HEARTBEAT) == 0:
                for phone in self.phones.values():
                    phone.say({"ping": {"nonce": "1"}})

    def begin(self):
        self._began = time.monotonic()
        self._window = {}
        self._lags = []

    def _of_window(self, until: float) -> list[Sent]:
        return [sent for sent in self.sent.values() if self._began <= sent.at < until]

    async def end(self, seconds: float) -> dict:
        until = time.monotonic()
        figures = {"counts": dict(self._window), "lag_ms": percentiles(self._lags)}
        while time.monotonic() < until + seconds and any(
            not sent.accepted or sent.missing for sent in self._of_window(until)
        ):
            await asyncio.sleep(0.05)
        now = time.monotonic()
        window = self._of_window(until)
        times: dict[str, list[float]] = {"accepted": []}
        missing = 0
        for sent in window:
            # What has not come yet has taken this long at least.
            times["accepted"].append(sent.accepted or now - sent.at)
            of_kind = times.setdefault(sent.kind, [])
            of_kind += sent.taken.values()
            of_kind += [now - sent.at] * len(sent.missing)
            missing += len(sent.missing)
        return {
            **figures, "sent": len(window), "missing": missing,
            "times_ms": {kind: percentiles(values) for kind, values in sorted(times.items())},
            "counts_after": dict(self._window),
        }

    async def finish(self, seconds: float) -> dict:
        self._writing.cancel()
        await asyncio.gather(self._writing, return_exceptions=True)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(not sent.accepted or sent.missing for sent in self.sent.values()):
            await asyncio.sleep(0.05)
        # A second copy would come now.
        await asyncio.sleep(0.2)
        lost = [f"{ident} to {name}" for ident, sent in self.sent.items() for name in sorted(sent.missing)]
        return {
            "sent": len(self.sent), "arrivals": sum(len(sent.taken) for sent in self.sent.values()),
            "unanswered": [ident for ident, sent in self.sent.items() if not sent.accepted],
            "lost": lost, "wrong": self._wrong, "counts": self._counts,
        }


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Number, median, and the high ones, in milliseconds, each at least as large as that share of the values."""
    values = sorted(seconds)
    if not values:
        return {"n": 0}
    def at(share: float) -> float:
        return round(values[min(len(values) - 1, math.ceil(share * len(values)) - 1)] * 1_000, 1)
    return {"n": len(values), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": round(values[-1] * 1_000, 1)}


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def tell(what: dict):
        print(json.dumps(what), flush=True)

    crowd = Crowd(json.loads(await reader.readline()))
    await crowd.start()
    tell({"ready": True})
    while line := (await reader.readline()).decode().split():
        match line:
            case ["begin"]:
                crowd.begin()
                tell({})
            case ["end", seconds]:
                tell(await crowd.end(float(seconds)))
            case ["finish", seconds]:
                tell(await crowd.finish(float(seconds)))


if __name__ == "__main__":
    asyncio.run(main())
