"""A search for legs over the HTTP API: by person, device, message, state, reason and time, with what happened before each end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
import urllib.error
import urllib.parse

import pytest
from backend import Backend
from conftest import TOPIC, Site, tool
from story import run
from tidings_client import Client

SETTINGS = {"lease": {"grace_milliseconds": 100, "restart_grace_milliseconds": 100}, "policy": {"badge_delay_milliseconds": 200}}


def legs(site: Site, **query) -> list[dict]:
    """All pages of a search."""
    found, cursor = [], None
    while True:
        asked = {**query, **({"cursor": cursor} if cursor else {})}
        page = site.call("GET", f"/v1/apps/{site.app}/legs?{urllib.parse.urlencode(asked)}")
        found += page["legs"]
        cursor = page["next"]
        if not cursor:
            return found


def refused(site: Site, **query) -> dict:
    with pytest.raises(urllib.error.HTTPError) as raised:
        legs(site, **query)
    assert raised.value.code == 400
    return json.load(raised.value)


def token(site: Site, phone: str) -> str:
    answer = site.call(
        "POST", "/devices", {"phones": [phone], "topic": TOPIC, "environment": "sandbox"},
        base=f"http://127.0.0.1:{site.control_port}")
    return answer["devices"][0]["token"] if "devices" in answer else answer["tokens"][0]


async def come_and_go(site: Site, user: str, device: str, push_token: str | None):
    client = Client(site.gateway, site.token(user), device=device)
    await client.connect()
    if push_token:
        await client.register_push(push_token, TOPIC, is_answered=True)
    await client.ping()
    await client.close()


@pytest.fixture
def backend(make_site) -> Backend:
    """bob has a phone that can be pushed, carol one and a mute, dave one without a token; erin has none."""
    site = make_site(with_apns=True, settings=SETTINGS).start()
    backend = Backend(site)
    for user in ("bob", "carol"):
        run(come_and_go(site, user, f"{user}-phone", token(site, user)))
    run(come_and_go(site, "dave", "dave-phone", None))
    backend.set_level("carol", "PR:alice", "blocked")
    time.sleep(0.5)
    return backend


def kinds(found: list[dict]) -> list[tuple]:
    return [(leg["message_id"], leg["device"], leg["end"]) for leg in found]


def test_legs_are_found_by_person_device_state_reason_message_and_time(backend):
    site = backend.site
    before = int(time.time() * 1_000)
    sent = {user: backend.say("alice", user, "secret words") for user in ("bob", "carol", "dave", "erin")}
    for user, end in {"bob": "accepted", "carol": "muted", "dave": "no_token", "erin": "no_device"}.items():
        backend.wait_for_ends(sent[user], user, end)
    muted = (sent["carol"], "carol-phone", "muted")
    assert kinds(legs(site, user="carol")) == [muted]
    assert kinds(legs(site, user="erin")) == [(sent["erin"], None, "no_device")]
    assert kinds(legs(site, device="carol-phone")) == [muted]
    assert kinds(legs(site, state="muted")) == [muted]
    assert kinds(legs(site, reason="MUTE")) == [muted]
    assert kinds(legs(site, message_id=sent["carol"], user="carol")) == [muted]
    # Of anybody what has ended on a device, newest first, page by page.
    assert kinds(legs(site, limit=1)) == [
        (sent["dave"], "dave-phone", "no_token"), muted, (sent["bob"], "bob-phone", "accepted")]
    assert legs(site, user="carol", until=before - 60_000) == []
    assert kinds(legs(site, user="carol", since=before - 60_000, until=before + 60_000)) == [muted]
    assert "secret" not in json.dumps(legs(site, user="bob"))
    assert refused(site, state="no_device")["field"] == "user"
    assert refused(site, wait="muted")["field"] == "wait"
    assert refused(site, state="nonsense")["field"] == "state"


def test_what_happened_before_the_end_is_kept_over_a_kill(backend):
    site = backend.site
    backend.set_person("bob", quiet_hours={"start": 0, "end": 0, "time_zone": "Europe/Berlin", "manner": "defer"})
    message = backend.say("alice", "bob", "Good night")
    backend.wait_for_open_leg(message, "bob", "quiet_hours")
    open_leg = legs(site, user="bob", state="open")[0]
    assert (open_leg["message_id"], open_leg["wait"]) == (message, "quiet_hours")
    assert [step["step"] for step in open_leg["steps"]] == ["waiting"]
    # Of anybody, too, and by what it waits for; as a state of anybody quiet_hours is an end.
    assert [leg["message_id"] for leg in legs(site, wait="quiet_hours", limit=1)] == [message]
    assert [(leg["user"], leg["wait"]) for leg in legs(site, state="open")] == [("bob", "quiet_hours")]
    assert legs(site, wait="config_fault") == legs(site, state="quiet_hours") == []
    site.server.kill()
    site.start()
    backend.wait_for_open_leg(message, "bob", "quiet_hours")
    waits = [(step["wait"], step["at"]) for step in open_leg["steps"]]
    assert [(step["wait"], step["at"]) for step in legs(site, user="bob", state="quiet_hours")[0]["steps"]] == waits
    backend.set_person("bob", quiet_hours=None)
    backend.wait_for_ends(message, "bob", "accepted")
    ended = legs(site, user="bob", state="accepted")[0]
    assert (ended["steps"][0]["wait"], ended["steps"][0]["at"]) == waits[0]
    pushed = next(step for step in ended["steps"] if step["step"] == "pushed")
    assert pushed["request"]["topic"] == TOPIC
    assert pushed["request"]["apns_id"].upper() == ended["detail"].upper()
    assert pushed["request"]["collapse_id"] == message
    assert all(test["passed"] for test in pushed["tests"])
    assert ended["steps"][0]["tests"][-1] == {"fact": "quiet_hours", "passed": False}
    # The request that the local APNs has seen is the one that is told.
    asked = [event["apns_id"].upper() for event in site.delivery_log() if event["event"] == "accepted"]
    assert asked == [pushed["request"]["apns_id"].upper()]


def test_it_is_told_where_a_message_was_read_before_the_push(backend):
    site = backend.site

    async def story():
        pad = Client(site.gateway, site.token("bob"), device="bob-pad")
        await pad.connect()
        message = await asyncio.to_thread(backend.say, "alice", "bob", "Here?")
        await pad.wait_for(lambda: pad.messages)
        await pad.mark_read("alice", pad.stored)
        await asyncio.to_thread(backend.wait_for_ends, message, "bob", "read_elsewhere", "settled")
        await pad.close()
        return message

    message = run(story())
    phone = next(leg for leg in legs(site, user="bob", message_id=message) if leg["device"] == "bob-phone")
    assert [step["device"] for step in phone["steps"] if step["step"] == "read"] == ["bob-pad"]
    done = subprocess.run(
        [tool(), "message", "why", site.app, "bob", "--api", site.api], capture_output=True, text=True, timeout=60,
        env={"TIDINGS_API_KEY": site.api_key, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert "bob-phone of bob was not pushed: the message was read on bob-pad" in done.stdout
    assert message in done.stdout


def test_a_time_that_cannot_be_read_is_named(site):
    done = subprocess.run(
        [tool(), "message", "why", site.app, "bob", "--at", "yesterday", "--api", site.api], capture_output=True, text=True, timeout=60,
        env={"TIDINGS_API_KEY": site.api_key, "PATH": "/usr/bin:/bin"})
    assert done.returncode != 0
    assert "--at" in done.stderr and "yesterday" in done.stderr
