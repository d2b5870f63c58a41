"""Message search on a running server: what is found, by whom, and what a restart, a crash and a restored database leave of the index."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from backend import Backend
from conftest import tool

SECONDS = 120


@pytest.fixture
def searched(make_site, tmp_path):
    site = make_site(settings={"search": {"path": str(index(tmp_path))}, "store": {"erase_milliseconds": 400}})
    return site.start()


def index(tmp_path) -> pathlib.Path:
    return tmp_path / "search.sqlite"


def search(site, text: str, key: str | None = None, **more) -> dict:
    query = urllib.parse.urlencode({"text": text, **more})
    return site.call("GET", f"/v1/apps/{site.app}/messages?{query}", key=key)


def texts(answer: dict) -> list[str]:
    return [json.loads(message["content"])["content"] for message in answer["messages"]]


def caught_up(site, text: str, **more) -> dict:
    """The answer once the index lacks nothing."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            answer = search(site, text, **more)
            if not answer["behind"]:
                return answer
        except urllib.error.HTTPError as error:
            assert error.code == 503
        assert time.monotonic() < deadline, "the index does not catch up"
        time.sleep(0.1)


def bytes_of(path: pathlib.Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def refusal(call) -> tuple[int, str, str]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call()
    problem = json.loads(caught.value.read())
    return caught.value.code, problem["code"], problem["field"]


def metric(site, name: str) -> float:
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
    assert found, name
    return float(found[1])


def test_words_are_found_as_they_stand_now_page_by_page(searched, tmp_path):
    backend = Backend(searched)
    for number in range(1, 6):
        backend.say("alice", "bob", f"明天北京开会 {number}")
    gone = backend.say("bob", "alice", "北京 gone")
    backend.say("carol", "dave", "京北 Café 北方")
    backend.recall(gone, "bob")
    first = caught_up(searched, "北京", limit=3)
    assert texts(first) == [f"明天北京开会 {number}" for number in (5, 4, 3)]
    backend.say("alice", "bob", "明天北京开会 6")
    second = search(searched, "北京", limit=3, cursor=first["next"])
    assert (texts(second), second["next"]) == ([f"明天北京开会 {number}" for number in (2, 1)], None)
    assert texts(search(searched, "caf")) == ["京北 Café 北方"]
    assert len(texts(search(searched, "北京", user="bob"))) == 6
    assert texts(search(searched, "北", user="dave")) == ["京北 Café 北方"]
    assert len(texts(search(searched, "北京", user="bob", conversation_type="PR", conversation_id="alice"))) == 6
    assert texts(search(searched, "北京", user="carol", conversation_type="PR", conversation_id="alice")) == []
    newest = search(searched, "北京", limit=1)["messages"][0]
    assert texts(search(searched, "北京", until=newest["sent_at"] - 1))[:1] == ["明天北京开会 5"]
    # As histories tell it, member for member.
    told = backend.call("GET", "conversations/PR/alice/messages?user=bob&limit=1")["messages"][0]
    assert newest == told
    assert stat.S_IMODE(os.stat(index(tmp_path)).st_mode) == 0o600


def test_operators_need_the_role_for_contents_and_every_search_is_in_the_audit_log(make_site, tmp_path):
    audit = tmp_path / "audit.log"
    site = make_site(settings={"search": {"path": str(index(tmp_path))}, "log": {"audit_path": str(audit)}}).start()
    Backend(site).say("alice", "bob", "unmistakable")
    keys = {}
    for role in ("view", "content"):
        added = subprocess.run(
            [tool(), "operator", "add", f"olga-{role}", "--role", role, "--store", str(site.database)],
            capture_output=True, text=True, timeout=60, check=True)
        keys[role] = re.search(r"to_\S+", added.stdout)[0]
    assert refusal(lambda: search(site, "unmistakable", key=keys["view"])) == (403, "missing_role", "Authorization")
    assert texts(caught_up(site, "unmistakable", key=keys["content"])) == ["unmistakable"]
    assert refusal(lambda: site.call("GET", "/v1/apps/none/messages?text=x", key=keys["content"]))[:2] == (404, "unknown_app")
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert any(
        (line.get("operator"), line.get("route"), line.get("status"))
        == ("olga-content", "/v1/apps/{app}/messages", "200") for line in lines), lines
    assert "unmistakable" not in audit.read_text() + (site.folder / "server.log").read_text()


def test_without_a_file_for_it_there_is_no_search(site):
    assert refusal(lambda: search(site, "x")) == (404, "search_off", "search.path")
    assert refusal(lambda: Backend(site).call("GET", "messages?text=x&colour=red")) == (400, "invalid_field", "colour")


def test_what_was_recalled_or_edited_over_leaves_the_index_too(searched, tmp_path):
    backend = Backend(searched)
    recalled = backend.say("alice", "bob", "secretone stays")
    edited = backend.say("alice", "bob", "secrettwo stays")
    assert len(texts(caught_up(searched, "stays"))) == 2
    backend.recall(recalled, "alice")
    backend.call("PATCH", f"messages/{edited}?actor=alice", {"content": json.dumps({"content": "nowthree stays"})})
    assert texts(caught_up(searched, "stays")) == ["nowthree stays"]
    assert texts(search(searched, "secret")) == []
    deadline = time.monotonic() + SECONDS
    while any(word in bytes_of(index(tmp_path)) for word in (b"secretone", b"secrettwo")):
        assert time.monotonic() < deadline, "a text that was taken back stays in the index"
        time.sleep(0.05)
    assert b"nowthree" in bytes_of(index(tmp_path))


def test_the_index_goes_on_after_a_restart_and_a_crash_and_is_made_anew_where_it_cannot(searched, tmp_path):
    backend = Backend(searched)
    log = searched.folder / "server.log"

    def times_anew() -> int:
        return log.read_text().count("the search index is built anew")

    def check(count: int):
        backend.say("alice", "bob", f"word {count}")
        assert texts(caught_up(searched, "word", limit=100)) == [f"word {number}" for number in range(count, 0, -1)]

    check(1)
    assert times_anew() == 1
    searched.server.stop()
    searched.start()
    check(2)
    backend.say("alice", "bob", "word 3")
    searched.server.kill()
    searched.start()
    check_after = texts(caught_up(searched, "word"))
    assert check_after == ["word 3", "word 2", "word 1"]
    assert times_anew() == 1
    # Missing.
    searched.server.stop()
    for file in tmp_path.glob("search.sqlite*"):
        file.unlink()
    searched.start()
    check(4)
    # Damaged behind its head; stopped, so that no log beside it has its pages once more.
    searched.server.stop()
    with open(index(tmp_path), "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(100)
        file.write(os.urandom(size - 100))
    searched.start()
    check(5)
    # Restored: what came after the backup is not in the store, and not found.
    copy = tmp_path / "copy.sqlite"
    for arguments in (["backup", "--to", str(copy)], ["restore", "--from", str(copy)]):
        subprocess.run([tool(), "store", arguments[0], "--config", str(searched.config), *arguments[1:]], timeout=60, check=True)
        if arguments[0] == "backup":
            backend.say("alice", "bob", "word lost")
            assert texts(caught_up(searched, "lost")) == ["word lost"]
            searched.server.stop()
    searched.start()
    assert texts(caught_up(searched, "lost")) == []
    check(6)
    assert times_anew() == 4


def test_twenty_thousand_messages_are_indexed_in_bounded_memory(make_site, tmp_path):
    site = make_site(settings={"limits": {"mode": "none"}}).start()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda first: say_each(site, range(first, 20_000, 8)), range(8)))
    site.server.stop()
    site.start()
    without = most_memory(site)
    site.server.stop()
    # The index is made of all of them at once.
    configuration = json.loads(site.config.read_text())
    configuration["search"] = {"path": str(index(tmp_path))}
    site.config.write_text(json.dumps(configuration))
    site.start()
    start = time.monotonic()
    assert caught_up(site, "message19999")["indexed_until"]
    took = time.monotonic() - start
    assert len(texts(search(site, "message1234"))) == 11
    time.sleep(1.1)
    assert metric(site, "tidings_search_messages") == 20_000
    assert metric(site, "tidings_search_behind_records") == 0
    size = metric(site, "tidings_search_file_bytes")
    grown = most_memory(site) - without
    print(f"20,000 messages in {took:.1f} s, file {size / 1e6:.1f} MB, at most {grown / 1024:.1f} MiB of memory more")
    assert grown < 128 * 1024


def say_each(site, numbers: range):
    """A message for each number over one connection, which is asked again before it has answered: twenty thousand are sent soon enough."""
    with socket.create_connection(("127.0.0.1", site.api_port), timeout=SECONDS) as client, client.makefile("rb") as answers:
        for start in range(0, len(numbers), 50):
            some = numbers[start:start + 50]
            client.sendall(b"".join(message(site, number) for number in some))
            for _ in some:
                assert answers.readline().split()[1] == b"201"
                length = 0
                while line := answers.readline().strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                answers.read(length)


def message(site, number: int) -> bytes:
    """A request that sends a text with its number in it."""
    body = json.dumps({
        "sender": f"sender-{number % 50}", "client_message_id": f"message-{number}",
        "conversation": {"type": "PR", "target": f"reader-{number % 70}"},
        "content": json.dumps({"content": f"message{number} 明天北京 " + "tea " * 20})}).encode()
    head = (f"POST /v1/apps/{site.app}/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {site.api_key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def most_memory(site) -> int:
    """The most it has had at a time, resident, in KiB."""
    status = pathlib.Path(f"/proc/{site.server.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1])
