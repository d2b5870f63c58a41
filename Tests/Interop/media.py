"""Files of a site as people and the backend see them: uploads by a tus client that knows nothing of Tidings, and what is read."""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass

from tusclient import client as tus

from conftest import Site

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 400
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 3_000


def settings(tmp_path, **more) -> dict:
    return {"media": {"path": str(tmp_path / "media"), **more}}


def everything(tmp_path) -> dict:
    """Settings with all that is off otherwise."""
    return settings(tmp_path) | {"search": {"path": str(tmp_path / "search.sqlite")}}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str | None:
        """The problem's code; None for an answer that is none."""
        return json.loads(self.body)["code"] if self.status >= 400 and self.body else None


def ask(site: Site, method: str, path: str, token: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Answer:
    """One request as it is, held against the description of the API."""
    base = site.api if path.startswith("/v1/apps/") else site.phone
    request = urllib.request.Request(
        base + path, method=method, data=body, headers={"Authorization": f"Bearer {token}", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = Answer(answer.status, {key.lower(): value for key, value in answer.headers.items()}, answer.read())
    except urllib.error.HTTPError as error:
        found = Answer(error.code, {key.lower(): value for key, value in error.headers.items()}, error.read())
    problem = json.loads(found.body) if found.status >= 400 and found.body else None
    site.check_described(method, path, found.status, problem=problem)
    return found


def uploader(site: Site, token: str, data: bytes, path: str = "/v1/media/uploads", kind: str = "image/jpeg", name: str | None = "cat.jpg", **more):
    """A tus client about to send a file."""
    base = site.api if path.startswith("/v1/apps/") else site.phone
    metadata = {"filetype": kind} if name is None else {"filename": name, "filetype": kind}
    return tus.TusClient(base + path, headers={"Authorization": f"Bearer {token}"}).uploader(
        file_stream=io.BytesIO(data), metadata=metadata, metadata_encoding="utf-8", **more)


def upload(site: Site, token: str, data: bytes = JPEG, **more) -> str:
    """Sends a whole file; returns its id."""
    sending = uploader(site, token, data, **more)
    sending.upload()
    return sending.url.rpartition("/")[2]


def show(site: Site, sender: str, media: str, target: str = "bob", kind: str = "PR", **more) -> str:
    """Sends a message that names media; returns the message's id."""
    sent = site.call("POST", f"/v1/apps/{site.app}/messages", {
        "sender": sender, "client_message_id": uuid.uuid4().hex, "conversation": {"type": kind, "target": target},
        "object_name": "RC:ImgMsg", "content": json.dumps({"imageUri": f"media:{media}"}), **more,
    })
    return sent["message_id"]


def read(site: Site, token: str, media: str, message: str | None = None, headers: dict[str, str] | None = None) -> Answer:
    """Asks for a file as a phone does."""
    return ask(site, "GET", f"/v1/media/{media}" + (f"?message={message}" if message else ""), token, headers)


TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}
