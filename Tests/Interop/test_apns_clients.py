"""The local APNs answers clients of others as Apple answers them: the same cases for each client, by token and by
certificate (APNs reference, sections 4 to 11).

What cannot arise, and why:

- aioapns always sends `apns-topic`: without a topic it refuses to be made with a key, and reads the bundle identifier
  out of a certificate. MissingTopic is left to curl and Node; that aioapns refuses is held here.
- With a certificate there is no provider token that could expire, nor a key of the wrong environment: an expired
  certificate ends the handshake, and one of the other environment is answered with GOAWAY before any request.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import pathlib
import ssl
import subprocess
import time

import aioapns
import aioapns.connection
import aioapns.exceptions
import pytest

from apple import TOPIC, Apple, Key

HI = json.dumps({"aps": {"alert": "hi"}}, separators=(",", ":"))
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Push:
    """What a client is to send, and by which credential."""

    device: str
    key: Key | None = None
    certificate: pathlib.Path | None = None
    topic: str | None = TOPIC
    body: str = HI
    token_age: int = 0


@dataclasses.dataclass
class Answer:
    """What came of it; `end` is how the connection ended if no answer came."""

    status: int | None = None
    reason: str | None = None
    timestamp: int | None = None
    end: str = ""


def by_body(status: int, body: str) -> Answer:
    members = json.loads(body) if body else {}
    return Answer(status, members.get("reason"), members.get("timestamp"))


class Curl:
    """`curl --http2`, its token made with PyJWT."""

    @staticmethod
    def send(apple: Apple, push: Push) -> Answer:
        command = [
            "curl", "--http2", "--silent", "--show-error", "--cacert", str(apple.authority), "-H",
            "apns-push-type: alert", "--data-binary", "@-", "--write-out", "\n%{http_version} %{http_code}",
        ]
        if push.topic is not None:
            command += ["-H", f"apns-topic: {push.topic}"]
        if push.key:
            command += ["-H", f"authorization: bearer {push.key.token(push.token_age)}"]
        if push.certificate:
            command += ["--cert", str(push.certificate)]
        command.append(f"https://localhost:{apple.port}/3/device/{push.device}")
        done = subprocess.run(command, input=push.body, capture_output=True, text=True, timeout=60)
        body, _, last = done.stdout.rpartition("\n")
        version, status = last.split()
        if done.returncode != 0 and status == "000":
            return Answer(end=done.stderr)
        assert version == "2"
        return by_body(int(status), body)


class Node:
    """The client of push.mjs."""

    @staticmethod
    def send(apple: Apple, push: Push) -> Answer:
        wish = {
            "port": apple.port, "ca": str(apple.authority), "device": push.device, "topic": push.topic,
            "body": push.body,
        }
        if push.key:
            wish |= {
                "key": push.key.pem, "keyID": push.key.key_id, "teamID": push.key.team_id, "age": push.token_age,
            }
        if push.certificate:
            wish["certificate"] = str(push.certificate)
        done = subprocess.run(
            ["node", str(HERE / "push.mjs")], input=json.dumps(wish), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        if "status" not in result:
            return Answer(end=result.get("goAway") or result["error"])
        assert result["status"] != 200 or result["body"] == ""
        assert len(result["headers"]["apns-id"]) == 36
        return by_body(result["status"], result["body"])


class Aioapns:
    """aioapns, led here by its protocol's host and port."""

    @staticmethod
    def send(apple: Apple, push: Push) -> Answer:
        warnings: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: warnings.append(record.getMessage())
        protocol = type(
            "Sandbox", (aioapns.connection.APNsDevelopmentClientProtocol,),
            {"APNS_SERVER": "localhost", "APNS_PORT": apple.port},
        )

        async def run() -> Answer:
            client = aioapns.APNs(
                **Aioapns.credential(push), topic=push.topic, use_sandbox=True, max_connection_attempts=1,
                ssl_context=ssl.create_default_context(cafile=apple.authority),
            )
            client.pool.protocol_class = protocol
            request = aioapns.NotificationRequest(device_token=push.device, message=json.loads(push.body))
            try:
                result = await client.send_notification(request)
            except aioapns.exceptions.MaxAttemptsExceeded:
                return Answer(end="\n".join(warnings))
            finally:
                client.pool.close()
            return Answer(int(result.status), result.description, result.timestamp)

        logger = logging.getLogger("aioapns")
        logger.addHandler(handler)
        clock = aioapns.connection.time
        # The token's time is this clock's; nothing else in these pushes asks for it.
        aioapns.connection.time = type("Clock", (), {"time": staticmethod(lambda: time.time() - push.token_age)})
        try:
            return asyncio.run(run())
        finally:
            aioapns.connection.time = clock
            logger.removeHandler(handler)

    @staticmethod
    def credential(push: Push) -> dict:
        if push.certificate:
            return {"client_cert": str(push.certificate)}
        assert push.key
        return {"key": push.key.pem, "key_id": push.key.key_id, "team_id": push.key.team_id}


CLIENTS = [
    pytest.param(Curl, id="curl"),
    pytest.param(Node, id="node"),
    pytest.param(Aioapns, id="aioapns"),
]
# See above: aioapns is never without a topic.
CLIENTS_WITH_TOPIC_OF_CHOICE = CLIENTS[:2]


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    apple.stop()


@pytest.fixture(params=["token", "certificate"])
def push(request, apple) -> Push:
    """A push that is good as it is, by token and by certificate."""
    if request.param == "token":
        return Push(apple.device, key=apple.key)
    return Push(apple.device, certificate=apple.add_certificate())


def logged(apple: Apple) -> list[dict]:
    """The lines of the log about requests."""
    return [entry for entry in apple.get("/log") if entry["event"] in ("accepted", "refused")]


def newest(apple: Apple) -> tuple[str, str | None]:
    entry = logged(apple)[-1]
    return entry["event"], entry.get("reason")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_good_push_is_accepted_and_arrives(apple, push, client):
    before = len(logged(apple))
    assert client.send(apple, push) == Answer(200)
    assert len(logged(apple)) == before + 1
    assert newest(apple) == ("accepted", None)
    apple.expect_push()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_device_of_the_other_environment_is_not_known(apple, push, client):
    push.device = apple.register("production")
    assert client.send(apple, push) == Answer(400, "BadDeviceToken")
    assert newest(apple) == ("refused", "BadDeviceToken")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_key_of_the_other_environment_is_refused(apple, client):
    push = Push(apple.device, key=apple.production_key)
    assert client.send(apple, push) == Answer(403, "BadEnvironmentKeyIdInToken")
    assert newest(apple) == ("refused", "BadEnvironmentKeyIdInToken")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_certificate_of_the_other_environment_is_sent_away(apple, client):
    before = logged(apple)
    push = Push(apple.device, certificate=apple.add_certificate(environments=["production"]))
    answer = client.send(apple, push)
    assert answer.status is None
    if client is Curl:
        # It does not say what a GOAWAY had to tell.
        assert "curl" in answer.end
    else:
        assert "BadCertificateEnvironment" in answer.end
    assert logged(apple) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_a_device_that_is_gone_answers_410_with_the_time(apple, push, client):
    push.device = apple.register(topic=f"{TOPIC}.gone")
    push.topic = f"{TOPIC}.gone"
    if push.certificate:
        push.certificate = apple.add_certificate(bundle_id=push.topic)
    before = int(time.time() * 1_000)
    apple.post(f"/devices/{push.device}/retire", {})
    after = int(time.time() * 1_000) + 1
    answer = client.send(apple, push)
    assert (answer.status, answer.reason) == (410, "Unregistered")
    assert before <= answer.timestamp <= after
    assert newest(apple) == ("refused", "Unregistered")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_body_of_4097_bytes_is_too_large_and_one_less_is_not(apple, push, client):
    # As aioapns writes it, which is how all of them send it.
    frame = json.dumps({"aps": {"alert": ""}})
    push.body = json.dumps({"aps": {"alert": "x" * (4_097 - len(frame))}})
    assert len(push.body) == 4_097
    assert client.send(apple, push) == Answer(413, "PayloadTooLarge")
    assert newest(apple) == ("refused", "PayloadTooLarge")
    push.body = json.dumps({"aps": {"alert": "x" * (4_096 - len(frame))}})
    assert client.send(apple, push) == Answer(200)
    apple.expect_push(json.loads(push.body))


@pytest.mark.parametrize("client", CLIENTS_WITH_TOPIC_OF_CHOICE)
def test_a_push_without_a_topic_is_refused(apple, push, client):
    push.topic = None
    if push.certificate:
        push.certificate = apple.add_certificate(topics=[TOPIC, f"{TOPIC}.voip"])
    assert client.send(apple, push) == Answer(400, "MissingTopic")
    assert newest(apple) == ("refused", "MissingTopic")


@pytest.mark.parametrize("client", CLIENTS_WITH_TOPIC_OF_CHOICE)
def test_a_certificate_with_one_topic_stands_in_for_the_header(apple, client):
    push = Push(apple.device, certificate=apple.add_certificate(), topic=None)
    assert client.send(apple, push) == Answer(200)
    apple.expect_push()


@pytest.mark.filterwarnings("ignore:X509.get_subject:DeprecationWarning")
def test_aioapns_is_never_without_a_topic(apple):
    with pytest.raises(ValueError):
        Aioapns.send(apple, Push(apple.device, key=apple.key, topic=None))
    # It takes the bundle identifier from the certificate, where the other clients got MissingTopic.
    certificate = apple.add_certificate(topics=[TOPIC, f"{TOPIC}.voip"])
    assert Aioapns.send(apple, Push(apple.device, certificate=certificate, topic=None)) == Answer(200)
    apple.expect_push()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_of_two_hours_ago_has_expired(apple, client):
    push = Push(apple.device, key=apple.key, token_age=7_200)
    assert client.send(apple, push) == Answer(403, "ExpiredProviderToken")
    assert newest(apple) == ("refused", "ExpiredProviderToken")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_token_of_50_minutes_ago_has_not(apple, client):
    assert client.send(apple, Push(apple.device, key=apple.key, token_age=3_000)) == Answer(200)
    apple.expect_push()


@pytest.mark.parametrize("client", CLIENTS)
def test_an_expired_certificate_ends_the_handshake(apple, client):
    before = logged(apple)
    answer = client.send(apple, Push(apple.device, certificate=apple.add_certificate(variant="expired")))
    assert answer.status is None
    # aioapns does not tell why the connection was lost.
    wanted = "could not send" if client is Aioapns else "certificate expired"
    assert wanted in answer.end.lower().replace("_", " ")
    assert logged(apple) == before
