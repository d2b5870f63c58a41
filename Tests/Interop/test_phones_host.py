"""`tidings phones`: phones behind one port with a token, asked directly and through a server; and that all of it ends with it.

The app is `Tests/ScreenApp`, with a button that counts.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import typing
import urllib.error
import urllib.request

import pytest
from conftest import Program, Site, tool
from ports import free_port

SECONDS = 30
BUNDLE = "com.example.screen"


def screen_app() -> str:
    path = pathlib.Path(tool()).parent / "ScreenApp"
    assert os.access(path, os.X_OK), f"{path} is not there: run make build first"
    return str(path)


class Phones:
    """The process, and what is asked of it."""

    def __init__(self, folder: pathlib.Path, *names: str, port: int | None = None):
        self.folder = folder
        self.starts = 0
        self.port = port or free_port()
        self.arguments = [
            tool(), "phones", "--port", str(self.port), "--folder", str(folder / "phones"), "--app", screen_app(), "--bundle", BUNDLE,
            *(word for name in names for word in ("--phone", name)),
        ]
        self.start()

    def start(self):
        # A log of its own each time: the line of the process before says nothing of this one.
        self.starts += 1
        self.program = Program(self.arguments, self.folder / f"phones-{self.starts}.log")
        self.program.wait_for_log(r"phones at http://127\.0\.0\.1:\d+, token in ")

    @property
    def token(self) -> str:
        return (self.folder / "phones" / "control.token").read_text().strip()

    def request(self, method: str, path: str, body: dict | None = None, token: str | None = None, headers: dict | None = None):
        """Status and JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body),
                {"Authorization": f"Bearer {self.token if token is None else token}", **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def do(self, phone: str, name: str, **members) -> dict:
        status, answer = self.request("POST", f"/v1/phones/{phone}/commands", {"do": name, **members})
        assert status == 200 and answer["ok"], answer
        return answer["result"]

    def wait_for_screen(self, phone: str, holds: typing.Callable[[dict], bool]) -> dict:
        deadline = time.monotonic() + SECONDS
        while not holds(screen := self.do(phone, "screen")):
            assert time.monotonic() < deadline, screen
            time.sleep(0.02)
        return screen


class Stream:
    """Server-sent events of a phone, one after the other."""

    def __init__(self, host: str, path: str, headers: dict[str, str]):
        self.connection = http.client.HTTPConnection(host, timeout=SECONDS)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        assert self.answer.headers["Content-Type"] == "text/event-stream"
        self.last_id = ""

    def next(self) -> dict:
        data = ""
        while raw := self.answer.readline():
            line = raw.decode().rstrip("\n")
            if line.startswith("id: "):
                self.last_id = line.removeprefix("id: ")
            elif line.startswith("data: "):
                data = line.removeprefix("data: ")
            elif line == "" and data:
                return json.loads(data)
        raise AssertionError("the stream has ended")

    def until(self, holds: typing.Callable[[dict], bool]) -> list[dict]:
        seen = []
        while not seen or not holds(seen[-1]):
            seen.append(self.next())
        return seen

    def is_ended(self) -> bool:
        """Reads on to the end, which has to come."""
        while self.answer.readline():
            pass
        return True

    def close(self):
        self.connection.close()


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="tidings-phones-") as path:
        yield pathlib.Path(path)


@pytest.fixture
def phones(folder):
    phones = Phones(folder, "alice,lifecycle=application", "old,ios=12.4,lifecycle=application,user=bob")
    yield phones
    phones.program.stop()


def children_of(pid: int) -> list[int]:
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def test_phones_are_listed_with_what_they_were_started_with(phones):
    status, answer = phones.request("GET", "/v1/phones")
    assert status == 200 and answer["can_start"] is True
    alice, old = answer["phones"]
    assert alice == {
        "id": "alice", "user": "alice", "app": BUNDLE, "ios": "17", "lifecycle": "application", "delegate": "modern", "can_change": True,
        "implements": ["didReceiveRemoteNotificationFetch", "willPresent", "didReceive"]}
    assert (old["id"], old["user"], old["ios"], old["lifecycle"]) == ("old", "bob", "12.4", "application")


def test_the_token_is_for_its_user_alone_and_every_request_needs_it(phones):
    path = phones.folder / "phones" / "control.token"
    assert path.stat().st_mode & 0o777 == 0o600 and len(phones.token) >= 32
    for token in ("", "x", phones.token[:-1], phones.token + "x"):
        for method, address in (
            ("GET", "/v1/phones"), ("POST", "/v1/phones"), ("DELETE", "/v1/phones/alice"), ("GET", "/v1/phones/alice/events"),
            ("POST", "/v1/phones/alice/commands"), ("GET", "/"),
        ):
            assert phones.request(method, address, {"do": "home"} if method == "POST" else None, token=token)[0] == 401
    # It listens on loopback alone.
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        address, state = line.split()[1], line.split()[3]
        if state == "0A" and int(address.rpartition(":")[2], 16) == phones.port:
            assert address.startswith("0100007F:")
    # No phone opens a port of its own.
    listening = {int(inode) for inode in subprocess.run(
        ["sh", "-c", f"ls -l /proc/{phones.program.pid}/fd | sed -nE 's/.*socket:\\[([0-9]+)\\].*/\\1/p'"], capture_output=True, text=True, check=True,
    ).stdout.split()}
    ports = {
        int(line.split()[1].rpartition(":")[2], 16) for name in ("tcp", "tcp6")
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[9]) in listening}
    assert ports == {phones.port}


def test_a_path_with_an_empty_segment_is_no_other_one_and_head_is_answered(phones):
    for method, path in (
        ("DELETE", "/v1/phones//alice"), ("DELETE", "/v1/phones/alice/"), ("GET", "/v1/phones/"), ("POST", "/v1/phones//commands"),
    ):
        assert phones.request(method, path, {"do": "home"} if method == "POST" else None)[0] == 404, path
    assert len(phones.request("GET", "/v1/phones")[1]["phones"]) == 2
    key, body = f"Authorization: Bearer {phones.token}\r\n", b'{"do": "home"}'
    with socket.create_connection(("127.0.0.1", phones.port), timeout=20) as plain, plain.makefile("rb") as answers:
        plain.sendall(f"HEAD /v1/phones HTTP/1.1\r\nHost: localhost\r\n{key}\r\n".encode())
        assert b" 200 " in answers.readline()
        while answers.readline() != b"\r\n":
            pass
        head = "POST /v1/phones/alice/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n"
        plain.sendall(f"{head}Content-Length: {len(body)}\r\n{key}\r\n".encode())
        assert answers.readline() == b"HTTP/1.1 100 Continue\r\n" and answers.readline() == b"\r\n"
        plain.sendall(body)
        assert b" 200 " in answers.readline()


def test_a_screen_is_touched_and_streamed(phones):
    stream = Stream(f"127.0.0.1:{phones.port}", "/v1/phones/alice/events", {"Authorization": f"Bearer {phones.token}"})
    phones.do("alice", "unlock")
    phones.do("alice", "launch")
    phones.wait_for_screen("alice", lambda screen: "0 taps" in screen["texts"])
    phones.do("alice", "touch", view="Count")
    assert "1 taps" in phones.do("alice", "screen")["texts"]
    shown = stream.until(lambda event: event["event"] == "views" and "1 taps" in json.dumps(event))
    numbers = [event["n"] for event in shown if "n" in event]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 3
    # Whoever comes back goes on behind the last line.
    last = stream.last_id
    stream.close()
    phones.do("alice", "home")
    again = Stream(
        f"127.0.0.1:{phones.port}", "/v1/phones/alice/events", {"Authorization": f"Bearer {phones.token}", "Last-Event-ID": last})
    more = again.until(lambda event: event.get("state") == "backgroundRunning")
    assert [event["n"] for event in more if "n" in event][0] == numbers[-1] + 1
    again.close()
    after = Stream(
        f"127.0.0.1:{phones.port}", f"/v1/phones/alice/events?after={numbers[-1]}", {"Authorization": f"Bearer {phones.token}"})
    assert next(event["n"] for event in iter(after.next, None) if "n" in event) == numbers[-1] + 1
    after.close()


def test_a_refused_command_changes_nothing(phones):
    before = phones.do("alice", "screen")
    for command, field in (({"do": "touch", "view": "Count"}, "app"), ({"do": "fly"}, "do"), ({"do": "quit"}, "do"), ({"do": "subscribe"}, "do")):
        status, answer = phones.request("POST", "/v1/phones/alice/commands", command)
        assert (status, answer["ok"], answer["field"]) == (200, False, field), answer
    assert phones.request("POST", "/v1/phones/nobody/commands", {"do": "home"})[0] == 404
    assert phones.do("alice", "screen") == before


def test_a_phone_is_started_anew_with_others_and_keeps_its_folder(phones):
    phones.do("alice", "unlock")
    phones.do("alice", "launch")
    phones.wait_for_screen("alice", lambda screen: screen["texts"] != [])
    stream = Stream(f"127.0.0.1:{phones.port}", "/v1/phones/alice/events", {"Authorization": f"Bearer {phones.token}"})
    last = stream.until(lambda event: event.get("state") == "foregroundActive") and stream.last_id
    mark = phones.folder / "phones" / "alice" / "mark"
    mark.write_text("x")
    processes = children_of(phones.program.pid)
    assert len(processes) == 1
    status, answer = phones.request("POST", "/v1/phones", {"id": "alice", "ios": "15", "lifecycle": "application"})
    assert status == 201 and (answer["ios"], answer["lifecycle"]) == ("15", "application")
    assert stream.is_ended()
    assert children_of(phones.program.pid) == [] and mark.exists()
    assert phones.do("alice", "screen")["apps"][BUNDLE]["state"] == "notRunning"
    # An id of before is not known: it begins with what there is.
    again = Stream(
        f"127.0.0.1:{phones.port}", "/v1/phones/alice/events", {"Authorization": f"Bearer {phones.token}", "Last-Event-ID": last})
    phones.do("alice", "unlock")
    phones.do("alice", "launch")
    assert next(event["n"] for event in iter(again.next, None) if "n" in event) == 1
    again.close()


def test_phones_are_ended_one_by_one(phones):
    assert phones.request("DELETE", "/v1/phones/old") == (204, None)
    assert [phone["id"] for phone in phones.request("GET", "/v1/phones")[1]["phones"]] == ["alice"]
    assert phones.request("DELETE", "/v1/phones/old")[0] == 404
    status, answer = phones.request("POST", "/v1/phones", {"id": "../old"})
    assert status == 400 and answer["field"] == "id"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_all_processes_end_with_it(phones, number):
    for name in ("alice", "old"):
        phones.do(name, "unlock")
        phones.do(name, "launch")
        phones.wait_for_screen(name, lambda screen: screen["apps"][BUNDLE]["state"] == "foregroundActive")
    phones.do("old", "freeze")
    processes = children_of(phones.program.pid)
    assert len(processes) == 2
    os.kill(phones.program.pid, number)
    assert phones.program.process.wait(SECONDS) == (0 if number != signal.SIGKILL else -signal.SIGKILL)
    deadline = time.monotonic() + SECONDS
    while any(pathlib.Path(f"/proc/{pid}").exists() for pid in processes):
        assert time.monotonic() < deadline, processes
        time.sleep(0.05)


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([tool(), "phones", *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_what_is_wrong_is_said_in_a_sentence(folder):
    for arguments, sentence in [
        (["--phone", "a b"], "id must be 1 to 64 letters, digits, - and _"),
        (["--phone", "a", "--phone", "a,ios=15"], "--phone must not name a phone twice"),
        (["--phone", "a,ios=2"], "ios must be a version such as 17 or 17.4"),
        (["--port", "70000"], "--port must be 0 to 65535"),
    ]:
        done = run(*arguments)
        assert done.returncode == 64 and sentence in done.stderr, done.stderr
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        done = run("--folder", str(folder / "p"), "--port", str(busy.getsockname()[1]))
        assert done.returncode == 1 and "--port must be free to listen on" in done.stderr
    open_file = folder / "open.token"
    open_file.write_text("x" * 40)
    open_file.chmod(0o644)
    done = run("--folder", str(folder / "p"), "--token-file", str(open_file))
    assert done.returncode == 1 and "chmod 600" in done.stderr


# MARK: the server in front of it


@pytest.fixture
def site(phones):
    site = Site()
    site.flags = [
        "--phones", f"127.0.0.1:{phones.port}", "--set", f"console.phones_token_path={phones.folder / 'phones' / 'control.token'}"]
    site.start()
    yield site
    site.stop()


def operator_key(site: Site, name: str, role: str) -> str:
    done = subprocess.run(
        [tool(), "operator", "add", name, "--role", role, "--store", str(site.database)], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()[-1]


def test_the_server_shows_them_to_operators(site, phones):
    keys = {role: operator_key(site, role, role) for role in ("view", "content", "send", "administer")}
    listed = site.call("GET", "/v1/phones", key=keys["view"])
    assert [phone["id"] for phone in listed["phones"]] == ["alice", "old"]
    for role, may_look, may_do in (("view", False, False), ("content", True, False), ("send", True, True)):
        for command, is_allowed in (({"do": "screen"}, may_look), ({"do": "unlock"}, may_do)):
            if is_allowed:
                assert site.call("POST", "/v1/phones/alice/commands", command, key=keys[role])["ok"] is True
            else:
                with pytest.raises(urllib.error.HTTPError) as refused:
                    site.call("POST", "/v1/phones/alice/commands", command, key=keys[role])
                assert refused.value.code == 403
    started = site.call("POST", "/v1/phones", {"id": "third"}, key=keys["administer"])
    assert started["id"] == "third" and phones.request("GET", "/v1/phones")[1]["phones"][-1]["id"] == "third"
    site.call("DELETE", "/v1/phones/third", key=keys["administer"])
    stream = Stream(site.api.removeprefix("http://"), "/v1/phones/alice/events?last=0", {"Authorization": f"Bearer {keys['content']}"})
    site.call("POST", "/v1/phones/alice/commands", {"do": "launch"}, key=keys["send"])
    shown = stream.until(lambda event: event["event"] == "views" and "0 taps" in json.dumps(event))
    assert any(event["event"] == "process_started" for event in shown)
    # A server that stops is not held up by who reads.
    begun = time.monotonic()
    site.server.stop()
    assert site.server.process.returncode == 0 and time.monotonic() - begun < 20
    assert stream.is_ended()
    stream.close()


def test_the_server_says_what_is_missing_and_finds_them_again(site, phones):
    key = operator_key(site, "anna", "administer")
    phones.program.stop()
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("GET", "/v1/phones", key=key)
    problem = json.loads(refused.value.read())
    assert (refused.value.code, problem["code"], problem["field"]) == (502, "phones_unreachable", "console.phones")
    # With another token, and after the server.
    (phones.folder / "phones" / "control.token").unlink()
    phones.start()
    assert [phone["id"] for phone in site.call("GET", "/v1/phones", key=key)["phones"]] == ["alice", "old"]
