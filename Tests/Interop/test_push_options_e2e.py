"""How a message asks its notification to look and sound (`push`), end to end: from the API to the screen of a phone whose app is not running.

Server, local APNs and phones are real. The app has shown no notification before.
"""

from __future__ import annotations

import asyncio
import json
import urllib.error
import uuid

import pytest

from phone_stage import events_of, kill, listed, presentation, rings
from tidings_client import Client, Refused

PUSH = {
    "entitlements": ["time_sensitive"], "client_sounds": ["horn.caf"], "client_options": ["subtitle"],
    "image_hosts": ["img.example.com"], "options": json.dumps({"category": "MESSAGE"}),
}

ORDER = {
    "title": "Order 7", "subtitle": "Main Street", "text": "Ready", "sound": "bell.caf", "interruption_level": "time-sensitive",
    "relevance_score": 0.75, "thread_id": "orders", "custom": {"order": {"number": 7}},
}


def entry(phone, message: str) -> dict:
    (found,) = [one for one in phone.do("screen")["list"] if one["notification"] == message]
    return found


def payload(phone, message: str) -> dict:
    (push,) = [event for event in events_of(phone, "push") if event["collapse_id"] == message]
    return push["payload"]


def test_title_subtitle_text_sound_level_and_thread_of_a_killed_phone(make_stage):
    stage = make_stage(app_settings={"push": PUSH})
    bob = stage.phone("bob")
    kill(bob)
    message = stage.backend.say("desk", "bob", "Your order is ready", push=ORDER)
    rings(bob, message, badge=1)
    shown = entry(bob, message)
    assert [shown[name] for name in ("title", "subtitle", "body", "thread")] == [
        "Order 7", "Main Street", "Ready", "orders"]
    carried = payload(bob, message)
    aps = carried["aps"]
    # The app's own category, since the message has none.
    assert {name: aps[name] for name in ("sound", "category", "interruption-level", "relevance-score", "thread-id")} == {
        "sound": "bell.caf", "category": "MESSAGE", "interruption-level": "time-sensitive", "relevance-score": 0.75,
        "thread-id": "orders"}
    assert carried["order"] == {"number": 7}
    # Neither text nor subtitle in the alert: no extension has looked whose phone it is.
    assert aps["alert"] == {"body": "You have a new message"}


def test_a_local_notification_shows_the_same(make_stage):
    stage = make_stage(app_settings={"push": PUSH})
    bob = stage.phone("bob", background_seconds=60)
    bob.begin()
    bob.do("home")
    bob.wait_until(lambda: bob.shown.get("run_state") == "backgroundActive", "the app in the background")
    message = stage.backend.say("desk", "bob", "Your order is ready", push=ORDER)
    shown = presentation(bob, message)
    assert (shown["remote"], shown["ring"]) == (False, True), shown
    found = entry(bob, message)
    assert [found[name] for name in ("title", "subtitle", "body", "thread")] == [
        "Order 7", "Main Street", "Ready", "orders"]


def test_a_conversation_has_options_of_its_own_until_it_is_put_without(make_stage):
    stage = make_stage(app_settings={"push": PUSH})
    bob = stage.phone("bob")
    kill(bob)
    members = {"name": "Team", "members": ["desk", "bob"]}
    stage.backend.call("PUT", "conversations/GRP/team", {**members, "push": {"title": "Desk", "sound": "desk.caf"}})
    assert stage.backend.call("GET", "conversations/GRP/team")["push"] == {"title": "Desk", "sound": "desk.caf"}
    first = stage.backend.say("desk", "team", "hello", kind="GRP", push={"title": "News"})
    rings(bob, first, badge=1)
    assert (entry(bob, first)["title"], payload(bob, first)["aps"]["sound"]) == ("News", "desk.caf")
    stage.backend.call("PUT", "conversations/GRP/team", members)
    second = stage.backend.say("desk", "team", "hello", kind="GRP")
    rings(bob, second, badge=2)
    assert (entry(bob, second)["title"], payload(bob, second)["aps"]["sound"]) == ("Team", "default")


def test_a_recalled_message_leaves_nothing_of_them(make_stage):
    stage = make_stage(app_settings={"push": PUSH})
    bob = stage.phone("bob")
    kill(bob)
    message = stage.backend.say("desk", "bob", "hello", push=ORDER)
    rings(bob, message, badge=1)
    stage.backend.recall(message, "desk")
    bob.wait_until(
        lambda: message not in listed(bob) or entry(bob, message)["body"] == "A message was recalled", "the recall")
    if message in listed(bob):
        assert (entry(bob, message)["title"], entry(bob, message)["subtitle"]) == ("", "")


@pytest.mark.parametrize(
    "push, field",
    [
        ({"interruption_level": "critical"}, "push.interruption_level"),
        ({"image": "https://elsewhere.example.com/a.png"}, "push.image"),
        ({"image": "http://img.example.com/a.png"}, "push.image"),
        ({"custom": {"aps": {}}}, "push.custom.aps"),
        ({"custom": {"rc": {}}}, "push.custom.rc"),
        ({"custom": {"big": "x" * 1_024}}, "push.custom"),
        ({"title": {"loc_key": ""}}, "push.title.loc_key"),
        ({"relevance_score": 1.5}, "push.relevance_score"),
        ({"badge": 7}, "push.badge"),
        ({"sound": 7}, "push.sound"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_name(make_site, push, field):
    site = make_site(app_settings={"push": PUSH}).start()
    bodies = [
        ("POST", "messages", {
            "sender": "a", "client_message_id": uuid.uuid4().hex, "conversation": {"type": "PR", "target": "b"},
            "text": "hi", "push": push}),
        ("PUT", "conversations/GRP/team", {"members": ["a"], "push": push}),
    ]
    for method, path, body in bodies:
        with pytest.raises(urllib.error.HTTPError) as refused:
            site.call(method, f"/v1/apps/{site.app}/{path}", body)
        problem = json.loads(refused.value.read())
        assert (problem["status"], problem["code"], problem["field"]) == (400, "invalid_field", field), problem


def test_a_level_without_the_entitlement_is_refused(make_site):
    site = make_site().start()
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("POST", f"/v1/apps/{site.app}/messages", {
            "sender": "a", "client_message_id": "c", "conversation": {"type": "PR", "target": "b"}, "text": "hi",
            "push": {"interruption_level": "time-sensitive"}})
    assert json.loads(refused.value.read())["field"] == "push.interruption_level"


def test_a_client_chooses_among_what_the_app_lists(make_site):
    site = make_site(app_settings={"push": PUSH}).start()

    async def run():
        alice, bob = (Client(site.gateway, site.token(name)) for name in ("alice", "bob"))
        await alice.connect()
        await bob.connect()
        allowed = {"subtitle": "on the way", "sound": "horn.caf"}
        await alice.send("bob", "hi", push=json.dumps(allowed))
        await bob.wait_for(lambda: len(bob.messages) == 1)
        # With what the app has chosen for all of them.
        assert json.loads(bob.messages[0]["push"]) == {**allowed, "category": "MESSAGE"}
        for name, value in [("sound", "other.caf"), ("title", "Bank"), ("interruption_level", "time-sensitive")]:
            with pytest.raises(Refused) as refused:
                await alice.send("bob", "hi", push=json.dumps({name: value}))
            assert (refused.value.code, refused.value.field) == ("invalid_field", f"push.{name}")
        await alice.close()
        await bob.close()

    asyncio.run(run())
