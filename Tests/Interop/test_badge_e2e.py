"""What is taken back, end to end: notification and number of a phone follow what happens to its messages elsewhere.

Server, local APNs and phones are real; what the app's backend does it does over the HTTP API.
"""

from __future__ import annotations

import pytest

from phone import Person
from phone_stage import (
    Stage, badge, bodies, events_of, freeze, kill, listed, presentation, pushed, rings, wait_until_courier,
    was_in_front,
)


@pytest.mark.parametrize("state", [freeze, kill], ids=["frozen", "killed"])
def test_a_recalled_message_goes_from_list_and_badge_without_a_sound(make_stage, state):
    stage = make_stage()
    bob = stage.phone("bob")
    state(bob)
    stays = stage.backend.say("carol", "bob", "see you")
    rings(bob, stays, badge=1)
    message = stage.backend.say("alice", "bob", "I love you")
    rings(bob, message, badge=2)
    assert bodies(bob) == ["I love you", "see you"]

    bob.begin()
    stage.backend.recall(message, actor="alice")
    shown = presentation(bob, message)
    assert (shown["ring"], shown["sound"], shown["banner"], shown["badge"]) == (False, False, False, 1), shown
    assert shown["replaced"], shown
    assert sorted(bodies(bob)) == ["A message was recalled", "see you"]
    assert badge(bob) == 1
    (recall,) = events_of(bob, "push")
    assert recall["collapse_id"] == message
    assert "sound" not in recall["payload"]["aps"]
    # What extensions other than ours count down by (S2.22).
    assert recall["payload"]["message"]["params"]["corner_mark_decrease"] is True
    assert stage.backend.unread("bob") == 1
    assert not was_in_front(bob)

    # The next one counts on from there, and no screen says what was recalled.
    after = stage.backend.say("alice", "bob", "I mean: lunch?")
    rings(bob, after, badge=2)
    bob.do("launch")
    bob.wait_for_connection()
    bob.do("input", value={"open": "PR:alice"})
    bob.wait_for_chat("PR:alice", "alice: I mean: lunch?")
    # The phone never had the text: the server does not hand out what was recalled.
    assert bob.shown["messages"] == ["alice: I mean: lunch?"]
    assert bob.faults == []


def test_a_phone_that_was_off_tells_of_what_was_overwritten_but_not_of_what_is_muted(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    stage.backend.make_group("team", "Team", "alice", "bob")
    stage.backend.set_level("bob", "GRP:team", "blocked")
    kill(bob)
    bob.do("airplane", on=True)
    wait_until_courier(bob, "disconnected")
    first, second, gone = [stage.backend.say("alice", "bob", text) for text in ("one", "two", "three")]
    muted = stage.backend.say("alice", "team", "psst", kind="GRP")
    stage.backend.wait_for_ends(muted, "bob", "muted")
    stage.backend.wait_for_ends(gone, "bob", "accepted")
    stage.backend.recall(gone, actor="alice")
    stage.wait_for_pushes(4)

    # APNs has kept the newest alone, which is the recall.
    bob.do("airplane", on=False)
    shown = presentation(bob, gone)
    assert not shown["ring"], shown
    assert pushed(bob) == [gone]
    assert listed(bob)[0] == gone
    bob.wait_until(lambda: set(listed(bob)) == {first, second, gone}, "what was overwritten")
    assert badge(bob) == 2
    # One ring in all.
    assert [event["notification"] for event in events_of(bob, "presentation") if event["ring"]] == [second]
    assert "three" not in bodies(bob)
    assert bob.faults == []


@pytest.mark.parametrize("state", [freeze, kill], ids=["frozen", "killed"])
def test_what_is_read_on_the_ipad_goes_from_the_iphone(make_stage, state):
    stage = make_stage()
    iphone = stage.phone("bob")
    state(iphone)
    first = stage.backend.say("alice", "bob", "one")
    rings(iphone, first, badge=1)
    assert bodies(iphone) == ["one"]

    ipad = stage.phone("bob", name="bob-ipad")
    ipad.do("input", value={"open": "PR:alice"})
    ipad.wait_for_chat("PR:alice", "alice: one")
    iphone.wait_until(lambda: badge(iphone) == 0, "a badge of 0")
    iphone.wait_until(lambda: bodies(iphone) == [], "an empty list")
    assert stage.backend.unread("bob") == 0
    # The silent push has woken the app; it has said nothing to the person.
    iphone.wait_for_state("suspended")
    assert not was_in_front(iphone)

    # What the person reads there as it comes is not pushed here at all.
    second = stage.backend.say("alice", "bob", "two")
    ipad.wait_for_chat("PR:alice", "alice: one", "alice: two")
    stage.backend.wait_for_ends(second, "bob", "read_elsewhere", "settled")
    assert events_of(ipad, "presentation") == []

    # With the iPad put away the iPhone rings again.
    kill(ipad)
    third = stage.backend.say("alice", "bob", "three")
    rings(iphone, third, badge=1)
    assert pushed(iphone) == [first, "badge", third]
    assert bodies(iphone) == ["three"]
    assert (iphone.faults, ipad.faults) == ([], [])


def delete(stage: Stage, message: str):
    """Bob deletes it for himself on another device."""
    tablet = Person(stage.site, "bob")
    tablet.request("delete", conversation={"type": "GRP", "target": "team"}, messages=[message])
    tablet.stop()


def remove(stage: Stage, message: str):
    """Bob is put out of the group."""
    stage.backend.call("DELETE", "conversations/GRP/team/members/bob")


def mute(stage: Stage, message: str):
    """Bob mutes the group on another device: it counts no more, and what is shown stays."""
    stage.backend.set_level("bob", "GRP:team", "blocked")


@pytest.mark.parametrize(
    "happens, stays_in_list", [(delete, False), (remove, False), (mute, True)], ids=["deleted", "removed", "muted"])
def test_the_number_of_a_killed_app_falls_when_a_message_counts_no_more(make_stage, happens, stays_in_list):
    stage = make_stage()
    stage.backend.make_group("team", "Team", "alice", "bob")
    bob = stage.phone("bob")
    kill(bob)
    other = stage.backend.say("carol", "bob", "hello")
    rings(bob, other, badge=1)
    message = stage.backend.say("alice", "team", "lunch?", kind="GRP")
    rings(bob, message, badge=2)
    happens(stage, message)
    bob.wait_until(lambda: badge(bob) == 1, "the lower number")
    bob.wait_for_state("suspended")
    bob.wait_until(lambda: set(listed(bob)) == {other, *([message] if stays_in_list else [])}, "the list")
    assert stage.backend.unread("bob") == 1
    assert pushed(bob) == [other, message, "badge"]
    assert [event["ring"] for event in events_of(bob, "presentation")] == [True, True]
    assert not was_in_front(bob)
    assert bob.faults == []
