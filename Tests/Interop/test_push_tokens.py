"""Nobody stops an app's pushes with tokens that never worked (docs/inside/decisions/0013-tokens-that-never-worked.md)."""

from __future__ import annotations

import json
import re
import secrets
import socket
import time
import urllib.request

import pytest
from backend import Backend
from conftest import TOPIC
from story import run
from tidings_client import Client, Refused

SECONDS = 60
QUICK = {
    # The rule of pushes is to hold by itself, however many devices a person may have and however fast they connect.
    "policy": {"active_elsewhere_milliseconds": 0, "storm_limit": 0, "devices_max": 100},
    "limits": {"mode": "none"},
    "lease": {"grace_milliseconds": 0, "restart_grace_milliseconds": 0},
}


class Courier:
    """A phone at the local APNs: has tokens, and takes what comes."""

    def __init__(self, site, name: str):
        self._socket = socket.create_connection(("127.0.0.1", site.courier_port), timeout=SECONDS)
        self._lines = self._socket.makefile("r", encoding="utf-8")
        self._say({"type": "hello", "phone": name})
        assert self._hear()["type"] == "welcome"

    def token(self, environment: str = "sandbox") -> str:
        self._say({"type": "register", "id": 1, "topic": TOPIC, "environment": environment})
        return self._hear()["token"]

    def _say(self, line: dict):
        self._socket.sendall((json.dumps(line) + "\n").encode())

    def _hear(self) -> dict:
        return json.loads(self._lines.readline())


async def register(site, user: str, token: str, device: str | None = None):
    """Signs a device in, tells its token, and leaves it gone."""
    client = Client(site.gateway, site.token(user), **({"device": device} if device else {}))
    await client.connect()
    await client.register_push(token, TOPIC)
    await client.ping()
    await client.close()


def log(site) -> str:
    return site.server.log.read_text()


@pytest.mark.parametrize("has_worked", [True, False], ids=["which works", "in which nothing has worked yet"])
def test_made_up_tokens_stop_nobody_in_a_lane(make_site, has_worked):
    site = make_site(with_apns=True, settings=QUICK).start()
    backend = Backend(site)

    async def prepare():
        await register(site, "victim", Courier(site, "victim").token())
        if has_worked:
            backend.wait_for_ends(backend.say("friend", "victim", "before"), "victim", "accepted")
        for number in range(60):
            await register(site, "mallory", secrets.token_hex(32), f"made-up-{number}")

    run(prepare())
    attack = backend.say("accomplice", "mallory", "one message")
    time.sleep(1)
    alert = backend.say("friend", "victim", "one second later")
    asked = time.monotonic()
    backend.wait_for_ends(alert, "victim", "accepted")
    assert time.monotonic() - asked < 30, "the victim's push waited"
    # The made-up ones are set aside for good: each was asked for once.
    backend.wait_for_ends(attack, "mallory", *["token_quarantined"] * 60)
    for number in range(5):
        backend.wait_for_ends(backend.say("friend", "victim", f"later {number}"), "victim", "accepted")
    assert "pushes wait" not in log(site)


def test_a_page_says_what_apns_has_not_got_also_after_a_restart(make_site):
    site = make_site(with_apns=True, settings=QUICK).start()
    backend = Backend(site)

    async def prepare():
        await register(site, "bob", Courier(site, "bob").token(), "phone")
        carol = Client(site.gateway, site.token("carol"), device="phone")
        await carol.connect()
        await carol.close()

    async def catch_up(user: str) -> list[dict | None]:
        # Nothing is settled, as by a phone in the background that has not rung yet.
        client = Client(
            site.gateway, site.token(user), device="phone", disposition=None, run_state="background", remaining=20_000)
        await client.connect()
        await client.close()
        return client.pushes

    run(prepare())
    backend.wait_for_ends(backend.say("alice", "bob", "hello"), "bob", "accepted")
    backend.wait_for_ends(backend.say("alice", "carol", "hello"), "carol", "no_token")
    for _ in range(2):
        assert run(catch_up("bob")) == [{}]
        assert run(catch_up("carol")) == [{"unsent": ["1"]}]
        site.server.stop()
        site.start()


def test_a_batch_of_tokens_of_the_other_environment_stops_nobody(make_site):
    site = make_site(with_apns=True, settings=QUICK).start()
    backend = Backend(site)

    async def prepare():
        await register(site, "victim", Courier(site, "victim").token())
        for number in range(12):
            # A build for one of Apple's sides that says it is for the other.
            await register(site, f"tester{number}", Courier(site, f"tester{number}").token("production"))

    run(prepare())
    first = [backend.say("friend", f"tester{number}", "hello") for number in range(12)]
    for number, message in enumerate(first):
        backend.wait_for_open_leg(message, f"tester{number}", "breaker_open")
    # Nothing has worked yet: it may be the server's environment that is wrong, and somebody should know.
    site.server.wait_for_log(r"pushes wait.*BadDeviceToken")
    backend.wait_for_ends(backend.say("friend", "victim", "hello"), "victim", "accepted")
    # Now it is known to be right.
    for number, message in enumerate(first):
        backend.wait_for_ends(message, f"tester{number}", "token_quarantined")
    # What APNs said stands in the trace: of the one that was refused, and of those that ended with the token afterwards.
    last = backend.say("friend", "tester0", "once more")
    backend.wait_for_ends(last, "tester0", "token_quarantined")
    for message in (first[0], last):
        assert [leg["detail"] for leg in site.trace(message)["ended_legs"] if leg["user"] == "tester0"] == [
            "400 BadDeviceToken"]
    site.server.wait_for_log("pushes go again")
    backend.wait_for_ends(backend.say("friend", "victim", "again"), "victim", "accepted")


def test_tokens_that_worked_are_known_after_a_restart_and_an_operator_s_mistake_costs_none(make_site):
    site = make_site(with_apns=True, settings=QUICK).start()
    backend = Backend(site)
    people = [f"person{number}" for number in range(6)]

    async def prepare():
        for person in people:
            await register(site, person, Courier(site, person).token())

    run(prepare())
    for person in people:
        backend.wait_for_ends(backend.say("friend", person, "works"), person, "accepted")
    site.server.kill()
    site.start()
    # APNs refuses every token, as it does when the server is pointed at the wrong one of Apple's sides.
    control = f"http://127.0.0.1:{site.control_port}"
    refuse = {"fault": "respond", "status": 400, "reason": "BadDeviceToken"}
    site.call("POST", "/faults", {"seed": 1, "rules": [refuse]}, base=control)
    messages = {person: backend.say("friend", person, "wrong side") for person in people}
    for person, message in messages.items():
        backend.wait_for_open_leg(message, person, "breaker_open")
    site.server.wait_for_log(r"pushes wait.*BadDeviceToken")
    site.call("POST", "/faults", {"seed": 1, "rules": []}, base=control)
    # A refused token is not asked again by itself: that the lane works shows with another one.
    run(register(site, "newcomer", Courier(site, "newcomer").token()))
    backend.wait_for_ends(backend.say("friend", "newcomer", "hello"), "newcomer", "accepted")
    for person, message in messages.items():
        backend.wait_for_ends(message, person, "accepted")


def test_a_registration_for_a_topic_of_another_app_is_refused_by_name(make_site):
    site = make_site(with_apns=True).start()

    async def story():
        client = Client(site.gateway, site.token("bob"))
        await client.connect()
        await client.register_push("ab" * 32, TOPIC, is_answered=True)
        await client.register_push("ab" * 32, f"{TOPIC}.voip", is_answered=True)
        with pytest.raises(Refused) as refusal:
            await client.register_push("ab" * 32, "com.example.other", is_answered=True)
        assert (refusal.value.code, refusal.value.field) == ("invalid_field", "push_registration.topic")
        # A client from before registrations were answered hears of a fault alone, and goes on.
        await client.register_push("ab" * 32, "com.example.other")
        await client.ping()
        assert [problem["field"] for problem in client.problems] == ["push_registration.topic"]
        await client.close()

    run(story())
    devices = site.call("GET", f"/v1/apps/{site.app}/users/bob/devices")["devices"]
    assert [device["push_topic"] for device in devices] == [f"{TOPIC}.voip"]
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        assert re.search(r"^tidings_push_registrations_refused(_total)? 2", answer.read().decode(), re.M)
