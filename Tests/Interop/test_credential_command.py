"""`tidings credential`: files as operators have them, looked at and asked about at a running local APNs, over real TLS."""

from __future__ import annotations

import base64
import json
import pathlib
import subprocess

import pytest

from apple import TOPIC, Apple
from conftest import tool
from ports import free_port

CALLS = f"{TOPIC}.voip"


class Stage:
    """A local APNs with both sides, and the files of an operator."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.production_port = free_port()
        self.apple = Apple(folder, "--production-port", str(self.production_port))
        self.key = folder / f"AuthKey_{self.apple.key.key_id}.p8"
        self.key.write_text(self.apple.key.pem)
        self.password = folder / "password"
        self.password.write_text("sesame\n")
        self.team = ["--team-id", self.apple.key.team_id]
        self.certificates = 0

    def certificate(self, name: str = "push.p12", **members) -> pathlib.Path:
        made = self.apple.post("/certificates", {"bundle_id": TOPIC, "password": "sesame", **members})
        self.certificates += 1
        path = self.folder / f"{self.certificates}-{name}"
        if name.endswith(".p12"):
            path.write_bytes(base64.b64decode(made["p12_base64"]))
        else:
            path.write_text(made["certificate_pem"] + made["key_pem"])
        return path

    def add_key(self, **members) -> pathlib.Path:
        made = self.apple.add_key(**members)
        path = self.folder / f"AuthKey_{made.key_id}.p8"
        path.write_text(made.pem)
        return path

    def run(self, *arguments: object, status: int = 0) -> str:
        done = subprocess.run(
            [tool(), "credential", *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        )
        assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "sesame" not in done.stdout + done.stderr
        assert "PRIVATE KEY" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    def prove(self, file: pathlib.Path, *arguments: object, side: str = "sandbox", status: int = 0) -> dict:
        """The proof of a file, as JSON."""
        port = self.apple.port if side == "sandbox" else self.production_port
        proofs = json.loads(
            self.run(
                "prove", file, "--environment", side, "--host", "localhost", "--port", port, "--trust-roots",
                self.apple.authority, "--seconds", 60, "--json", *arguments, status=status,
            )
        )["proofs"]
        assert len(proofs) == 1 and proofs[0]["environment"] == side
        return proofs[0]

    def prove_certificate(self, file: pathlib.Path, *arguments: object, **options) -> dict:
        return self.prove(file, "--password-file", self.password, *arguments, **options)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("credentials"))
    yield stage
    stage.apple.stop()


@pytest.fixture
def faults(stage):
    """Sets faults of the local APNs, and ends them."""
    yield lambda *rules: stage.apple.post("/faults", {"rules": list(rules)})
    stage.apple.post("/faults", {})


def inspect(stage, file: pathlib.Path, *arguments: object, status: int = 0) -> dict:
    return json.loads(stage.run("inspect", file, "--json", *arguments, status=status))


# What a file holds.


def test_a_key_is_named_by_its_file(stage):
    facts = inspect(stage, stage.key, *stage.team)
    assert facts["kind"] == "token_key"
    assert (facts["key_id"], facts["team_id"]) == (stage.apple.key.key_id, stage.apple.key.team_id)
    public = subprocess.run(
        ["openssl", "pkey", "-in", stage.key, "-pubout", "-outform", "DER"], capture_output=True, check=True
    ).stdout
    digest = subprocess.run(["openssl", "dgst", "-sha256", "-r"], input=public, capture_output=True, check=True).stdout
    assert facts["fingerprint"] == digest.decode().split()[0]
    lines = stage.run("inspect", stage.key)
    assert f"key id        {stage.apple.key.key_id}\n" in lines
    assert "give --team-id" in lines


@pytest.mark.parametrize("name", ["push.p12", "push.pem"])
def test_a_certificate_says_what_openssl_reads_in_it(stage, name):
    file = stage.certificate(name, topics=[TOPIC, CALLS], environments=["sandbox"])
    facts = inspect(stage, file, "--password-file", stage.password)
    assert facts["kind"] == "certificate"
    assert facts["team_id"] == stage.apple.key.team_id
    assert facts["environments"] == ["sandbox"]
    assert [(topic["topic"], topic["push_types"]) for topic in facts["topics"]] == [
        (TOPIC, ["alert", "background"]), (CALLS, ["voip"]),
    ]
    assert facts["fault"] is None
    pem = file
    if name.endswith(".p12"):
        pem = stage.folder / "both.pem"
        pem.write_bytes(
            subprocess.run(
                ["openssl", "pkcs12", "-in", file, "-passin", "pass:sesame", "-nodes"], capture_output=True, check=True
            ).stdout
        )
    read = subprocess.run(
        ["openssl", "x509", "-in", pem, "-noout", "-fingerprint", "-sha256", "-enddate", "-dateopt", "iso_8601"],
        capture_output=True, text=True, check=True,
    ).stdout
    assert facts["fingerprint"] in read.replace(":", "").lower()
    lines = stage.run("inspect", file, "--password-file", stage.password)
    ends = read.split("notAfter=")[1].split(":")
    assert f"good until    {ends[0]}:{ends[1]} UTC" in lines


def test_a_password_is_a_line_of_utf8_with_or_without_a_mark(stage):
    file, words = stage.certificate(), stage.folder / "marked"
    for text in ["\ufeffsesame", "sesame\r\n", "\ufeffsesame\nmore\n"]:
        words.write_text(text)
        assert inspect(stage, file, "--password-file", words)["kind"] == "certificate"
    words.write_bytes("sesame\n".encode("utf-16"))
    assert "--password-file must be in UTF-8, and this is UTF-16" in stage.run("inspect", file, "--password-file", words, status=1)
    words.write_bytes(b"ses\xe9me\n")
    assert "--password-file must be in UTF-8" in stage.run("inspect", file, "--password-file", words, status=1)


def test_a_key_of_another_curve_or_kind_and_other_files_say_what_they_are(stage):
    made = {}
    for name, command in {
        "p384": ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        "rsa": ["genpkey", "-algorithm", "RSA"],
        "ed25519": ["genpkey", "-algorithm", "ED25519"],
        "encrypted": ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:sesame"],
        "old": ["ecparam", "-name", "prime256v1", "-genkey"],
    }.items():
        made[name] = stage.folder / f"{name}.pem"
        subprocess.run(["openssl", *command, "-out", made[name]], check=True, capture_output=True)
    assert "on the curve P-256; this one is on another" in stage.run("inspect", made["p384"], status=1)
    assert "this one is RSA" in stage.run("inspect", made["rsa"], status=1)
    assert "this one is of another kind" in stage.run("inspect", made["ed25519"], status=1)
    assert "this key is encrypted" in stage.run("inspect", made["encrypted"], status=1)
    assert "token key" in stage.run("inspect", made["old"])
    request = stage.folder / "request.pem"
    subprocess.run(
        ["openssl", "req", "-new", "-key", made["rsa"], "-subj", "/CN=a", "-out", request], check=True, capture_output=True
    )
    assert "Apple makes the certificate of it" in stage.run("inspect", request, status=1)


def test_a_file_that_is_not_whole_says_what_it_lacks(stage):
    both = stage.certificate("push.pem").read_text()
    certificate, key = both[: both.index("-----BEGIN PRIVATE")], both[both.index("-----BEGIN PRIVATE"):]
    alone = stage.folder / "alone.pem"
    alone.write_text(certificate)
    assert "must have the private key with the certificate" in stage.run("inspect", alone, status=1)
    downloaded = stage.folder / "aps.cer"
    subprocess.run(["openssl", "x509", "-in", alone, "-outform", "DER", "-out", downloaded], check=True)
    assert "Keychain Access exports both together as .p12" in stage.run("inspect", downloaded, status=1)
    other = stage.certificate("push.pem").read_text()
    alone.write_text(certificate + other[other.index("-----BEGIN PRIVATE"):])
    assert "private_key must belong to the certificate" in stage.run("inspect", alone, status=1)
    plain, locked = stage.folder / "plain.key", stage.folder / "locked.key"
    plain.write_text(key)
    subprocess.run(["openssl", "pkey", "-in", plain, "-aes256", "-passout", "pass:sesame", "-out", locked], check=True)
    alone.write_text(certificate + locked.read_text())
    assert "password must be given" in stage.run("inspect", alone, status=1)
    wrong = stage.folder / "wrong"
    wrong.write_text("open sesame")
    assert "password must be the one the private key" in stage.run("inspect", alone, "--password-file", wrong, status=1)
    assert inspect(stage, alone, "--password-file", stage.password)["kind"] == "certificate"
    locked_p12 = stage.certificate()
    for options in ([], ["--password-file", wrong]):
        assert "password must be the one the .p12 file" in stage.run("inspect", locked_p12, *options, status=1)
    assert "must be a file that can be read" in stage.run("inspect", stage.folder / "none.p8", status=1)
    large = stage.folder / "large"
    large.write_bytes(b"x" * 70_000)
    assert "file must be at most 65536 bytes" in stage.run("inspect", large, status=1)


def test_a_certificate_that_apns_would_not_take_is_shown_with_its_fault(stage):
    expired = stage.certificate(variant="expired")
    facts = inspect(stage, expired, "--password-file", stage.password, status=1)
    assert facts["topics"][0]["topic"] == TOPIC
    assert facts["fault"]["rule"].startswith("must not have expired; it did on 2")
    lines = stage.run("inspect", expired, "--password-file", stage.password, status=1)
    assert "kind          certificate\n" in lines and "certificate must not have expired" in lines


# What APNs says of it.


def test_a_key_is_proven_by_a_push_nobody_gets(stage):
    proof = stage.prove(stage.key, "--topic", TOPIC, *stage.team)
    assert (proof["verdict"], proof["reason"], proof["topic"]) == ("proven", "BadDeviceToken", TOPIC)
    assert "that the topic com.example.chat is yours is not proven" in proof["meaning"]
    line = stage.run(
        "prove", stage.key, "--topic", TOPIC, *stage.team, "--environment", "production", "--host", "localhost", "--port",
        stage.production_port, "--trust-roots", stage.apple.authority,
    )
    assert line.startswith("production: proven: BadDeviceToken: the key is good in production; ")


def test_a_topic_is_proven_by_an_accepted_push_alone(stage):
    proof = stage.prove(stage.key, "--topic", TOPIC, *stage.team, "--token", stage.apple.device)
    assert (proof["verdict"], proof["reason"]) == ("topic_proven", None)
    stage.apple.expect_push({"aps": {"content-available": 1}})
    other = stage.apple.register(topic="com.example.other")
    proof = stage.prove(stage.key, "--topic", TOPIC, *stage.team, "--token", other, status=1)
    assert (proof["verdict"], proof["reason"]) == ("undecided", "DeviceTokenNotForTopic")
    # Of the other side.
    production = stage.apple.register(environment="production")
    proof = stage.prove(stage.key, "--topic", TOPIC, *stage.team, "--token", production)
    assert (proof["verdict"], proof["reason"]) == ("proven", "BadDeviceToken")
    assert "the device token is none of sandbox" in proof["meaning"]


def test_a_key_that_is_not_good_here_says_why(stage):
    proof = stage.prove(stage.key, "--topic", TOPIC, "--team-id", "OTHERTEAM1", status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "InvalidProviderToken")
    assert "do not belong together" in proof["meaning"]
    # The team has one more key for all topics: no more than two are allowed, as at Apple's.
    production = stage.add_key(environments=["production"])
    proof = stage.prove(production, "--topic", TOPIC, *stage.team, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "BadEnvironmentKeyIdInToken")
    assert "good in production, not in sandbox" in proof["meaning"]
    assert stage.prove(production, "--topic", TOPIC, *stage.team, side="production")["verdict"] == "proven"
    narrow = stage.add_key(topics=["com.example.other"])
    proof = stage.prove(narrow, "--topic", TOPIC, *stage.team, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "TopicDisallowed")
    revoked = stage.add_key(topics=[TOPIC])
    assert stage.prove(revoked, "--topic", TOPIC, *stage.team)["verdict"] == "proven"
    stage.apple.post(f"/keys/{revoked.stem.removeprefix('AuthKey_')}/revoke", {})
    proof = stage.prove(revoked, "--topic", TOPIC, *stage.team, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "InvalidProviderToken")


def test_a_certificate_is_proven_for_the_side_it_is_for(stage):
    file = stage.certificate(environments=["sandbox"])
    proof = stage.prove_certificate(file)
    assert (proof["verdict"], proof["reason"], proof["topic"]) == ("proven", "BadDeviceToken", TOPIC)
    assert proof["meaning"].startswith("the certificate is good in sandbox; ")
    proof = stage.prove_certificate(file, side="production", status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "BadCertificateEnvironment")
    assert "good in sandbox, not in production" in proof["meaning"]
    proof = stage.prove_certificate(file, "--topic", CALLS, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "TopicDisallowed")
    calls = stage.certificate(topics=[TOPIC, CALLS])
    assert stage.prove_certificate(calls, "--topic", CALLS)["verdict"] == "proven"
    assert stage.prove_certificate(calls, "--token", stage.apple.device)["verdict"] == "topic_proven"


@pytest.mark.parametrize(
    "variant, alert", [("expired", "certificate_expired"), ("revoked", "certificate_revoked"), ("unknown_issuer", "unknown_ca")]
)
def test_a_certificate_that_tls_refuses_says_why(stage, variant, alert):
    proof = stage.prove_certificate(stage.certificate(variant=variant), status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", None)
    assert alert in proof["meaning"] and "the client certificate" in proof["meaning"]


def test_what_says_nothing_of_the_key_is_not_taken_for_a_proof(stage, faults):
    arguments = [stage.key, "--topic", TOPIC, *stage.team]
    faults({"fault": "clock_skew", "seconds": 7_200})
    proof = stage.prove(*arguments, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", "ExpiredProviderToken")
    assert "the clock of this machine is wrong" in proof["meaning"]
    for reason in ("InternalServerError", "ServiceUnavailable"):
        faults({"fault": "respond", "reason": reason})
        proof = stage.prove(*arguments, "--token", stage.apple.device, status=1)
        assert (proof["verdict"], proof["reason"]) == ("undecided", reason)
    faults({"fault": "refuse_connect"})
    proof = stage.prove(*arguments, "--seconds", 2, status=1)
    assert (proof["verdict"], proof["reason"]) == ("undecided", None)
    assert proof["meaning"].startswith("nothing was sent: ")
    faults({"fault": "tls_alert", "alert": "handshake_failure"})
    proof = stage.prove(*arguments, status=1)
    assert (proof["verdict"], proof["reason"]) == ("refused", None)
    assert "handshake_failure" in proof["meaning"]


def test_a_server_that_is_not_there_or_not_trusted_is_said(stage):
    closed = free_port()
    common = ["--topic", TOPIC, *stage.team, "--environment", "sandbox", "--host", "127.0.0.1", "--seconds", 2]
    out = stage.run("prove", stage.key, *common, "--port", closed, status=1)
    assert out.startswith("sandbox: undecided: nothing was sent: ") and str(closed) in out
    out = stage.run("prove", stage.key, *common, "--port", stage.apple.port, status=1)
    assert out.startswith("sandbox: refused: ") and "is not trusted; check the trust roots" in out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--environment", "sandbox"], "--topic must be given"),
        (["--topic", TOPIC, "--environment", "sandbox"], "team_id must be given"),
        (["--topic", TOPIC], "Missing expected argument '--environment"),
        (["--topic", TOPIC, "--environment", "both"], "The value 'both' is invalid"),
        (["--topic", TOPIC, "--environment", "sandbox", "--environment", "sandbox"], "must not be given twice"),
        (
            ["--topic", TOPIC, "--environment", "sandbox", "--environment", "production", "--port", "2197"],
            "--host, --port and --token are of one environment",
        ),
        (["--topic", TOPIC, "--environment", "sandbox", "--port", "0"], "--port must be 1 to 65535"),
        (["--topic", "no topic", "--environment", "sandbox", "--team-id", "TEAM"], "topic must be"),
        (["--topic", TOPIC, "--environment", "sandbox", "--team-id", "TEAM", "--key-id", "OTHERKEY01"], "key_id must be"),
    ],
)
def test_a_wrong_question_is_named_with_its_rule(stage, arguments, words):
    status = 64 if words.startswith(("--", "Missing", "The value", "must not")) else 1
    assert words in stage.run("prove", stage.key, *arguments, status=status)
