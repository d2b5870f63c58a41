"""An old copy of the database is put back, in each way an operator may do it. Phones notice, keep what the server has lost, and get the rest."""

import asyncio
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess

import pytest
from conftest import tool
from load import SETTINGS, run
from tidings_client import Client

SUFFIXES = ["", "-wal", ".state"]


def copy(site, folder: pathlib.Path, suffixes):
    for suffix in suffixes:
        source = pathlib.Path(str(site.database) + suffix)
        if source.exists():
            shutil.copy(source, folder / ("copy" + suffix))


def put_back(site, folder: pathlib.Path, suffixes):
    for suffix in ["", "-wal", "-shm"]:
        pathlib.Path(str(site.database) + suffix).unlink(missing_ok=True)
    for suffix in suffixes:
        if (folder / ("copy" + suffix)).exists():
            shutil.copy(folder / ("copy" + suffix), str(site.database) + suffix)


def command(site, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [tool(), "store", arguments[0], "--config", str(site.config), *arguments[1:]], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("way", ["file", "folder", "without state", "command", "running"])
def test_a_restored_copy_loses_nothing_on_phones(make_site, tmp_path, way):
    """Copy after "two", go on with "three" and "four", restore, others send "five" to "seven": a phone that has all up to "four" has been overtaken, one
    stopped at "two", one was ahead and is alone, one is new."""
    site = make_site(settings=SETTINGS)
    site.start()

    def phone(device):
        return Client(site.gateway, site.token("bob"), device=device)

    async def story():
        alice = Client(site.gateway, site.token("alice"), device="alice")
        overtaken, early, ahead, fresh = (phone(name) for name in ["overtaken", "early", "ahead", "fresh"])
        await alice.connect()
        for bob in (overtaken, early, ahead):
            await bob.connect()
        for text in ["one", "two"]:
            await alice.send("bob", text)
        await early.wait_for(lambda: early.held == ["one", "two"])
        await early.close()
        if way == "running":
            done = await asyncio.to_thread(command, site, "backup", "--to", str(tmp_path / "copy"))
            assert done.returncode == 0, done.stderr
        else:
            site.server.stop()
            copy(site, tmp_path, SUFFIXES)
            await asyncio.to_thread(site.start)
            for client in (alice, overtaken, ahead):
                await client.close()
                await client.connect()
        for text in ["three", "four"]:
            await alice.send("bob", text)
        for bob in (overtaken, ahead):
            await bob.wait_for(lambda bob=bob: bob.held == ["one", "two", "three", "four"])
            await bob.close()
        await alice.close()
        site.server.stop()
        match way:
            case "file": put_back(site, tmp_path, ["", "-wal"])
            case "folder": put_back(site, tmp_path, SUFFIXES)
            case "without state":
                put_back(site, tmp_path, ["", "-wal"])
                pathlib.Path(str(site.database) + ".state").unlink()
            case "command" | "running":
                done = command(site, "restore", "--from", str(tmp_path / "copy"))
                assert done.returncode == 0, done.stderr
        await asyncio.to_thread(site.start)
        if way != "folder":
            await asyncio.to_thread(site.server.wait_for_log, "the store was restored")
        # Ahead: nothing new has come yet.
        await ahead.connect()
        assert ahead.held == ["one", "two", "three", "four"]
        carol = Client(site.gateway, site.token("carol"))
        await carol.connect()
        for text in ["five", "six", "seven"]:
            await carol.send("bob", text)
        for bob in (overtaken, early, fresh):
            await bob.connect()
        await carol.send("bob", "eight")
        lost, rest = ["three", "four"], ["five", "six", "seven", "eight"]
        for bob in (overtaken, ahead):
            await bob.wait_for(lambda bob=bob: bob.held == ["one", "two", *lost, *rest])
        for bob in (early, fresh):
            await bob.wait_for(lambda bob=bob: bob.held == ["one", "two", *rest])
        for bob in (overtaken, early, ahead, fresh):
            await bob.close()
        await carol.close()

    run(story())


def test_a_restart_is_no_restore(make_site):
    """Nobody syncs anew because the server stopped, or was killed."""
    site = make_site(settings=SETTINGS)
    site.start()

    async def story():
        alice = Client(site.gateway, site.token("alice"), device="alice")
        welcomes = []
        for number in range(4):
            welcomes.append(await alice.connect())
            await alice.send("bob", str(number))
            await alice.close()
            if number % 2:
                site.server.kill()
            else:
                site.server.stop()
            await asyncio.to_thread(site.start)
        assert not any(welcome.get("otherLog") for welcome in welcomes)
        assert len({(welcome["storeId"], welcome["generation"]) for welcome in welcomes}) == 1
        assert len({welcome["opening"] for welcome in welcomes}) == 4

    run(story())


def test_a_backup_of_a_running_server_is_whole_and_for_its_owner_alone(make_site, tmp_path):
    site = make_site(settings=SETTINGS)
    old = os.umask(0o022)
    try:
        site.start()
    finally:
        os.umask(old)

    async def story():
        alice = Client(site.gateway, site.token("alice"))
        await alice.connect()
        sends = [asyncio.create_task(alice.send("bob", f"{number} " + "x" * 9_000)) for number in range(40)]
        done = await asyncio.to_thread(command, site, "backup", "--to", str(tmp_path / "copy.sqlite"))
        assert done.returncode == 0, done.stderr
        await asyncio.gather(*sends)
        again = await asyncio.to_thread(command, site, "backup", "--to", str(tmp_path / "copy.sqlite"))
        assert again.returncode != 0 and "exist" in again.stderr.lower(), again.stderr
        busy = await asyncio.to_thread(command, site, "check")
        assert busy.returncode != 0 and "open in another process" in busy.stderr, busy.stderr
        await alice.close()

    run(story())
    whole = subprocess.run(
        [tool(), "store", "check", "--store", str(tmp_path / "copy.sqlite")], capture_output=True, text=True, timeout=120)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    for path in [*site.folder.glob("tidings.sqlite*"), tmp_path / "copy.sqlite"]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_killed_command_leaves_nothing_that_keeps_the_next_from_working(make_site, tmp_path):
    site = make_site(settings=SETTINGS).start()
    assert pathlib.Path(f"/proc/{site.server.process.pid}/limits").read_text().split("Max core file size")[1].split()[0] == "0"
    site.server.stop()
    # Large enough that a command is seen at work.
    bulk = sqlite3.connect(site.database)
    bulk.execute("CREATE TABLE bulk AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
                 "SELECT i, zeroblob(1000000) FROM n")
    bulk.commit()
    bulk.close()
    old = tmp_path / "old.sqlite"
    assert command(site, "backup", "--to", str(old)).returncode == 0
    new = tmp_path / "new.sqlite"
    for arguments, beside in [
        (["backup", "--to", str(new)], new), (["check"], site.database), (["rebuild"], site.database),
        (["restore", "--from", str(old)], site.database),
    ]:
        folder = pathlib.Path(f"{beside}.tidings-work")
        for _ in range(10):
            with subprocess.Popen(
                [tool(), "store", arguments[0], "--config", str(site.config), *arguments[1:]],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) as working:
                while working.poll() is None and not folder.exists():
                    pass
                working.kill()
            if folder.exists():
                break
            new.unlink(missing_ok=True)
        assert folder.exists(), f"{arguments[0]} was not killed at work"
        assert not new.exists(), "what was broken off has the name of a backup"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        again = command(site, *arguments)
        assert again.returncode == 0, again.stdout + again.stderr
        assert not folder.exists()
        new.unlink(missing_ok=True)
