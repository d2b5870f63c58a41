"""The .p12 files of the local APNs, read by programs that nobody here wrote, and theirs read by `tidings credential inspect`: OpenSSL,
Java's keytool and Go."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import subprocess

import pytest

from apple import TOPIC, Apple
from conftest import tool

HERE = pathlib.Path(__file__).resolve().parent
NAME = f"Apple Push Services: {TOPIC}"


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    apple.stop()


@pytest.fixture(params=["sesame", "päss-wörd 9"], ids=["ascii", "unicode"])
def password(request) -> str:
    return request.param


@pytest.fixture
def file(apple, password, tmp_path) -> pathlib.Path:
    made = apple.post("/certificates", {"bundle_id": TOPIC, "password": password})
    path = tmp_path / "push.p12"
    path.write_bytes(base64.b64decode(made["p12_base64"]))
    return path


def run(*arguments: str | pathlib.Path, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(argument) for argument in arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
    )
    return done.returncode, done.stdout


def test_openssl_finds_the_form_of_keychain_access(file, password):
    status, out = run("openssl", "pkcs12", "-info", "-nodes", "-in", file, "-passin", f"pass:{password}")
    assert status == 0, out
    for line in (
        "MAC: sha1, Iteration 2048", "Shrouded Keybag: pbeWithSHA1And3-KeyTripleDES-CBC, Iteration 2048",
        "Encrypted data: pbeWithSHA1And3-KeyTripleDES-CBC, Iteration 2048",
    ):
        assert line in out
    # On the certificate and on the key.
    assert out.count(f"friendlyName: {NAME}") == 2
    assert len({line for line in out.splitlines() if "localKeyID" in line}) == 1 and out.count("localKeyID") == 2
    key = out[out.index("-----BEGIN PRIVATE KEY"):]
    (file.parent / "both.pem").write_text(out)
    assert "-----END PRIVATE KEY" in key
    status, public = run("openssl", "pkey", "-in", file.parent / "both.pem", "-pubout")
    assert status == 0
    assert run("openssl", "x509", "-in", file.parent / "both.pem", "-noout", "-pubkey") == (0, public)
    assert run("openssl", "pkcs12", "-in", file, "-passin", "pass:other", "-nodes")[0] != 0


@pytest.mark.parametrize("password", ["sesame"], indirect=True)  # Java takes ASCII alone.
def test_java_finds_the_key(file, password):
    status, out = run(
        "keytool", "-list", "-v", "-storetype", "PKCS12", "-keystore", file, "-storepass:env", "WORD", WORD=password
    )
    assert status == 0, out
    assert "Your keystore contains 1 entry" in out
    assert "Entry type: PrivateKeyEntry" in out
    assert f"Alias name: {NAME.lower()}" in out


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> pathlib.Path:
    """p12_reader.go, built with what Debian has of golang.org/x/crypto."""
    program = tmp_path_factory.mktemp("go") / "p12_reader"
    status, out = run(
        "go", "build", "-o", program, HERE / "p12_reader.go", GO111MODULE="off", GOPATH="/usr/share/gocode", GOFLAGS=""
    )
    assert status == 0, out
    return program


def test_go_finds_the_key(file, password, reader):
    assert run(reader, file, password) == (0, f"{NAME}\n")
    status, out = run(reader, file, "other")
    assert status == 1 and "password incorrect" in out


# Theirs.

# OpenSSL 3 has all but the first in its provider "legacy" alone: of the key, of the certificate, of the MAC.
ENCRYPTIONS = [
    ("AES-256-CBC", "AES-256-CBC", "sha256"), ("AES-128-CBC", "NONE", "sha384"), ("NONE", "AES-192-CBC", "sha512"),
    ("PBE-SHA1-3DES", "PBE-SHA1-RC2-40", "sha1"), ("PBE-SHA1-RC2-128", "PBE-SHA1-RC4-128", "sha1"),
    ("PBE-SHA1-RC4-40", "PBE-SHA1-2DES", "sha1"), ("DES-EDE3-CBC", "PBE-SHA1-RC2-128", "sha256"),
]
PASSWORDS = ["", "sesame", "é密🔑"]


@pytest.fixture(scope="module")
def pair(apple, tmp_path_factory) -> tuple[pathlib.Path, str]:
    """Certificate and key in PEM form, and the fingerprint."""
    made = apple.post("/certificates", {"bundle_id": TOPIC})
    path = tmp_path_factory.mktemp("pair") / "both.pem"
    path.write_text(made["certificate_pem"] + made["key_pem"])
    return path, inspect(path)["fingerprint"]


def inspect(file: pathlib.Path, password: str | None = None, status: int = 0) -> dict:
    arguments = [tool(), "credential", "inspect", str(file), "--json"]
    if password is not None:
        words = file.with_suffix(".password")
        words.write_text(password + "\n")
        arguments += ["--password-file", str(words)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_file_of_openssl_is_read(pair, password, tmp_path):
    for number, (key, certificate, mac) in enumerate(ENCRYPTIONS):
        file = tmp_path / f"{number}.p12"
        status, out = run(
            "openssl", "pkcs12", "-export", "-legacy", "-in", pair[0], "-out", file, "-passout", f"pass:{password}", "-keypbe", key,
            "-certpbe", certificate, "-macalg", mac)
        assert status == 0, out
        assert inspect(file, password)["fingerprint"] == pair[1], (key, certificate)
        assert "password must be the one" in inspect(file, "é" + password, status=1)["error"]


@pytest.mark.parametrize("password", PASSWORDS[1:])
def test_a_key_that_openssl_encrypted_is_read(pair, password, tmp_path):
    commands = [
        ["pkcs8", "-topk8", "-v2", "aes-256-cbc"], ["pkcs8", "-topk8", "-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA512"],
        ["pkcs8", "-topk8", "-v2", "des3", "-v2prf", "hmacWithSHA1"], ["pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES"], ["ec", "-aes256"],
        ["ec", "-des3"],
    ]
    for number, command in enumerate(commands):
        file = tmp_path / f"{number}.pem"
        status, out = run("openssl", *command, "-in", pair[0], "-out", file, "-passout", f"pass:{password}")
        assert status == 0, out
        file.write_text(file.read_text() + pair[0].read_text().partition("-----BEGIN PRIVATE KEY")[0])
        assert inspect(file, password)["fingerprint"] == pair[1], command
        assert "password must be the one" in inspect(file, "é" + password, status=1)["error"]


@pytest.mark.parametrize("kind", [("RSA", "2048"), ("RSA", "3072"), ("RSA", "4096"), ("EC", "256")], ids="-".join)
def test_a_file_of_java_is_read(kind, tmp_path):
    file = tmp_path / "push.p12"
    status, out = run(
        "keytool", "-genkeypair", "-keyalg", kind[0], "-keysize", kind[1], "-dname", "CN=Of Java", "-alias", "push", "-storetype",
        "PKCS12", "-keystore", file, "-storepass:env", "WORD", WORD="sesame")
    assert status == 0, out
    # Read, and found to be none for pushes.
    assert inspect(file, "sesame", status=1)["name"] == "Of Java"
