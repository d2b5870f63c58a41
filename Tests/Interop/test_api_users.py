"""The people of an app and its counts, on a running server."""

from __future__ import annotations

import asyncio
import time

from backend import Backend
from conftest import TOPIC
from story import run
from tidings_client import Client


def test_people_are_listed_page_by_page_and_told_one_by_one(site):
    backend = Backend(site)
    for number in range(7):
        backend.say(f"sender-{number}", "bob", "hi")
    backend.call_person("zoe", "Zoe")
    site.call("PUT", f"/v1/apps/{site.app}/users/mallory/ban", {"reason": "spam", "until": int(time.time() * 1_000) + 60_000})

    async def come():
        bob = Client(site.gateway, site.token("bob"), device="pad")
        await bob.connect()
        await bob.register_push("ab" * 32, TOPIC)
        await bob.ping()
        person = await asyncio.to_thread(backend.call, "GET", "users/bob")
        await bob.close()
        return person

    person = run(come())
    assert person["devices"] == {
        "count": 1, "here": 1, "push": {"none": 0, "registered": 1, "quarantined": 0, "dead": 0},
    }
    assert (person["id"], person["unread"], person["head"], person["banned"], person["name"]) == ("bob", 7, 7, False, None)

    found, cursor = [], ""
    while cursor is not None:
        page = backend.call("GET", f"users?limit=4{cursor and '&cursor=' + cursor}")
        assert len(page["users"]) <= 4
        found += page["users"]
        cursor = page["next"]
    people = [f"sender-{number}" for number in range(7)]
    assert [person["id"] for person in found] == ["bob", "mallory", *people, "zoe"]
    assert found[0] == {"id": "bob", "banned": False, "ban": None, "devices": 1, "unread": 7}
    assert [person["id"] for person in found if person["banned"]] == ["mallory"]
    assert backend.call("GET", "users/zoe")["name"] == "Zoe"
    assert backend.call("GET", "users/nobody")["devices"]["count"] == 0


def test_a_person_s_devices_are_told_with_lease_last_sight_shortened_token_and_badge(make_site):
    site = make_site(with_apns=True, settings={"lease": {"grace_milliseconds": 60_000, "restart_grace_milliseconds": 100}}).start()
    backend = Backend(site)
    registered = site.call(
        "POST", "/devices", {"phones": ["bob"], "topic": TOPIC, "environment": "sandbox"},
        base=f"http://127.0.0.1:{site.control_port}")
    token = registered["devices"][0]["token"] if "devices" in registered else registered["tokens"][0]

    def told() -> dict:
        (device,) = backend.call("GET", "users/bob/devices")["devices"]
        assert token not in str(device)
        assert device.get("push_token") == f"{token[:4]}…{token[-4:]}"
        assert (device["push"], device["push_topic"], device["push_environment"]) == ("registered", TOPIC, "sandbox")
        return device

    def contact(device: dict) -> tuple:
        return device["presence"], device["lease"], device["last_seen_at"], device.get("lease_until"), device["badge"]

    async def visit():
        bob = Client(site.gateway, site.token("bob"), device="phone")
        await bob.connect()
        await bob.register_push(token, TOPIC, is_answered=True)
        assert contact(await asyncio.to_thread(told)) == ("foreground", "foreground", None, None, None)
        before = int(time.time() * 1_000)
        await bob.say_run_state("background", 90_000)
        await bob.ping()
        presence, lease, seen, until, badge = contact(await asyncio.to_thread(told))
        assert (presence, lease, seen, badge) == ("background", "background", None, None)
        # Both clocks are this machine's; what was said has 90 s to run from some moment between.
        assert before + 90_000 <= until + 5 and until <= time.time() * 1_000 + 90_005
        await bob.say_run_state("foreground")
        await bob.ping()
        heard = int(time.time() * 1_000)
        await bob.close()
        return heard

    heard = run(visit())
    device = eventually(told, lambda device: device["lease"] == "grace")
    presence, _, seen, until, badge = contact(device)
    assert (presence, badge) == ("away", None)
    assert device["connected_at"] <= seen <= heard + 5 < until

    async def leave():
        bob = Client(site.gateway, site.token("bob"), device="phone")
        await bob.connect()
        await bob.say_run_state("suspending")
        await bob.ping()
        await bob.close()

    run(leave())
    message = backend.say("alice", "bob", "hi")
    backend.wait_for_ends(message, "bob", "accepted")
    device = eventually(told, lambda device: device["last_seen_at"] is not None)
    assert contact(device) == ("away", "gone", device["last_seen_at"], None, 1)
    assert device["last_seen_at"] >= heard

    # A new process knows of no push, and of what was last heard what the store has.
    site.server.stop()
    site.start()
    device = eventually(told, lambda device: device["lease"] == "gone")
    assert contact(device) == ("away", "gone", device["connected_at"], None, None)


def eventually(ask, holds):
    deadline = time.monotonic() + 20
    while not holds(found := ask()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def test_a_person_s_conversations_are_told_as_their_phones_list_them(site):
    backend = Backend(site)
    backend.call_person("alice", "Alice")
    backend.make_group("team", "The team", "alice", "bob")
    backend.say("alice", "bob", "a secret")
    kept = backend.say("carol", "bob", "a secret")
    recalled = backend.say("carol", "bob", "a secret")
    team = backend.say("alice", "team", "a secret", kind="GRP")
    backend.recall(recalled, "carol")
    backend.set_level("bob", "GRP:team", "blocked")
    found, cursor = [], ""
    while cursor is not None:
        page = backend.call("GET", f"users/bob/conversations?limit=2{cursor and '&cursor=' + cursor}")
        assert len(page["conversations"]) <= 2 and "secret" not in str(page)
        found += page["conversations"]
        cursor = page["next"]
    assert [(it["conversation"]["target"], it["name"], it["unread"], it["is_muted"]) for it in found] == [
        ("team", "The team", 1, True), ("carol", None, 1, False), ("alice", "Alice", 1, False)]
    assert [it["last_message"]["message_id"] for it in found[:2]] == [team, kept]
    assert backend.call("GET", "users/nobody/conversations") == {"conversations": [], "next": None}


def test_statistics_count_what_has_happened_since_the_start(site):
    backend = Backend(site)
    before = backend.call("GET", "statistics")
    assert before["messages"] == {"accepted": 0, "custom": 0, "recalled": 0, "edited": 0}
    assert set(before["legs"].values()) == {0} and before["connections"] == 0

    async def story():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        message = await asyncio.to_thread(backend.say, "alice", "bob", "one")
        await bob.wait_for(lambda: bob.messages)
        await asyncio.to_thread(backend.wait_for_ends, message, "bob", "settled")
        await asyncio.to_thread(backend.recall, message, "alice")
        await asyncio.to_thread(backend.say, "alice", "carol", "two")
        await asyncio.to_thread(backend.send_custom, "x", "bob")
        return await asyncio.to_thread(backend.call, "GET", "statistics"), await bob.close()

    after, _ = run(story())
    assert after["since"] == before["since"]
    assert after["messages"] == {"accepted": 2, "custom": 1, "recalled": 1, "edited": 0}
    assert (after["legs"]["settled"], after["legs"]["no_device"]) == (1, 1)
    assert (after["connections"], after["devices"]["signed_in"]) == (1, 1)
    site.server.stop()
    site.start()
    again = backend.call("GET", "statistics")
    assert again["messages"]["accepted"] == 0 and again["since"] > before["since"]
