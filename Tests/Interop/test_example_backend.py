"""The example app's backend: it knows passwords, and its user tokens are the server's, asked for with the API key."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import json
import os
import pty
import select
import stat
import subprocess
import threading
import unicodedata
import urllib.error
import urllib.request

import pytest

from conftest import Site
from example_backend import ExampleBackend, environment, executable
from tidings_client import Client

PASSWORDS = {"alice": "correct horse", "bob": "battery staple"}


@pytest.fixture
def backend(site):
    started = ExampleBackend(site, passwords=PASSWORDS)
    yield started
    started.stop()


def refusal(answer: tuple[int, str, dict]) -> tuple[int, str]:
    """Status and code of a problem, which has the form of RFC 9457."""
    status, kind, problem = answer
    assert kind == "application/problem+json", answer
    assert problem["type"] == f"urn:chat:problem:{problem['code']}" and problem["title"] and problem["rule"], problem
    return status, problem["code"]


def sender(site: Site, token: str) -> str:
    """Who the server takes the holder of a token for: the sender of what they send."""

    async def story() -> str:
        client, bob = Client(site.gateway, token), Client(site.gateway, site.token("bob"))
        await bob.connect()
        await client.connect()
        await client.send("bob", "it is me")
        await bob.wait_for(lambda: bob.messages)
        for each in (client, bob):
            await each.close()
        return bob.messages[0]["sender"]

    return asyncio.run(asyncio.wait_for(story(), 30))


def test_who_knows_the_password_gets_a_session_and_with_it_user_tokens_of_the_server(site, backend):
    signed_in = backend.sign_in("alice", PASSWORDS["alice"])
    assert {name: signed_in[name] for name in ("user", "app", "server_url", "api_url")} == {
        "user": "alice", "app": "demo", "server_url": site.gateway, "api_url": site.phone}
    status, _, first = backend.post("/token", session=signed_in["session"])
    assert (status, first["user"]) == (200, "alice")
    assert sender(site, first["token"]) == "alice"
    # The session goes on where the backend is started anew.
    backend.stop()
    backend.start()
    status, _, second = backend.post("/token", session=signed_in["session"])
    assert (status, second["user"]) == (200, "alice")


def test_nobody_else_gets_anything(backend):
    alice = PASSWORDS["alice"]
    for body, status, code in [
        ({"user": "alice", "password": PASSWORDS["bob"]}, 401, "wrong_password"),
        ({"user": "alice", "password": ""}, 401, "wrong_password"),
        ({"user": "mallory", "password": alice}, 401, "wrong_password"),
        ({"user": "alice"}, 400, "invalid_field"),
        ({"user": 7, "password": alice}, 400, "invalid_field"),
        ({"user": "alice", "password": alice, "admin": True}, 400, "invalid_field"),
        (b"[]", 400, "malformed_json"),
        (b"{", 400, "malformed_json"),
    ]:
        assert refusal(backend.post("/sign-in", body)) == (status, code), body
    session = backend.sign_in("alice", alice)["session"]
    for wrong in (None, "", "made up", session + "x", session[:-2]):
        assert refusal(backend.post("/token", session=wrong)) == (401, "signed_out"), wrong
    for path in ("/lunch", "/sign-out/", "//token", "/sign-in/"):
        assert refusal(backend.post(path, session=session)) == (404, "unknown_route"), path
    with urllib.request.urlopen(urllib.request.Request(f"{backend.address}/healthz", method="HEAD"), timeout=20) as answer:
        assert (answer.status, answer.read()) == (200, b"")


def test_a_refusal_names_the_field_if_there_is_one_and_the_rule(backend):
    answer = backend.post("/sign-in", b"x" * 10_000)
    assert refusal(answer) == (413, "body_too_large")
    assert (answer[2]["field"], answer[2]["rule"]) == ("body", "must have at most 4096 bytes")
    answer = backend.post("/sign-in", {"user": 7, "password": "x"})
    assert (answer[2]["field"], answer[2]["detail"]) == ("user", "user must be a string")
    assert "field" not in backend.post("/sign-in", {"user": "alice", "password": "not hers"})[2]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{backend.address}/token", timeout=20)
    assert (refused.value.code, refused.value.headers["Allow"]) == (405, "POST")
    assert json.loads(refused.value.read())["code"] == "method_not_allowed"


def test_strangers_who_sign_in_by_the_dozen_do_not_hold_up_a_phone_that_asks_for_its_token(backend):
    session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
    asked = [threading.Event() for _ in range(8)]

    def guess(number: int) -> list[tuple[int, str]]:
        answers = []
        for attempt in range(6):
            asked[number].set()
            answers.append(refusal(backend.post("/sign-in", {"user": f"u{number}.{attempt}", "password": "no password"})))
        return answers

    with concurrent.futures.ThreadPoolExecutor(8) as strangers:
        guesses = [strangers.submit(guess, number) for number in range(8)]
        for event in asked:
            event.wait(20)
        # Meanwhile.
        assert backend.post("/token", session=session)[0] == 200
        answers = {answer for each in guesses for answer in each.result()}
    # Two passwords at a time are looked at, and nobody waits for it.
    assert answers == {(401, "wrong_password"), (503, "busy")}
    # Whom nobody can be called is told so without a hash, however many they are.
    with concurrent.futures.ThreadPoolExecutor(8) as strangers:
        posts = [strangers.submit(backend.post, "/sign-in", {"user": f"no name {number}", "password": "no password"})
                 for number in range(40)]
        assert {refusal(post.result()) for post in posts} == {(401, "wrong_password")}


def test_a_session_that_is_written_back_after_another_password_is_none(backend):
    session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
    sessions = backend.state / "sessions.json"
    kept = sessions.read_text()
    assert backend.add_user("alice", "another horse").returncode == 0
    sessions.write_text(kept)
    assert refusal(backend.post("/token", session=session)) == (401, "signed_out")


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_the_password_is_the_first_line_of_its_file_whoever_wrote_it(backend, tmp_path, end):
    file = tmp_path / "password"
    file.write_bytes(f"a new horse{end}and more".encode() if end else b"a new horse")
    done = subprocess.run(
        [executable(), "add-user", "--state", str(backend.state), "alice", "--password-file", str(file)],
        capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done
    backend.sign_in("alice", "a new horse")


def test_a_password_is_the_same_however_a_keyboard_writes_its_letters(backend):
    assert backend.add_user("alice", unicodedata.normalize("NFC", "caf\u00e9 cr\u00e8me")).returncode == 0
    backend.sign_in("alice", unicodedata.normalize("NFD", "caf\u00e9 cr\u00e8me"))


@pytest.mark.parametrize("again, is_taken", [("a typed horse", True), ("a typed house", False)])
def test_a_terminal_is_asked_twice_and_shows_no_password(tmp_path, again, is_taken):
    person, terminal = pty.openpty()
    adding = subprocess.Popen(
        [executable(), "add-user", "--state", str(tmp_path / "state"), "alice"], stdin=terminal, stdout=terminal,
        stderr=terminal)
    os.close(terminal)
    shown = read_until(person, b"Password of alice: ")
    os.write(person, b"a typed horse\n")
    shown += read_until(person, b"Once more: ")
    os.write(person, f"{again}\n".encode())
    shown += read_until(person, None)
    assert (adding.wait(30) == 0) is is_taken, shown
    assert b"typed h" not in shown
    assert (b"alice can sign in" in shown) is is_taken
    os.close(person)


def read_until(terminal: int, words: bytes | None) -> bytes:
    """What a terminal shows, until the words or its end."""
    shown = b""
    while words is None or words not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        try:
            more = os.read(terminal, 1_000)
        except OSError:
            more = b""
        if not more:
            assert words is None, shown
            break
        shown += more
    return shown


def test_a_folder_with_users_is_closed_to_others(backend):
    backend.state.chmod(0o755)
    assert backend.add_user("alice", "another horse").returncode == 0
    assert stat.S_IMODE(backend.state.stat().st_mode) == 0o700


def test_a_port_in_use_is_named(backend):
    done = subprocess.run(
        [executable(), "--state", str(backend.state), "--port", str(backend.port)], capture_output=True, text=True, timeout=30,
        check=False, env=environment(TIDINGS_API_KEY="k"))
    assert done.returncode == 1
    assert f"port {backend.port} on 127.0.0.1 is in use" in done.stderr


def test_passwords_are_not_guessed_by_the_thousand(backend):
    answers = [backend.post("/sign-in", {"user": "alice", "password": f"my guess {number}"}) for number in range(11)]
    assert [refusal(answer) for answer in answers] == [(401, "wrong_password")] * 10 + [(429, "too_many_guesses")]
    # Of others nothing is held back.
    backend.sign_in("bob", PASSWORDS["bob"])


def test_a_session_ends_by_signing_out_and_by_another_password(backend):
    first, second = (backend.sign_in("alice", PASSWORDS["alice"])["session"] for _ in range(2))
    assert backend.post("/sign-out", session=first)[0] == 204
    assert refusal(backend.post("/token", session=first)) == (401, "signed_out")
    assert backend.post("/token", session=second)[0] == 200
    # While the backend runs.
    assert backend.add_user("alice", "another horse").returncode == 0
    assert refusal(backend.post("/token", session=second)) == (401, "signed_out")
    assert refusal(backend.post("/sign-in", {"user": "alice", "password": PASSWORDS["alice"]})) == (401, "wrong_password")
    backend.sign_in("alice", "another horse")


def test_its_files_are_its_owners_alone_and_hold_neither_password_nor_session(backend):
    session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
    for name in ("users.json", "sessions.json"):
        file = backend.state / name
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, name
        assert PASSWORDS["alice"] not in file.read_text() and session not in file.read_text()


def test_what_the_server_says_of_a_token_is_passed_on(site, backend):
    session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
    site.call("PUT", "/v1/apps/demo/users/alice/ban", {})
    assert refusal(backend.post("/token", session=session)) == (403, "disabled")
    site.server.kill()
    answer = backend.post("/token", session=session)
    assert refusal(answer) == (503, "unavailable")
    # Where the server is, is nothing for phones.
    assert site.api not in json.dumps(answer[2]) and site.api in backend.log


@pytest.mark.parametrize("key", ["no key of the app"])
def test_an_api_key_that_is_none_gets_no_token(site, key):
    backend = ExampleBackend(site, passwords=PASSWORDS, api_key=key)
    try:
        session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
        answer = backend.post("/token", session=session)
        assert refusal(answer) == (500, "misconfigured")
        words = "must hold one of the app's API keys"
        assert words in backend.log and words not in json.dumps(answer[2])
    finally:
        backend.stop()


def test_the_server_itself_issues_no_token_without_an_api_key_that_may(make_site):
    reader = "a key without the scope"
    site = make_site(app_settings={
        "api_keys": ["tests", "reader"],
        "api_key": {
            "tests": {"sha256": hashlib.sha256(b"the key with it").hexdigest(), "scopes": ["tokens"]},
            "reader": {"sha256": hashlib.sha256(reader.encode()).hexdigest(), "scopes": ["messages", "trace"]},
        },
    }).start()
    tokens = "/v1/apps/demo/tokens"
    user_token = site.call("POST", tokens, {"user": "alice"}, key="the key with it")["token"]
    for key, status, code in [
        (" ", 401, "unauthorized"), ("made up", 401, "unauthorized"), (user_token, 401, "unauthorized"),
        (reader, 403, "missing_scope"),
    ]:
        with pytest.raises(urllib.error.HTTPError) as refused:
            site.call("POST", tokens, {"user": "alice"}, key=key)
        assert (refused.value.code, json.loads(refused.value.read())["code"]) == (status, code), key
    # Where phones come in there is no such route.
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("POST", tokens, {"user": "alice"}, base=site.phone)
    assert refused.value.code == 404


@pytest.mark.parametrize(
    "arguments, variables, words",
    [
        ([], {}, "TIDINGS_API_KEY must be set"),
        (["--port", "70000"], {"TIDINGS_API_KEY": "k"}, "--port must be 0 to 65535, got 70000"),
        (["--gateway", "http://x"], {"TIDINGS_API_KEY": "k"}, "--gateway must be an address with ws:// or wss://"),
        (["--token-seconds", "5"], {"TIDINGS_API_KEY": "k"}, "--token-seconds must be 60 to 86400, got 5"),
        (["--app", "a/b"], {"TIDINGS_API_KEY": "k"}, "--app must have 1 to 64 bytes, without spaces"),
        (["add-user", "has space"], {}, "the user must be 1 to 64 letters"),
        (["add-user", "alice"], {}, "the password must have 8 characters or more, in at most 600 bytes of UTF-8, got 5"),
        (["add-user", "alice", "--password-file", "/nowhere"], {}, "--password-file must be a readable file"),
    ],
)
def test_a_wrong_start_says_what_is_wrong(tmp_path, arguments, variables, words):
    state = [] if "--port" in arguments or "--token-seconds" in arguments else ["--state", str(tmp_path / "state")]
    done = subprocess.run(
        [executable(), *arguments, *state], input="short\n", capture_output=True, text=True, timeout=30, check=False,
        env=environment(**variables), cwd=tmp_path)
    assert done.returncode == 64, done
    assert words in done.stderr


def test_its_help_names_what_it_answers():
    done = subprocess.run([executable(), "serve", "--help"], capture_output=True, text=True, timeout=30, check=True)
    for word in ("/sign-in", "/token", "/sign-out", "TIDINGS_API_KEY", "--state"):
        assert word in done.stdout
