"""The events of a running server: a message's life as an operator's screen sees it, coming back after a lost connection, and a server that
stops or dies."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request

import pytest
from conftest import TOPIC, Site
from phone_stage import kill, rings
from story import run
from tidings_client import Client

SECONDS = 60


class Reader:
    """Reads server-sent events as a browser does (HTML standard, §9.2.6)."""

    def __init__(self, site: Site, query: str = "", last: str | None = None):
        headers = {"Authorization": f"Bearer {site.api_key}"}
        if last is not None:
            headers["Last-Event-ID"] = last
        path = f"/v1/apps/{site.app}/events"
        self._answer = urllib.request.urlopen(
            urllib.request.Request(f"{site.api}{path}{query}", headers=headers), timeout=SECONDS)
        assert self._answer.headers["Content-Type"] == "text/event-stream"
        site.check_described("GET", path, self._answer.status)
        self.last = ""
        # Until the first id it may not have begun: what happens before it is not told.
        self._first = self._block()

    def _block(self) -> dict | None:
        """The fields of the next block; None at the end."""
        fields: dict[str, str] = {}
        while line := self._answer.readline():
            line = line.decode().rstrip("\n")
            if not line:
                if "id" in fields:
                    self.last = fields["id"]
                return fields
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        return None

    def next(self) -> tuple[str, dict] | None:
        """The next event's type and data; None at the end of the stream."""
        while True:
            block, self._first = self._first or self._block(), None
            if block is None:
                return None
            if "event" in block:
                return block["event"], json.loads(block["data"])

    def until(self, kind: str, **members) -> list[tuple[str, dict]]:
        """All up to an event of this type with these members."""
        found = []
        while event := self.next():
            found.append(event)
            if event[0] == kind and all(event[1].get(name) == value for name, value in members.items()):
                return found
        raise AssertionError(f"the stream ended without {kind} {members}: {found}")

    def close(self):
        self._answer.close()


def say(site: Site, text: str) -> str:
    return site.call("POST", f"/v1/apps/{site.app}/messages", {
        "sender": "alice", "client_message_id": text, "conversation": {"type": "PR", "target": "bob"},
        "content": json.dumps({"content": text}),
    })["message_id"]


def test_the_life_of_a_message_is_told_while_it_happens(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    reader = Reader(stage.site)
    kill(bob)
    reader.until("device_lease", user="bob", lease="gone")
    message = stage.backend.say("alice", "bob", "a very secret text")
    rings(bob, message, badge=1)
    events = reader.until("receipt", message_id=message, receipt="shown")
    about = [(kind, data) for kind, data in events if data.get("message_id") == message]
    assert [kind for kind, _ in about] == [
        "message_accepted", "leg_sent", "push_answered", "leg_ended", "receipt",
    ]
    accepted, sent, answered, ended, _ = [data for _, data in about]
    assert accepted["sender"] == "alice" and accepted["conversation"] == {"type": "PR", "type_name": "direct", "target": "bob"}
    assert accepted["recipients"] == 2 and accepted["kind"] == "message"
    assert (answered["outcome"], answered["status"], answered["reason"]) == ("accepted", 200, None)
    assert sent["apns_id"].lower() == answered["apns_id"].lower() == ended["detail"].lower()
    assert (ended["end"], ended["user"], ended["device"]) == ("accepted", "bob", sent["device"])
    # The same as the trace has, and no word of what was written.
    trace = stage.site.trace(message)
    assert [leg["end"] for leg in trace["ended_legs"]] == ["accepted"]
    assert "secret" not in json.dumps(events)
    stage.backend.recall(message, "alice")
    recalled = reader.until("message_recalled", message_id=message)[-1][1]
    assert recalled["recall"] == stage.site.trace(message)["recall"]
    reader.close()


def test_a_reader_who_comes_back_misses_nothing_and_reads_nothing_twice(site):
    reader = Reader(site, "?types=message_accepted")
    first = [say(site, "one"), say(site, "two")]
    assert [reader.next()[1]["message_id"] for _ in first] == first
    last = reader.last
    reader.close()
    missed = [say(site, "three"), say(site, "four")]
    for query, header in [("", last), (f"&last_event_id={last}", None)]:
        again = Reader(site, f"?types=message_accepted{query}", header)
        assert [again.next()[1]["message_id"] for _ in missed] == missed
        again.close()
    # The header is newer than what the address has kept.
    newest = Reader(site, f"?types=message_accepted&last_event_id={last}", again.last)
    message = say(site, "five")
    assert newest.next()[1]["message_id"] == message
    newest.close()


def test_a_screen_is_told_some_of_many_and_how_many_more_there_were(site):
    reader = Reader(site, "?types=message_accepted,leg_ended&at_most=3")
    sent = [say(site, str(number)) for number in range(60)]
    told, passed_over = [], 0
    while len([1 for kind, _ in told if kind == "message_accepted"]) + passed_over < len(sent):
        kind, data = reader.next()
        if kind == "passed_over":
            passed_over += data.get("message_accepted", 0)
        else:
            told.append((kind, data))
    accepted = [data["message_id"] for kind, data in told if kind == "message_accepted"]
    assert accepted == [message for message in sent if message in accepted] and passed_over > 0
    # Whose beginning was told, has its end told.
    assert {data["message_id"] for kind, data in told if kind == "leg_ended"} <= set(accepted)
    reader.close()


@pytest.mark.parametrize("last", ["1-1", "nonsense", "18446744073709551615-18446744073709551615"])
def test_an_id_that_is_not_known_is_answered_with_a_reset_and_what_comes_then(site, last):
    reader = Reader(site, last=last)
    assert reader.next() == ("reset", {})
    message = say(site, "one")
    assert reader.until("message_accepted")[-1][1]["message_id"] == message
    reader.close()


def test_a_server_that_stops_ends_the_stream_and_the_next_one_resets_it(site):
    reader = Reader(site)
    say(site, "one")
    reader.until("leg_ended", end="no_device")
    begun = time.monotonic()
    site.server.stop()
    while reader.next():
        pass
    # Nobody waits for readers to hang up.
    assert time.monotonic() - begun < 20
    site.start()
    again = Reader(site, last=reader.last)
    assert again.next() == ("reset", {})
    message = say(site, "two")
    assert again.until("message_accepted")[-1][1]["message_id"] == message
    again.close()


def test_a_device_comes_and_goes_and_what_waits_is_told_with_its_reason(site):
    reader = Reader(site)

    async def come_and_go():
        bob = Client(site.gateway, site.token("bob"), device="pad")
        await bob.connect()
        await bob.register_push("ab" * 32, TOPIC)
        await bob.ping()
        await bob.close()

    run(come_and_go())
    events = reader.until("device_disconnected", user="bob", device="pad")
    told = [kind for kind, data in events if data.get("user") == "bob"]
    assert told == ["device_signed_in", "device_connected", "device_lease", "device_disconnected"]
    # This app has no push credential.
    message = say(site, "one")
    waiting = reader.until("leg_waiting", message_id=message, wait="config_fault")[-1][1]
    assert (waiting["user"], waiting["device"]) == ("bob", "pad")
    site.call("DELETE", f"/v1/apps/{site.app}/users/bob/devices/pad")
    ended = reader.until("device_signed_out", user="bob", device="pad")
    assert [data["end"] for kind, data in ended if kind == "leg_ended"] == ["signed_out"]
    reader.close()


def test_readers_are_ten_of_an_app_at_most(site):
    readers = [Reader(site) for _ in range(10)]
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("GET", f"/v1/apps/{site.app}/events")
    assert refused.value.code == 503
    assert refused.value.headers["Retry-After"]
    for reader in readers:
        reader.close()
    # Whoever has hung up is noticed with the next thing that is written.
    deadline = time.monotonic() + SECONDS
    while True:
        say(site, f"{time.monotonic()}")
        try:
            Reader(site).close()
            break
        except urllib.error.HTTPError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
