"""The people of an app and its counts, on a running server."""

from __future__ import annotations

import asyncio

from backend import Backend
from conftest import TOPIC
from tidings_client import Client


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 90))


def test_people_are_listed_page_by_page_and_told_one_by_one(site):
    backend = Backend(site)
    for number in range(7):
        backend.say(f"sender-{number}", "bob", "hi")
    backend.call_person("zoe", "Zoe")
    site.call("PUT", f"/v1/apps/{site.app}/users/mallory/ban")

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
    assert found[0] == {"id": "bob", "banned": False, "devices": 1, "unread": 7}
    assert [person["id"] for person in found if person["banned"]] == ["mallory"]
    assert backend.call("GET", "users/zoe")["name"] == "Zoe"
    assert backend.call("GET", "users/nobody")["devices"]["count"] == 0


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
