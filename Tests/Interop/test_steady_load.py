"""Steady load while the push credential is replaced, the server is killed and APNs fails: every leg ends, and no phone with an extension rings
twice. People with and without sign-in, messages and pushes to audiences."""

from __future__ import annotations

import collections
import json
import threading
import time
import urllib.error
import uuid

import pytest
from conftest import TOPIC
from phone import Phone
from phone_stage import SETTINGS, events_of, freeze, kill
from test_installations import GuestPhone, Installations
from test_push_credentials import Operator, apple
from test_pushes import Pushes

EVERYBODY = {"everybody": True}
SECONDS = 120
# Of a hundred requests to APNs so many end so.
BROKEN = {"rules": [
    {"fault": "lose_answer", "per_mille": 60}, {"fault": "cut", "per_mille": 40}, {"fault": "goaway", "per_mille": 40},
    {"fault": "reset_stream", "code": 2, "per_mille": 40}, {"fault": "respond", "status": 503, "per_mille": 100},
    {"fault": "respond", "status": 429, "per_mille": 50},
]}
OUTAGE = {"rules": [{"fault": "outage", "count": 6}]}


class Load:
    """A backend that writes to bob and pushes to everybody without a pause. What a server that died has not answered is asked for again under
    the same key, as a backend has to."""

    def __init__(self, site):
        self.site = site
        self.messages: list[str] = []
        self.pushes: list[str] = []
        self.count = 0
        self.is_over = threading.Event()
        self.failure: str | None = None
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()

    def _write(self):
        while not self.is_over.is_set() and self.failure is None:
            self.count += 1
            if self.count % 5 == 0:
                body = {"notification": {"title": "Sale", "text": f"number {self.count}"}, "audience": EVERYBODY}
                self.pushes.append(self._post("pushes", body)["id"])
            else:
                body = {
                    "sender": "alice", "client_message_id": uuid.uuid4().hex, "conversation": {"type": "PR", "target": "bob"},
                    "content": json.dumps({"content": f"number {self.count}"})}
                self.messages.append(self._post("messages", body)["message_id"])
            self.is_over.wait(0.05)

    def _post(self, path: str, body: dict) -> dict:
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                return self.site.call("POST", f"/v1/apps/{self.site.app}/{path}", body, headers=headers)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503) or time.monotonic() > deadline:
                    self.failure = error.read().decode()
                    raise
            except OSError as error:
                if time.monotonic() > deadline:
                    self.failure = str(error)
                    raise
            time.sleep(0.1)

    def go_on(self, more: int = 20):
        goal = self.count + more
        deadline = time.monotonic() + SECONDS
        while self.count < goal:
            assert self.failure is None, self.failure
            assert time.monotonic() < deadline, f"{self.count} were sent, {goal} wanted"
            time.sleep(0.05)

    def end(self):
        self.is_over.set()
        self.thread.join(SECONDS)
        assert self.failure is None, self.failure


def presented(phone: Phone) -> collections.Counter[str]:
    """The messages that the phone has shown, and how often each has rung: one that another's extension fetched beside its own is shown without
    a sound."""
    counts: collections.Counter[str] = collections.Counter()
    for event in events_of(phone, "presentation"):
        counts[event["notification"]] += bool(event["ring"])
    return counts


def absence(phone: Phone, missing: set[str], wanted: set[str]) -> str:
    """Where what is missing was last seen, and what became of the phone's connection and processes: the rest of the trace is pushes."""
    pushed = {event["collapse_id"] for event in events_of(phone, "push")}
    others = [event for event in phone.events if event["event"] in ("courier", "fault", "log") or event["event"].startswith("process_")]
    return "\n".join([
        f"{phone.user} never got {len(missing)} of {len(wanted)}: {sorted(missing)}", f"of these came to the phone: {sorted(missing & pushed)}",
        *(json.dumps(event)[:300] for event in others[-20:]), phone.story()])


def wait_until_presented(phone: Phone, wanted: set[str]) -> collections.Counter[str]:
    """Until each of these messages is shown; then whatever comes within two seconds more is counted, too."""
    deadline = time.monotonic() + SECONDS
    while missing := wanted - set(presented(phone)):
        assert time.monotonic() < deadline, absence(phone, missing, wanted)
        time.sleep(0.2)
    time.sleep(2)
    return presented(phone)


@pytest.mark.requirement("S2.3", "S0.8")
def test_every_leg_ends_and_no_phone_rings_twice_over_a_rotation_a_crash_and_failures_of_apns(make_site):
    # Merged alerts would be one ring for many messages. As Apple does, APNs overwrites what waits for a phone that takes nothing, and an
    # extension then asks for 20 of what its phone missed: a phone process that gets no processor for some seconds would show fewer.
    site = make_site(
        with_apns=True, settings={**SETTINGS, "policy": {**SETTINGS["policy"], "storm_limit": 0}},
        apns_options=("--waiting-per-app-max", "100000")).start()
    installations, olga, pushes = Installations(site), Operator(site, "rita"), Pushes(site)
    (first,) = olga.credentials
    phones: list[Phone] = []
    try:
        for number in range(2):
            phones.append(GuestPhone(site, installations.make(), f"guest{number}").start(installations))
        bob = Phone(site, "bob", "--background-time", "8000", name="bobs")
        phones.append(bob)
        bob.do("unlock")
        bob.do("launch")
        bob.wait_for_connection()
        bob.wait_for_registration()
        bob.begin()
        freeze(phones[0])
        kill(phones[1])
        kill(bob)

        load = Load(site)
        load.go_on()
        second = olga.add_certificate(topics=[TOPIC], environments=["sandbox"])
        assert olga.prove(second)["verdict"] == "proven"
        olga.activate(second, in_place_of=first["id"])
        load.go_on()
        site.server.kill()
        site.start()
        load.go_on()
        apple(site, "/faults", BROKEN)
        load.go_on(60)
        plan = site.call("GET", "/faults", base=f"http://127.0.0.1:{site.control_port}")
        assert any(count["taken"] for count in plan["counts"]), plan
        olga.call("POST", f"/{second['id']}/roll-back", {})
        load.go_on(40)
        site.server.kill()
        site.start()
        apple(site, "/faults", OUTAGE)
        load.go_on()
        olga.activate(second, in_place_of=first["id"])
        apple(site, "/faults", {})
        load.go_on()
        load.end()

        for push in load.pushes:
            pushes.wait_for(push, "done", accepted=len(phones))
        for message in load.messages:
            pushes.backend.wait_for_ends(message, "bob", "accepted")
        for phone in phones:
            wanted = {pushes.message(push, phone.user) for push in load.pushes} | (set(load.messages) if phone is bob else set())
            assert None not in wanted
            counts = wait_until_presented(phone, wanted)
            twice = {message: count for message, count in counts.items() if count > 1}
            assert not twice, f"{phone.user} rang again: {twice}"
            assert set(counts) == wanted
            assert sum(counts.values()) > len(load.pushes) / 2
            assert phone.faults == []
        # Both credentials have sent some of them.
        assert all(credential["proven_topics"] for credential in olga.credentials)
    finally:
        for phone in phones:
            phone.stop()
