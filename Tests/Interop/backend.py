"""The backend of an app, over the HTTP API: writes as people, sets what people set, and asks what became of a message."""

from __future__ import annotations

import json
import time
import uuid

from conftest import Site

SECONDS = 90


class Backend:
    """What a site's API does for the tests; every call waits for its answer."""

    def __init__(self, site: Site):
        self.site = site

    def call(self, method: str, path: str, body: dict | None = None):
        return self.site.call(method, f"/v1/apps/{self.site.app}/{path}", body)

    def say(self, sender: str, target: str, text: str, kind: str = "PR", **more) -> str:
        """Sends a text as a person; returns the message's id. More may be said: mentions, lifetime_ms."""
        sent = self.call("POST", "messages", {
            "sender": sender, "client_message_id": uuid.uuid4().hex, "conversation": {"type": kind, "target": target},
            "content": json.dumps({"content": text}), **more,
        })
        return sent["message_id"]

    def recall(self, message: str, actor: str):
        self.call("DELETE", f"messages/{message}?actor={actor}")

    def send_custom(self, content: str, *recipients: str, **more):
        """Sends a message to the app itself. More may be said: lifetime_ms."""
        self.call("POST", "custom-messages", {
            "recipients": list(recipients), "client_message_id": uuid.uuid4().hex, "content": content, **more,
        })

    def make_group(self, group: str, name: str, *members: str):
        self.call("POST", f"conversations/GRP/{group}", {"name": name, "members": list(members)})

    def call_person(self, user: str, name: str, portrait: str | None = None):
        """What a person, or an account, is called from now on."""
        self.call("PUT", f"users/{user}/profile", {"name": name, "portrait": portrait})

    def set_level(self, user: str, conversation: str, level: str | None):
        """How loud a conversation such as `PR:alice` is for a person; None takes the level away."""
        kind, target = conversation.split(":")
        path = f"users/{user}/settings/{kind}/{target}"
        if level is None:
            self.call("DELETE", path)
        else:
            self.call("PUT", path, {"level": level})

    def set_person(self, user: str, **settings):
        """Replaces what belongs to no single conversation: levels, quiet_hours, hides_content, language."""
        self.call("PUT", f"users/{user}/settings", settings)

    def unread(self, user: str) -> int:
        return self.call("GET", f"users/{user}/unread")["unread"]

    def wait_for_status(self, user: str, holds) -> dict:
        """What a person's device has reported last, once it is so."""
        deadline = time.monotonic() + SECONDS
        while True:
            devices = self.call("GET", f"users/{user}/devices")["devices"]
            found = next((device["status"] for device in devices if holds(device.get("status") or {})), None)
            if found:
                return found
            assert time.monotonic() < deadline, f"waited for a status: {json.dumps(devices)}"
            time.sleep(0.1)

    def ends(self, message: str, user: str) -> list[str]:
        """How the legs of a message to a person's devices have ended, sorted."""
        return sorted(leg["end"] for leg in self.site.trace(message)["ended_legs"] if leg["user"] == user)

    def open_legs(self, message: str, user: str) -> list[dict]:
        return [leg for leg in self.site.trace(message)["open_legs"] if leg["user"] == user]

    def wait_for_ends(self, message: str, user: str, *expected: str):
        """Until the message has as many legs to this person, all ended so."""
        self._wait(
            lambda: self.ends(message, user) == sorted(expected) and not self.open_legs(message, user), message,
            f"the legs of {message} to end as {expected}")

    def wait_for_open_leg(self, message: str, user: str, wait: str, until: int | None = None) -> dict:
        """The one leg of a message to this person, once it waits for this, and until then: when quiet hours end is read after the wait has begun."""
        return self._wait(
            lambda: next(
                (leg for leg in self.open_legs(message, user) if leg["wait"] == wait and until in (None, leg["not_before"])), None), message,
            f"a leg of {message} to wait for {wait}")

    def _wait(self, holds, message: str, what: str):
        deadline = time.monotonic() + SECONDS
        while True:
            found = holds()
            if found:
                return found
            assert time.monotonic() < deadline, f"waited for {what}: {json.dumps(self.site.trace(message))}"
            time.sleep(0.1)
