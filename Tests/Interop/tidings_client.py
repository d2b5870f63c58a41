"""A Tidings client in Python, written from docs/server/protocol.md alone: nothing of the Swift code is used.

It speaks the JSON subprotocol and keeps the whole log of its person in memory. Used by the interop and the fault tests.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from dataclasses import dataclass, field

import websockets

SUBPROTOCOL = "tidings.v1.json"


class Refused(Exception):
    """The server said no: a problem with code, field and rule."""

    def __init__(self, problem: dict):
        super().__init__(f"{problem.get('code')}: {problem.get('field', '')} {problem.get('rule', '')}")
        self.problem = problem
        self.code = problem.get("code")
        self.field = problem.get("field", "")


@dataclass
class Client:
    """One device of one person."""

    url: str
    token: str
    device: str = field(default_factory=lambda: f"python-{uuid.uuid4().hex[:12]}")
    platform: str = "python"
    # How entries are settled; None leaves them unacknowledged, like a phone that froze without a word.
    disposition: str | None = "left_to_app"
    run_state: str = "foreground"
    # In the background, how long the app keeps its connection, in milliseconds.
    remaining: int = 0
    # The log, position by position: entries as the server sent them, own sends as their acceptance.
    log: dict[int, dict] = field(default_factory=dict)
    # Own sends by client message id: the acceptance, once there is one.
    accepted: dict[str, dict] = field(default_factory=dict)
    welcome: dict | None = None
    # More headers of the handshake, for example what a proxy adds.
    headers: dict[str, str] = field(default_factory=dict)
    # Messages the server has lost: held here alone since its log began anew.
    kept: list[dict] = field(default_factory=list)

    def __post_init__(self):
        self._socket = None
        self._reader = None
        self._answers: dict[str, asyncio.Future] = {}
        self._changed = asyncio.Event()
        self._settled = 0
        self._pings = itertools.count(1)
        self._requests = itertools.count(1)
        # What is waited for by request number.
        self._requested: dict[int, asyncio.Future] = {}
        # Signals as they came; never stored, never sure to come.
        self.signals: list[dict] = []
        # What the pages have said of pushes, in their order; None where one said nothing.
        self.pushes: list[dict | None] = []
        self.fatal: dict | None = None
        # Problems that end nothing, as they came.
        self.problems: list[dict] = []
        # When the token of this connection expires, as the server has said, in milliseconds.
        self.token_expires: list[int] = []
        self.is_closed = False
        self._pongs: set[int] = set()

    @property
    def stored(self) -> int:
        """The position up to which the log is held without gaps."""
        position = self._settled
        while position + 1 in self.log:
            position += 1
        return position

    def entries(self, kind: str) -> list[dict]:
        """What the log says of one kind, in its order: `recall`, `change`, …"""
        return [self.log[position][kind] for position in sorted(self.log) if kind in self.log[position]]

    @property
    def held(self) -> list[str]:
        """The texts of all messages that are here, oldest first, also of those the server has lost."""
        by_id = {message["id"]: message for message in self.kept + self.messages}
        return [json.loads(by_id[id]["content"])["content"] for id in sorted(by_id)]

    @property
    def shown(self) -> list[dict]:
        """What is on the screen: without what was recalled or deleted, contents as edited."""
        gone = {entry["message"] for entry in self.entries("recall")}
        gone |= {message for entry in self.entries("deletion") for message in entry["messages"]}
        edited = {entry["message"]: entry["content"] for entry in self.entries("edit")}
        return [
            {**message, "content": edited.get(message["id"], message["content"])}
            for message in self.messages
            if message["id"] not in gone
        ]

    @property
    def messages(self) -> list[dict]:
        """All messages held, own ones included, in the order of the log."""
        found = []
        for position in sorted(self.log):
            entry = self.log[position]
            if "message" in entry:
                found.append(entry["message"])
        return found

    async def connect(self) -> dict:
        """Opens the connection, says hello, waits for the welcome and for the whole log."""
        self.fatal = None
        known = self.welcome or {}
        self.is_closed = False
        self._socket = await websockets.connect(
            f"{self.url}/v1/connect", subprotocols=[SUBPROTOCOL], max_size=2**24, ping_interval=None, compression=None,
            additional_headers=self.headers,
        )
        assert self._socket.subprotocol == SUBPROTOCOL
        await self._send(
            {
                "hello": {
                    "versionMin": 1,
                    "versionMax": 1,
                    "token": self.token,
                    "device": self.device,
                    "platform": self.platform,
                    "runState": {"state": self.run_state, "remainingMs": str(self.remaining)},
                    "after": str(self.stored),
                    "opening": known.get("opening", "0"),
                }
            }
        )
        frame = json.loads(await self._socket.recv())
        if "problem" in frame:
            await self._socket.close()
            raise Refused(frame["problem"])
        self.welcome = frame["welcome"]
        is_other = any(known and known.get(name) != self.welcome.get(name) for name in ("storeId", "generation"))
        if self.welcome.get("otherLog") or is_other or int(self.welcome.get("head", "0")) < self.stored:
            self.kept += self.messages
            self.log, self._settled = {}, 0
        self._reader = asyncio.create_task(self._read())
        head = int(self.welcome.get("head", "0"))
        if head > self.stored:
            await self._sync()
            await self.wait_for(lambda: self.stored >= head)
        return self.welcome

    async def close(self):
        if self._reader:
            self._reader.cancel()
        if self._socket:
            await self._socket.close()

    async def send(
        self, target: str, text: str, kind: str = "PR", client_message_id: str | None = None, **more
    ) -> dict:
        """Sends a text message; returns the acceptance, written after the message was on disk.

        More may be said: mentions, recipients, lifetimeMs.
        """
        client_message_id = client_message_id or uuid.uuid4().hex
        answer = asyncio.get_running_loop().create_future()
        self._answers[client_message_id] = answer
        await self._send(
            {
                "send": {
                    "clientMessageId": client_message_id,
                    "conversation": {"type": kind, "target": target},
                    "objectName": "RC:TxtMsg",
                    "content": json.dumps({"content": text}),
                    **more,
                }
            }
        )
        return await answer

    async def register_push(
        self, token: str, topic: str, is_answered: bool = False, environment: str = "sandbox"
    ):
        """Tells the push registration; with an answer, waits until it is on disk, or raises `Refused`."""
        registration = {"token": token, "environment": environment, "topic": topic}
        if not is_answered:
            return await self._send({"registerPush": registration})
        number = next(self._requests)
        answer = self._requested[number] = asyncio.get_running_loop().create_future()
        await self._send({"registerPush": {**registration, "number": str(number)}})
        return await answer

    async def tell_status(self, authorization: str, off: tuple[str, ...] = (), refresh: str = "available", **more):
        """Tells what the person allows here; `off` are the switches that are not on, `more` other fields."""
        switches = ("alert", "sound", "badge", "lockScreen", "notificationCenter")
        await self._send({"deviceStatus": {
            "authorization": authorization, **{name: name not in off for name in switches}, "backgroundRefresh": refresh, **more,
        }})

    async def say_run_state(self, state: str, remaining: int = 0):
        """Tells where the app is: `foreground`, `background` for so many milliseconds, or `suspending`."""
        self.run_state, self.remaining = state, remaining
        await self._send({"runState": {"state": state, "remainingMs": str(remaining)}})

    async def mark_read(self, target: str, up_to: int, kind: str = "PR"):
        await self._send({"markRead": {"conversation": {"type": kind, "target": target}, "upTo": str(up_to)}})

    async def request(self, kind: str, **fields) -> dict:
        """Asks anything that is answered by itself; returns the answer's one member, or raises `Refused`."""
        number = next(self._requests)
        answer = asyncio.get_running_loop().create_future()
        self._requested[number] = answer
        await self._send({"request": {"number": str(number), kind: fields}})
        return await answer

    async def change(self, target: str, action: str, kind: str = "GRP", **fields) -> int:
        """Does something with a group, discussion or chat room; returns the position of the entry it made."""
        done = await self.request(
            "change", conversation={"type": kind, "target": target}, action={action: fields}
        )
        return int(done.get("position", "0"))

    async def typing(self, target: str, is_typing: bool = True, kind: str = "PR"):
        await self._send({"typing": {"conversation": {"type": kind, "target": target}, "isTyping": is_typing}})

    async def ping(self):
        nonce = next(self._pings)
        await self._send({"ping": {"nonce": str(nonce)}})
        await self.wait_for(lambda: nonce in self._pongs)

    async def raw(self, frame: dict):
        await self._send(frame)

    async def wait_for(self, condition, seconds: float = 20):
        """Waits until the condition holds; it is looked at after every frame."""
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _send(self, frame: dict):
        await self._socket.send(json.dumps(frame))

    async def _sync(self):
        await self._send({"sync": {"after": str(self.stored), "limit": 100}})

    async def _read(self):
        try:
            async for text in self._socket:
                await self._take(json.loads(text))
                self._changed.set()
        except websockets.ConnectionClosed:
            pass
        finally:
            for answer in [*self._answers.values(), *self._requested.values()]:
                if not answer.done():
                    answer.set_exception(ConnectionError("the connection is gone"))
                    answer.exception()
            self._answers.clear()
            self._requested.clear()
            self.is_closed = True
            self._changed.set()

    async def _take(self, frame: dict):
        ((kind, body),) = frame.items()
        if kind == "sendAccepted":
            self.accepted[body["clientMessageId"]] = body
            position = int(body.get("position", "0"))
            if position:
                self.log.setdefault(position, {"position": str(position), "own": body})
            answer = self._answers.pop(body["clientMessageId"], None)
            if answer and not answer.done():
                answer.set_result(body)
            await self._acknowledge()
        elif kind == "sendRefused":
            answer = self._answers.pop(body["clientMessageId"], None)
            if answer and not answer.done():
                answer.set_exception(Refused(body["problem"]))
        elif kind == "entry":
            if int(body["position"]) == self.stored + 1:
                self.log[int(body["position"])] = body
                await self._acknowledge()
            elif int(body["position"]) > self.stored:
                await self._sync()
        elif kind == "page":
            self.pushes.append(body.get("pushes"))
            for entry in body.get("entries", []):
                self.log.setdefault(int(entry["position"]), entry)
            if self.stored < int(body.get("head", "0")):
                await self._sync()
            await self._acknowledge()
        elif kind == "answer":
            answer = self._requested.pop(int(body["number"]), None)
            if answer and not answer.done():
                members = [value for key, value in body.items() if key != "number"]
                if "refused" in body:
                    answer.set_exception(Refused(body["refused"]))
                elif members:
                    answer.set_result(members[0])
                else:
                    answer.set_exception(Refused({"code": "unsupported_version"}))
        elif kind == "signal":
            self.signals.append(body)
        elif kind == "pong":
            self._pongs.add(int(body["nonce"]))
        elif kind == "tokenExpiring":
            self.token_expires.append(int(body["expiresAt"]))
        elif kind == "problem" and body.get("fatal"):
            self.fatal = body
        elif kind == "problem":
            self.problems.append(body)
        # A frame of another kind is of a newer server; an entry of an unknown kind has been kept as a bare position.

    async def _acknowledge(self):
        stored = self.stored
        if self.disposition is None or stored <= self._settled:
            return
        self._settled = stored
        await self._send(
            {"ack": {"stored": str(stored), "settled": [{"upTo": str(stored), "disposition": self.disposition}]}}
        )
