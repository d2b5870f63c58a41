"""The image of a message, end to end: from the API over a real server and a local APNs into the notification of a killed app.

The image lies on an HTTPS server of its own. Foundation on Linux trusts the system's authorities and no others, so the phone runs with
a mount of its own in which the server's certificate stands in their place.
"""

from __future__ import annotations

import http.server
import json
import pathlib
import ssl
import subprocess
import threading
import uuid

import pytest

from phone import Phone
from phone_stage import badge, bodies, events_of, kill, presentation, rings

# The app of the first tests allows the image server; its extension asks no other.
ALLOWED = {"CHAT_IMAGE_HOSTS": "files.example.com,127.0.0.1"}
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 2_000


class ImageServer:
    """Serves the files it was given over HTTPS, and keeps what it was asked."""

    def __init__(self, folder: pathlib.Path):
        self.certificate = folder / "images.pem"
        key = folder / "images.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", str(key), "-out", str(self.certificate)],
            check=True, capture_output=True)
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.asked.append((self.path, self.headers.get("Authorization")))
                body = owner.files.get(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


# The server names images of this host alone, as the extension asks this host alone.
LISTED = {"push": {"image_hosts": ["127.0.0.1"]}}

# Where Foundation on Linux looks for the authorities it trusts.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


def trusting(certificate: pathlib.Path) -> tuple[str, ...]:
    """The command before another that makes it, and it alone, trust a certificate; the test is skipped where that is refused."""
    script = f'mount --bind "{certificate}" {AUTHORITIES} && exec "$@"'
    wrapper = ("unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh")
    tried = subprocess.run([*wrapper, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"mounting is refused here: {tried.stderr.strip()}")
    return wrapper


@pytest.fixture
def images(tmp_path):
    server = ImageServer(tmp_path)
    yield server
    server.stop()


def show(stage, url: str) -> str:
    """Alice sends bob an image; returns the message's id."""
    sent = stage.backend.call("POST", "messages", {
        "sender": "alice", "client_message_id": uuid.uuid4().hex, "conversation": {"type": "PR", "target": "bob"},
        "object_name": "RC:ImgMsg", "content": json.dumps({"imageUri": url}), "push_text": "Look!",
    })
    return sent["message_id"]


def attachments(phone: Phone, message: str) -> list[str]:
    (entry,) = [entry for entry in phone.do("screen")["list"] if entry["notification"] == message]
    return entry["attachments"]


@pytest.mark.parametrize("version", ["15", "26"])
def test_a_picture_comes_beside_the_text_and_what_is_none_does_not(make_stage, images, version):
    stage = make_stage(app_settings=LISTED)
    bob = stage.phone(
        "bob", wrapper=trusting(images.certificate), environment=ALLOWED, arguments=("--ios", version))
    kill(bob)
    images.files = {"/cat": JPEG, "/page": b"<html>"}

    message = show(stage, f"{images.url}/cat")
    rings(bob, message, badge=1)
    assert bodies(bob) == ["Look!"]
    (image,) = attachments(bob, message)
    assert pathlib.Path(image.removeprefix("file://")).read_bytes() == JPEG
    (push,) = events_of(bob, "push")
    assert push["payload"]["tidings"]["image"] == f"{images.url}/cat"
    # Whoever serves images learns nothing of the person.
    assert images.asked == [("/cat", None)]

    for number, path in enumerate(["/page", "/missing"], start=2):
        message = show(stage, f"{images.url}{path}")
        rings(bob, message, badge=number)
        assert attachments(bob, message) == []
    assert [path for path, _ in images.asked] == ["/cat", "/page", "/missing"]

    stage.backend.recall(message, actor="alice")
    bob.wait_until(lambda: badge(bob) == 2, "the number to fall")
    assert attachments(bob, message) == []
    assert bob.faults == []


@pytest.mark.parametrize("version", ["15", "26"])
def test_who_hides_what_messages_say_gets_no_picture_and_nobody_is_asked_for_it(make_stage, images, version):
    stage = make_stage(app_settings=LISTED)
    bob = stage.phone(
        "bob", wrapper=trusting(images.certificate), environment=ALLOWED, arguments=("--ios", version))
    stage.backend.set_person("bob", hides_content=True)
    kill(bob)
    images.files = {"/cat": JPEG}
    message = show(stage, f"{images.url}/cat")
    assert presentation(bob, message)["ring"]
    assert attachments(bob, message) == []
    (push,) = events_of(bob, "push")
    assert "image" not in push["payload"]["tidings"]
    assert images.asked == []
    assert bob.faults == []


@pytest.mark.parametrize("version", ["15", "26"])
def test_who_serves_a_picture_is_not_asked_unless_the_app_has_named_them(make_stage, images, version):
    stage = make_stage(app_settings=LISTED)
    images.files = {"/cat": JPEG}
    for number, environment in enumerate([{}, {"CHAT_IMAGE_HOSTS": "localhost,*.0.0.1"}]):
        phone = stage.phone(
            "bob", name=f"phone-{number}", wrapper=trusting(images.certificate), environment=environment,
            arguments=("--ios", version))
        kill(phone)
        message = show(stage, f"{images.url}/cat")
        rings(phone, message, badge=number + 1)
        assert bodies(phone)[0] == "Look!"
        assert attachments(phone, message) == []
        assert phone.faults == []
    assert images.asked == []
