"""What the forms of docs/server/protocol.md allow beyond the usual: other scripts, other names, members of a newer client."""

import json

import pytest
import websockets
from story import run
from tidings_client import Client, SUBPROTOCOL


@pytest.mark.parametrize("text", ["你好 👩‍👩‍👧", "\"quoted\" \\ / é", "\u0000 \u2028 \u007f", " " * 2000])
def test_text_of_any_script_arrives_unchanged(site, text):
    async def story():
        alice, bob = (Client(site.gateway, site.token(name)) for name in ("alice", "bob"))
        await alice.connect()
        await bob.connect()
        await alice.send("bob", text)
        await bob.wait_for(lambda: bob.messages)
        await alice.close()
        await bob.close()
        return json.loads(bob.messages[0]["content"])["content"]

    assert run(story()) == text


def test_names_with_underscores_and_members_of_a_newer_client_are_understood(site):
    async def story():
        alice = Client(site.gateway, site.token("alice"))
        await alice.connect()
        await alice.raw(
            {
                "send": {
                    "client_message_id": "snake", "conversation": {"type": "PR", "target": "bob"},
                    "object_name": "RC:TxtMsg", "content": "{\"content\":\"x\"}", "from_the_future": {"a": [1, None]},
                }
            }
        )
        await alice.wait_for(lambda: "snake" in alice.accepted)
        await alice.close()

    run(story())


def test_the_welcome_counts_what_is_unread(site):
    async def story():
        alice, bob, late = (Client(site.gateway, site.token(name)) for name in ("alice", "bob", "bob"))
        await bob.connect()
        await bob.close()
        await alice.connect()
        await alice.send("bob", "one")
        await alice.send("bob", "two")
        welcome = await late.connect()
        await alice.close()
        await late.close()
        return int(welcome.get("unread", 0))

    assert run(story()) == 2


def test_a_frame_nested_too_deep_is_refused_not_followed(site):
    async def story():
        async with websockets.connect(f"{site.gateway}/v1/connect", subprotocols=[SUBPROTOCOL]) as socket:
            await socket.send("{\"hello\":" + "{\"a\":" * 2_000 + "1" + "}" * 2_001)
            return json.loads(await socket.recv())["problem"]["code"]

    assert run(story()) == "malformed_frame"
