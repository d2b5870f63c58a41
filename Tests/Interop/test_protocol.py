"""docs/server/protocol.md, held against a real server by a client written from it."""

import asyncio
import json

import pytest
import websockets
from story import run
from tidings_client import Client, Refused, SUBPROTOCOL


def texts(client: Client) -> list[str]:
    return [json.loads(message["content"])["content"] for message in client.messages]


async def send_patiently(client, target: str, text: str):
    """Sends faster than a person may, and waits as long as it is told."""
    while True:
        try:
            return await client.send(target, text, client_message_id=f"patient-{text}")
        except Refused as refusal:
            if refusal.code != "rate_limited":
                raise
            await asyncio.sleep(refusal.problem["retryAfterMs"] / 1000)


def test_two_people_talk(site):
    async def story():
        alice, bob = (Client(site.gateway, site.token(name)) for name in ("alice", "bob"))
        await alice.connect()
        await bob.connect()
        answer = await alice.send("bob", "hello")
        assert len(answer["messageId"]) == 13
        await bob.wait_for(lambda: texts(bob) == ["hello"])
        message = bob.messages[0]
        assert message["id"] == answer["messageId"]
        assert message["sender"] == "alice"
        assert message["conversation"] == {"type": "PR", "target": "bob"}
        await bob.send("alice", "hi")
        await alice.wait_for(lambda: texts(alice) == ["hi"])
        await alice.ping()
        await alice.close()
        await bob.close()
        return answer["messageId"]

    message_id = run(story())
    ends = {(leg["user"], leg["end"]) for leg in site.trace(message_id)["ended_legs"]}
    assert ("bob", "settled") in ends


def test_what_was_missed_is_synced(site):
    async def story():
        alice, bob = (Client(site.gateway, site.token(name)) for name in ("alice", "bob"))
        await bob.connect()
        await bob.close()
        await alice.connect()
        for number in range(250):
            await send_patiently(alice, "bob", f"{number}")
        welcome = await bob.connect()
        assert int(welcome["head"]) == 250
        assert texts(bob) == [f"{number}" for number in range(250)]
        await alice.close()
        await bob.close()

    run(story())


def test_a_repeated_send_is_one_message(site):
    async def story():
        alice, bob = (Client(site.gateway, site.token(name)) for name in ("alice", "bob"))
        await alice.connect()
        await bob.connect()
        first = await alice.send("bob", "once", client_message_id="same")
        again = await alice.send("bob", "once", client_message_id="same")
        assert again["messageId"] == first["messageId"]
        assert again.get("position", "0") == "0"
        await alice.send("bob", "then")
        await bob.wait_for(lambda: len(texts(bob)) == 2)
        assert texts(bob) == ["once", "then"]
        await alice.close()
        await bob.close()

    run(story())


def test_a_send_cannot_name_another_sender(site):
    """The sender is whose token opened the connection; a field that says otherwise is one nobody knows."""

    async def story():
        ada, bob = Client(site.gateway, site.token("ada")), Client(site.gateway, site.token("bob"))
        await ada.connect()
        await bob.connect()
        await ada.send("bob", "hi", sender="mallory", user="mallory", **{"from": "mallory"})
        await bob.wait_for(lambda: bob.messages)
        await ada.close()
        await bob.close()
        return bob.messages

    (message,) = run(story())
    assert message["sender"] == "ada"


def test_another_device_of_the_sender_gets_the_message(site):
    async def story():
        phone, tablet = (Client(site.gateway, site.token("alice")) for _ in range(2))
        await phone.connect()
        await tablet.connect()
        await phone.send("bob", "from the phone")
        await tablet.wait_for(lambda: texts(tablet) == ["from the phone"])
        await phone.close()
        await tablet.close()

    run(story())


def test_reading_reaches_the_other_device(site):
    async def story():
        alice = Client(site.gateway, site.token("alice"))
        phone, tablet = (Client(site.gateway, site.token("bob")) for _ in range(2))
        for client in (alice, phone, tablet):
            await client.connect()
        await alice.send("bob", "read me")
        await phone.wait_for(lambda: texts(phone) == ["read me"])
        await phone.mark_read("alice", 1)
        await tablet.wait_for(lambda: any("read" in entry for entry in tablet.log.values()))
        entry = next(entry for entry in tablet.log.values() if "read" in entry)
        assert entry["read"] == {"conversation": {"type": "PR", "target": "alice"}, "upTo": "1"}
        for client in (alice, phone, tablet):
            await client.close()

    run(story())


def test_the_same_device_again_ends_the_older_connection(site):
    async def story():
        first = Client(site.gateway, site.token("alice"), device="one")
        await first.connect()
        second = Client(site.gateway, site.token("alice"), device="one")
        await second.connect()
        await first.wait_for(lambda: first.fatal is not None)
        assert first.fatal["code"] == "superseded"
        await second.ping()
        await second.close()

    run(story())


@pytest.mark.parametrize(
    "frame, code, field",
    [
        ({"clientMessageId": "a", "conversation": {"type": "XX", "target": "b"}, "objectName": "o", "content": "x"},
         "invalid_field", "conversation.type"),
        ({"clientMessageId": "a", "conversation": {"type": "GRP", "target": "nowhere"}, "objectName": "o", "content": "x"},
         "unknown_conversation", "conversation.target"),
        ({"clientMessageId": "a", "conversation": {"type": "PR", "target": "b"}, "objectName": "o", "content": ""},
         "invalid_field", "content"),
        ({"clientMessageId": "a", "conversation": {"type": "PR", "target": "b"}, "objectName": "o",
          "content": "x" * 32_769}, "invalid_field", "content"),
    ],
)
def test_a_bad_send_is_refused_by_field_and_the_connection_lives_on(site, frame, code, field):
    async def story():
        alice = Client(site.gateway, site.token("alice"))
        await alice.connect()
        answer = asyncio.get_running_loop().create_future()
        alice._answers["a"] = answer
        await alice.raw({"send": frame})
        with pytest.raises(Refused) as refused:
            await answer
        assert refused.value.code == code
        assert refused.value.field == field
        await alice.ping()
        await alice.close()

    run(story())


def test_tokens_are_checked(site, make_site):
    other = make_site()
    other.app = site.app
    other.start()

    async def refused_with(token: str) -> str:
        with pytest.raises(Refused) as refused:
            await Client(site.gateway, token).connect()
        assert refused.value.problem.get("fatal") is True
        assert refused.value.problem["rule"]
        return refused.value.code

    async def story():
        assert await refused_with("nonsense") == "invalid_token"
        # Signed with another server's secret for the same app.
        assert await refused_with(other.token("alice")) == "invalid_token"
        short = site.token("alice", seconds=1)
        await asyncio.sleep(1.2)
        assert await refused_with(short) == "expired_token"

    run(story())


def test_a_connection_that_breaks_the_rules_is_told_and_closed(site):
    async def first_frame(text: str) -> tuple[dict, int]:
        async with websockets.connect(f"{site.gateway}/v1/connect", subprotocols=[SUBPROTOCOL]) as socket:
            await socket.send(text)
            problem = json.loads(await socket.recv())["problem"]
            with pytest.raises(websockets.ConnectionClosed):
                await socket.recv()
            return problem, socket.close_code

    async def story():
        assert (await first_frame("not json"))[0]["code"] == "malformed_frame"
        assert (await first_frame('{"ping":{}}'))[0]["code"] == "unexpected_frame"
        hello = {"versionMin": 7, "versionMax": 9, "token": site.token("alice"), "device": "d", "platform": "p",
                 "runState": {"state": "foreground"}}
        assert (await first_frame(json.dumps({"hello": hello})))[0]["code"] == "unsupported_version"
        problem, status = await first_frame('{"ping":{"nonce":"1"},"pad":"' + "x" * 300_000 + '"}')
        assert problem["code"] == "frame_too_large"
        assert status == 1009

    run(story())


def test_a_handshake_without_a_known_subprotocol_is_refused(site):
    async def story():
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(f"{site.gateway}/v1/connect", subprotocols=["chat"])
        assert refused.value.response.status_code == 400

    run(story())
