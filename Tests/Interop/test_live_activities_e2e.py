"""Live Activities, broadcast channels, test pushes and silent pushes, end to end: the backend asks, a real server and a real local APNs pass it on,
and phones show it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import uuid

import pytest
from conftest import TOPIC
from phone import Phone
from phone_stage import events_of, freeze, kill
from test_screens import screen_app

PLACE = {"environment": "sandbox", "topic": TOPIC}
ACTIVITIES = f"{TOPIC}.push-type.liveactivity"


class ActivityPhone(Phone):
    """A phone with an app whose Live Activity has a token, listens to a channel, or is started by a push."""

    def __init__(self, stage, name: str, activity: str):
        super().__init__(
            stage.site, name, "--app", screen_app(), "--lifecycle", "application", "--ios", "18", "--env",
            f"SCREEN_ACTIVITY={activity}", name=name, is_signed_in=False)
        stage.phones.append(self)
        self.do("unlock")
        self.do("launch")

    def token(self, activity: str | None) -> str:
        found = self.wait_for_event(
            "the token", lambda event: event["event"] == "token" and event.get("topic") == ACTIVITIES
            and event.get("activity") == activity)
        return found["token"]

    def shows(self, state: dict | None):
        self.wait_until(lambda: self.activities() == ([state] if state else []), f"the activity with {state}")

    def activities(self) -> list[dict]:
        return [found["content_state"] for found in self.do("screen")["activities"]]


def push(stage, event: str, state: dict | None = None, **more) -> str:
    push = str(uuid.uuid4())
    answer = stage.backend.call("POST", "live-activities", {
        "id": push, **PLACE, "event": event, "content_state": state, **more,
    })
    assert answer["id"] == push
    return push


def told(stage, push: str) -> dict:
    """What APNs has said of it."""
    deadline = time.monotonic() + 60
    while (found := stage.backend.call("GET", f"live-activities/{push}"))["state"] == "pushing":
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def test_a_live_activity_is_updated_and_ended_on_the_lock_screen(make_stage):
    stage = make_stage()
    phone = ActivityPhone(stage, "ann-phone", "token")
    token = phone.token("ride")
    phone.do("lock")
    phone.shows({"eta": 9})
    update = push(stage, "update", {"eta": 5}, token=token, alert={"title": "Ride", "body": "5 minutes"})
    phone.shows({"eta": 5})
    found = told(stage, update)
    assert (found["state"], found["apns_id"], found["event"], found["target"]) == ("accepted", update, "update", "token")
    # The newest state wins, whatever comes last.
    old = push(stage, "update", {"eta": 7}, token=token, timestamp=1_577_836_800_000)
    assert told(stage, old)["state"] == "accepted"
    end = push(stage, "end", {"eta": 0}, token=token, dismissal_at=0)
    phone.shows(None)
    assert told(stage, end)["state"] == "accepted"
    changes = [(event["change"], event["content_state"]) for event in events_of(phone, "activity")]
    assert changes == [("start", {"eta": 9}), ("update", {"eta": 5}), ("end", {"eta": 0})]
    # The token ended with the activity.
    late = told(stage, push(stage, "update", {"eta": 1}, token=token))
    assert (late["state"], late["status"]) == ("refused", 410)
    assert late["meaning"]


def test_a_push_starts_a_live_activity(make_stage):
    stage = make_stage()
    phone = ActivityPhone(stage, "ann-phone", "start")
    token = phone.token(None)
    phone.do("home")
    start = push(
        stage, "start", {"eta": 9}, token=token, attributes_type="Ride", attributes={"car": "7"},
        alert={"title": "Ride", "body": "A car comes"})
    phone.shows({"eta": 9})
    assert told(stage, start)["state"] == "accepted"
    own = phone.wait_for_event(
        "the activity's own token", lambda event: event["event"] == "token" and event.get("activity") is not None)["token"]
    push(stage, "update", {"eta": 4}, token=own, priority=5)
    phone.shows({"eta": 4})


def test_a_broadcast_reaches_all_that_listen_to_its_channel(make_stage):
    stage = make_stage()
    channel = stage.backend.call("POST", "broadcast-channels", {**PLACE, "storage": "most_recent"})["id"]
    query = urllib.parse.urlencode(PLACE)
    one = f"broadcast-channels/{urllib.parse.quote(channel, safe='')}?{query}"
    assert stage.backend.call("GET", one) == {"id": channel, "storage": "most_recent"}
    assert stage.backend.call("GET", f"broadcast-channels?{query}") == {"channels": [channel], "next": None}
    phones = [ActivityPhone(stage, name, channel) for name in ("ann-phone", "ben-phone")]
    for phone in phones:
        phone.shows({"eta": 9})
    wait_for_subscriptions(stage, channel, 2)
    goal = push(stage, "update", {"score": 1}, channel=channel)
    for phone in phones:
        phone.shows({"score": 1})
    found = told(stage, goal)
    assert (found["state"], found["apns_id"], found["target"]) == ("accepted", goal, "channel")
    with pytest.raises(urllib.error.HTTPError) as refused:
        push(stage, "start", {}, channel=channel, attributes_type="Ride", attributes={}, alert={"title": "x"})
    assert (refused.value.code, json.loads(refused.value.read())["field"]) == (400, "event")
    stage.backend.call("DELETE", one)
    for method in ("GET", "DELETE"):
        with pytest.raises(urllib.error.HTTPError) as gone:
            stage.backend.call(method, one)
        assert (gone.value.code, json.loads(gone.value.read())["code"]) == (404, "unknown_channel")
    late = told(stage, push(stage, "update", {"score": 2}, channel=channel))
    assert (late["state"], late["reason"]) == ("refused", "ChannelNotRegistered")
    # What is wrong with a channel says nothing of tokens.
    token = ActivityPhone(stage, "cat-phone", "token").token("ride")
    assert told(stage, push(stage, "update", {"eta": 1}, token=token))["state"] == "accepted"


def wait_for_subscriptions(stage, channel: str, count: int):
    """Phones tell APNs of what they listen to after they show it."""
    control = f"http://127.0.0.1:{stage.site.control_port}"
    deadline = time.monotonic() + 60
    while True:
        answer = stage.site.call("GET", f"/channels?bundle_id={TOPIC}", base=control)
        channels = answer["channels"] if isinstance(answer, dict) else answer
        if any(found["channel_id"] == channel and found["metrics"]["subscribers"] >= count for found in channels):
            return
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)


def test_a_repeated_request_pushes_once(make_stage):
    stage = make_stage()
    phone = ActivityPhone(stage, "ann-phone", "token")
    body = {**PLACE, "event": "update", "content_state": {"eta": 3}, "token": phone.token("ride")}
    path = f"/v1/apps/{stage.site.app}/live-activities"
    answers = [stage.site.call("POST", path, body, headers={"Idempotency-Key": '"one"'}) for _ in range(2)]
    assert answers[0] == answers[1]
    phone.shows({"eta": 3})
    assert told(stage, answers[0]["id"])["state"] == "accepted"
    stage.wait_for_pushes(1)
    assert len(stage.accepted()) == 1


def test_a_test_push_shows_and_explains_itself(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    stage.backend.set_person("bob", quiet_hours={"start": 0, "end": 0, "time_zone": "UTC", "manner": "drop"})
    (device,) = stage.backend.call("GET", "users/bob/devices")["devices"]
    path = f"users/bob/devices/{device['id']}/test-push"
    report = stage.backend.call("POST", path, {"title": "Test", "text": "Do you see this?"})
    assert (report["answer"]["state"], report["answer"]["apns_id"]) == ("accepted", report["id"])
    assert report["device"]["push"] == "registered" and report["credential"]["state"] == "accepted"
    assert (report["lane"]["state"], report["lane"]["topic"]) == ("usable", TOPIC)
    assert (report["verdict"]["result"], report["verdict"]["reason"]) == ("end", "quiet_hours")
    failed = [test["fact"] for test in report["verdict"]["tests"] if not test["passed"]]
    assert "quiet_hours" in failed and set(failed) <= {"quiet_hours", "lease"}
    assert report["request"]["headers"]["apns-push-type"] == "alert"
    assert report["request"]["payload"]["aps"]["alert"] == {"title": "Test", "body": "Do you see this?"}
    assert report["unknown"]
    shown = bob.wait_for_event(
        "the test push", lambda event: event["event"] == "presentation" and event.get("banner") is True)
    assert shown["sound"] and shown["list"]
    # It is no message.
    assert stage.backend.unread("bob") == 0
    # A message would not have come.
    assert stage.backend.say("alice", "bob", "hi")
    assert len(stage.accepted()) == 1
    with pytest.raises(urllib.error.HTTPError) as refused:
        stage.backend.call("POST", "users/bob/devices/nobodys/test-push", {"text": "x"})
    assert (refused.value.code, json.loads(refused.value.read())["field"]) == (400, "device")


def test_a_test_push_to_a_dead_token_says_so(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    control = f"http://127.0.0.1:{stage.site.control_port}"
    (found,) = stage.site.call("GET", f"/devices?topic={TOPIC}", base=control)
    stage.site.call("POST", f"/devices/{found['token']}/retire", base=control)
    (device,) = stage.backend.call("GET", "users/bob/devices")["devices"]
    report = stage.backend.call("POST", f"users/bob/devices/{device['id']}/test-push", {"text": "x"})
    answer = report["answer"]
    assert (answer["state"], answer["reason"], answer["status"]) == ("refused", "Unregistered", 410)
    assert answer["meaning"] and answer["invalid_since"]


@pytest.mark.requirement("C4.1")
@pytest.mark.parametrize("leave", [kill, freeze], ids=["killed", "frozen"])
def test_a_silent_push_wakes_the_app_in_the_background(make_stage, leave):
    stage = make_stage()
    bob = stage.phone("bob")
    leave(bob)
    # Never pushed: nothing but a connection of the app brings it.
    stage.backend.send_custom("missed", "bob")
    answer = stage.backend.call("POST", "users/bob/silent-push", {"data": {"sync": 7}})
    assert [found["state"] for found in answer["devices"]] == ["sent"]
    assert any("force-quit" in note for note in answer["notes"])
    made = bob.wait_for_event(
        "the silent push in the app",
        lambda event: event["event"] == "callback" and "didReceiveRemoteNotification" in event["name"])
    (push,) = events_of(bob, "push")
    assert push["push_type"] == "background"
    payload = push["payload"]
    # The SDK knows it by the tag of who is signed in.
    assert list(payload["tidings"]) == ["to"] and payload == {
        "aps": {"content-available": 1}, "tidings": payload["tidings"], "data": {"sync": 7}}
    # It connects, catches up, tells the app, and answers iOS: 0 is Apple's number of newData.
    answered = bob.wait_for_event(
        "the answer to iOS", lambda event: event["event"] == "completion" and event["number"] == made["number"])
    assert answered["result"] == {"result": "fetch", "fetch": 0}
    assert bob.shown["silent"] == [{"sync": 7}]
    assert bob.do("screen")["list"] == [] and stage.backend.unread("bob") == 0
    bob.do("launch")
    bob.wait_until(lambda: bob.shown.get("custom") == ["missed"], "what the wake has fetched")
    assert bob.faults == []


def test_a_silent_push_wakes_no_app_that_was_force_quit_and_three_go_in_an_hour(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    bob.do("home")
    bob.wait_until(lambda: bob.shown.get("run_state") != "foreground", "the app to know that it is left")
    bob.do("force_quit")
    bob.wait_for_state("forceQuit")
    bob.begin()
    first = stage.backend.call("POST", "users/bob/silent-push", {})
    for _ in range(2):
        stage.backend.call("POST", "users/bob/silent-push", {})
    (device,) = stage.backend.call("POST", "users/bob/silent-push", {})["devices"]
    assert device["state"] == "budget_spent"
    assert device["next_at"] - first["sent_at"] in range(3_600_000 - 60_000, 3_600_000 + 60_000)
    bob.wait_for_event("what became of the push", lambda event: event["event"] in ("wake", "push"))
    assert bob.app["state"] == "forceQuit"
    assert [name for name in bob.callbacks if "didReceiveRemoteNotification" in name] == []
