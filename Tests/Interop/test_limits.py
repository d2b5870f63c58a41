"""One client must not take the service down: floods of each kind beside people who only want to talk (docs/server/protocol.md "Limits")."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import urllib.request

import pytest
import websockets
from tidings_client import SUBPROTOCOL, Client, Refused

# Enough to have stopped the service before there were limits, and yet a matter of seconds; all of them: TIDINGS_LIMITS=long.
IS_LONG = os.environ.get("TIDINGS_LIMITS") == "long"
FLOOD = 400_000 if IS_LONG else 20_000
MADE_UP_DEVICES = 8_000 if IS_LONG else 400
# What comes and goes with the allocator.
GROWTH_BYTES_MAX = 96 << 20


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 1_800 if IS_LONG else 180))


def metric(site, name: str, **dimensions: str) -> float:
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    total = 0.0
    for line in text.splitlines():
        if line.startswith(name) and all(f'{key}="{value}"' in line for key, value in dimensions.items()):
            total += float(line.rsplit(" ", 1)[1])
    return total


def refused(site, scope: str, kind: str) -> float:
    return metric(site, "tidings_limits_refused_total", scope=scope, kind=kind)


def resident_bytes(site) -> int:
    with open(f"/proc/{site.server.child_pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) << 10


async def connect(site, *names: str) -> list[Client]:
    clients = [Client(site.gateway, site.token(name)) for name in names]
    for client in clients:
        await client.connect()
    return clients


class Flood:
    """A client that writes as fast as it can, and notes what it is told."""

    def __init__(self, site, user: str):
        self.site, self.user = site, user
        self.frames: list[dict] = []
        self.is_closed = False

    async def __aenter__(self):
        self.socket = await websockets.connect(
            f"{self.site.gateway}/v1/connect", subprotocols=[SUBPROTOCOL], max_size=2**24, ping_interval=None,
            compression=None,
        )
        await self.write({"hello": {
            "versionMin": 1, "versionMax": 1, "token": self.site.token(self.user), "device": "flood", "platform": "python",
            "runState": {"state": "foreground"}, "after": "0"}})
        assert "welcome" in json.loads(await self.socket.recv())
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_):
        await self.socket.close()
        self._reader.cancel()

    async def _read(self):
        with contextlib.suppress(websockets.ConnectionClosed):
            async for text in self.socket:
                self.frames.append(json.loads(text))
        self.is_closed = True

    async def write(self, frame: dict):
        await self.socket.send(json.dumps(frame))

    async def pour(self, frame: dict, count: int):
        """Writes a frame so often, or until the server has hung up."""
        text = json.dumps(frame)
        with contextlib.suppress(websockets.ConnectionClosed):
            for number in range(count):
                await self.socket.send(text)
                if number % 200 == 0:
                    await asyncio.sleep(0)

    def problems(self) -> list[dict]:
        return [frame["problem"] for frame in self.frames if "problem" in frame]


async def talk(clients: list[Client], count: int = 20):
    """Two people write to each other; nothing may be refused, and all of it arrives."""
    alice, bob = clients
    before = len(bob.messages)
    for number in range(count):
        await alice.send("bob", f"honest {number}")
        await asyncio.sleep(0.05)
    await bob.wait_for(lambda: len(bob.messages) == before + count)


def check_hung_up(flood: Flood):
    fatal = [problem for problem in flood.problems() if problem.get("fatal")]
    assert [problem["code"] for problem in fatal] == ["rate_limited"]
    assert fatal[0]["retryAfterMs"] > 0


def test_a_flood_of_opened_notifications_leaves_nothing_behind_and_nobody_notices(site):
    async def story():
        honest = await connect(site, "alice", "bob")
        strangers = (await honest[0].send("bob", "not for mallory"))["messageId"]
        async with Flood(site, "mallory") as flood:
            before = resident_bytes(site)
            talking = asyncio.create_task(talk(honest))
            await flood.pour({"opened": {"message": strangers}}, FLOOD)
            await talking
            assert resident_bytes(site) - before < GROWTH_BYTES_MAX
            check_hung_up(flood)
            # At most one word a second about what was dropped.
            assert len(flood.problems()) < 100
        for client in honest:
            await client.close()
        return strangers

    strangers = run(story())
    assert refused(site, "connection", "signals") > 0
    assert refused(site, "connection", "refusals") == 1
    assert site.trace(strangers)["receipts"] == []
    assert metric(site, "tidings_bugs_total") == 0


def test_one_opened_again_and_again_is_told_once_in_the_trace(site):
    async def story():
        alice, bob = await connect(site, "alice", "bob")
        message = (await alice.send("bob", "hello"))["messageId"]
        await bob.wait_for(lambda: bob.messages)
        for _ in range(100):
            await bob.raw({"opened": {"message": message}})
        await bob.ping()
        size = site.database.stat().st_size
        await alice.close()
        await bob.close()
        return message, bob.device, size

    message, device, _ = run(story())
    receipts = site.trace(message)["receipts"]
    assert [(receipt["device"], receipt["receipt"]) for receipt in receipts] == [(device, "opened")]


def test_a_flood_of_typing_reaches_a_phone_once_a_second(site):
    async def story():
        honest = await connect(site, "alice", "bob")
        async with Flood(site, "mallory") as flood:
            talking = asyncio.create_task(talk(honest))
            await flood.pour({"typing": {"conversation": {"type": "PR", "target": "bob"}, "isTyping": True}}, FLOOD)
            await talking
            check_hung_up(flood)
        await honest[1].ping()
        typed = [signal for signal in honest[1].signals if "typing" in signal]
        # It lasted some seconds at most; four hundred thousand a second came through before.
        assert 1 <= len(typed) <= 60
        assert honest[1].fatal is None
        for client in honest:
            await client.close()

    run(story())
    assert refused(site, "connection", "signals") > 0


class Hearer:
    """Somebody who has entered a room and reads nothing for a while, through a small receive buffer."""

    def __init__(self, site, user: str):
        self.site, self.user = site, user

    async def enter(self, room: str):
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        plain.connect(("127.0.0.1", self.site.gateway_port))
        plain.setblocking(False)
        # A queue of one: what is not read stays with the kernel, and with the server.
        self.socket = await websockets.connect(
            f"{self.site.gateway}/v1/connect", subprotocols=[SUBPROTOCOL], max_size=2**24, max_queue=1,
            ping_interval=None, compression=None, sock=plain,
        )
        await self.write({"hello": {
            "versionMin": 1, "versionMax": 1, "token": self.site.token(self.user), "device": "slow", "platform": "python",
            "runState": {"state": "foreground"}, "after": "0"}})
        assert "welcome" in json.loads(await self.socket.recv())
        await self.write({"request": {"number": "1", "enterRoom": {
            "conversation": {"type": "CHRM", "target": room}, "history": 0}}})
        assert "answer" in json.loads(await self.socket.recv())

    async def write(self, frame: dict):
        await self.socket.send(json.dumps(frame))

    async def is_there(self) -> bool:
        """Reads what waited; whoever was cut off gets no answer."""
        try:
            await self.write({"ping": {"nonce": "7"}})
            async with asyncio.timeout(60):
                while "pong" not in json.loads(await self.socket.recv()):
                    pass
            return True
        except (websockets.ConnectionClosed, TimeoutError):
            return False


def test_a_flood_in_a_room_is_refused_and_cuts_no_slow_hearer_off(make_site):
    # A reader may leave little waiting, so that a few messages of the flood would be too many. The burst of a connection is the
    # usual one; what comes back is little, so that a slow machine does not make a flood of messages a mere stream of them.
    site = make_site(settings={
        "gateway": {"backlog_bytes_max": 65_536}, "limits": {"connection": {"bytes": "1000/1048576"}}}).start()

    async def story():
        alice, bob = honest = await connect(site, "alice", "bob")
        # Together they send more than the kernel takes for a reader.
        flooders = await connect(site, *(f"mallory{number}" for number in range(10)))
        await alice.change("hall", "create", "CHRM", name="Hall", members=[f"mallory{number}" for number in range(10)])
        hearers = [Hearer(site, f"slow{number}") for number in range(20)]
        for hearer in hearers:
            await hearer.enter("hall")
        for flooder in flooders:
            # Whoever sends hears it, too.
            await flooder.request("enterRoom", conversation={"type": "CHRM", "target": "hall"}, history=0)
        before = resident_bytes(site)
        text = "x" * 30_000
        talking = asyncio.create_task(talk([alice, bob], 10))
        outcomes = await asyncio.gather(
            *(flooder.send("hall", text, "CHRM") for flooder in flooders for _ in range(60)), return_exceptions=True)
        await talking
        accepted = [outcome for outcome in outcomes if isinstance(outcome, dict)]
        codes = {outcome.code for outcome in outcomes if isinstance(outcome, Refused)}
        # The burst of a connection is a megabyte, thirty-four of these.
        assert 1 <= len(accepted) < len(outcomes)
        assert "rate_limited" in codes and codes <= {"rate_limited", "unavailable"}
        limited = [o.problem for o in outcomes if isinstance(o, Refused) and o.code == "rate_limited"]
        assert all(problem["retryAfterMs"] > 0 for problem in limited)
        assert resident_bytes(site) - before < GROWTH_BYTES_MAX
        assert all([await hearer.is_there() for hearer in hearers])
        for client in [*honest, *flooders]:
            await client.close()

    run(story())
    assert metric(site, "tidings_gateway_problems_total", code="slow_reader") == 0
    assert metric(site, "tidings_gateway_signals_dropped_total") > 0


def test_renames_of_a_group_of_three_thousand_end_while_other_people_go_on(site):
    async def story():
        honest = await connect(site, "alice", "bob")
        mallory, = await connect(site, "mallory")
        await mallory.change("crowd", "create", name="Crowd", members=[f"made-up-{number}" for number in range(2_999)])
        talking = asyncio.create_task(talk(honest))
        done, limited = 0, []
        for number in range(300):
            try:
                await mallory.change("crowd", "rename", name=f"Crowd {number}")
                done += 1
            except Refused as problem:
                assert problem.code == "rate_limited"
                limited.append(problem.problem)
        await talking
        # Thirty thousand entries at once, and what has come back of them meanwhile.
        assert 1 <= done <= 100
        assert len(limited) == 300 - done
        assert all(problem["retryAfterMs"] > 0 for problem in limited)
        for client in [*honest, mallory]:
            await client.close()

    run(story())
    assert refused(site, "person", "deliveries") > 0


def hello(site, device: str) -> dict:
    return {"hello": {
        "versionMin": 1, "versionMax": 1, "token": site.mallory, "device": device, "platform": "python",
        "runState": {"state": "foreground"}, "after": "0"}}


async def sign_in(site, device: str) -> dict:
    async with websockets.connect(
        f"{site.gateway}/v1/connect", subprotocols=[SUBPROTOCOL], max_size=2**24, ping_interval=None, compression=None
    ) as connection:
        await connection.send(json.dumps(hello(site, device)))
        return json.loads(await connection.recv())


def test_of_thousands_of_made_up_devices_twenty_remain(make_site):
    site = make_site(settings={"limits": {"person": {"connects": "none"}}}).start()
    site.mallory = site.token("mallory")

    async def story():
        honest = await connect(site, "alice", "bob")
        for number in range(0, MADE_UP_DEVICES, 20):
            answers = await asyncio.gather(*(sign_in(site, f"made-up-{number + more}") for more in range(20)))
            assert all("welcome" in answer for answer in answers)
        for _ in range(10):
            await honest[0].send("mallory", "how much do you cost?")
        await talk(honest)
        for client in honest:
            await client.close()

    run(story())
    devices = site.call("GET", f"/v1/apps/{site.app}/users/mallory/devices")["devices"]
    assert len(devices) == 20
    assert metric(site, "tidings_bugs_total") == 0


def test_made_up_devices_are_refused_by_the_person_they_are_of(site):
    site.mallory = site.token("mallory")

    async def story():
        answers = [await sign_in(site, f"made-up-{number}") for number in range(150)]
        welcomed = [answer for answer in answers if "welcome" in answer]
        problems = [answer["problem"] for answer in answers if "problem" in answer]
        # Sixty at once, and one more each second.
        assert 60 <= len(welcomed) < 150
        assert {problem["code"] for problem in problems} == {"rate_limited"}
        assert all(problem["fatal"] and problem["retryAfterMs"] > 0 for problem in problems)
        honest = await connect(site, "alice", "bob")
        await talk(honest, 5)
        for client in honest:
            await client.close()

    run(story())
    assert refused(site, "person", "connects") > 0


@pytest.mark.parametrize("frame", ["send", "request"])
def test_whoever_waits_as_long_as_they_are_told_is_accepted(site, frame):
    async def story():
        mallory, = await connect(site, "mallory")
        while True:
            try:
                if frame == "send":
                    await asyncio.gather(*(mallory.send("mallory", "me") for _ in range(30)))
                else:
                    await asyncio.gather(*(mallory.request("settings") for _ in range(16)))
            except Refused as problem:
                assert problem.code == "rate_limited"
                wait = problem.problem["retryAfterMs"]
                break
        # The others that were under way have taken what had come back. In another conversation: in the same one those that were
        # refused come first.
        for _ in range(20):
            await asyncio.sleep(wait / 1_000)
            try:
                await (mallory.send("somebody", "later") if frame == "send" else mallory.request("settings"))
                break
            except Refused as problem:
                wait = problem.problem["retryAfterMs"]
        else:
            raise AssertionError("was never accepted again")
        await mallory.close()

    run(story())
