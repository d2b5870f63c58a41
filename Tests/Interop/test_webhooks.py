"""Webhooks on a running server: what a receiver on this machine gets, signed and once, and what becomes of it when nobody receives."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import ipaddress
import json
import pathlib
import re
import socketserver
import sqlite3
import ssl
import subprocess
import threading
import time
import urllib.error

import pytest
from backend import Backend
from conftest import ROOT, Site, tool
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from ports import free_port
from test_apps import Operator, first_operator

SECONDS = 60
# The first wait after a failure, stretched by a fifth at most, and the first pauses of a webhook that is probed.
RETRY_SECONDS = 60


def verifier():
    """The function that the page shows."""
    page = (ROOT / "docs" / "server" / "webhooks.md").read_text()
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    return names["is_genuine"]


class Receiver:
    """A backend that receives; closed and opened again on one port, with or without TLS."""

    def __init__(self, certificate: tuple[pathlib.Path, pathlib.Path] | None = None):
        self.port = free_port()
        self.certificate = certificate
        self.came: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self.headers: dict[str, str] = {}
        self.lock = threading.Condition()
        self.server = None

    @property
    def url(self) -> str:
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}/hook?a=1"

    def open(self) -> "Receiver":
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver.lock:
                    assert self.path == "/hook?a=1"
                    receiver.came.append(({name.lower(): text for name, text in self.headers.items()}, body))
                    receiver.lock.notify_all()
                    status, headers = receiver.status, receiver.headers
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", self.port), Handler)
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def close(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def bodies(self) -> list[dict]:
        with self.lock:
            return [json.loads(body) for _, body in self.came]

    def ids(self) -> list[str]:
        with self.lock:
            return [headers["webhook-id"] for headers, _ in self.came]

    def wait(self, holds, seconds: float = SECONDS):
        with self.lock:
            assert self.lock.wait_for(lambda: holds(self.came), seconds), self.came


@pytest.fixture
def receiver():
    with contextlib.closing(Receiver().open()) as receiver:
        yield receiver


@pytest.fixture
def told(make_site) -> tuple[Site, Operator]:
    """A server that may go to this machine."""
    site = make_site(settings={"webhooks": {"allowed_networks": ["127.0.0.1"]}}).start()
    return site, first_operator(site)


def add(operator: Operator, receiver_url: str, *types: str, app: str | None = None) -> tuple[str, str]:
    """The address of a new webhook's routes, and its secret."""
    path = f"/v1/apps/{app or operator.site.app}/webhooks"
    made = operator.call("POST", path, {"name": "Orders", "url": receiver_url, "types": list(types)})
    return f"{path}/{made['webhook']['id']}", made["secret"]


def state(operator: Operator, webhook: str) -> dict:
    return operator.call("GET", webhook)["state"]


def wait_for_state(operator: Operator, webhook: str, holds, seconds: float = SECONDS) -> dict:
    deadline = time.monotonic() + seconds
    while not holds(found := state(operator, webhook)):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


def refusal(call) -> tuple[int, str, str | None]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call()
    problem = json.loads(caught.value.read())
    return caught.value.code, problem["code"], problem.get("field")


def test_a_server_may_give_up_deliveries_sooner(make_site):
    site = make_site(settings={"webhooks": {"allowed_networks": ["127.0.0.1"], "attempts_max": 1}}).start()
    operator = first_operator(site)
    webhook, _ = add(operator, f"http://127.0.0.1:{free_port()}/hook", "message_accepted")
    Backend(site).say("alice", "bob", "hello")
    wait_for_state(operator, webhook, lambda it: it["dead_letters"] == 1 and it["pending"] == 0)
    letters = operator.call("GET", f"{webhook}/dead-letters")["dead_letters"]
    assert [(it["attempts"], it["reason"]) for it in letters] == [(1, "refused_connection")]


def test_what_happens_is_told_once_signed_and_without_texts(told, receiver):
    site, operator = told
    backend = Backend(site)
    backend.say("alice", "bob", "before it was made")
    webhook, secret = add(operator, receiver.url, "message_accepted", "message_edited", "message_recalled", "leg_ended")
    first = backend.say("alice", "bob", "unmistakable")
    second = backend.say("alice", "bob", "unmistakable too")
    backend.call("PATCH", f"messages/{first}?actor=alice", {"content": json.dumps({"content": "unmistakable now"})})
    backend.recall(second, "alice")
    receiver.wait(lambda came: len(came) >= 4 and any(b'"message_recalled"' in body for _, body in came))
    wait_for_state(operator, webhook, lambda it: it["pending"] == 0 and it["last_delivered_at"])
    bodies = receiver.bodies()
    assert {(it["type"], it["data"]["message_id"]) for it in bodies} >= {
        ("message_accepted", first), ("message_accepted", second), ("message_edited", first), ("message_recalled", second)}
    assert len(receiver.ids()) == len(set(receiver.ids()))
    accepted = next(it for it in bodies if it["type"] == "message_accepted" and it["data"]["message_id"] == first)
    assert accepted["app"] == site.app and set(accepted) == {"type", "app", "timestamp", "data"}
    assert datetime.datetime.fromisoformat(accepted["timestamp"]).tzinfo is not None
    assert accepted["data"] == {
        "message_id": first, "kind": "message", "sender": "alice", "conversation": {"type": "PR", "type_name": "direct", "target": "bob"},
        "object_name": "RC:TxtMsg", "object_type": "text"}
    is_genuine = verifier()
    for headers, body in receiver.came:
        assert is_genuine(secret, headers, body)
        assert not is_genuine(secret, headers, body + b" ")
        assert (headers["user-agent"], headers["content-type"]) == ("Tidings", "application/json")
        assert b"unmistakable" not in body
    file = site.database.with_name(site.database.name + ".webhooks")
    assert file.exists() and file.stat().st_mode & 0o077 == 0
    assert b"unmistakable" not in b"".join(it.read_bytes() for it in file.parent.glob(f"{file.name}*"))


def test_a_secret_is_replaced_with_an_overlap(told, receiver):
    site, operator = told
    webhook, before = add(operator, receiver.url, "message_accepted")
    after = operator.call("POST", f"{webhook}/secret", {"overlap_seconds": 600})["secret"]
    Backend(site).say("alice", "bob", "x")
    receiver.wait(lambda came: len(came) == 1)
    headers, body = receiver.came[0]
    is_genuine = verifier()
    assert len(headers["webhook-signature"].split()) == 2
    assert is_genuine(before, headers, body) and is_genuine(after, headers, body)
    # One that was replaced before ends at once: there are never more than two.
    third = operator.call("POST", f"{webhook}/secret", {"overlap_seconds": 600})["secret"]
    Backend(site).say("alice", "bob", "y")
    receiver.wait(lambda came: len(came) == 2)
    headers, body = receiver.came[1]
    assert len(headers["webhook-signature"].split()) == 2
    assert [is_genuine(secret, headers, body) for secret in (before, after, third)] == [False, True, True]
    fourth = operator.call("POST", f"{webhook}/secret", {"overlap_seconds": 0})["secret"]
    Backend(site).say("alice", "bob", "z")
    receiver.wait(lambda came: len(came) == 3)
    headers, body = receiver.came[2]
    assert len(headers["webhook-signature"].split()) == 1
    assert [is_genuine(secret, headers, body) for secret in (before, after, third, fourth)] == [False, False, False, True]
    assert len({before, after, third, fourth}) == 4


def test_what_a_receiver_that_was_down_has_missed_comes_when_it_is_back_also_after_a_kill(told, receiver):
    site, operator = told
    webhook, _ = add(operator, receiver.url, "message_accepted")
    receiver.close()
    backend = Backend(site)
    said = [backend.say("alice", "bob", f"{number}") for number in range(5)]
    found = wait_for_state(operator, webhook, lambda it: it["last_failure"])
    assert found["last_failure"]["reason"] == "refused_connection" and found["last_failure"]["status"] is None
    assert found["pending"] == 5
    site.server.kill()
    site.start()
    said += [backend.say("alice", "bob", f"{number}") for number in range(5, 10)]
    site.server.kill()
    site.start()
    receiver.open()
    receiver.wait(lambda came: len({json.loads(body)["data"]["message_id"] for _, body in came}) == 10, RETRY_SECONDS)
    assert sorted(set(it["data"]["message_id"] for it in receiver.bodies())) == sorted(said)
    # What came twice came under one id.
    assert len(set(receiver.ids())) == 10
    wait_for_state(operator, webhook, lambda it: it["pending"] == 0)


def bury(site: Site, webhook: str) -> None:
    """What waits was tried seven times, as if days had gone by; the server is stopped."""
    path = site.database.with_name(site.database.name + ".webhooks")
    with contextlib.closing(sqlite3.connect(path)) as database:
        changed = database.execute("UPDATE delivery SET attempts = 7, due_at = 0 WHERE dead_at IS NULL")
        assert changed.rowcount > 0
        database.commit()


def test_what_is_given_up_is_a_dead_letter_that_can_be_sent_again_or_deleted(told, receiver):
    site, operator = told
    webhook, _ = add(operator, receiver.url, "message_accepted")
    receiver.status = 500
    backend = Backend(site)
    first, second = backend.say("alice", "bob", "1"), backend.say("alice", "bob", "2")
    wait_for_state(operator, webhook, lambda it: it["last_failure"] and it["last_failure"]["status"] == 500)
    site.server.stop()
    bury(site, webhook)
    site.start()
    wait_for_state(operator, webhook, lambda it: (it["pending"], it["dead_letters"]) == (0, 2))
    page = operator.call("GET", f"{webhook}/dead-letters?limit=1")
    (newest,) = page["dead_letters"]
    assert newest["data"]["message_id"] == second
    page = operator.call("GET", f"{webhook}/dead-letters?limit=1&cursor={page['next']}")
    (letter,) = page["dead_letters"]
    assert page["next"] is None
    operator.call("DELETE", f"{webhook}/dead-letters/{newest['id']}")
    assert [it["id"] for it in operator.call("GET", f"{webhook}/dead-letters")["dead_letters"]] == [letter["id"]]
    assert (letter["type"], letter["attempts"], letter["reason"], letter["status"]) == ("message_accepted", 8, "status", 500)
    assert letter["data"]["message_id"] == first and letter["id"] in receiver.ids()
    assert letter["id"] in operator("webhook", "dead-letters", site.app, webhook.rsplit("/", 1)[1])
    # It fails once more, and is one again.
    assert operator.call("POST", f"{webhook}/dead-letters/retry", {"ids": [letter["id"], "none"]}) == {"retried": 1}
    wait_for_state(operator, webhook, lambda it: it["dead_letters"] == 1, RETRY_SECONDS)
    receiver.status = 200
    came = len(receiver.ids())
    assert operator.call("POST", f"{webhook}/dead-letters/retry", {}) == {"retried": 1}
    receiver.wait(lambda all: len(all) > came, RETRY_SECONDS)
    assert set(receiver.ids()[came:]) == {letter["id"]}
    wait_for_state(operator, webhook, lambda it: (it["pending"], it["dead_letters"]) == (0, 0))
    assert refusal(lambda: operator.call("DELETE", f"{webhook}/dead-letters/{letter['id']}")) == (404, "unknown_delivery", "delivery")
    assert refusal(lambda: operator.call("POST", f"{webhook}/dead-letters/retry", {"ids": []}))[:2] == (400, "invalid_field")
    audit = operator.call("GET", f"/v1/apps/{site.app}/audit")["records"]
    assert sum(it["action"].startswith("POST webhooks/{webhook}/dead-letters/retry") for it in audit) == 2


def test_a_webhook_is_tried_at_once_and_says_what_came_of_it(told, receiver):
    _, operator = told
    webhook, secret = add(operator, receiver.url, "receipt")
    operator.call("PATCH", webhook, {"enabled": False})
    answer = operator.call("POST", f"{webhook}/test")
    assert (answer["delivered"], answer["status"], answer["reason"]) == (True, 204, None)
    headers, body = receiver.came[0]
    assert verifier()(secret, headers, body) and json.loads(body)["type"] == "test" and json.loads(body)["data"] == {}
    # A redirect is an answer like others.
    receiver.status, receiver.headers = 307, {"location": receiver.url}
    answer = operator.call("POST", f"{webhook}/test")
    assert (answer["delivered"], answer["status"], answer["reason"]) == (False, 307, "status")
    assert len(receiver.came) == 2
    receiver.close()
    answer = operator.call("POST", f"{webhook}/test")
    assert (answer["delivered"], answer["status"], answer["reason"]) == (False, None, "refused_connection")
    operator.call("PATCH", webhook, {"url": "https://nobody.invalid/"})
    assert operator.call("POST", f"{webhook}/test")["reason"] == "name_not_found"
    found = state(operator, webhook)
    assert (found["pending"], found["dead_letters"], found["last_failure"]) == (0, 0, None)


def test_nothing_goes_to_this_machine_unless_the_operator_allows_it(make_site, receiver):
    site = make_site().start()
    operator = first_operator(site)
    assert refusal(lambda: add(operator, receiver.url, "receipt")) == (400, "invalid_field", "url")
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "169.254.169.254", "10.0.0.1"):
        webhook, _ = add(operator, f"https://{host}:{receiver.port}/hook?a=1", "receipt")
        answer = operator.call("POST", f"{webhook}/test")
        assert (answer["delivered"], answer["reason"]) == (False, "address_not_allowed"), host
        operator.call("DELETE", webhook)
    assert receiver.came == []


def certificate(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Of 127.0.0.1, its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256()))
    chain, private = folder / "receiver.pem", folder / "receiver.key"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return chain, private


def test_tls_is_verified_by_the_operators_roots(make_site, tmp_path):
    pair = certificate(tmp_path)
    with contextlib.closing(Receiver(pair).open()) as receiver:
        for roots, delivered, reason in ((str(pair[0]), True, None), ("", False, "tls_failed")):
            site = make_site(settings={"webhooks": {"allowed_networks": ["127.0.0.0/8"], "trust_roots_path": roots}}).start()
            operator = first_operator(site)
            webhook, _ = add(operator, receiver.url, "receipt")
            answer = operator.call("POST", f"{webhook}/test")
            assert (answer["delivered"], answer["reason"]) == (delivered, reason)
        assert len(receiver.came) == 1


def test_two_tenants_hear_each_of_their_own(told, receiver):
    site, operator = told
    ours, _ = add(operator, receiver.url, "message_accepted")
    with contextlib.closing(Receiver().open()) as other:
        backend = Backend(site)
        said = [backend.say("alice", "bob", "ours")]
        demo = (site.app, site.api_key)
        operator.make_app("cafe")
        theirs, _ = add(operator, other.url, "message_accepted", app="cafe")
        heard = backend.say("alice", "bob", "theirs")
        # Both apps have a webhook by now: what went to the wrong one would be one more there.
        (site.app, site.api_key) = demo
        said.append(backend.say("alice", "bob", "ours again"))
        # The answer is as of everything that has happened: what does not wait by then has come, wherever it went.
        for webhook in (ours, theirs):
            wait_for_state(operator, webhook, lambda it: it["pending"] == 0 and it["last_delivered_at"])
        assert [(it["app"], it["data"]["message_id"]) for it in other.bodies()] == [("cafe", heard)]
        assert sorted((it["app"], it["data"]["message_id"]) for it in receiver.bodies()) == sorted(("demo", id) for id in said)
        assert refusal(lambda: operator.call("GET", theirs.replace("/cafe/", "/demo/") + "/dead-letters")) == (
            404, "unknown_webhook", "webhook")


def test_a_restored_database_begins_at_its_end_and_the_log_says_so(told, receiver, tmp_path):
    site, operator = told
    webhook, _ = add(operator, receiver.url, "message_accepted")
    backend = Backend(site)
    kept = backend.say("alice", "bob", "kept")
    receiver.wait(lambda came: len(came) == 1)
    copy = tmp_path / "copy.sqlite"
    for arguments in (["backup", "--to", str(copy)], ["restore", "--from", str(copy)]):
        subprocess.run([tool(), "store", arguments[0], "--config", str(site.config), *arguments[1:]], timeout=60, check=True)
        if arguments[0] == "backup":
            lost = backend.say("alice", "bob", "lost")
            receiver.wait(lambda came: len(came) == 2)
            wait_for_state(operator, webhook, lambda it: it["pending"] == 0)
            site.server.stop()
    site.start()
    site.server.wait_for_log("webhooks begin at the end of the journal")
    # Before anything else happens: it is not the next record that makes it look.
    assert state(operator, webhook)["pending"] == 0
    new = backend.say("alice", "bob", "new")
    receiver.wait(lambda came: any(json.loads(body)["data"]["message_id"] == new for _, body in came))
    wait_for_state(operator, webhook, lambda it: it["pending"] == 0)
    # Each once: what the backup has is not told again under other ids, and what was lost is not told twice.
    assert [it["data"]["message_id"] for it in receiver.bodies()] == [kept, lost, new]
    ids = receiver.ids()
    assert len(set(ids)) == 3
    # The place in the restored store is one that it had before, and the id another one all the same.
    places = [id.split("-")[:2] for id in ids]
    assert places[0] == places[1] != places[2]


def test_what_is_not_known_of_deliveries_is_null_and_no_zero(told, receiver):
    site, operator = told
    webhook, _ = add(operator, receiver.url, "message_accepted")
    Backend(site).say("alice", "bob", "x")
    wait_for_state(operator, webhook, lambda it: it["pending"] == 0 and it["last_delivered_at"])
    site.server.stop()
    path = site.database.with_name(site.database.name + ".webhooks")
    own = path.read_bytes()
    path.write_bytes(b"somebody else's")
    site.start()
    site.server.wait_for_log("the file of webhooks cannot be used")
    unknown = {"pending": None, "dead_letters": None, "last_delivered_at": None, "last_failure": None}
    assert [it["state"] for it in operator.call("GET", f"/v1/apps/{site.app}/webhooks")["webhooks"]] == [unknown]
    assert state(operator, webhook) == unknown
    # What is changed is changed, and says as much.
    assert operator.call("PATCH", webhook, {"name": "Other"})["state"] == unknown
    assert "unknown" in operator("webhook", "show", site.app, "Other")
    assert refusal(lambda: operator.call("GET", f"{webhook}/dead-letters"))[:2] == (503, "unavailable")
    assert path.read_bytes() == b"somebody else's"
    site.server.stop()
    path.write_bytes(own)
    site.start()
    assert wait_for_state(operator, webhook, lambda it: it["pending"] == 0)["last_delivered_at"]
