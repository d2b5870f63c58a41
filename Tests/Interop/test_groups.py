"""Who may write in a group, and who is asked before they are in it: over a socket and the HTTP API, across a crash."""

import asyncio
import json
import time
import urllib.error

import pytest
from test_rules import api, code, people, run, words

GROUP = {"type": "GRP", "target": "team"}


def changes(client, action: str) -> list[dict]:
    """What a client's log has of one kind of change."""
    found = [entry["change"] for entry in client.log.values() if "change" in entry]
    return [change for change in found if action in change["action"]]


async def refused(site, *call) -> str:
    """The code by which the HTTP API refuses."""
    with pytest.raises(urllib.error.HTTPError) as error:
        await api(site, *call)
    assert error.value.code == 403
    return json.loads(error.value.read())["code"]


def backend(sender: str, number: int, text: str = "hi") -> dict:
    return {"sender": sender, "client_message_id": f"b-{number}", "conversation": GROUP, "text": text}


def test_who_is_muted_is_not_heard_and_takes_back_what_they_have_said(site):
    async def story():
        async with people(site, "alice", "bob", "mallory") as [alice, bob, mallory]:
            await alice.change("team", "create", name="Team", members=["bob", "mallory"])
            said = await mallory.send("team", "hello", kind="GRP")
            assert await code(mallory.change("team", "mute", users=["bob"])) == "not_allowed"
            await alice.change("team", "mute", users=["mallory"])
            assert await code(mallory.send("team", "UNWANTED", kind="GRP")) == "muted"
            assert await code(mallory.request("edit", message=said["messageId"], content="UNWANTED")) == "muted"
            assert await refused(site, "POST", "messages", backend("mallory", 1)) == "muted"
            await mallory.typing("team", kind="GRP")
            await asyncio.to_thread(site.server.kill)
            await asyncio.to_thread(site.start)
            for client in (alice, bob, mallory):
                await client.close()
                await client.connect()
            assert await code(mallory.send("team", "UNWANTED", kind="GRP")) == "muted"
            await mallory.request("recall", message=said["messageId"])
            info = await bob.request("conversation", conversation=GROUP)
            assert [member.get("mute") for member in info["members"]] == [None, None, {}]
            # The backend gives it an end, which comes by itself.
            until = int(time.time() * 1000) + 2_000
            await api(site, "PUT", "conversations/GRP/team/mutes/mallory", {"until": until})
            assert (await api(site, "GET", "conversations/GRP/team/mutes"))["mutes"] == [
                {"user": "mallory", "until": until}]
            members = (await api(site, "GET", "conversations/GRP/team"))["members"]
            assert [(member["is_muted"], member["muted_until"]) for member in members] == [
                (False, None), (False, None), (True, until)]
            while (await api(site, "GET", "conversations/GRP/team/mutes"))["mutes"]:
                await asyncio.sleep(0.1)
            await mallory.send("team", "sorry", kind="GRP")
            await api(site, "PUT", "conversations/GRP/team/only-admins-write", {"only_admins_write": True})
            assert await code(mallory.send("team", "UNWANTED", kind="GRP")) == "muted"
            assert await refused(site, "POST", "messages", backend("bob", 2)) == "muted"
            await alice.send("team", "quiet now", kind="GRP")
            await bob.wait_for(lambda: "quiet now" in words(bob))
            assert "UNWANTED" not in words(bob) and not bob.signals
            await alice.change("team", "onlyAdminsWrite")
            await bob.send("team", "thanks", kind="GRP")

    run(story())


def test_who_wants_to_be_asked_is_invited_and_gets_nothing_else(site):
    async def story():
        async with people(site, "alice", "bob", "carol") as [alice, bob, carol]:
            await carol.request("setPersonSettings", mayBeAddedBy="contacts")
            # A program that does not know the setting leaves it as it is.
            await carol.request("setPersonSettings", hidesContent=True)
            settings = await api(site, "GET", "users/carol/settings")
            assert (settings["may_be_added_by"], settings["hides_content"]) == ("contacts", True)
            done = await alice.request(
                "change", conversation=GROUP, action={"create": {"name": "Team", "members": ["bob", "carol"]}})
            assert done["invited"] == ["carol"]
            await alice.send("team", "UNHEARD", kind="GRP")
            await carol.wait_for(lambda: changes(carol, "invite"))
            (invitation,) = changes(carol, "invite")
            assert invitation["action"]["invite"] == {"users": ["carol"], "name": "Team"}
            assert invitation["by"] == "alice"
            assert await code(carol.request("conversation", conversation=GROUP)) == "not_a_member"
            assert await code(carol.send("team", "hi", kind="GRP")) == "not_a_member"
            asked = (await api(site, "GET", "conversations/GRP/team/invitations"))["invitations"]
            assert [(person["user"], person["by"]) for person in asked] == [("carol", "alice")]
            assert (await api(site, "GET", "users/carol/unread"))["unread"] == 0
            await asyncio.to_thread(site.server.kill)
            await asyncio.to_thread(site.start)
            for client in (alice, bob, carol):
                await client.close()
                await client.connect()
            await carol.change("team", "decline")
            added = await api(site, "POST", "conversations/GRP/team/members?actor=alice", {"users": ["carol", "dave"]})
            assert added == {"invited": ["carol"]}
            await api(site, "DELETE", "conversations/GRP/team/invitations/carol?actor=alice")
            await carol.wait_for(lambda: changes(carol, "withdraw"))
            assert await code(carol.change("team", "join")) == "not_allowed"
            # Somebody they have written to adds them.
            await carol.send("alice", "hello")
            assert (await api(site, "POST", "conversations/GRP/team/members?actor=alice", {"users": ["carol"]})) is None
            await alice.send("team", "welcome", kind="GRP")
            await carol.wait_for(lambda: "welcome" in words(carol))
            assert "UNHEARD" not in words(carol)

    run(story())


def test_an_invitation_is_accepted_and_the_backend_asks_nobody(site):
    async def story():
        async with people(site, "alice", "carol") as [alice, carol]:
            await api(site, "PUT", "users/carol/settings", {"may_be_added_by": "nobody"})
            await alice.change("team", "create", name="Team", members=["carol"])
            await carol.change("team", "join")
            await alice.send("team", "welcome", kind="GRP")
            await carol.wait_for(lambda: "welcome" in words(carol))
            await alice.change("team", "remove", users=["carol"])
            await api(site, "POST", "conversations/GRP/team/members", {"users": ["carol"]})
            await alice.send("team", "again", kind="GRP")
            await carol.wait_for(lambda: "again" in words(carol))

    run(story())
