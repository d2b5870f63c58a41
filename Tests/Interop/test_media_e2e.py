"""The image of a message that lies on the server itself, end to end: uploaded by a tus client, pushed by id, and shown beside the text by
the extension of a killed app, which fetches it with its own token."""

from __future__ import annotations

import json
import pathlib
import uuid

import pytest
from media import JPEG, PNG, ask, settings, show, upload

from phone_stage import badge, bodies, events_of, kill, rings
from test_names_e2e import VERSION
from test_picture_e2e import attachments


@pytest.fixture
def stage(make_stage, tmp_path):
    return make_stage(settings(tmp_path))


@pytest.mark.parametrize("version", ["15", "26"])
def test_a_killed_phone_shows_the_thumbnail_that_the_push_names_by_id(stage, version):
    site = stage.site
    bob = stage.phone("bob", arguments=("--ios", version))
    kill(bob)
    alice = site.token("alice")
    image, small = upload(site, alice, JPEG), upload(site, alice, PNG, kind="image/png", name="small.png")
    content = {"imageUri": f"media:{image}", "thumbnailUri": f"media:{small}"}
    message = stage.backend.call("POST", "messages", {
        "sender": "alice", "client_message_id": uuid.uuid4().hex, "conversation": {"type": "PR", "target": "bob"},
        "object_name": "RC:ImgMsg", "content": json.dumps(content), "push_text": "Look!"})["message_id"]
    rings(bob, message, badge=1)
    assert bodies(bob) == ["Look!"]
    (shown,) = attachments(bob, message)
    assert pathlib.Path(shown.removeprefix("file://")).read_bytes() == PNG
    (push,) = events_of(bob, "push")
    # The id and nothing that opens it.
    assert push["payload"]["tidings"]["image"] == f"media:{small}"
    assert "http" not in json.dumps(push["payload"]) and "token" not in json.dumps(push["payload"])
    assert bob.faults == []


@pytest.mark.parametrize("version", ["15", "26"])
def test_the_image_of_a_notification_may_be_a_file_of_the_server(stage, version):
    bob = stage.phone("bob", arguments=("--ios", version))
    kill(bob)
    media = upload(stage.site, stage.site.token("alice"))
    message = stage.backend.call("POST", "messages", {
        "sender": "alice", "client_message_id": uuid.uuid4().hex, "conversation": {"type": "PR", "target": "bob"},
        "content": json.dumps({"content": "hello"}), "push": {"image": f"media:{media}"}})["message_id"]
    rings(bob, message, badge=1)
    assert bodies(bob) == ["hello"]
    (shown,) = attachments(bob, message)
    assert pathlib.Path(shown.removeprefix("file://")).read_bytes() == JPEG
    assert bob.faults == []


def image_name(data: bytes) -> str:
    """As a virtual phone names an image that came as bytes."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{len(data)} bytes {value:x}"


@pytest.mark.parametrize("version", ["15", "17", "26"])
def test_a_killed_phone_shows_who_writes_with_the_portrait_that_the_push_names_by_id(stage, version):
    site = stage.site
    bob = stage.phone("bob", arguments=("--communication", "--ios", version))
    kill(bob)
    portrait = upload(site, site.token("alice"), JPEG)
    stage.backend.call("PUT", "users/alice/profile", {"name": "Alice Liddell", "portrait": f"media:{portrait}"})
    stage.backend.call("PUT", "conversations/GRP/team", {"name": "The team", "members": ["bob", "alice"]})
    message = stage.backend.say("alice", "team", "hello", kind="GRP", mentions={"users": ["bob"]})
    rings(bob, message, badge=1)
    screen = bob.do("screen")
    (entry,) = screen["list"]
    assert (entry["title"], entry["subtitle"], entry["body"]) == ("Alice Liddell", "The team", "hello")
    told = entry["communication"]
    assert (told["sender"], told["group"], told["mention"]) == ("Alice Liddell", "The team", True)
    assert told["portrait"] == image_name(JPEG)
    # The app itself has said something when it signed in.
    said, donated = screen["apps"]["com.example.chat"]["donations"]
    assert (said["sender"], said["outgoing"]) == (None, True)
    assert (donated["identifier"], donated["sender"], donated["outgoing"]) == (message, "Alice Liddell", False)
    stage.backend.recall(message, actor="alice")
    bob.wait_until(lambda: badge(bob) == 0, "the number to fall")
    assert bob.do("screen")["apps"]["com.example.chat"]["donations"] == [said]
    assert bob.faults == []


def test_what_may_not_be_read_is_not_shown_and_the_message_comes_all_the_same(stage):
    site = stage.site
    bob = stage.phone("bob", arguments=VERSION)
    kill(bob)
    foreign = upload(site, site.token("carol"))
    unfinished = "ab" * 16
    for number, media in enumerate([foreign, unfinished], start=1):
        # Alice has not uploaded it, so her message opens nothing.
        message = show(site, "alice", media)
        rings(bob, message, badge=number)
        assert attachments(bob, message) == []
    own = upload(site, site.token("alice"))
    message = show(site, "alice", own)
    rings(bob, message, badge=3)
    assert len(attachments(bob, message)) == 1
    stage.backend.recall(message, actor="alice")
    bob.wait_until(lambda: badge(bob) == 2, "the number to fall")
    assert attachments(bob, message) == []
    assert bob.faults == []


@pytest.mark.parametrize("version", ["15", "26"])
def test_with_ids_only_the_image_is_named_by_the_server_and_fetched_with_it(make_stage, tmp_path, version):
    stage = make_stage(settings(tmp_path), app_settings={"push": {"text": "id_only"}})
    bob = stage.phone("bob", arguments=("--ios", version))
    kill(bob)
    media = upload(stage.site, stage.site.token("alice"))
    message = show(stage.site, "alice", media, push_text="Look!")
    rings(bob, message, badge=1)
    (shown,) = attachments(bob, message)
    assert pathlib.Path(shown.removeprefix("file://")).read_bytes() == JPEG
    (push,) = events_of(bob, "push")
    assert "image" not in push["payload"]["tidings"]
    assert bob.faults == []


def test_an_image_that_waits_for_approval_is_not_shown(make_stage, tmp_path):
    stage = make_stage(settings(tmp_path), app_settings={"media": {"approval": "required"}})
    site = stage.site
    bob = stage.phone("bob", arguments=VERSION)
    kill(bob)
    media = upload(site, site.token("alice"))
    message = show(site, "alice", media)
    rings(bob, message, badge=1)
    assert attachments(bob, message) == []
    site.call("PUT", f"/v1/apps/{site.app}/media/{media}/verdict", {"verdict": "approved"})
    message = show(site, "alice", media)
    rings(bob, message, badge=2)
    assert len(attachments(bob, message)) == 1
    assert ask(site, "GET", f"/v1/media/{media}?message={message}", "no token").code == "unauthorized"
    assert bob.faults == []
