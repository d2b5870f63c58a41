"""Pushes at a time on people's own clocks: phones in several time zones, and a server whose clock goes through a day."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from moved_clock import MovedClock
from phone_stage import Stage, bodies, events_of, kill, presentation, pushed, rings
from test_pushes import Pushes, refusal, run, sign_in

NINE = "2026-12-01T09:00"
SHANGHAI = datetime(2026, 12, 1, 1, tzinfo=timezone.utc)
BANGKOK = SHANGHAI + timedelta(hours=1)
KOLKATA = datetime(2026, 12, 1, 3, 30, tzinfo=timezone.utc)
TASHKENT = datetime(2026, 12, 1, 4, tzinfo=timezone.utc)
NEW_YORK = datetime(2026, 12, 1, 14, tzinfo=timezone.utc)


def milliseconds(at: datetime) -> int:
    return int(at.timestamp()) * 1_000


class Day:
    """A stage whose server goes by a clock of the first of December."""

    def __init__(self, make_stage, tmp_path, at: datetime):
        self.clock = MovedClock(tmp_path / "clock", at=at)
        self.stage: Stage = make_stage(clock=self.clock)
        self.pushes = Pushes(self.stage.site)

    def phone(self, user: str, zone: str):
        """A phone that has told the server where it is, and whose app is gone."""
        phone = self.stage.phone(user, environment={"TZ": zone})
        backend = self.stage.backend

        def told() -> bool:
            devices = backend.call("GET", f"users/{user}/devices")["devices"]
            return any(device.get("status", {}).get("time_zone") == zone for device in devices)

        phone.wait_until(told, f"the zone of {user}")
        kill(phone)
        return phone

    def go_on(self, at: datetime):
        """The server is killed, and started again when it is that time."""
        self.stage.site.server.kill()
        self.clock.set(at)
        self.stage.site.start()

    def wait_for_next(self, push: str, at: datetime, recipients: int):
        """Until it waits for its next time."""

        def look() -> bool:
            found = self.pushes.show(push)
            return (found["state"], found["send_at"]) == ("scheduled", milliseconds(at))

        self.pushes.wait(look, push)
        assert self.pushes.show(push)["progress"]["recipients"] == recipients


def test_phones_get_it_when_it_is_nine_where_they_are_and_once(make_stage, tmp_path):
    day = Day(make_stage, tmp_path, at=SHANGHAI - timedelta(minutes=10))
    # A phone calls its zone by a name of its own: this one is the second name of another.
    ann, bob, carol = day.phone("ann", "Asia/Shanghai"), day.phone("bob", "America/New_York"), day.phone("carol", "Asia/Kolkata")
    # Of Dave's phone nobody knows where it is.
    run(sign_in(day.stage.site, "dave"))
    push = day.pushes.send({"everybody": True}, send_at_local=NINE, time_zone="Asia/Calcutta", late_ms=2 * 86_400_000)
    day.wait_for_next(push, SHANGHAI, recipients=0)

    day.go_on(SHANGHAI - timedelta(seconds=3))
    rings(ann, day.pushes.wait_for_message(push, "ann"), badge=0)
    day.wait_for_next(push, BANGKOK, recipients=1)

    day.go_on(KOLKATA - timedelta(seconds=3))
    rings(carol, day.pushes.wait_for_message(push, "carol"), badge=0)
    day.wait_for_next(push, TASHKENT, recipients=2 + 1)
    assert day.pushes.message(push, "dave") is not None and day.pushes.message(push, "bob") is None
    assert (pushed(bob), bodies(bob)) == ([], [])

    # Whoever has had it does not get it again where they have flown to.
    day.go_on(NEW_YORK + timedelta(days=1))
    rings(bob, day.pushes.wait_for_message(push, "bob"), badge=0)
    found = day.pushes.wait_for(push, "done", accepted=3, no_token=1)
    assert found["progress"]["recipients"] == 4 and found["progress"]["skipped"] == 0
    for phone, at in ((ann, SHANGHAI), (carol, KOLKATA), (bob, NEW_YORK)):
        message = day.pushes.message(push, phone.user)
        assert pushed(phone) == [message] and bodies(phone) == ["Everything half price"]
        assert day.stage.site.trace(message)["sent_at"] >= milliseconds(at)
        assert phone.faults == []


def test_it_is_taken_back_between_two_zones_and_reaches_nobody_else(make_stage, tmp_path):
    day = Day(make_stage, tmp_path, at=SHANGHAI + timedelta(minutes=10))
    ann, bob = day.phone("ann", "Asia/Shanghai"), day.phone("bob", "America/New_York")
    push = day.pushes.send({"users": ["ann", "bob"]}, send_at_local=NINE, time_zone="America/New_York")
    message = day.pushes.wait_for_message(push, "ann")
    rings(ann, message, badge=0)
    day.wait_for_next(push, BANGKOK, recipients=1)
    ann.begin()
    day.stage.backend.call("DELETE", f"pushes/{push}")
    shown = presentation(ann, message)
    assert shown["replaced"] and not shown["ring"], shown
    day.go_on(NEW_YORK + timedelta(days=1))
    found = day.pushes.show(push)
    assert (found["state"], found["statistics"]["recalled"], found["progress"]["recipients"]) == ("recalled", 1, 1)
    assert day.pushes.message(push, "bob") is None and events_of(bob, "push") == []


@pytest.mark.parametrize("end", ["is cancelled", "has no account any more"])
def test_nothing_more_is_sent_once_it(make_site, tmp_path, end):
    clock = MovedClock(tmp_path / "clock", at=SHANGHAI + timedelta(minutes=10))
    site = make_site(clock=clock).start()
    pushes = Pushes(site)
    run(sign_in(site, "ann", "bob"))
    pushes.backend.call("PUT", "accounts/MP/news", {})
    push = pushes.send(
        {"users": ["ann", "bob"]}, account={"kind": "MP", "id": "news"}, send_at_local=NINE, time_zone="America/New_York", late_ms=2 * 86_400_000)
    pushes.wait(lambda: pushes.show(push)["send_at"] == milliseconds(BANGKOK), push)
    if end == "is cancelled":
        assert pushes.backend.call("POST", f"pushes/{push}/cancel")["state"] == "cancelled"
    else:
        pushes.backend.call("DELETE", "accounts/MP/news")
        assert pushes.show(push)["state"] == "scheduled"
    site.server.kill()
    clock.set(NEW_YORK + timedelta(days=1))
    site.start()
    found = pushes.wait_for(push, "cancelled")
    assert found["progress"]["recipients"] == 0


def test_a_time_and_a_zone_belong_together_and_are_such(make_site):
    site = make_site().start()
    pushes = Pushes(site)
    for members in (
        {"send_at_local": NINE}, {"time_zone": "Europe/Berlin"}, {"send_at_local": "tomorrow", "time_zone": "Europe/Berlin"},
        {"send_at_local": NINE, "time_zone": "Mars/Olympus"}, {"send_at_local": "2026-02-30T09:00", "time_zone": "Europe/Berlin"},
        {"send_at_local": NINE, "time_zone": "Europe/Berlin", "send_at": 1_900_000_000_000},
        {"send_at_local": "2999-01-01T09:00", "time_zone": "Europe/Berlin"},
    ):
        assert refusal(lambda: pushes.send({"everybody": True}, **members)) == (400, "invalid_field"), members
    assert pushes.backend.call("GET", "pushes")["pushes"] == []
