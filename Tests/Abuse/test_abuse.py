"""Each attack beside 200 honest phones on one server: these feel nothing of it, and the attacker gets typed answers.

The short form tries all attacks on one server, one after the other, and those that need a poor one (few descriptors, a small disk, a
log that nobody reads) on another. The long form (`make prove-abuse`) gives each its own server, half a minute of attack, and several at once.

Attackers run at the lowest priority, since their machine is not the server's: what the machine cannot give both, it gives the server
and the honest phones. What they tried is printed beside the figures.
"""

from __future__ import annotations

import contextlib
import json
import uuid

import pytest
from conftest import Site
from ground import ATTACK_SECONDS, IS_LONG, Ground, Poverty, Seen, mallory

LARGE = "x" * 30_000
BIG_GROUP = 3_000
# Of conversations whose target is a person.
KINDS = ("PR", "CS", "SYS", "MC", "MP", "PH")


class Grounds:
    """The servers of a run: shared by its tests in the short form, as long as nothing has failed on them."""

    def __init__(self):
        self._shared: dict[str, Ground] = {}

    @contextlib.contextmanager
    def ground(self, kind: str, **options):
        ground = None if IS_LONG else self._shared.pop(kind, None)
        if ground is None:
            ground = Ground(lambda **more: Site(**more), **options)
        ground.was_held = False
        is_kept = False
        try:
            yield ground
            if IS_LONG and ground.was_held:
                assert not (faults := ground.finish()), "\n".join(faults)
            elif ground.was_held:
                is_kept = True
                self._shared[kind] = ground
        finally:
            if not is_kept:
                ground.stop()

    def finish(self) -> list[str]:
        """What was lost, doubled or out of order on all that are left; they are stopped."""
        faults = []
        while self._shared:
            _, ground = self._shared.popitem()
            try:
                faults += ground.finish()
            finally:
                ground.stop()
        return faults


@pytest.fixture(scope="module")
def grounds():
    grounds = Grounds()
    yield grounds
    grounds.finish()


@pytest.fixture
def ground(grounds):
    with grounds.ground("ordinary") as ground:
        yield ground


def holds(seen: Seen, *expected: str):
    """Nothing was felt, and the attacker heard one of these, if any are named."""
    faults = seen.faults(set(expected))
    seen.ground.was_held = not faults
    assert not faults, f"{seen.name}: " + "; ".join(faults) + f"\n{seen.line()}"


def big_group(ground: Ground, name: str) -> dict[str, str]:
    """A group of thousands that the attacker owns, and a message of theirs in it."""
    group = f"big-{name.replace(' ', '-')}"
    ground.call("POST", f"conversations/GRP/{group}?actor={mallory(name)}", {
        "name": group, "members": [f"made-up-{number}" for number in range(BIG_GROUP - 1)]})
    return {"large_group": group, "message": ground.say(mallory(name), group, "hello", "GRP")}


# MARK: pushes


def test_made_up_devices_and_tokens_do_not_stop_other_peoples_pushes(ground):
    seen = ground.attack("made-up devices", "made_up_devices", made_up=60, seconds=ATTACK_SECONDS + 2)
    # The pushes of the honest phones within the bound are what is looked at.
    holds(seen)
    devices = ground.call("GET", f"users/{mallory('made-up devices')}/devices")["devices"]
    assert len(devices) <= 20, f"{len(devices)} devices of one person"


def test_registrations_for_made_up_topics_are_refused(ground):
    seen = ground.attack("topics", "topics")
    holds(seen, "new: invalid_field", "new: not_allowed")
    assert {"old: invalid_field", "old: not_allowed"} & set(seen.answers), "an old client is not told"


# MARK: floods


def test_a_flood_of_opened_notifications_is_held_back(ground):
    message = ground.say("somebody", "somebody-else", "not mallory's")
    holds(ground.attack("opened", "opened", message=message), "rate_limited")


def test_a_flood_of_typing_at_one_phone_is_held_back(ground):
    seen = ground.attack("typing", "typing")
    holds(seen, "rate_limited")
    # Ten a second would be more than any phone makes.
    relayed = seen.honest["counts_after"].get("foreign signals", 0)
    assert relayed <= 100 + 20 * ATTACK_SECONDS, f"{relayed} signals were relayed to one phone"


def test_a_stranger_in_a_chat_room_is_refused(ground):
    seen = ground.attack("room stranger", "room_as_a_stranger")
    holds(seen, "not_a_member", "rate_limited")
    assert "sendAccepted" not in seen.answers, "a stranger's messages were accepted"


def test_a_member_who_floods_a_chat_room_is_held_back(ground):
    holds(ground.attack("room member", "room_as_a_member"), "rate_limited")


def test_a_flood_of_a_chat_room_with_hearers_of_the_attackers_own_is_held_back(ground):
    holds(ground.attack("room hearers", "room_with_hearers", own_hearers=15), "rate_limited")


def test_a_flood_of_large_messages_is_held_back(ground):
    holds(ground.attack("sends", "sends"), "rate_limited")


def test_a_flood_of_dear_requests_is_held_back(ground):
    name = "requests"
    more = big_group(ground, name)
    for _ in range(200 if IS_LONG else 60):
        ground.say("somebody", mallory(name), LARGE)
    holds(ground.attack(name, "requests", **more), "rate_limited")


def test_a_flood_of_connections_with_good_and_bad_tokens_is_held_back(ground):
    holds(ground.attack("connects", "connects", "connects"), "rate_limited", "http 429", "http 503")


def test_a_flood_of_receipts_by_the_route_for_extensions_is_held_back(ground):
    message = ground.say("somebody", "somebody-else", "not mallory's")
    holds(ground.attack("receipts", "receipts", message=message), "http 429")


# MARK: what costs much


def test_renames_of_a_large_group_one_after_the_other_are_felt_by_nobody(ground):
    holds(ground.attack("renames", "renames", **big_group(ground, "renames")), "rate_limited")


def test_edits_in_a_large_group_one_after_the_other_are_felt_by_nobody(ground):
    holds(ground.attack("edits", "edits", **big_group(ground, "edits")), "rate_limited")


def test_thousands_of_made_up_devices_of_one_person_are_felt_by_nobody(ground):
    count = 8_000 if IS_LONG else 1_500
    holds(ground.attack("devices", "devices", devices=count, seconds=90 if IS_LONG else ATTACK_SECONDS + 2))
    devices = ground.call("GET", f"users/{mallory('devices')}/devices")["devices"]
    assert len(devices) <= 20, f"{len(devices)} devices of one person"


# MARK: who may not


def test_somebody_who_is_blocked_reaches_the_person_in_no_kind_of_conversation(ground):
    name = "blocked"
    victim = "blocks-somebody"
    message = ground.say(mallory(name), victim, "before")
    ground.call("PUT", f"users/{victim}/blocked/{mallory(name)}")
    for kind in ("CS", "MC", "MP"):
        ground.call("PUT", f"accounts/{kind}/{victim}")
    seen = ground.attack(name, "every_kind", victim=victim, message=message)
    holds(seen, "PR: blocked")
    answers = {kind: "not_allowed" if kind in ("SYS", "PH") else "blocked" for kind in (*KINDS, "edit")}
    assert set(seen.answers) == {f"{kind}: {answer}" for kind, answer in answers.items()}, seen.answers


def test_who_was_removed_from_a_chat_room_neither_hears_nor_writes_nor_comes_back(ground):
    name = "removed"
    members = f"conversations/CHRM/{ground.room}/members"
    ground.call("POST", members, {"users": [mallory(name)]})

    def remove():
        ground.call("PUT", f"conversations/CHRM/{ground.room}/bans/{mallory(name)}", {})

    seen = ground.attack(name, "removed_member", first=remove)
    holds(seen)
    assert "signal" not in seen.answers, f"still hears: {seen.answers}"
    for question in ("send", "enter", "join"):
        allowed = {f"{question}: banned", f"{question}: not_a_member"}
        heard = {answer for answer in seen.answers if answer.startswith(f"{question}: ")}
        assert heard and heard <= allowed, seen.answers


def test_a_session_ends_with_its_token(ground):
    seen = ground.attack("expired", "goes_on", token_seconds=2, seconds=ATTACK_SECONDS + 2)
    holds(seen, "late: expired_token")
    assert "late: sendAccepted" not in seen.answers, "messages were accepted long after the token had expired"


def test_somebody_who_is_banned_is_out_at_once_and_stays_out(ground):
    name = "banned"
    seen = ground.attack(name, "goes_on", during=lambda: ground.call("PUT", f"users/{mallory(name)}/ban", {}))
    holds(seen, "late: disabled")
    assert "late: sendAccepted" not in seen.answers, "messages of a banned person were accepted"


def test_a_misspelt_query_member_does_not_act_as_the_backend(ground):
    statuses = []

    def ask():
        for member in ("Actor", "ACTOR", "actor[]", "act", "user"):
            statuses.append(ground.status("DELETE", f"conversations/GRP/g0?{member}=mallory"))

    seen = ground.attack("misspelt", during=ask)
    holds(seen)
    assert statuses == [400] * 5, statuses


# MARK: a poor server

FILES = 600
DISK_KIBIBYTES = 96 << 10
FREE_BYTES_MIN = 32 << 20


@contextlib.contextmanager
def poor_ground(grounds: Grounds, **lacks):
    """In the short form one server that lacks everything; in the long form one that lacks this alone."""
    everything = {"files": FILES, "disk_kibibytes": DISK_KIBIBYTES, "log": "unread"}
    settings = {"store": {"free_bytes_min": FREE_BYTES_MIN}, "log": {"level": "debug"}}
    with grounds.ground("poor", poverty=Poverty(**(lacks if IS_LONG else everything)), settings=settings) as ground:
        yield ground


def half_open(grounds: Grounds, kind: str, count: int = 580):
    """Half-open connections must not be in the way of a new phone and of the operator."""
    with poor_ground(grounds, files=FILES) as ground:
        found = {}
        seen = ground.attack(
            kind.replace("_", " "), kind, half_open=count, during=lambda: found.update(ground.look()),
            seconds=20 if IS_LONG else ATTACK_SECONDS)
        holds(seen)
        assert found["connect"] < (2 if IS_LONG else 20), f"a new phone was let in after {found['connect']:.1f} s: {seen.line()}"
        assert found["healthz"] < (15 if IS_LONG else 20), f"/healthz answered after {found['healthz']:.1f} s: {seen.line()}"
        assert seen.use.cpu_seconds < 0.6 * seen.use.seconds, f"the server spins: {seen.line()}"
        assert seen.answers or sum(attacker["closed"] for attacker in seen.attackers), f"nobody was turned away: {seen.line()}"


def test_half_open_requests_leave_room_for_others(grounds):
    half_open(grounds, "half_open_api")


def test_half_open_requests_of_phones_leave_room_for_others(grounds):
    half_open(grounds, "half_open_phone_api")


def test_half_open_handshakes_leave_room_for_others(grounds):
    half_open(grounds, "half_open_gateway")


def test_heads_and_bodies_a_byte_at_a_time_leave_room_for_others(grounds):
    half_open(grounds, "slow_heads", count=290)
    half_open(grounds, "slow_bodies", count=290)


def test_answers_that_nobody_reads_leave_room_for_others(grounds):
    # More connections than the API's port has places for with so few files.
    with poor_ground(grounds, files=FILES) as ground:
        found = {}
        seen = ground.attack(
            "unread", "unread", unread=120, during=lambda: found.update(ground.look()), seconds=20 if IS_LONG else ATTACK_SECONDS + 4)
        # What memory may grow by is looked at there.
        holds(seen)
        assert found["healthz"] < (15 if IS_LONG else 20), f"/healthz answered after {found['healthz']:.1f} s: {seen.line()}"
        places = ground.metric("tidings_http_connections_closed")
        assert seen.attackers[0]["closed"] >= 120 and places >= 120, f"nobody made room: {seen.line()}"


@pytest.mark.parametrize("log", ["full", "unread"] if IS_LONG else ["unread"])
def test_a_log_that_nobody_reads_or_that_is_full_is_felt_by_nobody(grounds, log):
    with poor_ground(grounds, log=log) as ground:
        # Each connection with a bad token leaves a line, and so does each wrong key.
        statuses = set()

        def ask():
            statuses.update(ground.status("GET", "users/somebody/unread", key="wrong") for _ in range(100))
            ground.poverty.stop_reading()

        seen = ground.attack("log", "connects", during=ask)
        holds(seen)
        assert statuses <= {401, 429}, statuses
        # Nobody reads any more, and nobody will.
        holds(ground.attack("log after", "connects"))
        assert ground.site.server.process.poll() is None, "the server has ended"


def test_a_disk_that_an_attacker_fills_goes_on_reading_and_refuses_in_words(grounds):
    with poor_ground(grounds, disk_kibibytes=DISK_KIBIBYTES) as ground:
        ground.quiet()
        read = []

        def fill():
            ground.poverty.leave(FREE_BYTES_MIN // 2)

        def look():
            # A device that is new reads the whole log, from the first entry on, and acknowledges.
            read.append(ground.read(ground.names[0]))

        seen = ground.attack(
            "disk", "sends", "sends_slowly", first=fill, during=look, last=lambda: ground.poverty.leave(DISK_KIBIBYTES << 10), wait=20)
        assert ground.site.server.process.poll() is None, f"the server has ended: {seen.line()}"
        assert "storage_full" in seen.answers, seen.line()
        assert seen.honest["counts_after"].get("refused storage_full", 0) > 0, seen.line()
        assert read[0] > 0, "nothing could be read"
        # Honest phones were refused in the same words (or held in order behind what was), and what they repeated arrived once there was room.
        allowed = {"refused storage_full", "refused until the one before has come", "foreign signals"}
        assert set(seen.honest["counts_after"]) <= allowed, seen.line()
        assert seen.honest["missing"] == 0, seen.line()
        holds(ground.attack("disk after", "opened", message="01qdq6qdr0000"))


# MARK: several, and the end


def test_several_attacks_at_once_are_felt_by_nobody(grounds):
    with grounds.ground("several") as ground:
        name = "several"
        more = big_group(ground, name)
        holds(ground.attack(
            name, "opened", "typing", "room_as_a_member", "sends", "requests", "renames", "connects", "receipts", **more,
            seconds=60 if IS_LONG else ATTACK_SECONDS), "rate_limited")


def test_every_message_of_the_honest_phones_came_once_and_in_order(grounds):
    """At the end of all attacks of the short form; in the long form this is looked at after each."""
    faults = grounds.finish()
    assert not faults, "\n".join(faults)
