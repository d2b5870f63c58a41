"""What an operator gives an app is what its pushes go out under (requirement S2.3)."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from backend import Backend
from conftest import TOPIC
from tidings_client import Client

OTHER = "com.example.other"
# An app whose phone is gone is pushed to at once.
SETTINGS = {"lease": {"grace_milliseconds": 0, "restart_grace_milliseconds": 0}}


def tokens(site, *topics: str) -> dict[str, str]:
    """The device tokens of a phone's apps, by topic."""
    found = {}
    with socket.create_connection(("127.0.0.1", site.courier_port), timeout=60) as phone:
        lines = phone.makefile("r", encoding="utf-8")

        def ask(line: dict) -> dict:
            phone.sendall((json.dumps(line) + "\n").encode())
            return json.loads(lines.readline())

        assert ask({"type": "hello", "phone": "p1"})["type"] == "welcome"
        for topic in topics:
            found[topic] = ask({"type": "register", "id": 1, "topic": topic, "environment": "sandbox"})["token"]
    return found


async def register(site, token: str, topic: str):
    """Signs bob in with a device token, and leaves him gone."""
    client = Client(site.gateway, site.token("bob"), device="phone")
    await client.connect()
    await client.register_push(token, topic, is_answered=True)
    await client.close()


@pytest.mark.requirement("S2.3")
@pytest.mark.parametrize("is_swapped", [False, True], ids=["its own", "another's"])
def test_each_app_pushes_with_the_credential_its_operator_gave_it(make_site, is_swapped):
    """Two apps of two teams, whose keys are good for their own topic alone."""
    site = make_site(with_apns=True, settings=SETTINGS)
    configuration = json.loads(site.config.read_text())
    own = configuration["app"]["demo"]["apns"]
    # The key that is there from the start is good for the first topic alone: the local APNs was told so.
    made = site.call(
        "POST", "/keys", {"topics": [OTHER], "team_id": "OTHERTEAM1"}, base=f"http://127.0.0.1:{site.control_port}")
    key = site.folder / "other.p8"
    key.write_text(made["p8"])
    given = {"team_id": "OTHERTEAM1", "key_id": made["key_id"], "key_path": str(key)}
    second = {**own, **given, "topic": OTHER}
    first = {**own, **given} if is_swapped else own
    configuration["apps"].append("other")
    configuration["app"]["other"] = {**configuration["app"]["demo"], "apns": second}
    configuration["app"]["demo"]["apns"] = first
    site.config.write_text(json.dumps(configuration))
    site.start()
    device_tokens = tokens(site, TOPIC, OTHER)
    backend = Backend(site)

    def push(app: str, topic: str) -> str:
        site.app = app
        asyncio.run(asyncio.wait_for(register(site, device_tokens[topic], topic), 60))
        return backend.say("alice", "bob", f"to {app}")

    if is_swapped:
        message = push("demo", TOPIC)
        backend.wait_for_open_leg(message, "bob", "config_fault")
        site.server.wait_for_log("pushes wait.*TopicDisallowed")
    else:
        backend.wait_for_ends(push("demo", TOPIC), "bob", "accepted")
    backend.wait_for_ends(push("other", OTHER), "bob", "accepted")
    taken = [entry["topic"] for entry in site.delivery_log() if entry["event"] == "accepted"]
    assert taken == ([OTHER] if is_swapped else [TOPIC, OTHER])
