"""An acknowledgement is written only after the message was synced (design.md P1): what a loss of power leaves is what was acked.

The server runs under strace. For every message: between the write of its bytes to the database and the socket write of its
acknowledgement there must be a completed fsync or fdatasync of that same file. The same check must fail when the database is
told not to sync (store.synchronous=normal), or it would prove nothing.
"""

import asyncio
import re
import secrets

import pytest
from tidings_client import Client

CALL = re.compile(
    r"^(?P<pid>\d+) +(?P<name>write|writev|pwrite64|pwritev|pwritev2|sendto|sendmsg|sendmmsg|fsync|fdatasync)"
    r"\((?P<fd>\d+)<(?P<path>[^>]*)>(?P<rest>.*)$"
)
RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
MARKER = re.compile(r"marker-[0-9a-f]{16}")


def violations(lines, database: str, acknowledged: set[str]) -> tuple[list[str], int]:
    """Which acknowledgements were written before their message was synced, and how many were checked."""
    unfinished: dict[str, tuple[str, str]] = {}
    written: dict[str, str] = {}  # marker -> file it was last written to and not synced since
    synced: set[str] = set()
    early: list[str] = []
    checked: set[str] = set()

    def sync_completed(path: str):
        for marker in [marker for marker, file in written.items() if file == path]:
            del written[marker]
            synced.add(marker)

    for line in lines:
        if resumed := RESUMED.match(line):
            name, path = unfinished.pop(resumed["pid"], ("", ""))
            if name in ("fsync", "fdatasync") and "= 0" in resumed["rest"]:
                sync_completed(path)
            continue
        call = CALL.match(line)
        if not call:
            continue
        name, path, rest = call["name"], call["path"], call["rest"]
        if name in ("fsync", "fdatasync"):
            if "<unfinished" in rest:
                unfinished[call["pid"]] = (name, path)
            elif "= 0" in rest:
                sync_completed(path)
        elif path.startswith(database):
            for marker in MARKER.findall(rest):
                if marker not in synced:
                    written[marker] = path
        elif path.startswith(("TCP", "socket")):
            for marker in MARKER.findall(rest):
                # The first frame that names the message to a client: its acknowledgement, or its delivery.
                if marker in acknowledged and marker not in checked:
                    checked.add(marker)
                    if marker not in synced:
                        early.append(marker)
    return early, len(checked)


def load_under_strace(site) -> tuple[list[str], int]:
    trace = site.folder / "strace.txt"
    site.wrapper = [
        "strace", "-f", "-y", "-s", "262144", "-o", str(trace), "-e",
        "trace=write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg,fsync,fdatasync",
    ]
    site.start()
    acknowledged: set[str] = set()

    async def story():
        clients = []
        for number in range(8):
            clients.append(Client(site.gateway, site.token(f"u{number}")))
            await clients[-1].connect()

        async def send(number: int):
            for _ in range(25):
                marker = f"marker-{secrets.token_hex(8)}"
                # Three times, so that a page boundary cannot hide it.
                await clients[number].send(f"u{number ^ 1}", f"{marker} {marker} {marker}", client_message_id=marker)
                acknowledged.add(marker)

        await asyncio.gather(*(send(number) for number in range(8)))
        for client in clients:
            await client.close()

    asyncio.run(asyncio.wait_for(story(), 120))
    site.server.stop()
    assert len(acknowledged) == 200
    lines = trace.read_text(errors="replace").splitlines()
    return violations(lines, str(site.database), acknowledged)


def test_every_acknowledgement_follows_a_completed_sync_of_its_message(make_site):
    early, checked = load_under_strace(make_site())
    assert checked == 200, "not every acknowledgement was seen: the check would be blind"
    assert early == []


def test_the_same_check_fails_without_the_sync(make_site):
    early, checked = load_under_strace(make_site(settings={"store": {"synchronous": "normal"}}))
    assert checked == 200
    assert len(early) > 100, "the check does not notice a missing sync"


@pytest.mark.parametrize(
    "trace, early",
    [
        (["1 pwrite64(3</d.sqlite-wal>, \"{m}\", 9, 0) = 9", "1 fdatasync(3</d.sqlite-wal>) = 0",
          "2 write(9<TCP:[1]>, \"{m}\", 9) = 9"], False),
        (["1 pwrite64(3</d.sqlite-wal>, \"{m}\", 9, 0) = 9", "2 write(9<TCP:[1]>, \"{m}\", 9) = 9",
          "1 fdatasync(3</d.sqlite-wal>) = 0"], True),
        (["1 pwrite64(3</d.sqlite-wal>, \"{m}\", 9, 0) = 9", "1 fdatasync(3</d.sqlite-wal> <unfinished ...>",
          "2 write(9<TCP:[1]>, \"{m}\", 9) = 9", "1 <... fdatasync resumed>) = 0"], True),
        (["1 pwrite64(3</d.sqlite-wal>, \"{m}\", 9, 0) = 9", "1 fdatasync(4</other>) = 0",
          "2 write(9<TCP:[1]>, \"{m}\", 9) = 9"], True),
    ],
)
def test_the_reading_of_a_trace(trace, early):
    marker = "marker-0123456789abcdef"
    found, checked = violations([line.replace("{m}", marker) for line in trace], "/d.sqlite", {marker})
    assert checked == 1
    assert (found == [marker]) is early
