"""What strangers and careless operators can do to the ports and the log: nothing that keeps others out, and nothing unseen."""

import asyncio
import contextlib
import json
import os
import resource
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import websockets

from conftest import Program, tool
from tidings_client import Client, Refused


def start(site, stderr):
    """The site's server with another standard error."""
    program = Program([tool(), "serve", "--config", str(site.config)], site.folder / "server.log")
    program.process.kill()
    program.process.wait()
    program.process = subprocess.Popen(
        [tool(), "serve", "--config", str(site.config)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=stderr)
    site.server = program
    program.wait_until(f"{site.api}/readyz")


def metric(site, name):
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def raw(port, text):
    """Everything the server answers to these bytes until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        peer.sendall(text)
        peer.shutdown(socket.SHUT_WR)
        answer = b""
        while part := peer.recv(65_536):
            answer += part
    return answer.decode()


def test_the_port_for_phones_serves_phones_and_nothing_else(site):
    def refusal(base, path):
        request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {site.api_key}"})
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=20)
        return error.value.code, json.loads(error.value.read())["code"]

    assert refusal(site.api, "/v1/extension/missed?after=0") == (404, "unknown_route")
    assert refusal(site.phone, "/v1/extension/missed?after=0") == (401, "unauthorized")
    for path in ["/metrics", "/readyz", "/openapi.yaml", "/v1/apps/demo/users/bob/devices"]:
        assert refusal(site.phone, path) == (404, "unknown_route"), path


@pytest.mark.parametrize("port", ["gateway_port", "api_port", "phone_port"])
def test_half_open_requests_keep_nobody_out(make_site, port):
    site = make_site()
    # The shell becomes the server, so it keeps its process id.
    site.wrapper = ["sh", "-c", "ulimit -n 600; exec \"$@\"", "sh"]
    site.start()
    peers = []
    for _ in range(580):
        peer = socket.create_connection(("127.0.0.1", getattr(site, port)), timeout=30)
        peer.sendall(b"GET /healthz HT")
        peers.append(peer)

    async def connects():
        # A full gateway says 503 for the first second.
        for attempt in range(60):
            client = Client(site.gateway, site.token("bob"))
            try:
                await client.connect()
                await client.close()
                return True
            except Exception:
                await asyncio.sleep(0.2)
        return False

    for _ in range(20):
        assert urllib.request.urlopen(f"{site.api}/healthz", timeout=20).status == 200
        assert urllib.request.urlopen(f"{site.phone}/healthz", timeout=20).status == 200
    assert asyncio.run(connects())
    assert metric(site, "tidings_accept_failures_total") == 0
    for peer in peers:
        peer.close()
    site.server.wait_for_log("fewer connections than configured")


@pytest.mark.parametrize("listener", ["gateway", "api", "phone"])
def test_accepting_pauses_when_there_are_no_files(site, listener):
    before = resource.prlimit(site.server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(site.server.pid, resource.RLIMIT_NOFILE, (8, before[1]))
    try:
        waiting = socket.create_connection(("127.0.0.1", getattr(site, f"{listener}_port")), timeout=30)
        # Nothing is asked meanwhile: libdispatch ends a process that has work waiting and no file left to look at its threads.
        site.server.wait_for_log("cannot accept connections")
        time.sleep(1.5)
    finally:
        resource.prlimit(site.server.pid, resource.RLIMIT_NOFILE, before)
    failures = metric(site, f'tidings_accept_failures_total{{listener="{listener}"}}')
    # Spinning would have counted tens of thousands.
    assert 2 <= failures < 50
    waiting.close()
    assert site.token("alice")


@pytest.mark.parametrize("kind", ["full", "closed", "stalled"])
def test_a_log_that_cannot_be_written_stops_nothing(make_site, kind):
    site = make_site(settings={"log": {"level": "trace"}})
    if kind == "full":
        with open("/dev/full", "w") as full:
            start(site, full)
    else:
        reading, writing = os.pipe()
        start(site, writing)
        os.close(writing)
        if kind == "closed":
            os.close(reading)
    asked = 0
    while metric(site, "tidings_log_dropped_total") == 0:
        site.token(f"somebody-{asked}")
        asked += 1
        assert asked < 20_000
    assert site.server.process.poll() is None
    if kind == "stalled":
        text = b""
        while b"log lines were dropped" not in text:
            text += os.read(reading, 65_536)
            if len(text) > 400_000:
                site.token("one-more")
        os.close(reading)
    site.server.process.terminate()
    assert site.server.process.wait(60) == 0


def test_a_misspelt_or_repeated_query_member_is_refused(site):
    site.call("POST", "/v1/apps/demo/conversations/GRP/team", {"name": "T", "members": ["alice"]})
    for query, field in [("?Actor=mallory", "Actor"), ("?actor=alice&actor=bob", "actor"), ("?actor=%FF", "query")]:
        with pytest.raises(urllib.error.HTTPError) as error:
            site.call("DELETE", f"/v1/apps/demo/conversations/GRP/team{query}")
        assert (error.value.code, json.loads(error.value.read())["field"]) == (400, field)
    assert site.call("GET", "/v1/apps/demo/conversations/GRP/team")["is_dissolved"] is False


def test_malformed_bodies_are_the_clients_fault(site):
    head = f"POST /v1/apps/demo/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {site.api_key}\r\n"
    chunked = raw(site.api_port, f"{head}Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense".encode())
    assert chunked.startswith("HTTP/1.1 400 ")
    short = raw(site.api_port, f"{head}Content-Length: 100\r\n\r\n{{}}".encode())
    assert short == "" or short.startswith("HTTP/1.1 400 ")
    assert "request failed" not in site.server.log.read_text()
    trace = raw(site.api_port, b"TRACE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert trace.startswith("HTTP/1.1 405 ") and "Allow: GET" in trace


def behind_a_proxy(site, address, token):
    """A client as it comes through a trusted proxy; what it says of itself stands before what the proxy has seen."""
    return Client(site.gateway, token, headers={"X-Forwarded-For": f"192.0.2.1, {address}"})


def test_limits_by_address_hold_for_each_client_of_a_trusted_proxy(make_site):
    site = make_site(settings={
        "proxy": {"addresses": ["127.0.0.1"]},
        "limits": {"address": {"connects": "1/3", "failures": "1/2"}},
    }).start()

    async def knocks(address, token, count):
        """How often it is welcomed, refused for its token, and turned away with a time to wait."""
        told = {"welcome": 0, "invalid_token": 0, "429": 0}
        for _ in range(count):
            client = behind_a_proxy(site, address, token)
            try:
                await client.connect()
                told["welcome"] += 1
                await client.close()
            except Refused as refused:
                told[refused.code] += 1
            except websockets.InvalidStatus as error:
                assert error.response.status_code == 429 and int(error.response.headers["Retry-After"]) >= 1
                told["429"] += 1
        return told

    async def story():
        good = site.token("bob")
        guesses = await knocks("203.0.113.7", "a.forged.token", 20)
        assert guesses["invalid_token"] >= 2 and guesses["429"] >= 10, guesses
        crowd = await knocks("203.0.113.8", good, 40)
        assert crowd["welcome"] >= 3 and crowd["429"] >= 10, crowd
        # Nobody else behind the same proxy is held up.
        for last in range(10, 20):
            assert (await knocks(f"203.0.113.{last}", good, 1))["welcome"] == 1

    asyncio.run(asyncio.wait_for(story(), 180))


def test_too_many_requests_are_told_when_to_come_again(make_site):
    site = make_site(settings={"limits": {"app": {"requests": "1/5"}}}).start()
    told = None
    for _ in range(100):
        try:
            site.call("GET", "/v1/apps/demo/users/bob/settings")
        except urllib.error.HTTPError as error:
            told = error
            break
    assert told is not None and told.code == 429
    assert int(told.headers["Retry-After"]) >= 1
    assert json.loads(told.read())["code"] == "rate_limited"


def test_the_audit_log_tells_who_did_what_and_no_secret(make_site, tmp_path):
    path = tmp_path / "audit.log"
    site = make_site(settings={"log": {"audit_path": str(path)}, "proxy": {"addresses": ["127.0.0.1"]}}).start()
    token = site.token("bob")

    async def sign_in(text, renewals=()):
        client = behind_a_proxy(site, "203.0.113.9", text)
        try:
            await client.connect()
        except Refused:
            return
        for renewal in renewals:
            with contextlib.suppress(Refused):
                await client.request("renewToken", token=renewal)
        await client.close()

    later = site.token("bob", 7_200)
    asyncio.run(sign_in(token, ["another.forged.token", later]))
    asyncio.run(sign_in("a.forged.token"))
    request = urllib.request.Request(
        f"{site.api}/v1/apps/demo/users/bob/devices", method="DELETE",
        headers={"Authorization": f"Bearer {site.api_key}", "X-Forwarded-For": "203.0.113.7", "X-Request-Id": "given-1"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.headers["X-Request-Id"] == "given-1"
    with pytest.raises(urllib.error.HTTPError):
        site.call("GET", "/v1/apps/demo/users/bob/devices", key="a-wrong-key")
    with pytest.raises(urllib.error.HTTPError):
        site.call("GET", "/v1/extension/missed?after=0", key="a-wrong-extension-token")
    site.server.stop()
    text = path.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line["logger"] for line in lines} == {"tidings.audit"}
    assert [line["message"] for line in lines].count("call refused") == 2
    told = [
        (line["message"], line["client"], line.get("user"), line.get("code")) for line in lines
        if line["message"].startswith(("sign", "token"))
    ]
    assert told == [
        ("signed in", "203.0.113.9", "bob", None),
        ("token refused", "203.0.113.9", "bob", "invalid_token"),
        ("token renewed", "203.0.113.9", "bob", None),
        ("sign-in refused", "203.0.113.9", None, "invalid_token"),
    ]
    deleted = next(line for line in lines if line.get("method") == "DELETE")
    assert (deleted["client"], deleted["request"], deleted["key"]) == ("203.0.113.7", "given-1", "tests")
    for secret in [token, later, "forged.token", site.api_key, site.secret, "a-wrong"]:
        assert secret not in text and secret not in site.server.log.read_text()
