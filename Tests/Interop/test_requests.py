"""Groups, recall, edit, settings and signals of docs/server/protocol.md, and the same over HTTP, against a real server."""

import json
import urllib.error

import pytest
from story import api, people, run
from tidings_client import Refused

TEAM = {"type": "GRP", "target": "team"}


def texts(messages: list[dict]) -> list[str]:
    return [json.loads(message["content"])["content"] for message in messages]


async def refusal(awaitable) -> tuple[str, str]:
    """Code and field of what has to be refused."""
    with pytest.raises(Refused) as refused:
        await awaitable
    assert refused.value.problem.get("rule")
    return refused.value.code, refused.value.field


@pytest.mark.parametrize(
    "kind, fields, field",
    [
        ("change", {"conversation": {"type": "PR", "target": "bob"}, "action": {"leave": {}}}, "conversation.type"),
        ("change", {"conversation": TEAM, "action": {"create": {"name": ""}}}, "name"),
        ("change", {"conversation": TEAM, "action": {"explode": {}}}, "action"),
        ("recall", {"message": "short"}, "message"),
        ("edit", {"message": "01qdq6qdr0000", "content": ""}, "content"),
        ("delete", {"conversation": TEAM}, "messages"),
        ("setConversationSettings", {"conversation": TEAM, "level": "loud"}, "level"),
        ("setPersonSettings", {"quietHours": {"start": 1440, "timeZone": "UTC", "manner": "drop"}}, "quiet_hours.start"),
        ("setBlocked", {"user": ""}, "user"),
        ("history", {"conversation": TEAM, "limit": 101}, "limit"),
        ("enterRoom", {"conversation": TEAM}, "conversation.type"),
        ("fly", {}, "request"),
    ],
)
def test_a_bad_request_is_refused_by_field_and_the_connection_lives_on(site, kind, fields, field):
    async def story():
        async with people(site, "alice") as [alice]:
            assert await refusal(alice.request(kind, **fields)) == ("invalid_field", field)
            await alice.ping()

    run(story())


def test_a_group_is_made_changed_and_told_to_its_members(site):
    async def story():
        async with people(site, "alice", "bob", "carol") as [alice, bob, carol]:
            assert await alice.change("team", "create", name="Team", members=["bob"]) == 1
            await bob.wait_for(lambda: bob.entries("change"))
            made = bob.entries("change")[0]
            assert (made["conversation"], made["version"], made["by"]) == (TEAM, "1", "alice")
            assert made["action"]["create"]["name"] == "Team"
            await bob.send("team", "hello", kind="GRP")
            await alice.wait_for(lambda: texts(alice.messages) == ["hello"])
            assert (await refusal(bob.change("team", "add", users=["carol"])))[0] == "not_allowed"
            assert (await refusal(carol.send("team", "let me in", kind="GRP")))[0]
            await alice.change("team", "add", users=["carol"])
            await alice.change("team", "setRole", user="bob", role="admin")
            await alice.change("team", "setNickname", user="carol", nickname="Caro")
            info = await carol.request("conversation", conversation=TEAM)
            assert info["name"] == "Team"
            assert [(member["user"], member["role"]) for member in info["members"]] == [
                ("alice", "owner"), ("bob", "admin"), ("carol", "member"),
            ]
            assert info["members"][2]["nickname"] == "Caro"
            assert info["version"] == "4"
            await carol.change("team", "leave")
            assert (await refusal(carol.request("conversation", conversation=TEAM)))[0] == "not_a_member"
            await alice.change("team", "dissolve")
            await bob.wait_for(lambda: any("dissolve" in entry["action"] for entry in bob.entries("change")))
            assert (await refusal(alice.change("team", "rename", name="Late")))[0] == "unknown_conversation"

    run(story())


def test_what_is_recalled_edited_or_deleted_changes_on_every_screen(site):
    async def story():
        async with people(site, "alice", "bob", "bob") as [alice, bob, tablet]:
            first, second, third = [(await alice.send("bob", text))["messageId"] for text in ("one", "two", "three")]
            await bob.wait_for(lambda: len(bob.shown) == 3)
            assert (await refusal(bob.request("recall", message=first)))[0] == "not_allowed"
            await alice.request("recall", message=first)
            await alice.request("edit", message=second, content=json.dumps({"content": "zwei"}))
            await bob.request("delete", conversation={"type": "PR", "target": "alice"}, messages=[third])
            for client in (bob, tablet):
                await client.wait_for(lambda client=client: texts(client.shown) == ["zwei"])
            recall = bob.entries("recall")[0]
            assert recall["id"] > recall["message"] == first
            trace = site.trace(recall["id"])
            assert site.trace(first)["recall"] == recall["id"]
            assert (trace["kind"], trace["recalls"], trace["sender"]) == ("recall", first, "alice")
            assert [delivery["user"] for delivery in trace["deliveries"]] == ["alice", "bob"]
            assert recall["conversation"] == {"type": "PR", "target": "alice"}
            # A repeat changes nothing.
            assert await alice.request("recall", message=first) == {}
            history = await tablet.request("history", conversation={"type": "PR", "target": "alice"}, limit=10)
            assert texts(history["messages"]) == ["zwei"]
            assert not history.get("hasMore")

    run(story())


def test_settings_reach_the_other_device_and_can_be_read(site):
    async def story():
        async with people(site, "alice", "bob", "bob") as [alice, phone, tablet]:
            hours = {"start": 1320, "end": 420, "timeZone": "Europe/Berlin", "manner": "defer"}
            await phone.request(
                "setPersonSettings", levels=[{"type": "SYS", "level": "blocked"}], quietHours=hours, language="zh-Hans"
            )
            await phone.request("setConversationSettings", conversation={"type": "PR", "target": "alice"}, level="blocked")
            await phone.request("setBlocked", user="mallory", isBlocked=True)
            await tablet.wait_for(lambda: tablet.entries("blocked"))
            assert tablet.entries("personSettings")[0]["quietHours"] == hours
            assert tablet.entries("conversationSettings")[0]["level"] == "blocked"
            settings = await tablet.request("settings")
            assert settings["person"]["language"] == "zh-Hans"
            assert settings["blocked"] == ["mallory"]
            assert settings["conversations"] == [
                {"conversation": {"type": "PR", "target": "alice"}, "level": "blocked"}
            ]
            over_http = await api(site, "GET", "users/bob/settings")
            assert over_http["levels"] == {"SYS": "blocked"}
            assert over_http["quiet_hours"] == {
                "start": 1320, "end": 420, "weekdays": [], "time_zone": "Europe/Berlin", "manner": "defer",
            }
            # A muted conversation does not count.
            await alice.send("bob", "psst")
            await tablet.wait_for(lambda: texts(tablet.messages) == ["psst"])
            assert (await api(site, "GET", "users/bob/unread"))["unread"] == 0
            await phone.request("setBlocked", user="alice", isBlocked=True)
            assert (await refusal(alice.send("bob", "hello?")))[0] == "blocked"
            unknown = {**hours, "timeZone": "Mars/Olympus"}
            assert await refusal(phone.request("setPersonSettings", quietHours=unknown)) == (
                "invalid_field", "quiet_hours.time_zone",
            )

    run(story())


def test_the_list_and_drafts_reach_the_other_device_and_a_new_one(site):
    async def story():
        place = {"type": "PR", "target": "friend"}
        async with people(site, "lister", "lister") as [phone, tablet]:
            for change in ({"isPinned": True}, {"isArchived": True}, {"draft": "Dear friend"}):
                await phone.request("setConversationState", conversation=place, **change)
            await tablet.request("setConversationSettings", conversation=place, level="mentions")
            await tablet.request("setConversationState", conversation=place, isArchived=False)
            [settings] = (await phone.request("settings"))["conversations"]
            assert (settings["level"], settings["draft"]["text"]) == ("mentions", "Dear friend")
            assert int(settings["pinnedAt"]) > 1_700_000_000_000
            assert "isArchived" not in settings
            for client in (phone, tablet):
                await client.wait_for(lambda client=client: len(client.entries("conversationSettings")) == 5)
                assert client.entries("conversationSettings")[-1] == settings
            too_long = phone.request("setConversationState", conversation=place, draft="x" * 4_097)
            assert await refusal(too_long) == ("invalid_field", "draft")
            # Nobody else is told, and the backend of levels alone.
            [told] = (await api(site, "GET", "users/lister/settings"))["conversations"]
            assert sorted(told) == ["conversation", "level", "level_until"]
        async with people(site, "lister") as [new]:
            assert new.entries("conversationSettings")[-1] == settings

    run(story())


def test_people_see_and_sign_out_their_own_devices(site):
    async def story():
        async with people(site, "owner", "owner", "stranger") as [phone, tablet, stranger]:
            devices = (await phone.request("devices"))["devices"]
            assert [device["id"] for device in devices] == sorted([phone.device, tablet.device])
            assert [device["id"] for device in devices if device.get("isCurrent")] == [phone.device]
            for device in (stranger.device, phone.device, "nowhere"):
                assert await refusal(phone.request("signOutDevice", device=device)) == ("invalid_field", "device")
            await phone.request("signOutDevice", device=tablet.device)
            await tablet.wait_for(lambda: tablet.fatal)
            assert (tablet.fatal["code"], tablet.fatal["field"]) == ("kicked", "device")
            [left] = (await phone.request("devices"))["devices"]
            assert left["id"] == phone.device and "lastSeenAt" not in left
            assert len((await stranger.request("devices"))["devices"]) == 1

    run(story())


def test_typing_is_told_to_the_other_side_only(site):
    async def story():
        async with people(site, "alice", "bob") as [alice, bob]:
            await alice.typing("bob")
            await bob.wait_for(lambda: bob.signals)
            assert bob.signals[0]["typing"] == {
                "conversation": {"type": "PR", "target": "alice"}, "user": "alice", "isTyping": True,
            }
            await alice.ping()
            assert alice.signals == [] and alice.log == {} and bob.log == {}

    run(story())


def test_who_watches_somebody_hears_of_coming_receiving_reading_and_going(site):
    async def story():
        async with people(site, "alice") as [alice]:
            answer = await alice.request("watch", users=["bob", "carol"])
            assert answer == {"people": [{"user": "bob"}, {"user": "carol"}]}
            sent = await alice.send("bob", "hello")
            assert await alice.request("receipts", message=sent["messageId"]) == {
                "message": sent["messageId"], "recipients": 1,
            }
            async with people(site, "bob") as [bob]:
                await alice.wait_for(lambda: {"presence": {"user": "bob", "isOnline": True}} in alice.signals)
                await bob.wait_for(lambda: bob.messages)
                again = await alice.send("bob", "and again")
                mine = {"conversation": {"type": "PR", "target": "bob"}, "user": "bob", "upTo": again["messageId"]}
                await alice.wait_for(lambda: {"receipt": {**mine, "kind": "delivered"}} in alice.signals)
                await bob.mark_read("alice", bob.stored)
                await alice.wait_for(lambda: {"receipt": {**mine, "kind": "read"}} in alice.signals)
                assert (await refusal(bob.request("receipts", message=sent["messageId"])))[0] == "not_allowed"
            await alice.wait_for(lambda: any("lastSeenAt" in s.get("presence", {}) for s in alice.signals))
            body = await api(site, "GET", f"messages/{sent['messageId']}/receipts")
            assert (body["delivered"], body["read"]) == (["bob"], ["bob"])

    run(story())


def test_the_backend_may_do_all_of_it(site):
    async def story():
        async with people(site, "alice", "bob") as [alice, bob]:
            await api(site, "POST", "conversations/GRP/team?actor=alice", {"name": "Team", "members": ["bob"]})
            with pytest.raises(urllib.error.HTTPError) as conflict:
                await api(site, "POST", "conversations/GRP/team", {"name": "Team", "members": []})
            assert conflict.value.code == 409
            sent = await api(site, "POST", "messages", {
                "sender": "alice", "client_message_id": "c", "conversation": TEAM, "content": "{\"content\":\"hi\"}",
                "mentions": {"users": ["bob"]}, "recipients": ["bob"], "lifetime_ms": 60000,
            })
            await bob.wait_for(lambda: bob.messages)
            assert bob.messages[0]["mentions"] == {"users": ["bob"]}
            assert bob.messages[0]["recipients"] == ["bob"]
            assert int(bob.messages[0]["expiresAt"]) == sent["sent_at"] + 60000
            path = f"messages/{sent['message_id']}"
            await api(site, "PATCH", path, {"content": "{\"content\":\"ho\"}"})
            history = await api(site, "GET", "conversations/GRP/team/messages?user=bob")
            assert texts(history["messages"]) == ["ho"]
            await api(site, "DELETE", path)
            await bob.wait_for(lambda: not bob.shown)
            await api(site, "PUT", "conversations/GRP/team/members/bob/role", {"role": "owner"})
            info = await api(site, "GET", "conversations/GRP/team")
            assert [member["role"] for member in info["members"]] == ["admin", "owner"]
            await api(site, "DELETE", "conversations/GRP/team")
            assert (await api(site, "GET", "conversations/GRP/team"))["is_dissolved"] is True
            custom = {"recipients": ["bob"], "client_message_id": "k", "content": "x", "extras": {"number": 7}}
            first, again = [await api(site, "POST", "custom-messages", custom) for _ in range(2)]
            assert (first["repeated"], again["repeated"]) == (False, True)
            await bob.wait_for(lambda: bob.entries("custom"))
            assert json.loads(bob.entries("custom")[0]["extras"]) == {"number": 7}

    run(story())
