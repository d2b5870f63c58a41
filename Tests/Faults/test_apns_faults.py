"""APNs fails in every way its double knows, under load. Every push is accepted in the end, under one id (design.md P3, P6)."""

import asyncio
import json
import time

from conftest import TOPIC, Site
from load import IS_LONG, SEED, SETTINGS, Usage, metric, run, tell
from tidings_client import Client

PHONES = 12
MESSAGES = 6_000 if IS_LONG else 240
RULES = [
    {"fault": "outage", "count": 3},
    {"fault": "respond", "status": 503, "per_mille": 60},
    {"fault": "respond", "status": 500, "per_mille": 60},
    {"fault": "respond", "reason": "TooManyRequests", "per_mille": 40},
    {"fault": "respond", "status": 503, "reason": "Shutdown", "per_mille": 20},
    {"fault": "reset_stream", "code": 2, "per_mille": 40},
    {"fault": "refuse_stream", "per_mille": 40},
    {"fault": "goaway", "per_mille": 20},
    {"fault": "goaway", "last_stream": "previous", "per_mille": 20},
    {"fault": "stream_limit", "limit": 1, "for": 5, "per_mille": 20},
    {"fault": "lose_answer", "per_mille": 30},
    {"fault": "cut", "per_mille": 20},
    {"fault": "delay", "ms": 300, "per_mille": 50},
]
QUICK = {
    **SETTINGS,
    "push": {"back_off_milliseconds": 50, "back_off_milliseconds_max": 1_000, "breaker_milliseconds": 100,
             "breaker_milliseconds_max": 1_000, "outage_milliseconds": 100, "outage_milliseconds_max": 1_000},
    # Every message is a push of its own, and at once.
    "policy": {"storm_limit": 0, "active_elsewhere_milliseconds": 0},
}


class Phone:
    """A phone at the courier: takes every push at once."""

    def __init__(self, name: str):
        self.name = name
        self.token = ""
        # What came, in order: the notification's identifier, and the id of the push.
        self.pushes: list[tuple[str, str]] = []

    async def start(self, port: int):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._say({"type": "hello", "phone": self.name})
        self._say({"type": "register", "id": 1, "topic": TOPIC, "environment": "sandbox"})
        while not self.token:
            self.token = (await self._hear()).get("token", "")
        self._task = asyncio.create_task(self._live())
        return self

    def _say(self, line: dict):
        self._writer.write(json.dumps(line).encode() + b"\n")

    async def _hear(self) -> dict:
        return json.loads(await self._reader.readuntil(b"\n"))

    async def _live(self):
        while True:
            line = await self._hear()
            if line["type"] == "push":
                self.pushes.append((line["collapse_id"], line["apns_id"]))
                self._say({"type": "ack", "delivery": line["delivery"]})

    async def stop(self):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._writer.transport.abort()


def faults_taken(site: Site) -> int:
    plan = site.call("GET", "/faults", base=f"http://127.0.0.1:{site.control_port}")
    return sum(rule["taken"] for rule in plan["counts"])


def test_every_push_is_accepted_once_it_can_be_whatever_apns_did_before(make_site):
    site = make_site(with_apns=True, settings=QUICK).start()

    def plan(rules: list[dict]):
        site.call("POST", "/faults", {"seed": SEED % 1_000_000, "rules": rules}, base=f"http://127.0.0.1:{site.control_port}")

    async def story():
        phones = [await Phone(f"p{number}").start(site.courier_port) for number in range(PHONES)]
        for phone in phones:
            client = Client(site.gateway, site.token(phone.name))
            await client.connect()
            await client.register_push(phone.token, TOPIC)
            await client.ping()
            await client.close()
        writer = Client(site.gateway, site.token("writer", 86_400))
        await writer.connect()
        usage = Usage(site)
        plan(RULES)
        sent: dict[str, Phone] = {}
        for number in range(MESSAGES):
            phone = phones[number % PHONES]
            sent[(await writer.send(phone.name, f"message {number}"))["messageId"]] = phone
        deadline = time.monotonic() + 240
        # More than one request in three meets a fault, so that these come before the last push has been accepted.
        while (taken := faults_taken(site)) < MESSAGES // 6:
            assert time.monotonic() < deadline, f"only {taken} faults"
            await asyncio.sleep(0.1)
        plan([])
        for message in sent:
            while True:
                trace = await asyncio.to_thread(site.trace, message)
                legs = [leg for leg in trace["ended_legs"] if leg["user"] == sent[message].name]
                if legs and not trace["open_legs"]:
                    break
                assert time.monotonic() < deadline, f"a leg has not ended: {json.dumps(trace)}"
                await asyncio.sleep(0.1)
            assert [leg["end"] for leg in legs] == ["accepted"], trace
        await writer.close()
        for phone in phones:
            expected = {message for message, owner in sent.items() if owner is phone}
            while {message for message, _ in phone.pushes} != expected:
                assert time.monotonic() < deadline, f"{phone.name} lacks {expected - {one for one, _ in phone.pushes}}"
                await asyncio.sleep(0.1)
            # A push that was accepted without an answer is sent again, as the same push.
            assert len(set(phone.pushes)) == len(expected), "one message came as two pushes"
            await phone.stop()
        assert metric(site, "tidings_bugs") == 0
        doubled = sum(len(phone.pushes) for phone in phones) - MESSAGES
        grown = usage._bytes() - usage.bytes
        assert grown < 96 << 20
        return {"pushes": MESSAGES, "faults": taken, "repeated": doubled, "grown_kib": grown >> 10}

    tell("apns", run(story()))
