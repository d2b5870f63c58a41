"""Media: uploads with a tus client of PyPI, downloads with ranges, who may read, what is refused, and what a crash leaves."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import socket
import struct
import time
import urllib.request
from datetime import datetime, timedelta

import pytest
from media import BYTES, JPEG, PNG, TUS, ask, read, settings, show, upload, uploader
from moved_clock import MovedClock
from tusclient.exceptions import TusCommunicationError

OF_NOBODY = "0" * 32


@pytest.fixture
def media_site(make_site, tmp_path):
    return make_site(settings=settings(tmp_path)).start()


def files(tmp_path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "media").rglob("*") if path.is_file())


def test_what_a_tus_client_sends_in_parts_is_read_as_it_was(media_site, tmp_path):
    site, alice = media_site, media_site.token("alice")
    sending = uploader(site, alice, JPEG, chunk_size=30_000, name="../Ka\u0308tzchen\u202e.html", upload_checksum=True)
    sending.upload_chunk()
    assert sending.offset == sending.get_offset() == 30_000
    media = sending.url.rpartition("/")[2]
    # What is not whole is not there, whoever asks.
    assert read(site, alice, media).code == "unknown_media"
    assert read(site, alice, media, show(site, "alice", media)).code == "unknown_media"
    sending.upload()
    assert files(tmp_path) == [media, f"{media}.json"]

    found = read(site, alice, media)
    assert (found.status, found.body) == (200, JPEG)
    told = found.headers
    assert told["content-type"] == "image/jpeg" and told["content-length"] == str(len(JPEG))
    assert told["content-disposition"] == "attachment; filename=\"media.jpg\"; filename*=UTF-8''Ka%CC%88tzchen.html.jpg"
    assert told["x-content-type-options"] == "nosniff"
    assert told["content-security-policy"] == "sandbox; default-src 'none'"
    assert told["cache-control"].startswith("private") and told["vary"] == "Authorization"
    # Sent again, the head alone; and not again to whoever has it.
    head = ask(site, "HEAD", f"/v1/media/{media}", alice)
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(JPEG)))
    assert read(site, alice, media, headers={"If-None-Match": told["etag"]}).status == 304


def test_a_part_of_it_is_read_by_its_range(media_site):
    site, alice = media_site, media_site.token("alice")
    media = upload(site, alice)
    size = len(JPEG)
    for asked, status, body, told in [
        ("bytes=0-3", 206, JPEG[:4], f"bytes 0-3/{size}"),
        (f"bytes={size - 5}-", 206, JPEG[-5:], f"bytes {size - 5}-{size - 1}/{size}"),
        ("bytes=-7", 206, JPEG[-7:], f"bytes {size - 7}-{size - 1}/{size}"),
        ("bytes=0-1,5-6", 200, JPEG, None), ("lines=1-2", 200, JPEG, None),
    ]:
        found = read(site, alice, media, headers={"Range": asked})
        assert (found.status, found.body, found.headers.get("content-range")) == (status, body, told), asked
    beyond = read(site, alice, media, headers={"Range": f"bytes={size}-"})
    assert (beyond.status, beyond.code, beyond.headers["content-range"]) == (
        416, "range_not_satisfiable", f"bytes */{size}")
    # The range of another file is asked for: the whole of this one is sent.
    other = read(site, alice, media, headers={"Range": "bytes=0-3", "If-Range": '"another"'})
    assert (other.status, other.body) == (200, JPEG)


def test_it_is_read_by_whoever_has_a_message_of_its_sender_that_names_it(media_site):
    site = media_site
    tokens = {user: site.token(user) for user in ("alice", "bob", "carol")}
    site.call("POST", f"/v1/apps/{site.app}/conversations/GRP/team", {"name": "Team", "members": ["alice", "bob"]})
    media = upload(site, tokens["alice"])
    message = show(site, "alice", media, "team", "GRP")
    assert read(site, tokens["bob"], media, message).body == JPEG
    assert read(site, tokens["bob"], media).code == "unknown_media"
    # Whoever comes later, and whoever was never there, with any message.
    own = show(site, "carol", media, "alice")
    for token, named in [(tokens["carol"], message), (tokens["carol"], own), (tokens["alice"], None)]:
        found = read(site, token, media, named)
        assert found.code == ("unknown_media" if token == tokens["carol"] else None)
    site.call("POST", f"/v1/apps/{site.app}/conversations/GRP/team/members", {"users": ["carol"]})
    assert read(site, tokens["carol"], media, message).code == "unknown_media"
    again = show(site, "alice", media, "team", "GRP")
    assert read(site, tokens["carol"], media, again).body == JPEG
    # A message that is recalled names nothing any more.
    site.call("DELETE", f"/v1/apps/{site.app}/messages/{message}?actor=alice")
    assert read(site, tokens["bob"], media, message).code == "unknown_media"
    assert read(site, tokens["bob"], media, again).body == JPEG


def test_another_app_and_another_person_see_nothing_of_it(make_site, tmp_path):
    other = {"token_secret": "another secret of thirty-two bytes", "api_keys": ["o"], "api_key": {"o": {
        "sha256": hashlib.sha256(b"other-key").hexdigest(), "scopes": ["media", "tokens", "messages"]}}}
    site = make_site(settings={**settings(tmp_path), "app": {"other": other}})
    configuration = json.loads(site.config.read_text())
    configuration["apps"].append("other")
    site.config.write_text(json.dumps(configuration))
    site.start()
    media = upload(site, site.token("alice"))
    message = show(site, "alice", media, "alice")
    token = site.call("POST", "/v1/apps/other/tokens", {"user": "alice"}, key="other-key")["token"]
    unknown = read(site, site.token("alice"), OF_NOBODY)
    for found in [
        read(site, token, media), read(site, token, media, message),
        ask(site, "GET", f"/v1/apps/other/media/{media}", "other-key"),
        ask(site, "DELETE", f"/v1/apps/other/media/{media}", "other-key"),
        ask(site, "DELETE", f"/v1/media/{media}", token),
        ask(site, "PATCH", f"/v1/media/uploads/{media}", token, {**BYTES, "Upload-Offset": "0"}, b"x"),
        ask(site, "DELETE", f"/v1/media/uploads/{media}", site.token("bob"), TUS),
        ask(site, "PATCH", f"/v1/media/uploads/{media}", site.token("bob"), {**BYTES, "Upload-Offset": "0"}, b"x"),
    ]:
        # The same answer as for what is not there.
        assert (found.status, found.code) == (unknown.status, unknown.code) == (404, "unknown_media")
    head = ask(site, "HEAD", f"/v1/media/uploads/{media}", token, TUS)
    assert (head.status, head.headers.get("upload-offset")) == (404, None)
    assert site.call("GET", "/v1/apps/other/media", key="other-key") == {"media": [], "next": None}
    assert read(site, site.token("alice"), media).body == JPEG


@pytest.mark.parametrize("path", ["..%2f..%2fserver.yaml", "..", "%00", OF_NOBODY + "%2e%70art", "0" * 31 + "G", "uploads"])
def test_an_id_that_is_none_names_no_file(media_site, path):
    for prefix in ["/v1/media/", "/v1/media/uploads/"]:
        method, headers = ("GET", {}) if prefix == "/v1/media/" else ("DELETE", TUS)
        connection = http.client.HTTPConnection("127.0.0.1", media_site.phone_port, timeout=20)
        connection.request(method, prefix + path, headers={"Authorization": f"Bearer {media_site.token('a')}", **headers})
        answer = connection.getresponse()
        assert answer.status in (404, 405), (method, prefix + path, answer.read())
        connection.close()


def test_what_it_does_not_take_it_refuses_by_code_and_keeps_nothing(make_site, tmp_path):
    site = make_site(settings=settings(tmp_path, bytes_max=200_000, person_bytes_max=400_000, person_uploads_max=3)).start()
    alice = site.token("alice")

    def begin(size: int | str, kind: str = "image/jpeg", headers: dict | None = None):
        kind = base64.b64encode(kind.encode()).decode()
        return ask(site, "POST", "/v1/media/uploads", alice, {
            **TUS, "Upload-Length": str(size), "Upload-Metadata": f"filetype {kind}", **(headers or {})}, b"")

    assert begin(200_001).code == "media_too_large"
    assert begin(10, "text/html").code == begin(10, "image/svg+xml").code == "media_type_refused"
    assert begin(10, "application/octet-stream").code == begin(10, "application/pdf").code == "media_type_refused"
    for headers in [{"Upload-Length": "0"}, {"Upload-Length": "x"}, {"Upload-Metadata": "filetype !"}, {"Upload-Metadata": ""}]:
        assert begin(10, headers=headers).code == "invalid_field"
    assert begin(10, headers={"Tus-Resumable": "0.2.2"}).code == "tus_version"
    assert files(tmp_path) == []

    # Bytes of another type end the upload, whatever it is called, as soon as they are seen.
    for data in [b"<html><script>alert(1)</script></html>" * 9, b"<svg xmlns='http://www.w3.org/2000/svg'/>" * 9, PNG]:
        location = begin(len(data)).headers["location"]
        refused = ask(site, "PATCH", location, alice, {**BYTES, "Upload-Offset": "0"}, data[:40])
        assert refused.code == "media_type_refused"
        assert ask(site, "HEAD", location, alice, TUS).status == 404
    assert files(tmp_path) == []

    location = begin(1_000).headers["location"]
    for headers, code in [
        ({"Upload-Offset": "1"}, "wrong_offset"), ({"Upload-Offset": "-1"}, "invalid_field"),
        ({"Upload-Offset": "0", "Content-Type": "application/json"}, "wrong_content_type"),
        ({"Upload-Offset": "0", "Upload-Checksum": "sha1 " + base64.b64encode(b"0" * 20).decode()}, "checksum_mismatch"),
        ({"Upload-Offset": "0", "Upload-Checksum": "md5 AAAA"}, "invalid_field"),
    ]:
        assert ask(site, "PATCH", location, alice, {**BYTES, **headers}, JPEG[:100]).code == code
    assert ask(site, "PATCH", location, alice, {**BYTES, "Upload-Offset": "0"}, JPEG[:1_001]).code == "media_too_large"
    # Beyond its length nothing is kept; what is there counts.
    head = ask(site, "HEAD", location, alice, TUS)
    assert head.headers["upload-length"] == "1000" and head.headers["cache-control"] == "no-store"
    assert ask(site, "PATCH", location, "nobody", {**BYTES, "Upload-Offset": "0"}, b"x").code == "unauthorized"

    begin(1_000)
    begin(1_000)
    assert begin(1_000).code == "too_many_uploads"
    assert ask(site, "DELETE", location, alice, TUS).status == 204
    assert begin(200_000).status == 201
    ask(site, "DELETE", begin(1).headers.get("location", location), alice, TUS)
    listed = site.call("GET", f"/v1/apps/{site.app}/media?user=alice&state=unfinished")["media"]
    for each in listed:
        site.call("DELETE", f"/v1/apps/{site.app}/media/{each['media_id']}")
    for _ in range(3):
        upload(site, alice, JPEG)
    # Three whole files of 100 kB are there; another two do not fit.
    assert begin(200_000).code == "media_quota_exceeded"
    assert begin(90_000).status == 201


def test_a_server_without_a_folder_keeps_none(site):
    alice = site.token("alice")
    assert ask(site, "GET", f"/v1/media/{OF_NOBODY}", alice).code == "media_off"
    with pytest.raises(TusCommunicationError):
        upload(site, alice)


def test_the_backend_reads_lists_and_deletes_all_of_its_app(media_site, tmp_path):
    site = media_site
    base = f"/v1/apps/{site.app}/media"
    own = upload(site, site.api_key, PNG, path=f"{base}/uploads", kind="image/png", name=None)
    hers = upload(site, site.token("alice"))
    assert ask(site, "GET", f"{base}/{hers}", site.api_key).body == JPEG
    listed = {each["media_id"]: each for each in site.call("GET", base)["media"]}
    assert {media: (each["user"], each["state"], each["bytes"]) for media, each in listed.items()} == {
        own: (None, "unjudged", len(PNG)), hers: ("alice", "unjudged", len(JPEG))}
    # What the backend has uploaded is there for whoever has a message of the backend's that names it.
    bob = site.token("bob")
    assert read(site, bob, own).code == "unknown_media"
    assert read(site, bob, own, show(site, "alice", own)).body == PNG
    # Begun twice with one key it is one.
    headers = {**TUS, "Upload-Length": "9", "Upload-Metadata": "filetype aW1hZ2UvcG5n", "Idempotency-Key": '"k"'}
    first, again = (ask(site, "POST", f"{base}/uploads", site.api_key, headers, b"") for _ in range(2))
    assert (first.status, first.body) == (again.status, again.body)
    other = ask(site, "POST", f"{base}/uploads", site.api_key, {**headers, "Upload-Length": "8"}, b"")
    assert other.code == "idempotency_key_reused"
    # A person's keys are theirs: not the backend's, and nobody else's.
    alice, own_path = site.token("alice"), "/v1/media/uploads"
    begun = [ask(site, "POST", own_path, token, headers, b"").body for token in (alice, alice, bob)]
    assert begun[0] == begun[1] and len({first.body, *begun}) == 3
    assert ask(site, "POST", own_path, alice, {**headers, "Upload-Length": "8"}, b"").code == "idempotency_key_reused"

    site.call("DELETE", f"/v1/apps/{site.app}/users/alice/media")
    assert read(site, site.token("alice"), hers).code == "unknown_media"
    assert ask(site, "DELETE", f"{base}/{own}", site.api_key).status == 204
    assert [name for name in files(tmp_path) if hers in name or own in name] == []


def test_what_needs_approval_is_read_by_nobody_before_and_by_nobody_after_a_rejection(make_site, tmp_path):
    site = make_site(settings=settings(tmp_path), app_settings={"media": {"approval": "required"}}).start()
    alice, bob = site.token("alice"), site.token("bob")
    base = f"/v1/apps/{site.app}/media"
    good, bad = upload(site, alice), upload(site, alice)
    messages = {media: show(site, "alice", media) for media in (good, bad)}
    for token, named in [(bob, True), (alice, False)]:
        found = read(site, token, good, messages[good] if named else None)
        assert (found.status, found.code) == (409, "media_not_approved")
    assert read(site, bob, good).code == "unknown_media"
    waiting = [each["media_id"] for each in site.call("GET", f"{base}?state=unjudged")["media"]]
    assert waiting == sorted([good, bad])
    assert ask(site, "GET", f"{base}/{good}", site.api_key).body == JPEG

    site.call("PUT", f"{base}/{good}/verdict", {"verdict": "approved"})
    site.call("PUT", f"{base}/{bad}/verdict", {"verdict": "rejected"})
    assert read(site, bob, good, messages[good]).body == JPEG
    for token, named in [(bob, messages[bad]), (alice, None)]:
        found = read(site, token, bad, named)
        assert (found.status, found.code) == (410, "media_rejected")
    assert ask(site, "PUT", f"{base}/{bad}/verdict", site.api_key, {}, b'{"verdict":"approved"}').code == "media_rejected"
    assert [name for name in files(tmp_path) if bad in name] == [f"{bad}.json"]
    # And so it stays.
    site.server.kill()
    site.start()
    assert read(site, bob, bad, messages[bad]).code == "media_rejected"
    assert read(site, bob, good, messages[good]).body == JPEG


def test_a_server_that_is_killed_in_the_middle_goes_on_where_the_client_was_told(media_site, tmp_path):
    site, alice = media_site, media_site.token("alice")
    sending = uploader(site, alice, JPEG, chunk_size=20_000)
    sending.upload_chunk()
    media = sending.url.rpartition("/")[2]
    # More has come than was told, of a request that never ends.
    line = socket.create_connection(("127.0.0.1", site.phone_port), timeout=20)
    head = (
        f"PATCH /v1/media/uploads/{media} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {alice}\r\n"
        "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
        "Upload-Offset: 20000\r\nContent-Length: 80000\r\n\r\n")
    line.sendall(head.encode() + b"z" * 30_000)
    part = tmp_path / "media" / media[:2] / f"{media}.part"
    deadline = time.monotonic() + 20
    while part.stat().st_size <= 20_000:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # Another request waits for its turn.
    busy = ask(site, "PATCH", f"/v1/media/uploads/{media}", alice, {**BYTES, "Upload-Offset": "20000"}, b"x")
    assert busy.code == "media_busy"
    site.server.kill()
    line.close()
    site.start()
    assert sending.get_offset() == 20_000
    assert part.stat().st_size == 20_000
    assert read(site, alice, media).code == "unknown_media"
    sending.upload()
    assert read(site, alice, media).body == JPEG


def test_what_came_before_a_connection_was_lost_is_kept(media_site, tmp_path):
    site, alice = media_site, media_site.token("alice")
    sending = uploader(site, alice, JPEG, chunk_size=20_000)
    sending.upload_chunk()
    media = sending.url.rpartition("/")[2]
    line = socket.create_connection(("127.0.0.1", site.phone_port), timeout=20)
    head = (
        f"PATCH /v1/media/uploads/{media} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {alice}\r\n"
        "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Upload-Offset: 20000\r\nContent-Length: {len(JPEG) - 20_000}\r\n\r\n")
    line.sendall(head.encode() + JPEG[20_000:45_000])
    part = tmp_path / "media" / media[:2] / f"{media}.part"
    deadline = time.monotonic() + 20
    while part.stat().st_size < 45_000:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()
    while sending.get_offset() != 45_000:
        assert time.monotonic() < deadline, sending.get_offset()
        time.sleep(0.05)
    sending.offset = 45_000
    sending.upload()
    assert read(site, alice, media).body == JPEG


def test_what_no_message_names_and_what_was_left_unfinished_goes_after_a_day(make_site, tmp_path):
    clock = MovedClock(tmp_path / "clock", at=datetime.now())
    site = make_site(settings=settings(tmp_path), clock=clock).start()
    alice, base = site.token("alice"), f"/v1/apps/{site.app}/media"
    named, unnamed = upload(site, alice), upload(site, alice)
    sending = uploader(site, alice, JPEG, chunk_size=50_000)
    sending.upload_chunk()
    show(site, "alice", named)

    clock.set(datetime.now() + timedelta(hours=25))
    unfinished = sending.url.rpartition("/")[2]
    # The server looks every 30 seconds.
    deadline = time.monotonic() + 60
    while (listed := {each["media_id"] for each in site.call("GET", base)["media"]}) != {named}:
        assert time.monotonic() < deadline, listed
        time.sleep(0.5)
    assert [name for name in files(tmp_path) if unnamed in name or unfinished in name] == []
    assert ask(site, "GET", f"{base}/{named}", site.api_key).body == JPEG
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        metrics = answer.read().decode()
    assert re.search(r'^tidings_media_removed(_total)?{[^}]*reason="expired"[^}]*} 2', metrics, re.M)
    assert re.search(r"^tidings_media_files 1", metrics, re.M)
    assert re.search(rf"^tidings_media_bytes {len(JPEG)}", metrics, re.M)


def test_what_stands_in_the_folder_without_a_record_is_cleaned_up(media_site, tmp_path):
    site, alice = media_site, media_site.token("alice")
    media = upload(site, alice)
    site.server.kill()
    folder = tmp_path / "media" / "ab"
    for name in ["ab" + "0" * 30, "ab" + "0" * 30 + ".part", "ab" + "1" * 30 + ".json.new"]:
        (folder / name).write_bytes(JPEG)
    (tmp_path / "media" / media[:2] / f"{media}.json.new").write_bytes(b"{")
    site.start()
    assert files(tmp_path) == [media, f"{media}.json"]
    assert read(site, alice, media).body == JPEG
    assert os.stat(tmp_path / "media").st_mode & 0o077 == 0


def test_a_person_who_reads_nothing_has_four_answers_and_takes_no_place_from_others(make_site, tmp_path):
    limits = {"answers_per_person_max": 4, "answer_milliseconds": 1_000}
    site = make_site(settings=settings(tmp_path) | {"http": limits}).start()
    alice, bob = site.token("alice"), site.token("bob")
    large, small = upload(site, alice, JPEG + bytes(3_000_000)), upload(site, bob)
    peers = []
    for _ in range(6):
        peers.append(socket.create_connection(("127.0.0.1", site.phone_port), timeout=20))
        peers[-1].sendall(f"GET /v1/media/{large} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {alice}\r\n\r\n".encode())
        assert peers[-1].recv(15, socket.MSG_PEEK).startswith(b"HTTP/1.1 ")
    statuses = [peer.recv(13, socket.MSG_PEEK)[9:12] for peer in peers]
    assert statuses == [b"200"] * 4 + [b"429"] * 2
    refused = read(site, alice, large)
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert json.loads(refused.body)["field"] == "http.answers_per_person_max" and refused.headers["retry-after"] == "1"
    assert read(site, bob, small).status == 200
    # Whoever reads nothing for a second is hung up on.
    deadline = time.monotonic() + 30
    while read(site, alice, large).status != 200:
        assert time.monotonic() < deadline, "places of answers that nobody reads are never free again"
        time.sleep(0.2)
    for peer in peers[:4]:
        with pytest.raises(ConnectionResetError):
            while peer.recv(1 << 20):
                pass
    for peer in peers:
        peer.close()
