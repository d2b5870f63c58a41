"""User tokens on a running server: sessions end with them, are renewed, revoked and banned; secrets and keys change."""

import asyncio
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import urllib.error

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from story import run
from tidings_client import Client, Refused


def claims(**more) -> dict:
    return {"app": "demo", "sub": "alice", "exp": int(time.time()) + 3_600, **more}


async def verdict(site, token: str) -> str:
    """What the server says to a hello with this token: `welcome`, or the code of its problem."""
    client = Client(site.gateway, token)
    try:
        await client.connect()
    except Refused as refused:
        return refused.code
    await client.close()
    return "welcome"


async def settled_verdict(site, token: str) -> str:
    """The same, once the server has stopped to look for the key."""
    async with asyncio.timeout(60):
        while (code := await verdict(site, token)) == "unavailable":
            await asyncio.sleep(0.5)
    return code


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed_by_hand(header: dict | str, body: dict, secret: bytes) -> str:
    head = header if isinstance(header, str) else json.dumps(header)
    plain = f"{encoded(head.encode())}.{encoded(json.dumps(body).encode())}"
    return f"{plain}.{encoded(hmac.digest(secret, plain.encode(), hashlib.sha256))}"


def jwk(key, kid: str, **more) -> dict:
    algorithm = jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else jwt.algorithms.RSAAlgorithm
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, **more}


def status_of(call) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as raised:
        call()
    return raised.value.code, json.loads(raised.value.read())["code"]


# The life of a session.


def test_a_session_ends_with_its_token(make_site):
    site = make_site(settings={"token": {"grace_milliseconds": 0}}).start()

    async def story():
        alice = Client(site.gateway, site.token("alice", seconds=3))
        await alice.connect()
        await alice.send("bob", "still good")
        await alice.wait_for(lambda: alice.is_closed)
        assert alice.fatal["code"] == "expired_token"
        # The token opens nothing any more, either.
        assert await verdict(site, alice.token) == "expired_token"

    run(story())


def test_a_session_is_told_in_time_and_renewed_without_hanging_up(make_site):
    site = make_site(settings={"token": {"grace_milliseconds": 0}}).start()

    async def story():
        token = site.token("alice", seconds=4)
        renewing, idle = Client(site.gateway, token), Client(site.gateway, token)
        await renewing.connect()
        await idle.connect()
        await renewing.wait_for(lambda: renewing.token_expires)
        assert not renewing.is_closed
        await renewing.request("renewToken", token=site.token("alice"))
        # The one that did not renew ends; the other one goes on.
        await idle.wait_for(lambda: idle.is_closed)
        assert idle.fatal["code"] == "expired_token"
        assert (await renewing.send("bob", "still here"))["messageId"]
        assert renewing.fatal is None
        await renewing.close()

    run(story())


def test_a_renewal_takes_nothing_but_a_later_token_of_the_same_person(site):
    async def story():
        alice = Client(site.gateway, site.token("alice", seconds=1_800))
        await alice.connect()
        for token, code in [
            (site.token("bob"), "invalid_token"),
            ("garbage", "invalid_token"),
            (jwt.encode(claims(app="elsewhere"), site.secret), "wrong_app"),
            (jwt.encode(claims(exp=1), site.secret), "expired_token"),
            (site.token("alice", seconds=60), "invalid_field"),
        ]:
            with pytest.raises(Refused) as refused:
                await alice.request("renewToken", token=token)
            assert refused.value.code == code, token
        await alice.send("bob", "nothing has changed")
        await alice.request("renewToken", token=site.token("alice", seconds=3_600))
        await alice.close()

    run(story())


# The backend decides.


def test_a_banned_person_is_out_until_the_ban_is_lifted(site):
    users = f"/v1/apps/{site.app}/users"

    async def story():
        token = site.token("bob")
        alice, bob = Client(site.gateway, site.token("alice")), Client(site.gateway, token, disposition=None)
        await alice.connect()
        await bob.connect()
        extension = bob.welcome["extensionToken"]
        open_message = (await alice.send("bob", "before"))["messageId"]
        site.call("PUT", f"{users}/bob/ban", {"reason": "spam"})
        await bob.wait_for(lambda: bob.is_closed)
        assert bob.fatal["code"] == "disabled"
        assert [(leg["user"], leg["end"]) for leg in site.trace(open_message)["ended_legs"] if leg["user"] == "bob"] == [
            ("bob", "disabled")
        ]
        assert await verdict(site, token) == "disabled"
        assert status_of(lambda: site.token("bob")) == (403, "disabled")
        assert status_of(lambda: site.call("GET", "/v1/extension/missed?after=0", key=extension))[0] == 401
        # Whoever writes is not told, and the message is kept.
        await alice.send("bob", "while banned")
        # A crash lifts no ban.
        await alice.close()
        site.server.kill()
        site.start()
        assert await verdict(site, token) == "disabled"
        assert site.call("GET", f"{users}/bob/account") == {
            "banned": True, "ban": {"reason": "spam", "until": None}, "tokens_not_before": None}
        said = {"sender": "bob", "client_message_id": "as-bob", "conversation": {"type": "direct", "target": "alice"}, "text": "hi"}
        assert status_of(lambda: site.call("POST", "/v1/apps/demo/messages", said)) == (403, "disabled")
        site.call("DELETE", f"{users}/bob/ban")
        again = Client(site.gateway, token)
        await again.connect()
        assert [json.loads(message["content"])["content"] for message in again.messages] == ["before", "while banned"]
        await again.close()

    run(story())


def test_revoked_tokens_are_good_no_more_and_their_sessions_end(site):
    path = f"/v1/apps/{site.app}/users/alice/revoke-tokens"

    async def story():
        old = site.token("alice")
        undated = jwt.encode(claims(), site.secret)
        session = Client(site.gateway, old)
        await session.connect()
        site.call("POST", path, {})
        await session.wait_for(lambda: session.is_closed)
        assert session.fatal["code"] == "token_revoked"
        assert await verdict(site, old) == "token_revoked"
        assert await verdict(site, undated) == "token_revoked"
        new = site.token("alice")
        assert await verdict(site, new) == "welcome"
        survivor = Client(site.gateway, new)
        await survivor.connect()
        # A time before the last one changes nothing; a time to come is refused.
        site.call("POST", path, {"before": 1_577_836_800_000})
        assert await verdict(site, old) == "token_revoked"
        assert status_of(lambda: site.call("POST", path, {"before": int(time.time() * 1_000) + 60_000})) == (
            400, "invalid_field",
        )
        with pytest.raises(Refused) as refused:
            await survivor.request("renewToken", token=jwt.encode(claims(exp=int(time.time()) + 9_999), site.secret))
        assert refused.value.code == "token_revoked"
        await survivor.close()

    run(story())


def test_an_extension_token_ends_with_the_user_token_it_was_given_for(site):
    """Also if what is revoked lies before the connect that brought it."""

    async def story():
        stolen = jwt.encode(claims(iat=int(time.time()) - 600), site.secret)
        thief = Client(site.gateway, stolen)
        await thief.connect()
        extension = thief.welcome["extensionToken"]
        site.call("GET", "/v1/extension/missed?after=0", key=extension)
        before = int(time.time() * 1_000) - 300_000
        site.call("POST", f"/v1/apps/{site.app}/users/alice/revoke-tokens", {"before": before})
        await thief.wait_for(lambda: thief.is_closed)
        assert status_of(lambda: site.call("GET", "/v1/extension/missed?after=0", key=extension))[0] == 401

    run(story())


def test_an_operator_bans_revokes_and_signs_out_by_hand(site):
    from conftest import tool

    def user(*arguments: str) -> str:
        result = subprocess.run(
            [tool(), "user", arguments[0], site.app, *arguments[1:], "--api", site.api], env={**os.environ, "TIDINGS_API_KEY": site.api_key},
            capture_output=True, text=True, timeout=60, check=True,
        )
        return result.stdout.strip()

    async def story():
        token = site.token("alice")
        alice = Client(site.gateway, token)
        await alice.connect()
        user("sign-out", "alice")
        await alice.wait_for(lambda: alice.is_closed)
        assert alice.fatal["code"] == "invalid_token"
        assert site.call("GET", f"/v1/apps/{site.app}/users/alice/devices") == {"devices": [], "next": None}
        assert await verdict(site, token) == "token_revoked"
        token = site.token("alice")
        user("revoke-tokens", "alice")
        assert await verdict(site, token) == "token_revoked"
        token = site.token("alice")
        user("ban", "alice", "--reason", "spam", "--until", "2099-01-01T00:00:00Z")
        assert "banned until 2099-01-01 00:00:00.000 UTC (spam)" in user("show", "alice")
        assert await verdict(site, token) == "disabled"
        user("unban", "alice")
        assert "may sign in" in user("show", "alice")
        assert await verdict(site, token) == "welcome"

    run(story())


def test_a_key_without_the_scope_bans_nobody(make_site):
    site = make_site()
    site.config.write_text(site.config.read_text().replace('"accounts"', '"trace"'))
    site.start()
    assert status_of(lambda: site.call("PUT", f"/v1/apps/{site.app}/users/bob/ban")) == (403, "missing_scope")


# Claims.


def test_nbf_aud_and_crit_are_honoured(make_site):
    site = make_site(app_settings={"token_audiences": ["chat", "push"]}).start()
    now = int(time.time())

    async def story():
        for more, code in [
            ({}, "welcome"), ({"nbf": now - 60}, "welcome"), ({"nbf": now + 10}, "welcome"),
            ({"nbf": now + 600}, "invalid_token"), ({"iat": now + 600}, "invalid_token"), ({"nbf": "soon"}, "invalid_token"),
            ({"aud": "chat"}, "welcome"), ({"aud": ["mail", "push"]}, "welcome"), ({"aud": "mail"}, "invalid_token"),
            ({"aud": []}, "invalid_token"), ({"aud": 7}, "invalid_token"), ({"exp": now + 600.5}, "welcome"),
        ]:
            token = signed_by_hand({"alg": "HS256", "typ": "JWT"}, claims(**more), site.secret.encode())
            assert await verdict(site, token) == code, more
        for header in ({"crit": ["exp"]}, {"crit": []}, {"crit": ["b64"], "b64": True}):
            token = signed_by_hand({"alg": "HS256", **header}, claims(), site.secret.encode())
            assert await verdict(site, token) == "invalid_token", header

    run(story())


def test_an_app_may_demand_an_audience_and_its_own_tokens_have_it(make_site):
    site = make_site(app_settings={"token_audience_required": True}).start()

    async def story():
        assert await verdict(site, jwt.encode(claims(), site.secret)) == "invalid_token"
        assert await verdict(site, jwt.encode(claims(aud="demo"), site.secret)) == "welcome"
        assert await verdict(site, site.token("alice")) == "welcome"

    run(story())


def test_a_header_with_numbers_of_any_size_harms_nobody(site):
    """A number that fits no integer must not end the server: it is read before any signature is checked."""

    async def story():
        for number in ("1e300", "-1e300", "1e19", "9223372036854775808", "1e999", "0.5"):
            header = '{"alg":"HS256","x":%s}' % number
            assert await verdict(site, signed_by_hand(header, claims(), b"anybody")) == "invalid_token", number
            body = signed_by_hand({"alg": "HS256"}, claims(), b"anybody").split(".")
            body[1] = encoded(('{"app":"demo","sub":"alice","exp":%s}' % number).encode())
            assert await verdict(site, ".".join(body)) == "invalid_token", number
        assert site.server.process.poll() is None
        assert await verdict(site, site.token("alice")) == "welcome"

    run(story())


# Secrets and keys.


def test_two_secrets_are_good_while_one_takes_the_place_of_the_other(make_site):
    site = make_site(app_settings={"token_secret_previous": "the secret before, of thirty-two bytes"}).start()

    async def story():
        assert await verdict(site, jwt.encode(claims(), site.secret)) == "welcome"
        assert await verdict(site, jwt.encode(claims(), "the secret before, of thirty-two bytes")) == "welcome"
        assert await verdict(site, jwt.encode(claims(), "another secret of thirty-two bytes at all")) == "invalid_token"
        # The server itself signs with the new one.
        assert jwt.decode(site.token("alice"), site.secret, ["HS256"])["sub"] == "alice"

    run(story())


def test_public_keys_open_their_own_algorithm_only(make_site, tmp_path):
    curve, modulus, other = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048), \
        ec.generate_private_key(ec.SECP256R1())
    encryption = rsa.generate_private_key(65537, 2048)
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [
        jwk(curve, "c1"), jwk(modulus, "m1", use="sig", alg="RS256"), jwk(encryption, "e1", use="enc"),
        {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "o1"},
    ]}))
    site = make_site(app_settings={"token_jwks": str(keys)}).start()
    pem = modulus.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    numbers = curve.public_key().public_numbers()
    point = b"\x04" + numbers.x.to_bytes(32) + numbers.y.to_bytes(32)

    async def story():
        good = [
            jwt.encode(claims(), curve, "ES256", headers={"kid": "c1"}), jwt.encode(claims(), curve, "ES256"),
            jwt.encode(claims(), modulus, "RS256", headers={"kid": "m1"}), site.token("alice"),
        ]
        for token in good:
            assert await settled_verdict(site, token) == "welcome", token
        bad = {
            "another key": jwt.encode(claims(), other, "ES256", headers={"kid": "c1"}),
            "a kid nobody has": jwt.encode(claims(), other, "ES256", headers={"kid": "c9"}),
            "the kid of the other kind": jwt.encode(claims(), curve, "ES256", headers={"kid": "m1"}),
            "a key for something else": jwt.encode(claims(), encryption, "RS256", headers={"kid": "e1"}),
            "another hash": jwt.encode(claims(), modulus, "RS512", headers={"kid": "m1"}),
            "another padding": jwt.encode(claims(), modulus, "PS256", headers={"kid": "m1"}),
            "no signature": jwt.encode(claims(), None, "none"),
            "HS256 with the public key's PEM": signed_by_hand({"alg": "HS256", "kid": "m1"}, claims(), pem),
            "HS256 with the public point": signed_by_hand({"alg": "HS256", "kid": "c1"}, claims(), point),
            "HS256 with the key set": signed_by_hand({"alg": "HS256"}, claims(), keys.read_bytes()),
            "the algorithm in small letters": good[0].replace(
                good[0].split(".")[0], encoded(b'{"alg":"es256","kid":"c1"}')),
        }
        for what, token in bad.items():
            assert await settled_verdict(site, token) == "invalid_token", what

    run(story())


def test_keys_of_a_file_change_while_the_server_runs(make_site, tmp_path):
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [jwk(old, "old")]}))
    site = make_site(
        app_settings={"token_jwks": str(keys)}, settings={"token": {"keys_refresh_milliseconds": 1_000}}).start()
    by_old, by_new = (jwt.encode(claims(), key, "ES256", headers={"kid": kid}) for key, kid in ((old, "old"), (new, "new")))

    async def story():
        assert await verdict(site, by_old) == "welcome"
        assert await settled_verdict(site, by_new) == "invalid_token"
        # Something that is no key set leaves the keys as they are.
        keys.write_text("{")
        assert await verdict(site, by_old) == "welcome"
        keys.write_text(json.dumps({"keys": [jwk(new, "new")]}))
        async with asyncio.timeout(60):
            while await verdict(site, by_new) != "welcome":
                await asyncio.sleep(0.2)
        assert await settled_verdict(site, by_old) == "invalid_token"

    run(story())


class KeyServer:
    """A key set at an address, with TLS if there is a certificate."""

    def __init__(self, keys: dict, certificate: str | None = None):
        owner = self
        self.keys = keys
        self.asked = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.asked += 1
                body = json.dumps(owner.keys).encode()
                self.send_response(200 if self.path == "/keys?of=demo" else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def certificate(tmp_path) -> str:
    """A certificate for localhost and its key, in one file."""
    key, paper, both = tmp_path / "key.pem", tmp_path / "paper.pem", tmp_path / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", paper, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )
    both.write_text(key.read_text() + paper.read_text())
    return str(both)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_keys_of_an_address_change_while_the_server_runs(make_site, scheme, certificate):
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    source = KeyServer({"keys": [jwk(old, "old")]}, certificate if scheme == "https" else None)
    rules = {"token_jwks": f"{scheme}://localhost:{source.port}/keys?of=demo"}
    if scheme == "https":
        rules["token_jwks_trust_roots_path"] = certificate
    try:
        site = make_site(app_settings=rules).start()
        by_old, by_new = (
            jwt.encode(claims(), key, "ES256", headers={"kid": kid}) for key, kid in ((old, "old"), (new, "new")))

        async def story():
            assert await verdict(site, by_old) == "welcome"
            source.keys = {"keys": [jwk(old, "old"), jwk(new, "new")]}
            # The token that names an unknown key has the set looked at again, though not at once.
            async with asyncio.timeout(60):
                while await verdict(site, by_new) != "welcome":
                    await asyncio.sleep(0.5)
            assert await verdict(site, by_old) == "welcome"
            asked = source.asked
            for _ in range(20):
                await verdict(site, jwt.encode(claims(), new, "ES256", headers={"kid": "nobody"}))
            assert source.asked <= asked + 1

        run(story())
    finally:
        source.stop()


def test_an_address_nobody_trusts_gives_no_keys_and_hinders_no_start(make_site, certificate):
    key = ec.generate_private_key(ec.SECP256R1())
    source = KeyServer({"keys": [jwk(key, "k")]}, certificate)
    try:
        site = make_site(app_settings={"token_jwks": f"https://localhost:{source.port}/keys?of=demo"}).start()

        async def story():
            token = jwt.encode(claims(), key, "ES256", headers={"kid": "k"})
            assert await verdict(site, token) in ("invalid_token", "unavailable")
            assert await verdict(site, site.token("alice")) == "welcome"

        run(story())
        assert "token keys cannot be read" in site.server.tail()
    finally:
        source.stop()


def test_a_key_set_that_cannot_be_used_keeps_the_server_from_starting(make_site, tmp_path):
    from conftest import tool

    private = ec.generate_private_key(ec.SECP256R1())
    secret = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(private))
    weak = rsa.generate_private_key(65537, 1024)
    keys = tmp_path / "keys.json"
    for content, words in [
        (None, "readable file"), ("[]", "keys"), (json.dumps({"keys": [secret]}), "public keys only"),
        (json.dumps({"keys": [jwk(weak, "w")]}), "2048"), (json.dumps({"keys": []}), "1 to 32"),
    ]:
        if content is not None:
            keys.write_text(content)
        site = make_site(app_settings={"token_jwks": str(keys)})
        result = subprocess.run(
            [tool(), "serve", "--config", site.config], cwd=site.folder, capture_output=True, text=True, timeout=60,
            check=False,
        )
        assert result.returncode == 78, result.stderr
        assert "app.demo.token_jwks" in result.stdout + result.stderr
        assert words in result.stdout + result.stderr, result.stderr
    site = make_site(app_settings={"token_jwks": "http://keys.example.com/set"})
    result = subprocess.run(
        [tool(), "serve", "--config", site.config, "--check"], cwd=site.folder, capture_output=True, text=True,
        timeout=60, check=False,
    )
    assert result.returncode == 78 and "https://" in result.stdout + result.stderr
