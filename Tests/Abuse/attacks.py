"""Attackers, each as a process of its own at the lowest priority: their machine is not the server's.

Usage: attacks.py NAME, with the ground as one line of JSON on the standard input. A line `ready` is written when everything
is prepared; the attack begins with the next line read, and lasts `seconds`. The last line written is what came of it (JSON):

    tried     frames, requests or connections that were tried
    answers   what the server said: codes of problems, kinds of other frames, statuses of HTTP as `http 429`
    closed    connections that the server ended
"""

from __future__ import annotations

import json
import os
import re
import select
import socket
import sys
import time
from collections import Counter

from wire import HANDSHAKE, Frames, hello, json_frame, send

# Attackers come from one address, which no honest phone has.
ADDRESS = "127.0.0.66"
LARGE = "x" * 30_000


class Result:
    def __init__(self):
        self.tried = 0
        self.closed = 0
        self.answers: Counter[str] = Counter()


def connected(port: int, seconds: float) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=seconds, source_address=(ADDRESS, 0))


class Line:
    """One connection of an attacker: says hello by itself, and comes back when it is cut off."""

    def __init__(self, ground: dict, result: Result, token: str, device: str, greeting: list[dict] = ()):
        self.ground, self.result, self.token, self.device, self.greeting = ground, result, token, device, greeting
        self.socket: socket.socket | None = None
        self.is_welcome = False
        self.held = memoryview(b"")
        # Sends and requests without an answer.
        self.under_way = 0
        self.not_before = 0.0
        self.extension_token = ""
        # The last frame that was heard.
        self.last = b""

    def open(self):
        self.socket = connected(self.ground["gateway_port"], 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_welcome, self.under_way, self._head, self._frames = False, 0, b"", Frames()
        self.held = memoryview(HANDSHAKE)
        self.socket.setblocking(False)

    def lost(self):
        self.socket.close()
        self.socket = None
        self.result.closed += 1
        self.not_before = time.monotonic() + 0.1

    def read(self):
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.lost()
            return
        if self._head is not None:
            head, gap, data = (self._head + data).partition(b"\r\n\r\n")
            if not gap:
                self._head = head
                return
            self._head = None
            if not head.startswith(b"HTTP/1.1 101"):
                self.result.answers[f"http {head.split()[1].decode()}"] += 1
                return
            self.held = memoryview(json_frame(hello(self.token, self.device)))
        for opcode, payload in self._frames.take(data):
            if opcode == 0x1:
                self.take(payload)

    def take(self, payload: bytes):
        if payload.startswith(b'{"welcome"'):
            self.is_welcome = True
            self.extension_token = json.loads(payload)["welcome"].get("extensionToken", "")
            self.held = memoryview(b"".join(json_frame(frame) for frame in self.greeting))
            return
        self.last = payload
        kind = payload[2 : payload.find(b'"', 2)].decode()
        code = re.search(rb'"code":"([a-z_]+)"', payload) if kind in ("problem", "sendRefused", "answer") else None
        # A problem is a sync that was refused, or what nobody waits for.
        if kind in ("sendAccepted", "sendRefused", "answer", "page", "pong", "problem"):
            self.under_way = max(0, self.under_way - 1)
        self.result.answers[code[1].decode() if code else kind] += 1

    def write(self, make):
        if not self.held and self.is_welcome:
            frames = make(self)
            self.held = memoryview(b"".join(frames))
            self.result.tried += len(frames)
        if self.held:
            try:
                self.held = self.held[self.socket.send(self.held) :]
            except BlockingIOError:
                pass
            except OSError:
                self.lost()


def flood(ground: dict, result: Result, lines: list[Line], make, seconds: float, pause: float = 0):
    """Every line writes what `make` makes for it, as fast as it is taken; `pause` seconds lie between two turns."""
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        for line in lines:
            if line.socket is None and now >= line.not_before:
                try:
                    line.open()
                except OSError:
                    result.answers["turned away"] += 1
                    line.not_before = now + 0.5
        alive = [line for line in lines if line.socket]
        readers = {line.socket: line for line in alive}
        writers = [line.socket for line in alive if line.held or line.is_welcome]
        if not alive:
            time.sleep(0.02)
            continue
        readable, writable, _ = select.select(list(readers), writers, [], 0.05)
        for found in readable:
            readers[found].read()
        for found in writable:
            if readers[found].socket:
                readers[found].write(make)
        # Nothing to write while all answers are awaited: do not spin.
        if pause or not any(line.held for line in alive):
            time.sleep(pause or 0.002)


def within(line: Line, most: int, count: int) -> int:
    """How many more may be under way."""
    count = min(count, most - line.under_way)
    line.under_way += max(0, count)
    return max(0, count)


def token(ground: dict, name: str) -> str:
    return ground["tokens"][name]


def prepared():
    print("ready", flush=True)
    sys.stdin.readline()


def settle(line: Line, frames: list[dict], wanted: int, seconds: float = 10):
    """Opens a line, says these frames, and waits for so many answers."""
    if line.socket is None:
        line.open()
    end, before, sent = time.monotonic() + seconds, sum(line.result.answers.values()), False
    while time.monotonic() < end and line.socket:
        select.select([line.socket], [line.socket] if line.held else [], [], 0.05)
        line.read()
        if line.socket is None:
            return
        if line.is_welcome and not sent and not line.held:
            line.held, sent = memoryview(b"".join(json_frame(frame) for frame in frames)), True
        if line.held:
            line.write(lambda _: [])
        if sent and not line.held and sum(line.result.answers.values()) >= before + wanted:
            return


def request(number: int, **what) -> dict:
    return {"request": {"number": str(number), **what}}


class Numbers:
    """Numbers of requests and ids of messages; none twice."""

    def __init__(self, name: str):
        self.name, self.next = f"{name}{os.getpid()}", 0

    def __call__(self) -> int:
        self.next += 1
        return self.next

    def ident(self) -> str:
        return f"{self.name}x{self()}"


# MARK: the attacks

def made_up_devices(ground: dict, result: Result, seconds: float):
    """One person's device after the other registers a token that nobody has, and the person gets messages."""
    prepared()
    end = time.monotonic() + seconds
    for number in range(ground["made_up"]):
        line = Line(ground, result, token(ground, "mallory"), f"made-up-{number}")
        settle(line, [
            {"registerPush": {"token": os.urandom(32).hex(), "environment": "sandbox", "topic": ground["topic"]}},
            {"runState": {"state": "suspending"}}, {"ping": {"nonce": "1"}},
        ], wanted=1, seconds=5)
        result.tried += 1
        if line.socket:
            line.socket.close()
    accomplice = Line(ground, result, token(ground, "accomplice"), "phone")
    numbers = Numbers("made-up")
    settle(accomplice, [send(numbers.ident(), "PR", ground["mallory"], "hello")], wanted=1)
    while time.monotonic() < end:
        time.sleep(0.5)
        settle(accomplice, [send(numbers.ident(), "PR", ground["mallory"], "hello")], wanted=1, seconds=1)


def opened(ground: dict, result: Result, seconds: float):
    """Notifications that were opened, of messages that are not the person's or do not exist."""
    batch = [json_frame({"opened": {"message": ground["message"] if number % 2 else "01qdq6qdr0000"}}) for number in range(500)]
    lines = [Line(ground, result, token(ground, "mallory"), f"phone-{number}") for number in range(2)]
    prepared()
    flood(ground, result, lines, lambda _: batch, seconds)


def typing(ground: dict, result: Result, seconds: float):
    """Signals at one phone, as fast as they are taken."""
    batch = [
        json_frame({"typing": {"conversation": {"type": "PR", "target": ground["victim"]}, "isTyping": number % 2 == 0}})
        for number in range(500)]
    lines = [Line(ground, result, token(ground, "mallory"), f"phone-{number}") for number in range(2)]
    prepared()
    flood(ground, result, lines, lambda _: batch, seconds)


def room(ground: dict, result: Result, seconds: float, is_member: bool = False, own_hearers: int = 0):
    """Large messages into a chat room; with hearers of the attacker's own, who make each message dearer."""
    place = {"type": "CHRM", "target": ground["room"]}
    enter = [request(1, change={"conversation": place, "action": {"join": {}}}), request(2, enterRoom={"conversation": place})]
    numbers = Numbers("room")
    mallory = token(ground, "mallory")
    lines = [Line(ground, result, mallory, f"phone-{number}", enter if is_member else []) for number in range(2)]
    hearing = [Line(ground, result, token(ground, "accomplice"), f"hearer-{number}", enter) for number in range(own_hearers)]

    def make(line: Line) -> list[bytes]:
        if line in hearing:
            return []
        return [
            json_frame(send(numbers.ident(), "CHRM", ground["room"], LARGE)) for _ in range(within(line, 64, 8))]

    prepared()
    flood(ground, result, lines + hearing, make, seconds)


def room_as_a_stranger(ground, result, seconds):
    room(ground, result, seconds)


def room_as_a_member(ground, result, seconds):
    room(ground, result, seconds, is_member=True)


def room_with_hearers(ground, result, seconds):
    room(ground, result, seconds, is_member=True, own_hearers=ground["own_hearers"])


def sends(ground: dict, result: Result, seconds: float):
    """Large messages to anybody, 64 under way on each of two connections."""
    numbers = Numbers("sends")
    targets = [ground["victim"], "nobody-1", "nobody-2", "nobody-3"]

    def make(line: Line) -> list[bytes]:
        return [
            json_frame(send(numbers.ident(), "PR", targets[number % len(targets)], LARGE))
            for number in range(within(line, 64, 16))]

    lines = [Line(ground, result, token(ground, "mallory"), f"phone-{number}") for number in range(2)]
    prepared()
    flood(ground, result, lines, make, seconds)


def sends_slowly(ground: dict, result: Result, seconds: float):
    """Small messages one at a time, each to somebody else: no limit of rate stands before what the disk allows."""
    line = Line(ground, result, token(ground, "accomplice"), "phone")
    numbers = Numbers("slowly")
    prepared()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number = numbers()
        settle(line, [send(numbers.ident(), "PR", f"nobody-slow-{number}", "hello")], wanted=1, seconds=2)
        result.tried += 1
        time.sleep(0.2)


def requests(ground: dict, result: Result, seconds: float):
    """Whatever costs the server more than the one who asks, 256 under way on each of two connections."""
    numbers = Numbers("requests")
    group = {"type": "GRP", "target": ground["large_group"]}

    def make(line: Line) -> list[bytes]:
        found = []
        for number in range(within(line, 256, 64)):
            match number % 4:
                case 0: found.append({"sync": {"after": "0", "limit": 200}})
                case 1: found.append(request(numbers(), receipts={"message": ground["message"]}))
                case 2: found.append(request(numbers(), history={"conversation": group, "limit": 100}))
                case 3:
                    line.under_way -= 1
                    found.append({"markRead": {"conversation": group, "upTo": str(numbers())}})
        return [json_frame(frame) for frame in found]

    lines = [Line(ground, result, token(ground, "mallory"), f"phone-{number}") for number in range(2)]
    prepared()
    flood(ground, result, lines, make, seconds)


def changes(ground: dict, result: Result, seconds: float, is_edit: bool = False):
    """Renames of a group of thousands, or edits of a message in it, 16 under way."""
    numbers = Numbers("changes")
    group = {"type": "GRP", "target": ground["large_group"]}

    def make(line: Line) -> list[bytes]:
        found = []
        for _ in range(within(line, 16, 16)):
            number = numbers()
            found.append(request(number, edit={"message": ground["message"], "content": json.dumps({"content": f"edit {number}"})})
                         if is_edit else
                         request(number, change={"conversation": group, "action": {"rename": {"name": f"name {number}"}}}))
        return [json_frame(frame) for frame in found]

    line = Line(ground, result, token(ground, "mallory"), "phone")
    prepared()
    flood(ground, result, [line], make, seconds)


def renames(ground, result, seconds):
    changes(ground, result, seconds)


def edits(ground, result, seconds):
    changes(ground, result, seconds, is_edit=True)


def connects(ground: dict, result: Result, seconds: float):
    """Ever new connections, twelve at a time: with good tokens, the same device and ever new ones, and with bad ones."""
    prepared()
    end = time.monotonic() + seconds
    good = token(ground, "mallory")
    lines: dict[Line, float] = {}
    while (now := time.monotonic()) < end:
        while len(lines) < 12:
            result.tried += 1
            device = ["phone", f"made-up-{result.tried}"][result.tried % 2]
            line = Line(ground, result, good[:-8] + "AAAAAAAA" if result.tried % 3 == 0 else good, device)
            try:
                line.open()
            except OSError:
                result.answers["turned away"] += 1
                break
            lines[line] = now + 2
        by_socket = {line.socket: line for line in lines}
        readable, writable, _ = select.select(
            list(by_socket), [line.socket for line in lines if line.held], [], 0.05)
        for found in readable:
            by_socket[found].read()
        for found in writable:
            if by_socket[found].socket:
                by_socket[found].write(lambda _: [])
        for line in [line for line, until in lines.items() if line.socket is None or line.is_welcome or until < now]:
            del lines[line]
            if line.is_welcome:
                result.answers["welcome"] += 1
            if line.socket:
                line.socket.close()
    for line in lines:
        if line.socket:
            line.socket.close()


def devices(ground: dict, result: Result, seconds: float):
    """Ever new devices of one person, who gets messages all the while."""
    prepared()
    end = time.monotonic() + seconds
    good, numbers = token(ground, "mallory"), Numbers("devices")
    accomplice = Line(ground, result, token(ground, "accomplice"), "phone")
    while time.monotonic() < end and result.tried < ground["devices"]:
        result.tried += 1
        line = Line(ground, result, good, f"made-up-{numbers.ident()}")
        try:
            settle(line, [], wanted=0, seconds=2)
        except OSError:
            result.answers["turned away"] += 1
        if line.is_welcome:
            result.answers["welcome"] += 1
        if line.socket:
            line.socket.close()
        if result.tried % 100 == 0:
            settle(accomplice, [send(numbers.ident(), "PR", ground["mallory"], "hello")], wanted=1, seconds=5)
    while time.monotonic() < end:
        settle(accomplice, [send(numbers.ident(), "PR", ground["mallory"], "hello")], wanted=1, seconds=5)


def receipts(ground: dict, result: Result, seconds: float):
    """The route for service extensions, with one receipt after the other."""
    line = Line(ground, result, token(ground, "mallory"), "phone")
    settle(line, [{"ping": {"nonce": "1"}}], wanted=1)
    prepared()
    end = time.monotonic() + seconds
    body = json.dumps({"message_ids": [ground["message"]] + ["01qdq6qdr000%d" % number for number in range(9)],
                       "receipt": "opened"}).encode()
    ask = (
        f"POST /v1/extension/receipts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {line.extension_token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    while time.monotonic() < end:
        try:
            with connected(ground["phone_api_port"], 10) as peer:
                while time.monotonic() < end:
                    peer.sendall(ask * 20)
                    result.tried += 20
                    answered = 0
                    while answered < 20:
                        data = peer.recv(1 << 16)
                        if not data:
                            raise EOFError
                        statuses = re.findall(rb"HTTP/1\.1 (\d+)", data)
                        answered += len(statuses)
                        for status in statuses:
                            result.answers[f"http {status.decode()}"] += 1
        except (OSError, EOFError):
            result.closed += 1
            time.sleep(0.05)


def half_open(ground: dict, result: Result, seconds: float, port: str, said: bytes, more: bytes = b""):
    """Connections that begin to say something, and then say nothing, or a byte a second."""
    prepared()
    end = time.monotonic() + seconds
    held: dict[socket.socket, float] = {}
    poll = select.poll()
    by_number: dict[int, socket.socket] = {}
    while time.monotonic() < end:
        for _ in range(ground["half_open"] - len(held)):
            try:
                peer = socket.socket()
                peer.bind((ADDRESS, 0))
                peer.settimeout(0.2)
                peer.connect(("127.0.0.1", ground[port]))
                peer.sendall(said)
            except OSError:
                peer.close()
                result.answers["turned away"] += 1
                break
            held[peer] = time.monotonic()
            by_number[peer.fileno()] = peer
            poll.register(peer, select.POLLIN)
            result.tried += 1
        for number, _ in poll.poll(50):
            peer = by_number[number]
            try:
                data = peer.recv(4_096)
            except OSError:
                data = b""
            if status := re.match(rb"HTTP/1\.1 (\d+)", data):
                result.answers[f"http {status[1].decode()}"] += 1
            elif not data:
                result.closed += 1
            if not data or status:
                poll.unregister(peer)
                del by_number[number], held[peer]
                peer.close()
        if more:
            time.sleep(0.5)
            for peer in list(held):
                try:
                    peer.send(more)
                except OSError:
                    pass
        elif time.monotonic() < end:
            time.sleep(0.05)
    for peer in held:
        peer.close()


def half_open_api(ground, result, seconds):
    half_open(ground, result, seconds, "api_port", b"GET /healthz HT")


def half_open_phone_api(ground, result, seconds):
    half_open(ground, result, seconds, "phone_api_port", b"GET /v1/extension/missed HT")


def unread(ground: dict, result: Result, seconds: float):
    """Connections that ask for something large twenty times each, and read nothing of it."""
    prepared()
    end = time.monotonic() + seconds
    asked = b"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
    held: dict[int, socket.socket] = {}
    poll = select.poll()
    while time.monotonic() < end:
        for _ in range(ground["unread"] - len(held)):
            peer = socket.socket()
            try:
                peer.bind((ADDRESS, 0))
                peer.settimeout(0.2)
                peer.connect(("127.0.0.1", ground["api_port"]))
                peer.sendall(asked)
            except OSError:
                peer.close()
                result.answers["turned away"] += 1
                break
            held[peer.fileno()] = peer
            poll.register(peer, 0)
            result.tried += 1
        for number, _ in poll.poll(50):
            poll.unregister(number)
            held.pop(number).close()
            result.closed += 1
    for peer in held.values():
        peer.close()


def half_open_gateway(ground, result, seconds):
    half_open(ground, result, seconds, "gateway_port", HANDSHAKE[:40])


def slow_bodies(ground, result, seconds):
    half_open(
        ground, result, seconds, "phone_api_port",
        b"POST /v1/extension/receipts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100000\r\n\r\n{", b" ")


def slow_heads(ground, result, seconds):
    half_open(ground, result, seconds, "api_port", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"a")


def ask(line: Line, name: str, *frames: dict, seconds: float = 5):
    """Says something on a line, and notes what it was answered, under the name of the question."""
    before = line.result.answers.copy()
    line.result.tried += 1
    try:
        settle(line, list(frames), wanted=1, seconds=seconds)
    except OSError:
        line.result.answers["turned away"] += 1
    for answer in line.result.answers - before:
        line.result.answers[f"{name}: {answer}"] += line.result.answers[answer] - before[answer]
        line.result.answers[answer] = before[answer]


def every_kind(ground: dict, result: Result, seconds: float):
    """Somebody who is blocked by the victim writes in conversations of every kind, and edits what was written before."""
    line = Line(ground, result, token(ground, "mallory"), "phone")
    numbers = Numbers("kinds")
    prepared()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for kind in ("PR", "CS", "SYS", "MC", "MP", "PH"):
            ask(line, kind, send(numbers.ident(), kind, ground["victim"], "you cannot block me"))
        ask(line, "edit", request(
            numbers(), edit={"message": ground["message"], "content": json.dumps({"content": "nor this"})}))
        time.sleep(0.3)


def removed_member(ground: dict, result: Result, seconds: float):
    """A member of a chat room is removed and banned while being there, and goes on as if nothing had happened."""
    place = {"type": "CHRM", "target": ground["room"]}
    line = Line(ground, result, token(ground, "mallory"), "phone")
    numbers = Numbers("removed")
    ask(line, "before", request(numbers(), enterRoom={"conversation": place}))
    prepared()
    end = time.monotonic() + seconds
    # What was on its way when it was removed comes before the first refusal.
    while not {"first: banned", "first: not_a_member"} & set(result.answers) and time.monotonic() < end:
        ask(line, "first", send(numbers.ident(), "CHRM", ground["room"], "still here"))
    result.answers.clear()
    # What it hears while it says nothing.
    while time.monotonic() < end - seconds / 2:
        if line.socket and select.select([line.socket], [], [], 0.1)[0]:
            line.read()
    while time.monotonic() < end:
        ask(line, "send", send(numbers.ident(), "CHRM", ground["room"], "still here"))
        ask(line, "enter", request(numbers(), enterRoom={"conversation": place}))
        ask(line, "join", request(numbers(), change={"conversation": place, "action": {"join": {}}}))
        time.sleep(0.3)


def goes_on(ground: dict, result: Result, seconds: float):
    """Sends for as long as it is let, and connects again: a session whose token has expired, a person who was banned."""
    line = Line(ground, result, token(ground, "mallory"), "phone")
    numbers = Numbers("on")
    ask(line, "before", send(numbers.ident(), "PR", "nobody-1", "hello"))
    prepared()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = "late" if time.monotonic() > end - seconds / 3 else "send"
        ask(line, name, send(numbers.ident(), "PR", "nobody-1", "still here"), seconds=2)
        time.sleep(0.1)


def topics(ground: dict, result: Result, seconds: float):
    """Registrations for topics that are not the app's, in the form of old clients and of new ones."""
    line = Line(ground, result, token(ground, "mallory"), "phone")
    numbers = Numbers("topics")
    prepared()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number = numbers()
        of_whom = {"token": os.urandom(32).hex(), "environment": "sandbox", "topic": f"com.example.made-up-{number}"}
        ask(line, "old", {"registerPush": of_whom}, seconds=0.5)
        ask(line, "new", {"registerPush": {**of_whom, "number": str(numbers())}}, seconds=0.5)
        time.sleep(0.1)


ATTACKS = {attack.__name__: attack for attack in [
    made_up_devices, opened, typing, room_as_a_stranger, room_as_a_member, room_with_hearers, sends, sends_slowly, requests, renames, edits,
    connects, devices, receipts, half_open_api, half_open_phone_api, half_open_gateway, slow_bodies, slow_heads,
    unread, every_kind, removed_member, goes_on, topics,
]}


def main():
    os.nice(19)
    ground = json.loads(sys.stdin.readline())
    result = Result()
    ATTACKS[sys.argv[1]](ground, result, ground["seconds"])
    print(json.dumps({"tried": result.tried, "closed": result.closed, "answers": dict(result.answers)}), flush=True)


if __name__ == "__main__":
    main()
