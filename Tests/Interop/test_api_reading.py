"""A backend marks conversations as read: counts, the person's devices, and what waits for one that is away."""

from __future__ import annotations

import asyncio
import json
import urllib.error

import pytest
from backend import Backend
from conftest import TOPIC
from story import run
from tidings_client import Client


def read(backend: Backend, up_to: str | None = None, peer: str = "alice", key: str | None = None):
    site = backend.site
    body = {"conversation": {"type": "PR", "target": peer}}
    if up_to:
        body["up_to"] = up_to
    headers = {"Idempotency-Key": f'"{key}"'} if key else {}
    site.call("POST", f"/v1/apps/{site.app}/users/bob/read", body, headers=headers)


def test_it_is_read_on_the_devices_that_are_connected(site):
    backend = Backend(site)

    async def story():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        messages = [await asyncio.to_thread(backend.say, "alice", "bob", text) for text in ["one", "two", "three"]]
        await bob.wait_for(lambda: len(bob.messages) == 3)
        await asyncio.to_thread(read, backend, messages[1])
        await bob.wait_for(lambda: bob.entries("read"))
        assert backend.unread("bob") == 1
        await asyncio.to_thread(read, backend)
        await bob.wait_for(lambda: len(bob.entries("read")) == 2)
        assert backend.unread("bob") == 0
        # An older message, and the same once more: nothing is left to be read.
        await asyncio.to_thread(read, backend, messages[0])
        await asyncio.to_thread(read, backend)
        await bob.ping()
        assert len(bob.entries("read")) == 2
        await bob.close()

    run(story())


def test_what_waits_for_a_phone_that_is_away_ends(site):
    backend = Backend(site)

    async def come_and_go():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        await bob.register_push("ab" * 32, TOPIC)
        await bob.ping()
        await bob.close()

    run(come_and_go())
    # This app has no push credential.
    message = backend.say("alice", "bob", "one")
    backend.wait_for_open_leg(message, "bob", "config_fault")
    read(backend, message)
    backend.wait_for_ends(message, "bob", "read_elsewhere")
    assert backend.unread("bob") == 0


def test_a_repeat_under_a_key_is_no_second_reading(site):
    backend = Backend(site)
    backend.say("alice", "bob", "one")
    read(backend, key="k")
    backend.say("alice", "bob", "two")
    read(backend, key="k")
    assert backend.unread("bob") == 1
    read(backend)
    assert backend.unread("bob") == 0


def test_what_is_not_in_the_persons_log_is_refused(site):
    backend = Backend(site)
    other = backend.say("alice", "carol", "one")
    backend.say("alice", "bob", "two")
    for up_to, peer, status, code, field in [
        (None, "carol", 400, "invalid_field", "conversation"), (other, "alice", 404, "unknown_message", "up_to"),
        ("0000000000000", "alice", 404, "unknown_message", "up_to"), ("x", "alice", 400, "invalid_field", "up_to"),
    ]:
        with pytest.raises(urllib.error.HTTPError) as refused:
            read(backend, up_to, peer)
        problem = json.loads(refused.value.read())
        assert (refused.value.code, problem["code"], problem["field"]) == (status, code, field)
    assert backend.unread("bob") == 1
