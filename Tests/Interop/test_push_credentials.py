"""Push credentials that operators upload, prove, activate and roll back on a running server, against a local APNs (requirement S2.3)."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import urllib.error
import uuid

import pytest
from backend import Backend
from conftest import TOPIC
from test_credentials import SETTINGS, register, tokens


class Operator:
    """Somebody who runs a site, over its HTTP API; their key is drawn on the server's machine."""

    def __init__(self, site):
        self.site = site
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60)
            control.connect(f"{site.database}.control")
            control.sendall(b"operator olga administer\n")
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

    def add_key(self, **members) -> dict:
        """A key that the local APNs knows, uploaded."""
        made = apple(self.site, "/keys", members)
        return self.upload(made["p8"].encode(), name=f"AuthKey_{made['key_id']}.p8", team_id=made["team_id"])

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


@pytest.mark.requirement("S2.3")
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
    assert stage.olga.prove(key)["verdict"] == "proven"
    stage.olga.activate(key)
    stage.backend.wait_for_ends(waiting, "bob", "accepted")


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

