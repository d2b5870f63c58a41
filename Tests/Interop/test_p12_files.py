"""The .p12 files of the local APNs, read by programs that nobody here wrote: OpenSSL, Java's keytool and Go."""

from __future__ import annotations

import base64
import os
import pathlib
import subprocess

import pytest

from apple import TOPIC, Apple

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
