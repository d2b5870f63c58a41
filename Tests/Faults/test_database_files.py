"""A database file that is broken, foreign, or not to be written: a clear word that names it, and not a byte of it changed."""

import asyncio
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import urllib.request

import pytest
from conftest import tool
from load import IS_LONG, SEED, SETTINGS, Load, run
from tidings_client import Client, Refused
from websockets.exceptions import ConnectionClosed

FLIPS = 60 if IS_LONG else 6
# EX_CONFIG of sysexits(3): it is the operator's to mend, and starting again does not help.
CONFIGURATION_FAULT = 78
# Nobody in particular: one who may read what is not theirs, but not write it.
NOBODY = 65_534


@pytest.fixture(scope="module")
def used(tmp_path_factory) -> pathlib.Path:
    """A database that has been used, and closed as it should be."""
    from conftest import Site

    folder = tmp_path_factory.mktemp("used")
    site = Site(settings=SETTINGS)
    try:
        site.start()

        async def story():
            load = await Load(site, people=6, pause=0).start()
            await load.more(400)
            await load.stop()

        run(story())
        site.server.stop()
        shutil.copy(f"{site.database}.key", folder / "used.sqlite.key")
        (folder / "keys.json").write_text(json.dumps({"api_key": site.api_key, "secret": site.secret}))
        return pathlib.Path(shutil.copy(site.database, folder / "used.sqlite"))
    finally:
        site.stop()


def bring(used: pathlib.Path, site) -> None:
    """Gives the site a copy of the database, the master keys that its secrets are sealed under, and the keys of its app, also in
    the configuration: an app whose record is lost is made again from there."""
    shutil.copy(used, site.database)
    shutil.copy(f"{used}.key", f"{site.database}.key")
    keys = json.loads((used.parent / "keys.json").read_text())
    site.api_key, site.secret = keys["api_key"], keys["secret"]
    site.write_configuration()


def contents(folder: pathlib.Path) -> dict[str, str]:
    """Every file of the store with the hash of its bytes. An empty log beside a database says nothing: SQLite makes one for
    reading alone, and leaves it where what it read was damaged."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name.startswith("tidings.sqlite") and not (path.name.endswith("-wal") and path.stat().st_size == 0)
    }


def start(site, user: int | None = None) -> tuple[int | None, str]:
    """Starts a server; its status and last words if it ended by itself, None if it became ready."""
    log = site.folder / "attempt.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [tool(), "serve", "--config", str(site.config)], stdout=out, stderr=out, stdin=subprocess.DEVNULL, user=user)
    try:
        for _ in range(600):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(0.1), log.read_text(errors="replace")
            if '"ready"' in log.read_text(errors="replace") or "listening" in log.read_text(errors="replace"):
                return None, log.read_text(errors="replace")
        raise AssertionError(log.read_text(errors="replace"))
    finally:
        process.kill()
        process.wait()


def pages_of(path: pathlib.Path) -> int:
    return int.from_bytes(path.read_bytes()[16:18], "big") or 65_536


def garbage(path: pathlib.Path):
    path.write_bytes(b"From: ada\nTo: bo\n\nA letter and no database, but long enough to look at.\n" * 100)


def cut_in_half(path: pathlib.Path):
    os.truncate(path, path.stat().st_size // 2 // pages_of(path) * pages_of(path))


def cut_within_a_page(path: pathlib.Path):
    os.truncate(path, path.stat().st_size - pages_of(path) // 2)


def cut_to_the_first_page(path: pathlib.Path):
    os.truncate(path, pages_of(path))


def overwrite(path: pathlib.Path, offset: int, data: bytes):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def without_header(path: pathlib.Path):
    overwrite(path, 0, bytes(100))


def foreign(path: pathlib.Path):
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE recipe (name TEXT)")
        database.commit()


def of_version(number: int, path: pathlib.Path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {number}")
        database.commit()


def earlier(path: pathlib.Path):
    of_version(25, path)


def later(path: pathlib.Path):
    of_version(99, path)


def scrambled(path: pathlib.Path):
    """Everything behind the first page is noise."""
    page = pages_of(path)
    overwrite(path, page, random.Random(SEED).randbytes(path.stat().st_size - page))


REFUSED = {
    garbage: "is not a Tidings message store", without_header: "is not a Tidings message store",
    foreign: "is not a Tidings message store", earlier: "is of version 25, and this build reads version 4",
    later: "is of version 99, and this build reads version 4", cut_in_half: "is damaged",
    cut_within_a_page: "is damaged", cut_to_the_first_page: "is damaged", scrambled: "is damaged",
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_a_broken_or_foreign_file_is_named_and_left_as_it_is(make_site, used, spoil):
    site = make_site(settings=SETTINGS)
    bring(used, site)
    spoil(site.database)
    before = contents(site.folder)
    status, told = start(site)
    assert status == CONFIGURATION_FAULT, f"{status}: {told}"
    assert str(site.database) in told and REFUSED[spoil] in told, told
    assert contents(site.folder) == before


def test_a_file_that_may_not_be_written_is_named_and_left_as_it_is(make_site, used):
    """The server runs as somebody who may read the file and its folder, and write neither."""
    site = make_site(settings=SETTINGS)
    bring(used, site)
    site.database.chmod(0o444)
    site.folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        # Nothing keeps root from writing.
        site.config.chmod(0o444)
    before = contents(site.folder)
    try:
        status, told = start(site, user=NOBODY if is_root else None)
    finally:
        site.folder.chmod(0o755)
    assert status == CONFIGURATION_FAULT, f"{status}: {told}"
    assert str(site.database) in told and "cannot be opened for writing" in told, told
    assert contents(site.folder) == before


def test_a_journal_of_writes_that_is_noise_costs_nothing_that_was_in_the_file(make_site, used):
    """What SQLite finds in the -wal file has checksums; noise in it was never committed."""
    site = make_site(settings=SETTINGS)
    bring(used, site)
    site.database.with_name(site.database.name + "-wal").write_bytes(random.Random(SEED).randbytes(100_000))
    site.start()

    async def story():
        reader = Client(site.gateway, site.token("u0"))
        await reader.connect()
        await reader.close()
        return len(reader.messages)

    assert run(story()) > 100


@pytest.mark.parametrize("number", range(FLIPS))
def test_bytes_that_have_turned_over_never_make_it_crash(make_site, used, number):
    """Noise in a few places: refused at the start, found while reading, or in words that nobody checks. Never a crash."""
    chance = random.Random(SEED + number)
    site = make_site(settings=SETTINGS)
    bring(used, site)
    size = site.database.stat().st_size
    for _ in range(chance.choice([1, 3, 30])):
        overwrite(site.database, chance.randrange(100, size - 8), chance.randbytes(chance.choice([1, 8])))
    before = contents(site.folder)
    status, told = start(site)
    if status is not None:
        assert status == CONFIGURATION_FAULT and str(site.database) in told, f"{SEED + number}: {status}: {told}"
        assert contents(site.folder) == before
        return
    site.start()
    for user in range(6):
        try:
            for action in ("unread", "conversations"):
                site.call("GET", f"/v1/apps/{site.app}/users/u{user}/{action}")
        except OSError:
            pass
    site.server.stop()
    told = site.server.tail()
    assert site.server.process.returncode == 0 or (
        site.server.process.returncode == 1 and str(site.database) in told), f"{SEED + number}: {told}"


def command(site, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [tool(), "store", arguments[0], "--config", str(site.config), *arguments[1:]], capture_output=True, text=True, timeout=300)


def test_a_person_whose_rows_are_damaged_is_refused_and_all_others_go_on(make_site, used):
    site = make_site(settings=SETTINGS)
    bring(used, site)
    site.start()
    token = site.token("u0")
    site.server.stop()
    with contextlib.closing(sqlite3.connect(site.database)) as database:
        database.execute("UPDATE person SET head = -1 WHERE user = 'u0'")
        database.commit()
    site.start()

    async def story():
        victim = Client(site.gateway, token)
        with pytest.raises(Refused) as refused:
            await victim.connect()
        assert refused.value.code == "unavailable"
        one, two = Client(site.gateway, site.token("u1")), Client(site.gateway, site.token("u2"))
        await one.connect()
        await two.connect()
        await one.send("u2", "others go on")
        with pytest.raises(Refused) as later:
            await one.send("u0", "kept for later")
        assert later.value.code == "unavailable"
        await two.wait_for(lambda: two.held[-1] == "others go on")
        with pytest.raises(Refused):
            await victim.connect()
        await one.close()
        await two.close()

    run(story())
    with urllib.request.urlopen(f"{site.api}/metrics") as answer:
        assert "tidings_store_unreadable_total 0" not in answer.read().decode()
    assert site.server.process.poll() is None, site.server.tail()
    site.server.wait_for_log("demo/u0")
    site.server.stop()
    found = command(site, "check")
    assert found.returncode == 1 and "u0" in found.stdout, found.stdout + found.stderr
    rebuilt = command(site, "rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert command(site, "check").returncode == 0
    site.start()

    async def after():
        victim = Client(site.gateway, site.token("u0"))
        await victim.connect()
        one = Client(site.gateway, site.token("u1"))
        await one.connect()
        await one.send("u0", "kept for later")
        await victim.wait_for(lambda: victim.held[-1] == "kept for later")
        await one.close()
        await victim.close()

    run(after())


@pytest.mark.parametrize("number", range(FLIPS))
def test_damaged_pages_stop_who_needs_them_and_a_rebuild_brings_the_rest_back(make_site, used, number):
    """Three pages of noise in each file: the server goes on for others, or says what is wrong; after a rebuild it starts and works."""
    chance = random.Random(1_000 + SEED + number)
    site = make_site(settings=SETTINGS)
    bring(used, site)
    page, size = pages_of(site.database), site.database.stat().st_size
    for _ in range(3):
        overwrite(site.database, page * chance.randrange(1, size // page), chance.randbytes(page))
    status, told = start(site)
    if status is None:
        site.start()

        async def story():
            synced = sent = 0
            for user in range(6):
                try:
                    # Also a token is refused to whoever cannot be read.
                    client = Client(site.gateway, site.token(f"u{user}"))
                    # A new device needs the whole log: what is in a damaged page it waits for.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(client.connect(), 1)
                        synced += 1
                    await asyncio.wait_for(client.send(f"u{(user + 1) % 6}", "hello"), 3)
                    sent += 1
                    await client.close()
                except (Refused, TimeoutError, OSError, ConnectionClosed):
                    pass
            return f"{synced} of 6 could sync all, {sent} could send"

        told = run(story())
        print(f"{told}; the server {'goes on' if site.server.process.poll() is None else 'ended'}")
        site.server.stop()
        told = site.server.tail()
        assert site.server.process.returncode in (0, 1), f"{1_000 + SEED + number}: {told}"
        assert site.server.process.returncode == 0 or str(site.database) in told, told
    else:
        assert str(site.database) in told, told
    rebuilt = command(site, "rebuild")
    if rebuilt.returncode != 0:
        # The page that says what the file is, or the root of the journal: a backup is needed, and it says so.
        assert "restore a backup" in rebuilt.stderr, rebuilt.stderr
        return
    assert command(site, "check").returncode == 0
    site.start()

    async def again():
        client = Client(site.gateway, site.token("u0"))
        await client.connect()
        await client.send("u1", "back")
        await client.close()

    run(again())
