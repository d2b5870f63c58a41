"""A stage for tests over real sockets: a server, a local APNs, the app's backend, and phones; and what is asked of a phone there."""

from __future__ import annotations

import time

from backend import SECONDS, Backend
from conftest import TOPIC
from phone import Phone

# Waits that a test would only sit through.
SETTINGS = {
    "lease": {"grace_milliseconds": 200, "restart_grace_milliseconds": 100},
    "policy": {"badge_delay_milliseconds": 200},
}


class Stage:
    """A server, a local APNs, the backend, and phones as they are asked for."""

    def __init__(self, make_site, settings: dict[str, dict] | None = None, **options):
        own = settings or {}
        merged = {group: {**SETTINGS.get(group, {}), **own.get(group, {})} for group in SETTINGS | own}
        self.site = site = make_site(with_apns=True, settings=merged, **options).start()
        self.backend = Backend(site)
        self.phones: list[Phone] = []

    def phone(
        self, user: str, name: str | None = None, background_seconds: int = 8, wrapper: tuple[str, ...] = (),
        environment: dict[str, str] | None = None, arguments: tuple[str, ...] = (),
    ) -> Phone:
        """A phone with the app in the foreground, known to the server with its device token.

        An app that is left has `background_seconds`, of which it keeps the last five for hanging up. `wrapper` is the
        command that starts it in surroundings of its own, `environment` is for the app's processes, `arguments` for the phone.
        """
        options = [option for key, value in (environment or {}).items() for option in ("--env", f"{key}={value}")]
        phone = Phone(
            self.site, user, "--background-time", str(background_seconds * 1_000), *options, *arguments, name=name,
            wrapper=wrapper)
        self.phones.append(phone)
        phone.do("unlock")
        phone.do("launch")
        phone.wait_for_connection()
        phone.wait_for_registration()
        phone.begin()
        return phone

    def wait_for_pushes(self, count: int):
        """Until APNs has taken so many pushes in all."""
        deadline = time.monotonic() + SECONDS
        while len(found := self.accepted()) < count:
            assert time.monotonic() < deadline, f"{count} pushes were to be accepted: {found}"
            time.sleep(0.1)

    def accepted(self) -> list[dict]:
        return [entry for entry in self.site.delivery_log() if entry["event"] == "accepted"]

    def stop(self):
        for phone in reversed(self.phones):
            phone.stop()


def kill(phone: Phone):
    """The app is left, and its process is gone without a word; what comes from now on is looked for."""
    phone.do("home")
    phone.wait_until(lambda: phone.shown.get("run_state") != "foreground", "the app to know that it is left")
    crash(phone)


def crash(phone: Phone):
    """The process is gone without a word where it stands."""
    phone.do("kill")
    phone.wait_for_state("notRunning")
    phone.begin()


def freeze(phone: Phone):
    """The app is left, its background time passes, and the system freezes it."""
    phone.do("home")
    phone.wait_for_state("suspended")
    phone.begin()


def pushed(phone: Phone) -> list[str]:
    """What the courier brought since `begin`, by collapse id: the message's id for an alert."""
    return [event["collapse_id"] for event in events_of(phone, "push")]


def presentation(phone: Phone, message: str) -> dict:
    """What the person first gets of a message's notification since `begin`."""
    return phone.wait_for_event(
        f"a notification of {message}",
        lambda event: event["event"] == "presentation" and event["notification"] == message)


def rings(phone: Phone, message: str, badge: int):
    """The message rings: a banner, a sound, a place in the list, and this number on the icon."""
    shown = presentation(phone, message)
    assert shown["remote"] and shown["banner"] and shown["sound"] and shown["list"] and shown["ring"], shown
    assert shown["badge"] == badge, shown


def listed(phone: Phone) -> list[str]:
    """The notification list by its messages, newest first."""
    return [entry["notification"] for entry in phone.do("screen")["list"]]


def bodies(phone: Phone) -> list[str]:
    """The notification list, newest first."""
    return [entry["body"] for entry in phone.do("screen")["list"]]


def badge(phone: Phone) -> int:
    return phone.do("screen")["badges"].get(TOPIC, 0)


def events_of(phone: Phone, kind: str) -> list[dict]:
    phone.read_trace()
    return [event for event in phone.new_events if event["event"] == kind]


def was_in_front(phone: Phone) -> bool:
    """Whether the app was in the foreground at some time since `begin`."""
    states = {event["state"] for event in events_of(phone, "state")}
    return not states.isdisjoint({"foregroundActive", "foregroundInactive"})


def wait_until_courier(phone: Phone, state: str):
    phone.wait_for_event(state, lambda event: event["event"] == "courier" and event["state"] == state)
