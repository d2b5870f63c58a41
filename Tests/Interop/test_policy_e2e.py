"""What rings and what does not, end to end: people and settings over the HTTP API, a real server, a real local APNs, and phones.

Each test looks at both ends: what the phone shows, and what the server says became of the message.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from conftest import TOPIC
from moved_clock import MovedClock
from phone_stage import (
    badge, bodies, crash, events_of, freeze, kill, listed, presentation, pushed, rings, was_in_front,
)


def test_a_muted_conversation_neither_rings_nor_counts_until_it_is_loud_again(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    stage.backend.set_level("bob", "PR:alice", "blocked")
    kill(bob)
    muted = stage.backend.say("alice", "bob", "psst")
    stage.backend.wait_for_ends(muted, "bob", "muted")
    # Another conversation is as loud as ever, and its number leaves the muted one out.
    other = stage.backend.say("carol", "bob", "hello")
    rings(bob, other, badge=1)
    assert stage.backend.unread("bob") == 1

    stage.backend.set_level("bob", "PR:alice", None)
    assert stage.backend.unread("bob") == 2
    loud = stage.backend.say("alice", "bob", "and now?")
    rings(bob, loud, badge=3)
    stage.backend.wait_for_ends(loud, "bob", "accepted")
    assert pushed(bob) == [other, loud]
    assert bodies(bob) == ["and now?", "hello"]
    assert stage.backend.ends(muted, "bob") == ["muted"]
    assert bob.faults == []


def test_in_a_muted_group_only_a_mention_rings(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    stage.backend.make_group("team", "Team", "alice", "bob", "carol")
    stage.backend.set_level("bob", "GRP:team", "mentions")
    kill(bob)

    def say(text: str, **mentions) -> str:
        return stage.backend.say("alice", "team", text, kind="GRP", mentions=mentions or None)

    chatter = say("lunch?")
    stage.backend.wait_for_ends(chatter, "bob", "muted")
    of_carol = say("carol, lunch?", users=["carol"])
    stage.backend.wait_for_ends(of_carol, "bob", "muted")
    of_bob = say("bob, lunch?", users=["bob"])
    # A group that only rings less still counts.
    rings(bob, of_bob, badge=3)
    of_all = say("lunch is here", everyone=True)
    rings(bob, of_all, badge=4)
    for message in (of_bob, of_all):
        stage.backend.wait_for_ends(message, "bob", "accepted")
    assert pushed(bob) == [of_bob, of_all]
    assert listed(bob) == [of_all, of_bob]
    assert bob.faults == []


def test_who_hides_what_messages_say_is_told_only_that_there_is_one(make_stage):
    stage = make_stage()
    bob = stage.phone("bob", background_seconds=90)
    stage.backend.set_person("bob", hides_content=True)
    kill(bob)
    message = stage.backend.say("alice", "bob", "the secret")
    rings(bob, message, badge=1)
    assert bodies(bob) == ["You have a new message"]
    # Nobody on the way was told.
    (push,) = events_of(bob, "push")
    assert "secret" not in json.dumps(push["payload"])
    bob.do("tap", notification=message)
    bob.wait_for_chat("PR:alice", "alice: the secret")
    # A notification of the app's own says no more.
    bob.do("home")
    bob.wait_until(lambda: bob.shown.get("run_state") == "backgroundActive", "the app in the background")
    bob.begin()
    local = stage.backend.say("alice", "bob", "another secret")
    assert not presentation(bob, local)["remote"]
    assert "secret" not in " ".join(bodies(bob))
    assert pushed(bob) == []
    assert bob.faults == []


def test_a_phone_whose_notifications_were_turned_off_says_so_when_its_app_is_opened(make_stage):
    stage = make_stage()
    bob = stage.phone("bob", background_seconds=90)

    def told() -> tuple[str, bool] | None:
        (device,) = stage.site.call("GET", f"/v1/apps/{stage.site.app}/users/bob/devices")["devices"]
        return (device["status"]["authorization"], device["status"]["sound"]) if "status" in device else None

    bob.wait_until(lambda: told() == ("authorized", True), "what the person allows")
    bob.do("home")
    bob.do("setting", app=TOPIC, setting="notifications", on=False)
    bob.do("launch")
    bob.wait_until(lambda: told() == ("denied", False), "that nothing is allowed any more")

    # Said of a leg, and no reason not to send: he may allow it again before the push is there.
    kill(bob)
    message = stage.backend.say("alice", "bob", "hello")
    bob.wait_until(lambda: pushed(bob) == [message], "the push")
    stage.backend.wait_for_ends(message, "bob", "accepted")
    (leg,) = stage.site.trace(message)["ended_legs"]
    assert leg["notifications_off_since"] > 0
    assert bodies(bob) == [] and bob.faults == []


def test_custom_messages_wait_for_the_app_in_front_and_never_ring(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    stage.backend.send_custom("one", "bob")
    stage.backend.send_custom("two", "bob")
    # What rings shows that nothing before it did: pushes keep their order.
    message = stage.backend.say("alice", "bob", "hello")
    rings(bob, message, badge=1)
    assert pushed(bob) == [message]
    assert bodies(bob) == ["hello"]

    # An app that runs in the background has them, and hands them over to nobody.
    bob.do("background_chance")
    bob.wait_until(lambda: bob.shown.get("unread") == 1, "the log in the app's store")
    bob.wait_for_state("suspended")
    assert bob.shown["custom"] == []
    assert not was_in_front(bob)

    bob.do("launch")
    bob.wait_until(lambda: bob.shown["custom"] == ["one", "two"], "the custom messages")
    # Once: a new process gets what is new.
    kill(bob)
    bob.do("launch")
    bob.wait_for_connection()
    stage.backend.send_custom("three", "bob")
    bob.wait_until(lambda: bob.shown["custom"], "the custom message")
    assert bob.shown["custom"] == ["three"]
    assert pushed(bob) == []
    assert bob.faults == []


def test_a_custom_message_that_has_expired_is_handed_over_to_nobody(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    stage.backend.send_custom("gone", "bob", lifetime_ms=1)
    stage.backend.send_custom("still good", "bob", lifetime_ms=3_600_000)
    stage.backend.send_custom("for ever", "bob")
    bob.do("launch")
    bob.wait_until(lambda: len(bob.shown.get("custom") or []) == 2, "the custom messages")
    assert bob.shown["custom"] == ["still good", "for ever"]
    assert bob.faults == []


def test_who_signs_in_over_another_gets_their_own_messages_alone(make_stage):
    stage = make_stage()
    phone = stage.phone("bob")
    kill(phone)
    rings(phone, stage.backend.say("alice", "bob", "for bob"), badge=1)
    rings(phone, stage.backend.say("alice", "bob", "for bob, too"), badge=2)
    phone.do("launch")
    phone.wait_for_connection()
    phone.do("input", value={"sign_in": {"user": "carol", "token": stage.site.token("carol")}})
    phone.wait_until(lambda: phone.shown.get("user") == "carol", "carol to be signed in")
    phone.wait_for_connection()
    phone.wait_for_registration()
    phone.do("input", value={"open": "PR:alice"})
    phone.wait_for_chat("PR:alice")
    assert (phone.shown["messages"], phone.shown["unread"]) == ([], 0)
    assert (bodies(phone), badge(phone)) == ([], 0)

    # The phone's token is carol's now, and so is its number, though the app was never left since.
    crash(phone)
    for_bob = stage.backend.say("alice", "bob", "for bob again")
    stage.backend.wait_for_ends(for_bob, "bob", "no_token")
    for_carol = stage.backend.say("alice", "carol", "for carol")
    rings(phone, for_carol, badge=1)
    stage.backend.wait_for_ends(for_carol, "carol", "accepted")
    assert pushed(phone) == [for_carol]
    assert bodies(phone) == ["for carol"]
    assert phone.faults == []


def test_a_phone_that_was_signed_out_is_nobodys(make_stage):
    stage = make_stage()
    phone = stage.phone("bob")
    freeze(phone)
    before = stage.backend.say("alice", "bob", "for bob")
    rings(phone, before, badge=1)
    phone.do("launch")
    phone.wait_for_connection()
    phone.do("input", value={"sign_out": True})
    phone.wait_until(lambda: phone.shown.get("user") is None, "nobody to be signed in")
    phone.wait_until(lambda: (bodies(phone), badge(phone)) == ([], 0), "an empty list and no number")
    kill(phone)
    message = stage.backend.say("alice", "bob", "gone?")
    stage.backend.wait_for_ends(message, "bob", "no_device")
    assert pushed(phone) == []
    assert (bodies(phone), badge(phone)) == ([], 0)
    assert phone.faults == []


def test_a_newer_device_takes_the_place_of_the_older_one_which_is_told_why(make_stage):
    stage = make_stage({"policy": {"devices": "newest_only"}})
    old = stage.phone("bob")
    new = stage.phone("bob", name="bob-new")
    old.wait_until(lambda: old.shown.get("problem") == "kicked", "the reason")
    assert old.shown["connection"] == "refused"

    # It does not come back by itself: it would take the place of the newer one.
    freeze(old)
    old.do("launch")
    old.wait_until(lambda: old.shown.get("run_state") == "foreground", "the app in the foreground")
    new.do("input", value={"send": {"to": "alice", "text": "from the new phone"}})
    new.wait_until(lambda: new.shown.get("sent"), "the server's answer")
    assert (old.shown["connection"], new.shown["connection"]) == ("refused", "connected")

    for phone in (old, new):
        kill(phone)
    message = stage.backend.say("alice", "bob", "hello")
    rings(new, message, badge=1)
    stage.backend.wait_for_ends(message, "bob", "accepted")
    assert (pushed(new), pushed(old)) == ([message], [])
    assert (bodies(new), bodies(old)) == (["hello"], [])
    assert (new.faults, old.faults) == ([], [])


@pytest.mark.parametrize(
    "end",
    # The clocks of Berlin were put back at 01:00 UTC of that day, and are put forward at 01:00 UTC of the other.
    [datetime(2026, 10, 25, 6, tzinfo=timezone.utc), datetime(2027, 3, 28, 5, tzinfo=timezone.utc)],
    ids=["put back", "put forward"])
def test_quiet_hours_end_at_seven_by_a_clock_that_was_changed_in_the_night(make_stage, tmp_path, end):
    clock = MovedClock(tmp_path / "clock", at=end - timedelta(hours=7))
    stage = make_stage(clock=clock)
    bob = stage.phone("bob")
    stage.backend.set_person("bob", quiet_hours={
        "start": 22 * 60, "end": 7 * 60, "time_zone": "Europe/Berlin", "manner": "defer",
    })
    kill(bob)
    before = stage.backend.say("alice", "bob", "before the change")
    stage.backend.wait_for_open_leg(before, "bob", "quiet_hours", until=milliseconds(end))

    # The night passes while the server is down; shortly before seven it is started again.
    stage.site.server.stop()
    clock.set(end - timedelta(seconds=15))
    stage.site.start()
    after = stage.backend.say("alice", "bob", "after the change")
    for message, number in ((before, 2), (after, 2)):
        rings(bob, message, badge=number)
        stage.backend.wait_for_ends(message, "bob", "accepted")
    accepted = [entry["wall_ms"] for entry in stage.accepted()]
    assert len(accepted) == 2
    assert min(accepted) >= milliseconds(end)
    assert sorted(bodies(bob)) == ["after the change", "before the change"]
    assert bob.faults == []


def milliseconds(at: datetime) -> int:
    return int(at.timestamp()) * 1_000


def test_a_device_has_the_model_and_the_system_that_its_app_has_told(make_stage):
    stage = make_stage()
    stage.phone("bob", arguments=("--ios", "26"))
    status = stage.backend.wait_for_status("bob", lambda status: status.get("model"))
    assert (status["model"], status["system_version"]) == ("iPhone16,1", "26.0")
