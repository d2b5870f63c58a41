"""What the console's overview, its lists and previews are made of, on a running server; and what operators are told of the server itself."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
import urllib.error

import pytest
from backend import Backend
from conftest import TOPIC, tool
from media import JPEG, settings, upload
from phone_stage import kill, rings
from test_api_events import Reader
from test_apps import first_operator
from story import run
from tidings_client import Client


def test_the_last_hour_has_what_was_sent_also_after_a_restart(site):
    backend = Backend(site)
    before = backend.call("GET", "statistics/history")
    assert sum(before["messages"]) == 0 and before["legs"] == {} and before["since"] == before["from"]

    async def story():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        message = await asyncio.to_thread(backend.say, "alice", "bob", "one")
        await bob.wait_for(lambda: bob.messages)
        await asyncio.to_thread(backend.wait_for_ends, message, "bob", "settled")
        await asyncio.to_thread(backend.say, "alice", "carol", "two")
        told = await asyncio.to_thread(backend.call, "GET", "statistics/history")
        statistics = await asyncio.to_thread(backend.call, "GET", "statistics")
        await bob.close()
        return told, statistics

    told, statistics = run(story())
    assert told["since"] == before["since"]
    assert (sum(told["messages"]), told["connections"][-1]) == (2, 1)
    assert {end: sum(counts) for end, counts in told["legs"].items()} == {"settled": 1, "no_device": 1}
    assert (sum(told["delivered"]["count"]), sum(told["to_apns"]["count"])) == (1, 0)
    for lists in (told, told["pushes"], told["delivered"], told["to_apns"], told["queue"], told["legs"]):
        for counts in lists.values():
            assert not isinstance(counts, list) or len(counts) == len(told["messages"]) <= 360
    for index, count in enumerate(told["delivered"]["count"]):
        ways = [told["delivered"][key][index] for key in ("p50_ms", "p95_ms", "p99_ms")]
        assert ways == sorted(ways) if count else ways == [None] * 3
    assert statistics["latency"]["delivered"]["five_minutes"]["count"] == 1
    assert statistics["latency"]["delivered"]["hour"] == statistics["latency"]["delivered"]["five_minutes"]
    assert {end: count for end, count in statistics["legs_hour"].items() if count} == {"settled": 1, "no_device": 1}
    assert statistics["open_legs"]["total"] == sum(statistics["open_legs"]["waits"].values()) == 0
    assert (statistics["queue"], statistics["lanes"]) == ({"waiting": 0, "in_flight": 0}, [])
    site.server.stop()
    site.start()
    again = backend.call("GET", "statistics/history")
    assert (sum(again["messages"]), again["connections"][-1], again["legs"].keys()) == (2, 0, told["legs"].keys())
    # The clock is read anew.
    assert abs(again["since"] - told["since"]) < 1_000


def test_what_is_kept_is_counted_exactly_also_after_a_kill(make_site, tmp_path):
    site = make_site(settings=settings(tmp_path)).start()
    backend = Backend(site)
    nothing = backend.call("GET", "storage")
    assert {kind: it["number"] for kind, it in nothing.items()} == dict.fromkeys(nothing, 0)
    backend.make_group("team", "The team", "alice", "bob", "carol")
    for text in ("one", "two", "three"):
        last = backend.say("alice", "team", text, kind="GRP")
    backend.recall(last, "alice")
    backend.send_custom("x", "bob", "dora")
    upload(site, site.token("alice"))
    told = backend.call("GET", "storage")
    content = len(json.dumps({"content": "one"}))
    assert told == {
        "messages": {"number": 2, "bytes": 2 * content}, "custom_messages": {"number": 1, "bytes": 1},
        "pushes": {"number": 0, "bytes": 0}, "media": {"number": 1, "bytes": len(JPEG)},
        # The group, three messages and a recall for each of three people; the custom message for two.
        "log_entries": {"number": 17, "bytes": None}, "conversations": {"number": 1, "bytes": None},
        "people": {"number": 4, "bytes": None}, "devices": {"number": 0, "bytes": None}, "kept_answers": {"number": 0, "bytes": None},
    }
    site.server.kill()
    site.start()
    assert backend.call("GET", "storage") == told


def test_a_push_is_in_the_hour_with_its_lane_and_the_time_it_took(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    message = stage.backend.say("alice", "bob", "hi")
    rings(bob, message, badge=1)
    stage.backend.wait_for_ends(message, "bob", "accepted")
    told = stage.backend.call("GET", "statistics/history")
    assert (sum(told["pushes"]["accepted"]), sum(told["to_apns"]["count"])) == (1, 1)
    lane, = stage.backend.call("GET", "statistics")["lanes"]
    assert (lane["topic"], lane["state"], lane["reason"], lane["waiting"]) == (TOPIC, "usable", None, 0)


def test_conversations_are_listed_page_by_page_also_after_a_restart(site):
    backend = Backend(site)
    for number in range(5):
        backend.call("PUT", f"conversations/GRP/g{number}", {"name": f"Group {number}", "members": ["ann", "bob"][:number % 3]})
    backend.call("PUT", "conversations/CHRM/hall", {"members": []})
    backend.call("DELETE", "conversations/GRP/g1")

    def listed() -> list[tuple]:
        found, cursor = [], ""
        while cursor is not None:
            page = backend.call("GET", f"conversations?limit=2{cursor and '&cursor=' + cursor}")
            assert len(page["conversations"]) <= 2
            found += page["conversations"]
            cursor = page["next"]
        return [(it["conversation"]["target"], it["name"], it["members"], it["is_dissolved"]) for it in found]

    wanted = [
        ("hall", "", 0, False), ("g0", "Group 0", 0, False), ("g1", "Group 1", 1, True), ("g2", "Group 2", 2, False),
        ("g3", "Group 3", 0, False), ("g4", "Group 4", 1, False)]
    assert listed() == wanted
    site.server.stop()
    site.start()
    assert listed() == wanted


def test_a_preview_is_the_push_that_goes_out(make_stage):
    stage = make_stage()
    bob = stage.phone("bob")
    kill(bob)
    body = {"notification": {"title": "Sale", "text": "Half price", "sound": "ping.caf", "custom": {"order": 7}}}
    seen = stage.backend.call("POST", "pushes/preview", {**body, "recipient": "bob"})
    assert seen["shown"] == {"title": "Sale", "subtitle": None, "body": "Half price"}
    assert seen["bytes"] == len(json.dumps(seen["payload"], separators=(",", ":"), ensure_ascii=False).encode()) <= seen["bytes_max"] == 4_096
    assert stage.backend.call("GET", "pushes")["pushes"] == []
    with pytest.raises(urllib.error.HTTPError) as refused:
        stage.backend.call("POST", "pushes/preview", {"custom": {"content": "x"}})
    assert json.loads(refused.value.read())["field"] == "custom"


def open_reader(site) -> Reader:
    """A moment passes until the server sees that somebody has hung up: far less than the fifteen seconds to its next write."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return Reader(site)
        except urllib.error.HTTPError as error:
            assert error.code == 503 and time.monotonic() < deadline
            time.sleep(0.05)


def test_ten_readers_who_hang_up_leave_their_places_at_once(site):
    for _ in range(3):
        readers = [open_reader(site) for _ in range(10)]
        with pytest.raises(urllib.error.HTTPError) as refused:
            Reader(site)
        assert refused.value.code == 503
        for reader in readers:
            reader.close()


def test_operators_are_told_of_the_last_backup_also_after_a_restart(site, tmp_path):
    operator = first_operator(site)
    assert operator.call("GET", "/v1/server")["backup"] == {"running": None, "last": None, "last_good": None}
    copy = tmp_path / "copy.sqlite"
    command = [tool(), "store", "backup", "--store", str(site.database), "--to", str(copy)]
    subprocess.run(command, check=True, timeout=60)
    assert subprocess.run(command, timeout=60, capture_output=True).returncode > 0
    told = operator.call("GET", "/v1/server")
    assert told["version"] and told["schema"] == 4 and told["storage"]["state"] == "ok"
    backup = told["backup"]
    assert backup["running"] is None and backup["last"]["error"] and backup["last"]["bytes"] is None
    assert (backup["last_good"]["path"], backup["last_good"]["bytes"], backup["last_good"]["error"]) == (str(copy), copy.stat().st_size, None)
    site.server.stop()
    site.start()
    again = operator.call("GET", "/v1/server")
    assert again["backup"] == backup and again["started_at"] > told["started_at"]
    # Also what is made while the server is stopped.
    site.server.stop()
    later = tmp_path / "later.sqlite"
    subprocess.run([tool(), "store", "backup", "--store", str(site.database), "--to", str(later)], check=True, timeout=60)
    site.start()
    made = operator.call("GET", "/v1/server")["backup"]
    assert made["last"] == made["last_good"] and made["last"]["ended_at"] >= made["last"]["started_at"] > backup["last"]["started_at"]
    assert (made["last"]["path"], made["last"]["bytes"], made["last"]["error"]) == (str(later), later.stat().st_size, None)
