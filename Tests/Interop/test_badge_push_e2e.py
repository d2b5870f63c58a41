"""How the icon of a phone falls when its person reads on another one, end to end: by an alert that the service extension reduces to the number,
by the number alone, and by a silent push, whichever the phone can take (docs/server/push-policy.md).

Server, local APNs and phones are real. A force-quit app is woken by no silent push, so only the first two reach it.
"""

from __future__ import annotations

import pytest

from phone_stage import badge, bodies, events_of, listed, pushed, rings, was_in_front

# A number that is an alert keeps a distance from other alerts, which a test would only sit through.
QUICK = {"policy": {"badge_gap_milliseconds": 300}}


def force_quit(phone):
    phone.do("home")
    phone.wait_until(lambda: phone.shown.get("run_state") != "foreground", "the app to know that it is left")
    phone.do("force_quit")
    phone.wait_for_state("forceQuit")
    phone.begin()


def read_on_ipad(stage, *texts: str):
    ipad = stage.phone("bob", name="bob-ipad")
    ipad.do("input", value={"open": "PR:alice"})
    ipad.wait_for_chat("PR:alice", *texts)
    return ipad


@pytest.mark.parametrize("version", ["15", "26"])
def test_an_alert_is_reduced_to_the_number_by_the_extension(make_stage, version):
    stage = make_stage(settings=QUICK)
    iphone = stage.phone("bob", arguments=("--filtering", "--ios", version))
    # The extension has to run once, so that the app can tell the server that it may discard alerts.
    force_quit(iphone)
    first = stage.backend.say("carol", "bob", "zero")
    rings(iphone, first, badge=1)
    iphone.do("launch")
    iphone.wait_for_connection()
    stage.backend.wait_for_status("bob", lambda status: status.get("icon_number") == "service_extension")
    force_quit(iphone)
    message = stage.backend.say("alice", "bob", "one")
    rings(iphone, message, badge=2)
    assert set(bodies(iphone)) == {"zero", "one"}

    ipad = read_on_ipad(stage, "alice: one")
    iphone.wait_until(lambda: badge(iphone) == 1, "the lower number")
    iphone.wait_until(lambda: listed(iphone) == [first], "the list without what was read")
    push = events_of(iphone, "push")[-1]
    assert push["collapse_id"] == "badge"
    assert "sound" not in push["payload"]["aps"] and "badge" not in push["payload"]["aps"]
    # It was neither seen nor heard.
    shown = [event for event in events_of(iphone, "presentation") if event["notification"] == "badge"]
    assert not any(event["ring"] or event["list"] for event in shown), shown
    assert iphone.app["state"] == "forceQuit"
    assert not was_in_front(iphone)
    assert (iphone.faults, ipad.faults) == ([], [])


def test_the_number_alone_where_nobody_else_pushes_to_the_app(make_stage):
    stage = make_stage(settings=QUICK, app_settings={"push": {"only_sender": "true"}})
    iphone = stage.phone("bob")
    stage.backend.wait_for_status("bob", lambda status: status.get("icon_number") == "kit")
    force_quit(iphone)
    first = stage.backend.say("carol", "bob", "zero")
    rings(iphone, first, badge=1)
    message = stage.backend.say("alice", "bob", "one")
    rings(iphone, message, badge=2)

    ipad = read_on_ipad(stage, "alice: one")
    iphone.wait_until(lambda: badge(iphone) == 1, "the lower number")
    push = events_of(iphone, "push")[-1]
    assert push["payload"] == {"aps": {"badge": 1}}
    assert len([event for event in events_of(iphone, "presentation") if event["ring"]]) == 2
    assert iphone.app["state"] == "forceQuit"
    # Nothing of ours runs there. What was read leaves the list with the next look at the app.
    assert set(listed(iphone)) == {first, message}
    iphone.do("launch")
    iphone.wait_for_connection()
    iphone.wait_until(lambda: listed(iphone) == [first], "the list without what was read")
    assert (iphone.faults, ipad.faults) == ([], [])


def test_a_silent_push_otherwise_which_waits_for_the_app(make_stage):
    stage = make_stage(settings=QUICK)
    iphone = stage.phone("bob")
    force_quit(iphone)
    message = stage.backend.say("alice", "bob", "one")
    rings(iphone, message, badge=1)
    read_on_ipad(stage, "alice: one")
    stage.wait_for_pushes(2)
    # iOS discards it: the app was force-quit.
    assert pushed(iphone)[:1] == [message]
    assert badge(iphone) == 1
    iphone.do("launch")
    iphone.wait_for_connection()
    iphone.do("home")
    iphone.wait_until(lambda: badge(iphone) == 0, "the number that the app has counted")
