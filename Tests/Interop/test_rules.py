"""Who may write where, who may be in a chat room, and what may still be read: attacks on a running server."""

import asyncio
import json
import time
import urllib.error

import pytest
from story import api, people, run
from tidings_client import Client, Refused

PEER_KINDS = ["PR", "CS", "SYS", "MC", "MP", "PH"]
ROOM = {"type": "CHRM", "target": "lobby"}


async def code(awaitable) -> str:
    """The code of what has to be refused."""
    with pytest.raises(Refused) as refused:
        await awaitable
    return refused.value.code


def backend(site, kind: str, text: str, client_message_id: str):
    """Sends as alice to bob, as the app's backend."""
    return api(site, "POST", "messages", {
        "sender": "alice", "client_message_id": client_message_id, "conversation": {"type": kind, "target": "bob"},
        "content": json.dumps({"content": text}),
    })


def words(client: Client) -> str:
    """Everything a client has got, as text."""
    return json.dumps(client.log) + json.dumps(client.signals)


def test_who_is_blocked_reaches_nobody_whatever_the_kind(site):
    async def story():
        async with people(site, "alice", "bob") as [alice, bob]:
            for kind in ["CS", "MC", "MP"]:
                assert await code(alice.send("bob", "no account", kind=kind)) == "not_allowed"
                await api(site, "PUT", f"accounts/{kind}/bob")
            listed = (await api(site, "GET", "accounts"))["accounts"]
            assert [(account["kind"], account["id"]) for account in listed] == [
                (kind, "bob") for kind in ["CS", "MC", "MP"]]
            for kind in ["SYS", "PH"]:
                assert await code(alice.send("bob", "a forged notice", kind=kind)) == "not_allowed"
                await backend(site, kind, "a notice", f"notice-{kind}")
            sent = {kind: await alice.send("bob", f"before {kind}", kind=kind) for kind in ["PR", "CS", "MC", "MP"]}
            await bob.wait_for(lambda: len(bob.messages) == 6)
            await bob.request("setBlocked", user="alice", isBlocked=True)
            for kind in PEER_KINDS:
                expected = "not_allowed" if kind in ("SYS", "PH") else "blocked"
                assert await code(alice.send("bob", f"UNWANTED {kind}", kind=kind)) == expected
                await alice.typing("bob", kind=kind)
                with pytest.raises(urllib.error.HTTPError) as refused:
                    await backend(site, kind, f"UNWANTED {kind}", f"late-{kind}")
                assert refused.value.code == 403
            for message in sent.values():
                content = json.dumps({"content": "UNWANTED edit"})
                assert await code(alice.request("edit", message=message["messageId"], content=content)) == "blocked"
                assert await code(alice.request("recall", message=message["messageId"])) == "blocked"
            await bob.ping()
            assert "UNWANTED" not in words(bob) and not bob.signals and not bob.entries("recall")
            assert (await api(site, "GET", "users/bob/unread"))["unread"] == 6
            await bob.request("setBlocked", user="alice")
            await alice.send("bob", "welcome back", kind="CS")
            await api(site, "DELETE", "accounts/CS/bob")
            assert await code(alice.send("bob", "no account", kind="CS")) == "not_allowed"

    run(story())


def test_in_a_group_who_is_blocked_is_stored_and_neither_counts_nor_mentions(site):
    async def unread() -> tuple[int, int]:
        counts = await api(site, "GET", "users/bob/unread")
        return counts["unread"], counts["mentions"]

    async def story():
        async with people(site, "alice", "bob", "carol") as [alice, bob, carol]:
            await carol.change("team", "create", name="Team", members=["alice", "bob"])
            await bob.request("setBlocked", user="alice", isBlocked=True)
            assert await code(alice.change("mine", "create", name="Mine", members=["bob"])) == "blocked"
            with pytest.raises(urllib.error.HTTPError) as refused:
                await api(site, "POST", "conversations/GRP/mine?actor=alice", {"name": "Mine", "members": ["bob"]})
            assert refused.value.code == 403
            await alice.send("team", "to all", kind="GRP", mentions={"everyone": True})
            await alice.typing("team", kind="GRP")
            for client in [bob, carol]:
                await client.wait_for(lambda client=client: len(client.messages) == 1)
            [hushed], [loud] = bob.messages, carol.messages
            assert hushed["notCounted"] and hushed["notNotified"] and "mentions" not in hushed
            assert loud["mentions"] == {"everyone": True} and "notCounted" not in loud and "notNotified" not in loud
            await bob.ping()
            assert await unread() == (0, 0) and not bob.signals
            for kind, target in [("GRP", "team"), ("PR", "bob")]:
                await api(site, "POST", "messages", {
                    "sender": "alice", "client_message_id": f"past-{kind}", "ignores_blocks": True,
                    "conversation": {"type": kind, "target": target}, "content": json.dumps({"content": "past it"}),
                })
            await bob.wait_for(lambda: len(bob.messages) == 3)
            assert await unread() == (2, 0)
            assert not any("notCounted" in message for message in bob.messages[1:])

    run(story())
    site.server.kill()
    site.start()
    assert run(unread()) == (2, 0)


def test_an_account_is_of_a_service_and_outlives_a_restart(site):
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("PUT", f"/v1/apps/{site.app}/accounts/PR/bob")
    assert refused.value.code == 400
    site.call("PUT", f"/v1/apps/{site.app}/accounts/CS/help", {"operators": ["olga"], "audience": "followers"})
    site.call("PUT", f"/v1/apps/{site.app}/accounts/CS/help/followers/bob")
    before = site.call("GET", f"/v1/apps/{site.app}/accounts")["accounts"]
    assert [(account["id"], account["operators"], account["followers"]) for account in before] == [("help", ["olga"], 1)]
    site.server.kill()
    site.start()
    assert site.call("GET", f"/v1/apps/{site.app}/accounts")["accounts"] == before
    assert site.call("GET", f"/v1/apps/{site.app}/accounts/CS/help/followers")["followers"] == ["bob"]


def test_who_was_put_out_of_a_group_changes_nothing_there(site):
    async def story():
        async with people(site, "alice", "mallory") as [alice, mallory]:
            await alice.change("team", "create", name="Team", members=["mallory"])
            message = (await mallory.send("team", "first", kind="GRP"))["messageId"]
            await alice.change("team", "remove", users=["mallory"])
            content = json.dumps({"content": "UNWANTED"})
            assert await code(mallory.request("edit", message=message, content=content)) == "not_a_member"
            assert await code(mallory.request("recall", message=message)) == "not_a_member"
            await alice.ping()
            assert "UNWANTED" not in words(alice)

    run(story())


def test_who_is_put_out_of_a_room_neither_hears_writes_nor_comes_back(site):
    async def story():
        async with people(site, "alice", "mallory", "mallory") as [alice, mallory, tablet]:
            await alice.change("lobby", "create", kind="CHRM", name="Lobby")
            await alice.request("enterRoom", conversation=ROOM, history=0)
            assert await code(mallory.send("lobby", "from outside", kind="CHRM")) == "not_a_member"
            for client in (mallory, tablet):
                await client.request("enterRoom", conversation=ROOM, history=0)
            await mallory.send("lobby", "hello", kind="CHRM")
            await alice.send("lobby", "heard", kind="CHRM")
            await tablet.wait_for(lambda: "heard" in words(tablet))
            await alice.change("lobby", "ban", kind="CHRM", users=["mallory"])
            await alice.send("lobby", "UNHEARD", kind="CHRM")
            assert await code(mallory.send("lobby", "UNWANTED", kind="CHRM")) == "banned"
            assert await code(mallory.request("enterRoom", conversation=ROOM, history=9)) == "banned"
            assert await code(mallory.request("history", conversation=ROOM, limit=9)) == "banned"
            assert await code(mallory.change("lobby", "join", kind="CHRM")) == "banned"
            assert (await api(site, "GET", "conversations/CHRM/lobby/bans"))["bans"] == [
                {"user": "mallory", "until": None}]
            for client in (mallory, tablet):
                await client.ping()
                assert "UNHEARD" not in words(client)
            await asyncio.to_thread(site.server.kill)
            await asyncio.to_thread(site.start)
            await mallory.close()
            await mallory.connect()
            assert await code(mallory.request("enterRoom", conversation=ROOM, history=9)) == "banned"
            await api(site, "DELETE", "conversations/CHRM/lobby/bans/mallory")
            await mallory.request("enterRoom", conversation=ROOM, history=9)
            until = int(time.time() * 1000) + 3_600_000
            await api(site, "PUT", "conversations/CHRM/lobby/bans/mallory", {"until": until})
            assert await code(mallory.send("lobby", "UNWANTED", kind="CHRM")) == "banned"
            await api(site, "DELETE", "conversations/CHRM/lobby/bans/mallory")
            await api(site, "DELETE", "conversations/CHRM/lobby/members/mallory")
            assert await code(mallory.send("lobby", "UNWANTED", kind="CHRM")) == "not_a_member"
            await api(site, "DELETE", "conversations/CHRM/lobby")
            assert await code(mallory.request("enterRoom", conversation=ROOM, history=9)) == "unknown_conversation"
            assert await code(mallory.request("history", conversation=ROOM, limit=9)) == "unknown_conversation"

    run(story())


def test_policies_keep_strangers_out_of_what_they_know_the_id_of(make_site):
    site = make_site(settings={"policy": {
        "create": {"group": "backend"}, "join": {"discussion": "nobody", "chat_room": "nobody"},
        "add": {"discussion": "admins"},
    }}).start()

    async def story():
        async with people(site, "alice", "mallory") as [alice, mallory]:
            assert await code(mallory.change("team", "create", name="Squat")) == "not_allowed"
            await alice.change("circle", "create", kind="DS", name="Circle", members=["bob"])
            assert await code(mallory.change("circle", "join", kind="DS")) == "not_allowed"
            await alice.change("lobby", "create", kind="CHRM", name="Lobby")
            assert await code(mallory.request("enterRoom", conversation=ROOM, history=9)) == "not_a_member"
            assert await code(mallory.request("history", conversation=ROOM, limit=9)) == "not_a_member"
            await alice.change("lobby", "add", kind="CHRM", users=["mallory"])
            await mallory.request("enterRoom", conversation=ROOM, history=9)
            await api(site, "PUT", "conversations/CHRM/lobby", {"name": "Lobby", "members": ["alice"]})
            assert await code(mallory.send("lobby", "UNWANTED", kind="CHRM")) == "not_a_member"

    run(story())


async def revise(alice: Client, bob: Client):
    """Messages of which some may not be read any more: three texts begin with GONE."""
    recalled, edited, deleted, kept = [
        (await alice.send("bob", text, **more))["messageId"]
        for text, more in [
            ("GONE-RECALLED", {"pushText": "GONE-PUSH"}), ("GONE-BEFORE", {"pushText": "GONE-WORDS"}),
            ("DELETED-BY-BOB", {}), ("KEPT", {}),
        ]
    ]
    await bob.wait_for(lambda: len(bob.messages) == 4)
    await alice.request("edit", message=edited, content=json.dumps({"content": "GONE-BETWEEN"}))
    await alice.request("edit", message=edited, content=json.dumps({"content": "NOW"}))
    await alice.request("recall", message=recalled)
    await bob.request("delete", conversation={"type": "PR", "target": "alice"}, messages=[deleted])
    await bob.wait_for(lambda: [json.loads(each["content"])["content"] for each in bob.shown] == ["NOW", "KEPT"])
    return recalled


def test_a_new_device_gets_no_text_that_may_not_be_read_any_more(site):
    async def story():
        async with people(site, "alice", "bob") as [alice, bob]:
            recalled = await revise(alice, bob)
            async with people(site, "bob") as [tablet]:
                got = words(tablet)
                assert "GONE" not in got and "DELETED-BY-BOB" not in got
                assert "KEPT" in got and "NOW" in got
                # Bare places: the log has no gap, and counts are those of the other device.
                assert sorted(tablet.log) == sorted(bob.log)
                assert tablet.welcome.get("unread") == 2
                assert tablet.entries("recall")[0]["message"] == recalled
                token = tablet.welcome["extensionToken"]
            missed = await asyncio.to_thread(site.call, "GET", "/v1/extension/missed?after=0&limit=20", None, token)
            told = json.dumps(missed)
            assert "GONE" not in told and "DELETED-BY-BOB" not in told and "KEPT" in told and "NOW" in told
            await bob.request("setPersonSettings", hidesContent=True)
            missed = await asyncio.to_thread(site.call, "GET", "/v1/extension/missed?after=0&limit=20", None, token)
            assert "KEPT" not in json.dumps(missed) and "NOW" not in json.dumps(missed)
            history = await bob.request("history", conversation={"type": "PR", "target": "alice"}, limit=50)
            assert "GONE" not in json.dumps(history)

    run(story())


def test_recalled_and_edited_texts_leave_the_files_of_a_running_server(make_site):
    site = make_site(settings={"store": {"erase_milliseconds": 200}}).start()

    async def story():
        async with people(site, "alice", "bob") as [alice, bob]:
            await revise(alice, bob)

    run(story())

    def found(word: bytes) -> bool:
        return any(word in path.read_bytes() for path in site.folder.glob("tidings.sqlite*") if path.is_file())

    deadline = time.monotonic() + 60
    while found(b"GONE"):
        assert time.monotonic() < deadline, "the texts are in the files still"
        time.sleep(0.1)
    assert found(b"KEPT") and found(b"NOW")
