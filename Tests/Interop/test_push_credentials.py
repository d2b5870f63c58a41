"""Push credentials that operators upload, prove, activate and roll back on a running server, against a local APNs (requirement S2.3)."""

from __future__ import annotations

import asyncio
import base64
import collections
import json
import os
import re
import secrets
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timedelta

import pytest
from backend import Backend
from conftest import ROOT, TOPIC, tool
from moved_clock import MovedClock
from test_credentials import SETTINGS, register, tokens
from tidings_client import Client


class Operator:
    """Somebody who runs a site, over its HTTP API; their key is drawn on the server's machine."""

    def __init__(self, site, name: str = "olga"):
        self.site = site
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60)
            control.connect(f"{site.database}.control")
            control.sendall(f"operator {name} administer\n".encode())
            answer = control.makefile("r", encoding="utf-8").readline().split()
        assert answer[0] == "done", answer
        self.key = answer[1]

    def call(self, method: str, path: str = "", body: dict | None = None):
        headers = {"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else {}
        return self.site.call(
            method, f"/v1/apps/{self.site.app}/push-credentials{path}", body, key=self.key, headers=headers)

    @property
    def credentials(self) -> list[dict]:
        return self.call("GET")["push_credentials"]

    def upload(self, content: bytes, **more) -> dict:
        return self.call("POST", body={"file": base64.b64encode(content).decode(), **more})

    def add_key(self, is_bound: bool = False, **members) -> dict:
        """A key that the local APNs knows, uploaded; bound to its topics and environments here, too, or as if for all."""
        made = apple(self.site, "/keys", members)
        more = members if is_bound else {}
        return self.upload(made["p8"].encode(), name=f"AuthKey_{made['key_id']}.p8", team_id=made["team_id"], **more)

    def add_certificate(self, **members) -> dict:
        made = apple(self.site, "/certificates", {"bundle_id": TOPIC, "password": "sesame", **members})
        return self.upload(base64.b64decode(made["p12_base64"]), name="push.p12", password="sesame")

    def prove(self, credential: dict, **body) -> dict:
        return self.call("POST", f"/{credential['id']}/prove", {"environment": "sandbox", **body})

    def activate(self, credential: dict, **body) -> dict:
        return self.call("POST", f"/{credential['id']}/activate", body)


def apple(site, path: str, body: dict):
    return site.call("POST", path, body, base=f"http://127.0.0.1:{site.control_port}")


def refusal(call) -> tuple[int, str, str]:
    with pytest.raises(urllib.error.HTTPError) as refused:
        call()
    problem = json.loads(refused.value.read())
    return refused.value.code, problem["code"], problem.get("field")


class Stage:
    """A site whose configuration names a key, somebody who runs it, and bob, who is gone."""

    def __init__(self, site):
        self.site = site
        self.olga = Operator(site)
        self.backend = Backend(site)
        self.token = tokens(site, TOPIC)[TOPIC]
        asyncio.run(asyncio.wait_for(register(site, self.token, TOPIC), 60))

    def say(self, text: str) -> str:
        return self.backend.say("alice", "bob", text)

    def push(self, text: str):
        self.backend.wait_for_ends(self.say(text), "bob", "accepted")

    def revoke(self, credential: dict):
        apple(self.site, f"/keys/{credential['key_id']}/revoke", {})


@pytest.fixture
def stage(make_site) -> Stage:
    return Stage(make_site(with_apns=True, settings=SETTINGS).start())


@pytest.mark.requirement("S2.3")
def test_the_key_of_the_configuration_is_taken_over_once(make_site):
    site = make_site(with_apns=True, settings=SETTINGS).start()
    stage = Stage(site)
    (first,) = stage.olga.credentials
    assert (first["kind"], first["state"], first["topics"]) == ("token_key", "active", [TOPIC])
    assert (first["environments"], first["proofs"]) == (["sandbox"], [])
    stage.push("one")
    (first,) = stage.olga.credentials
    assert [(proven["topic"], proven["environment"]) for proven in first["proven_topics"]] == [(TOPIC, "sandbox")]
    assert [proof["good"] for proof in first["proofs"]] == [True]
    # The store wins: the file is not needed any more, and another key in the section is told.
    configuration = json.loads(site.config.read_text())
    key = apple(site, "/keys", {"environments": ["sandbox"]})
    configuration["app"]["demo"]["apns"] |= {"key_id": key["key_id"], "key_path": key["p8_path"]}
    site.config.write_text(json.dumps(configuration))
    site.server.stop()
    site.start()
    site.server.wait_for_log("the configuration differs from the app.*apns|apns.*the configuration differs from the app")
    assert [credential["id"] for credential in stage.olga.credentials] == [first["id"]]
    stage.push("two")


@pytest.mark.requirement("S2.3", "S0.8")
def test_a_certificate_is_uploaded_proven_and_takes_over(stage):
    olga = stage.olga
    (first,) = olga.credentials
    certificate = olga.add_certificate(topics=[TOPIC, f"{TOPIC}.voip"], environments=["sandbox"])
    assert (certificate["kind"], certificate["state"], certificate["environments"]) == ("certificate", "uploaded", ["sandbox"])
    assert certificate["topics"] == [TOPIC, f"{TOPIC}.voip"] and certificate["expires_at"]
    assert refusal(lambda: olga.activate(certificate)) == (409, "wrong_credential_state", "credential")
    proof = olga.prove(certificate)
    assert (proof["verdict"], proof["reason"], proof["topic"]) == ("proven", "BadDeviceToken", TOPIC)
    assert proof["push_credential"]["proofs"][0]["good"] is True
    assert olga.prove(certificate, token=stage.token)["verdict"] == "topic_proven"
    active = olga.activate(certificate, in_place_of=first["id"])
    assert (active["state"], active["replaces"]) == ("active", first["id"])
    # What the key could do does not matter any more.
    stage.revoke(first)
    stage.push("by certificate")
    assert [credential["state"] for credential in olga.credentials] == ["replaced", "active"]
    assert refusal(lambda: olga.call("DELETE", f"/{certificate['id']}")) == (409, "wrong_credential_state", "credential")


def test_a_replaced_key_loses_no_push_and_is_gone_back_to(stage):
    olga = stage.olga
    (first,) = olga.credentials
    second = olga.add_key(topics=["com.example.other"])
    olga.activate(second, in_place_of=first["id"], unproven=True)
    waiting = stage.say("under a key that is not for the topic")
    stage.backend.wait_for_open_leg(waiting, "bob", "config_fault")
    back = olga.call("POST", f"/{second['id']}/roll-back", {})
    assert back["state"] == "rolled_back"
    stage.backend.wait_for_ends(waiting, "bob", "accepted")
    assert [credential["state"] for credential in olga.credentials] == ["active", "rolled_back"]
    assert refusal(lambda: olga.call("POST", f"/{first['id']}/roll-back", {}))[:2] == (409, "wrong_credential_state")


def test_a_revoked_key_gives_way_to_another_that_is_active(stage):
    olga = stage.olga
    (first,) = olga.credentials
    stage.push("by the first")
    second = olga.add_key(topics=[TOPIC])
    olga.activate(second, unproven=True)
    stage.push("still by the first, with which a push was accepted")
    stage.revoke(first)
    stage.push("by the second")
    states = {credential["id"]: credential for credential in olga.credentials}
    assert states[first["id"]]["proofs"][0] | {"at": 0} == {
        "environment": "sandbox", "good": False, "reason": "InvalidProviderToken", "at": 0,
    }
    assert states[second["id"]]["proofs"][0]["good"] is True


def test_pushes_wait_for_a_credential_and_go_once_there_is_one(make_site):
    site = make_site(with_apns=True, settings=SETTINGS)
    configuration = json.loads(site.config.read_text())
    del configuration["app"]["demo"]["apns"]
    site.config.write_text(json.dumps(configuration))
    site.start()
    stage = Stage(site)
    assert stage.olga.credentials == []
    waiting = stage.say("before there is a credential")
    stage.backend.wait_for_open_leg(waiting, "bob", "config_fault")
    key = stage.olga.add_key(topics=[TOPIC])
    assert stage.olga.prove(key, topic=TOPIC)["verdict"] == "proven"
    stage.olga.activate(key)
    stage.backend.wait_for_ends(waiting, "bob", "accepted")


def encrypted(key: str, password: str) -> bytes:
    """A key as `openssl pkcs8 -topk8` writes it."""
    return subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-v2", "aes256", "-passout", f"pass:{password}"], input=key.encode(), capture_output=True, check=True).stdout


def test_what_is_wrong_with_a_file_is_said_and_no_secret_is_kept_in_the_open(stage):
    olga = stage.olga
    made = apple(stage.site, "/keys", {"topics": [TOPIC]})
    pem = made["p8"].encode()
    name = f"AuthKey_{made['key_id']}.p8"
    assert refusal(lambda: olga.upload(b"nothing", name=name)) == (400, "invalid_field", "file")
    assert refusal(lambda: olga.upload(pem, team_id=made["team_id"])) == (400, "invalid_field", "key_id")
    assert refusal(lambda: olga.upload(pem, name=name)) == (400, "invalid_field", "team_id")
    expired = apple(stage.site, "/certificates", {"bundle_id": TOPIC, "password": "sesame", "variant": "expired"})
    file = base64.b64decode(expired["p12_base64"])
    assert refusal(lambda: olga.upload(file, password="open")) == (400, "invalid_field", "password")
    assert refusal(lambda: olga.upload(file, password="sesame")) == (400, "invalid_field", "certificate")
    # Letters outside ASCII once ended the server.
    for password in ["é", "密码", "🔑"]:
        made_so = apple(stage.site, "/certificates", {"bundle_id": TOPIC, "password": password, "variant": "expired"})
        shrouded = base64.b64decode(made_so["p12_base64"])
        both = encrypted(made_so["key_pem"], password) + made_so["certificate_pem"].encode()
        for bundle in (shrouded, both):
            assert refusal(lambda: olga.upload(bundle, password="ключ")) == (400, "invalid_field", "password")
            assert refusal(lambda: olga.upload(bundle, password=password)) == (400, "invalid_field", "certificate")
    assert refusal(lambda: olga.call("GET", "/none")) == (404, "unknown_push_credential", "id")
    key = olga.upload(pem, name=name, team_id=made["team_id"])
    assert refusal(lambda: olga.upload(pem, name=name, team_id=made["team_id"]))[:2] == (409, "exists")
    olga.call("DELETE", f"/{key['id']}")
    olga.upload(pem, name=name, team_id=made["team_id"])
    first = json.loads(stage.site.config.read_text())["app"]["demo"]["apns"]["key_path"]
    stage.site.server.stop()
    secrets = [line for text in (pem.decode(), open(first).read()) for line in text.splitlines() if not line.startswith("-")]
    for path in stage.site.folder.glob("tidings.sqlite*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(secret.encode() in data for secret in secrets), path
    assert not any(secret in (stage.site.folder / "server.log").read_text() for secret in secrets)


# Builds of two kinds.


async def register_build(site, device: str, token: str, environment: str):
    client = Client(site.gateway, site.token("bob"), device=device)
    await client.connect()
    await client.register_push(token, TOPIC, is_answered=True, environment=environment)
    await client.close()


def build_token(site, environment: str) -> str:
    with Courier(site, f"p-{environment}") as phone:
        return phone.ask({"type": "register", "id": 1, "topic": TOPIC, "environment": environment})["token"]


class Courier:
    """A phone at the local APNs, as it speaks to one."""

    def __init__(self, site, phone: str = "p1"):
        self.socket = socket.create_connection(("127.0.0.1", site.courier_port), timeout=60)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        assert self.ask({"type": "hello", "phone": phone})["type"] == "welcome"

    def __enter__(self) -> "Courier":
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, line: dict):
        self.socket.sendall((json.dumps(line) + "\n").encode())

    def ask(self, line: dict) -> dict:
        self.send(line)
        return json.loads(self.lines.readline())


def test_debug_and_store_builds_share_an_app_and_a_missing_credential_holds_its_own_pushes_alone(make_site):
    settings = {**SETTINGS, "policy": {"active_elsewhere_milliseconds": 0}}
    site = make_site(with_apns=True, with_production=True, settings=settings).start()
    olga, backend = Operator(site), Backend(site)
    for environment in ("sandbox", "production"):
        token = build_token(site, environment)
        asyncio.run(asyncio.wait_for(register_build(site, environment, token, environment), 60))
    # The key of the configuration is for the sandbox.
    message = backend.say("alice", "bob", "to both builds")
    leg = backend.wait_for_open_leg(message, "bob", "config_fault")
    assert leg["device"] == "production"
    deadline = time.monotonic() + 60
    while backend.ends(message, "bob") != ["accepted"]:
        assert time.monotonic() < deadline, site.trace(message)
        time.sleep(0.1)
    backend.wait_for_open_leg(backend.say("alice", "bob", "again"), "bob", "config_fault")
    store = olga.add_key(is_bound=True, topics=[TOPIC], environments=["production"])
    assert refusal(lambda: olga.activate(store)) == (409, "wrong_credential_state", "credential")
    proof = olga.prove(store, environment="production", topic=TOPIC)
    assert (proof["verdict"], proof["reason"]) == ("proven", "BadDeviceToken")
    olga.activate(store)
    backend.wait_for_ends(message, "bob", "accepted", "accepted")
    last = backend.say("alice", "bob", "to both builds")
    backend.wait_for_ends(last, "bob", "accepted", "accepted")
    taken = {entry["environment"] for entry in site.delivery_log() if entry["event"] == "accepted"}
    assert taken == {"sandbox", "production"}
    assert [credential["environments"] for credential in olga.credentials] == [["sandbox"], ["production"]]


# Under load.


class Load:
    """Somebody who writes to bob without a pause, and bob's phone, which counts what comes."""

    def __init__(self, stage: Stage):
        self.stage = stage
        self.sent: list[str] = []
        self.arrived: collections.Counter[str] = collections.Counter()
        self.is_over = threading.Event()
        self.phone = Courier(stage.site)
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._write, self._receive)]
        for thread in self.threads:
            thread.start()

    def _write(self):
        while not self.is_over.is_set():
            self.sent.append(self.stage.say(f"number {len(self.sent)}"))

    def _receive(self):
        try:
            for line in self.phone.lines:
                push = json.loads(line)
                if push["type"] != "push":
                    continue
                self.phone.send({"type": "ack", "delivery": push["delivery"]})
                if push["push_type"] == "alert":
                    self.arrived[push["collapse_id"]] += 1
        except (OSError, ValueError):
            pass  # closed at the end

    def go_on(self, pushes: int = 20):
        """Until so many more have been sent, and have arrived."""
        goal = len(self.sent) + pushes
        deadline = time.monotonic() + 120
        while len(self.sent) < goal or not all(self.arrived[message] for message in self.sent[:goal]):
            assert time.monotonic() < deadline, f"{len(self.sent)} sent, {len(self.arrived)} arrived, {goal} wanted"
            assert self.threads[0].is_alive(), "a message was refused"
            time.sleep(0.05)

    def end(self):
        self.is_over.set()
        self.threads[0].join(60)
        for message in self.sent:
            self.stage.backend.wait_for_ends(message, "bob", "accepted")
        deadline = time.monotonic() + 60
        while sum(self.arrived.values()) < len(self.sent) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.phone.socket.shutdown(socket.SHUT_RDWR)


@pytest.mark.requirement("S2.3")
def test_every_push_arrives_once_while_the_credential_is_replaced_and_gone_back_to_under_load(make_site):
    # Merged alerts would be one push of many messages.
    settings = {**SETTINGS, "policy": {"storm_limit": 0}}
    stage = Stage(make_site(with_apns=True, settings=settings).start())
    olga = stage.olga
    (first,) = olga.credentials
    load = Load(stage)
    load.go_on()
    second = olga.add_certificate(topics=[TOPIC], environments=["sandbox"])
    assert olga.prove(second)["verdict"] == "proven"
    olga.activate(second, in_place_of=first["id"])
    load.go_on()
    olga.call("POST", f"/{second['id']}/roll-back", {})
    load.go_on()
    for _ in range(3):
        olga.activate(second, in_place_of=first["id"])
        load.go_on(5)
        olga.call("POST", f"/{second['id']}/roll-back", {})
        load.go_on(5)
    load.end()
    assert len(load.sent) > 90
    assert {message: load.arrived[message] for message in load.sent} == {message: 1 for message in load.sent}
    # Both have sent some of them.
    assert [len(credential["proven_topics"]) for credential in olga.credentials] == [1, 1]


# The master key.


def test_what_lies_under_an_old_master_key_is_sealed_again_at_the_start_and_then_needs_it_no_more(stage):
    site, olga = stage.site, stage.olga
    stage.push("under the first master key")
    site.server.stop()
    key_file = site.folder / "tidings.sqlite.key"
    old = key_file.read_text()
    new = f"2027 {base64.b64encode(secrets.token_bytes(32)).decode()}\n"
    key_file.write_text(new + old)
    site.start()
    site.server.wait_for_log("kept under another master key now.*demo.*2027")
    stage.push("under both")
    site.server.stop()
    key_file.write_text(new)
    before = (site.folder / "server.log").read_text().count("another master key now")
    site.start()
    stage.push("under the new one alone")
    assert [credential["state"] for credential in olga.credentials] == ["active"]
    log = (site.folder / "server.log").read_text()
    assert log.count("another master key now") == before, "it is done once"
    assert "the configuration differs" not in log
    # The user tokens of before are good, too: the secrets are the same.
    asyncio.run(asyncio.wait_for(register(site, stage.token, TOPIC), 60))


# Expiry.


def test_a_certificate_that_expires_soon_is_told_by_log_metric_and_event(make_site, tmp_path):
    clock = MovedClock(tmp_path / "clock", at=datetime.now())
    site = make_site(with_apns=True, settings=SETTINGS, clock=clock).start()
    olga = Operator(site)
    certificate = olga.add_certificate(topics=[TOPIC], environments=["sandbox"])
    olga.prove(certificate)
    olga.activate(certificate)

    def seconds_left() -> float:
        with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
            return float(re.search(r"^tidings_credential_expiry_seconds ([\d.e+]+)$", answer.read().decode(), re.MULTILINE)[1])

    site.server.stop()
    site.start()
    left = certificate["expires_at"] / 1_000 - datetime.now().timestamp()
    assert abs(seconds_left() - left) < 3_600
    assert "a push credential expires" not in (site.folder / "server.log").read_text()
    request = urllib.request.Request(
        f"{site.api}/v1/apps/demo/events?types=credential_expiring", headers={"Authorization": f"Bearer {site.api_key}"})
    with urllib.request.urlopen(request, timeout=60) as stream:
        # The first line is there once the server has begun to tell.
        assert stream.readline()
        clock.set(datetime.now() + timedelta(seconds=left) - timedelta(days=5))
        deadline = time.monotonic() + 90
        for line in stream:
            if line.startswith(b"data:") and b"credential" in line:
                event = json.loads(line[5:])
                break
            assert time.monotonic() < deadline, "no event"
    site.server.wait_for_log(f"a push credential expires.*{certificate['id']}.*within 7 days")
    assert abs(seconds_left() - 5 * 86_400) < 3_600
    assert (event["credential"], event["state"], event["expires_at"]) == (
        certificate["id"], "expiring", certificate["expires_at"])


# The page.


def test_the_commands_of_the_page_do_what_it_says(make_site, tmp_path):
    """docs/server/credentials.md, "In the server": every command as it stands there, in its order; only ids, paths and ports are put in."""
    site = make_site(with_apns=True, with_production=True, settings=SETTINGS).start()
    olga = Operator(site)
    site.call("POST", "/v1/apps", {"id": "chat"}, key=olga.key)
    section = (ROOT / "docs/server/credentials.md").read_text().partition("## In the server\n")[2].partition("\n## ")[0]
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
    assert commands.count("tidings app credential ") == 11
    key = apple(site, "/keys", {"topics": [TOPIC], "environments": ["sandbox", "production"]})
    (tmp_path / f"AuthKey_{key['key_id']}.p8").write_text(key["p8"])
    made = apple(site, "/certificates", {"bundle_id": TOPIC, "password": "sesame", "environments": ["sandbox"]})
    (tmp_path / "push.p12").write_bytes(base64.b64decode(made["p12_base64"]))
    (tmp_path / "password").write_text("sesame\n")
    commands = commands.replace("ABC123DEFG", key["key_id"]).replace("DEF123GHIJ", key["team_id"])
    commands = re.sub(r"(tidings app credential [^#\n)]*)", rf"\1 --api {site.api} ", commands)

    def shell(text: str, status: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-euc", text], cwd=tmp_path, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{os.path.dirname(tool())}:{os.environ['PATH']}", "TIDINGS_OPERATOR_KEY": olga.key})
        assert done.returncode == status, done.stdout + done.stderr
        assert "PRIVATE KEY" not in done.stdout + done.stderr and "sesame" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    said = shell(commands)
    for words in (
        "sandbox: proven: BadDeviceToken", "production: proven: BadDeviceToken", "proven in sandbox, proven in production",
        f"key {key['key_id']}", "until it is revoked", "fingerprint",
    ):
        assert words in said, said
    assert [(left["state"], left["key_id"]) for left in site.call(
        "GET", "/v1/apps/chat/push-credentials", key=olga.key)["push_credentials"]] == [("replaced", key["key_id"])]
    # What is wrong is said with field and rule, and leaves no trace.
    command = f"tidings app credential add chat push.p12 --api {site.api}"
    assert "password" in shell(command, 1)
    assert "team_id" in shell(f"tidings app credential add chat AuthKey_{key['key_id']}.p8 --api {site.api}", 1)
    assert "must be new" in shell(
        f"tidings app credential add chat AuthKey_{key['key_id']}.p8 --team-id {key['team_id']} --api {site.api}", 1)
    assert "push credential" in shell(f"tidings app credential show chat none --api {site.api}", 1)
