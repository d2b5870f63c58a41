"""The disk under the server loses power, fills up, refuses, or is slow. What was acknowledged is there afterwards (design.md P1)."""

import asyncio
import errno
import json
import random
import resource
import urllib.error
import urllib.request

import pytest
from disk import HEADER, SYNC, TRUNCATE, WRITE, Disk, read_log
from load import IS_LONG, SEED, SETTINGS, Load, run, tell
from tidings_client import Client, Refused

POWER_CUTS = 40 if IS_LONG else 4
SLOW_MESSAGES = 600 if IS_LONG else 60


def test_what_was_not_synced_when_the_power_went_was_not_acknowledged(make_site):
    """Each kill takes back every write since the last sync, or leaves any of them, or parts of them."""
    site = make_site(settings=SETTINGS)
    disk = Disk(site, loses_power=True)
    site.start()
    chance = random.Random(SEED)

    async def story():
        load = await Load(site).start()
        lost = 0
        for number in range(POWER_CUTS):
            # Most of the time is spent in syncs then, where it hurts.
            disk.delay(chance.choice([0, 5, 20]))
            await load.more(chance.randrange(1, 60))
            await asyncio.sleep(chance.uniform(0, 0.05))
            site.server.kill()
            lost += disk.lose_power(chance if number % 2 else None)
            await asyncio.to_thread(site.start)
        disk.delay(0)
        await load.stop()
        assert lost > 0, "no kill fell between a write and its sync: the test saw nothing"
        return {"power cuts": POWER_CUTS, "writes lost": lost, **await load.verify()}

    tell("power loss", run(story()))


def test_the_same_check_finds_what_is_lost_without_the_sync(make_site):
    site = make_site(settings={**SETTINGS, "store": {"synchronous": "normal"}})
    disk = Disk(site, loses_power=True)
    site.start()

    async def story():
        load = await Load(site).start()
        await load.more(100)
        site.server.kill()
        await load.give_up()
        assert disk.lose_power() > 0
        await asyncio.to_thread(site.start)
        await load.verify_logs(exactly=False)

    with pytest.raises(AssertionError, match="lacks"):
        run(story())


def test_a_slow_disk_makes_acknowledgements_late_and_nothing_else(make_site):
    site = make_site(settings=SETTINGS)
    disk = Disk(site)
    site.start()

    async def story():
        load = await Load(site).start()
        disk.delay(200)
        await load.more(SLOW_MESSAGES)
        disk.delay(0)
        await load.stop()
        return await load.verify()

    tell("slow disk", run(story()))


@pytest.mark.parametrize(
    "kind, words",
    [("full", "the disk is full"), ("read-only", "could not be written"), ("sync", "could not be written"),
     ("limit", "could not be written")],
)
def test_a_disk_that_refuses_ends_the_server_with_a_clear_word_and_loses_nothing(make_site, kind, words):
    """No space left, a file system that became read-only, a sync that fails, and the operating system's limit on a file's size."""
    site = make_site(settings=SETTINGS)
    disk = Disk(site)
    site.start()

    def refuse():
        match kind:
            case "full": disk.refuse_writes(errno.ENOSPC)
            case "read-only": disk.refuse_writes(errno.EROFS)
            case "sync": disk.refuse_syncs(errno.EIO)
            case "limit":
                size = site.database.with_name(site.database.name + "-wal").stat().st_size
                resource.prlimit(site.server.child_pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    async def story():
        load = await Load(site).start()
        await load.more(50)
        refuse()
        status = await asyncio.to_thread(site.server.process.wait, 60)
        told = site.server.tail(40)
        assert status == 1, f"ended with status {status}: {told}"
        assert str(site.database) in told and words in told, told
        disk.refuse_writes(0)
        disk.refuse_syncs(0)
        await asyncio.to_thread(site.start)
        await load.more(50)
        await load.stop()
        return await load.verify()

    tell(f"disk refuses ({kind})", run(story()))


@pytest.mark.parametrize("kind", ["full", "read-only", "sync"])
def test_a_server_on_a_disk_that_refuses_never_says_that_it_is_ready(make_site, kind):
    """A supervisor starts it again and again: nobody is told to come to it."""
    site = make_site(settings=SETTINGS)
    disk = Disk(site)
    site.start()
    site.server.stop()
    before = len(site.server.log.read_text())
    if kind == "sync":
        disk.refuse_syncs(errno.EIO)
    else:
        disk.refuse_writes(errno.ENOSPC if kind == "full" else errno.EROFS)
    with pytest.raises(AssertionError, match="did not become ready"):
        site.start()
    assert site.server.process.wait(60) in (1, 78)
    assert '"message":"ready"' not in site.server.log.read_text()[before:]
    disk.refuse_writes(0)
    disk.refuse_syncs(0)
    site.start()


def test_with_little_room_sends_are_refused_and_all_else_goes_on(make_site):
    """The floor is above what any disk has: as if it were almost full. Then there is room."""
    site = make_site(settings={**SETTINGS, "store": {"free_bytes_min": 9_007_199_254_740_991}})
    site.start()

    async def refused():
        alice = Client(site.gateway, site.token("alice"), device="alice")
        await alice.connect()
        with pytest.raises(Refused) as told:
            await alice.send("bob", "hello")
        assert told.value.code == "storage_full"
        await alice.request("settings")
        await alice.ping()
        with pytest.raises(urllib.error.HTTPError) as answer:
            site.call("POST", f"/v1/apps/{site.app}/messages", {
                "sender": "alice", "conversation": {"type": "PR", "target": "bob"}, "object_name": "RC:TxtMsg",
                "content": '{"content":"x"}', "client_message_id": "c1"})
        assert answer.value.code in (400, 507)
        await alice.close()

    run(refused())
    with urllib.request.urlopen(f"{site.api}/readyz") as answer:
        assert json.load(answer) == {"status": "ready", "storage": "full"}
    with urllib.request.urlopen(f"{site.api}/metrics") as answer:
        assert "tidings_storage_full 1" in answer.read().decode()


def test_the_log_of_the_disk_is_read_as_it_is_written():
    def entry(kind, path, offset=0, old=b"", new=b"", size=0):
        return HEADER.pack(kind, len(path), offset, len(new), len(old), size) + path + old + new

    first = entry(WRITE, b"/a", 4, b"old", b"new!", 7)
    second = entry(TRUNCATE, b"/b", 2, b"tail", b"", 6)
    assert read_log(first + second) == [
        (WRITE, "/a", 4, b"old", b"new!", 7), (TRUNCATE, "/b", 2, b"tail", b"", 6)]
    assert read_log(first + second + entry(SYNC, b"/a")) == [(TRUNCATE, "/b", 2, b"tail", b"", 6)]
    assert read_log(first + second[:-1]) == [(WRITE, "/a", 4, b"old", b"new!", 7)]
