"""The example app's backend: it knows passwords, and its user tokens are the server's, asked for with the API key."""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
import subprocess
import urllib.error

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
        (b"x" * 10_000, 413, "bad_request"),
    ]:
        assert refusal(backend.post("/sign-in", body)) == (status, code), body
    session = backend.sign_in("alice", alice)["session"]
    for wrong in (None, "", "made up", session + "x", session[:-2]):
        assert refusal(backend.post("/token", session=wrong)) == (401, "signed_out"), wrong
    assert refusal(backend.post("/lunch")) == (404, "unknown_route")


def test_passwords_are_not_guessed_by_the_thousand(backend):
    answers = [backend.post("/sign-in", {"user": "alice", "password": f"guess {number}"}) for number in range(11)]
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
    assert refusal(backend.post("/token", session=session)) == (503, "unavailable")


@pytest.mark.parametrize("key", ["no key of the app"])
def test_an_api_key_that_is_none_gets_no_token(site, key):
    backend = ExampleBackend(site, passwords=PASSWORDS, api_key=key)
    try:
        session = backend.sign_in("alice", PASSWORDS["alice"])["session"]
        answer = backend.post("/token", session=session)
        assert refusal(answer) == (500, "misconfigured")
        assert "must hold one of the app's API keys" in answer[2]["rule"]
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
        (["add-user", "has space"], {}, "the user must be 1 to 64 letters"),
        (["add-user", "alice"], {}, "the password must have 8 to 200 characters, got 5"),
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
