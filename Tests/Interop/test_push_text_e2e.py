"""Where the text of a push stands (`app.ID.push.text`), end to end: what is on the screen of a phone whose app is not running, with its service
extension and without, and what APNs has carried.

Server, local APNs and phones are real. The app has shown no notification before.
"""

from __future__ import annotations

import itertools
import json
import socket

import pytest

from phone_stage import events_of, kill, listed, rings

NEUTRAL = {"en": "You have a new message", "zh-Hans": "您收到一条新消息"}
PICTURE = {"en": "[Image]", "zh-Hans": "[图片]"}
RECALLED = {"en": "A message was recalled", "zh-Hans": "一条消息已被撤回"}


def shown(phone, message: str) -> tuple[str, str]:
    """Title and text of a message's notification in the list."""
    (entry,) = [entry for entry in phone.do("screen")["list"] if entry["notification"] == message]
    return entry["title"], entry["body"]


def stage_of(make_stage, mode: str, language: str, *arguments: str, version: str = "26", **options):
    """A stage whose bob has killed the app on a phone with this iOS; his team is called The team, alice is called Alice."""
    stage = make_stage(app_settings={"push": {"text": mode}})
    bob = stage.phone("bob", arguments=("--ios", version, *arguments), **options)
    stage.backend.set_person("bob", language=language)
    stage.backend.call_person("alice", "Alice")
    stage.backend.make_group("team", "The team", "alice", "bob")
    kill(bob)
    return stage, bob


# Every row on the newest iOS, one also on the oldest and on the one in between.
ROWS = [
    *itertools.product(["extension", "alert", "id_only"], [True, False], ["en", "zh-Hans"], ["26"]),
    *[("extension", True, "en", version) for version in ["15", "17"]],
]


@pytest.mark.parametrize(
    "mode, runs, language, version", ROWS,
    ids=["-".join([mode, "runs" if runs else "none", language, version]) for mode, runs, language, version in ROWS])
def test_title_text_sound_and_badge(make_stage, mode, runs, language, version):
    stage, bob = stage_of(make_stage, mode, language, *([] if runs else ["--extension", "none"]), version=version)
    has_text = runs or mode == "alert"
    neutral = ("", NEUTRAL[language])
    first = stage.backend.say("alice", "bob", "hello")
    rings(bob, first, badge=1)
    assert shown(bob, first) == (("Alice", "hello") if has_text else neutral)
    mention = stage.backend.say("alice", "team", "look here", kind="GRP", mentions={"users": ["bob"]})
    rings(bob, mention, badge=2)
    assert shown(bob, mention) == (("The team", "Alice: look here") if has_text else neutral)
    picture = stage.backend.say("alice", "bob", "", object_name="RC:ImgMsg")
    rings(bob, picture, badge=3)
    assert shown(bob, picture) == (("Alice", PICTURE[language]) if has_text else neutral)
    # What was recalled stands there without its text, in each mode.
    stage.backend.recall(first, "alice")
    bob.wait_until(lambda: first not in listed(bob) or shown(bob, first)[1] == RECALLED[language], "the recall")
    if mode == "id_only":
        carried = json.dumps([push["payload"] for push in events_of(bob, "push")])
        assert first in carried and not any(word in carried for word in ["hello", "look here", "Alice", "The team"])


@pytest.mark.parametrize("mode", ["alert", "id_only"])
def test_hidden_content_wins(make_stage, mode):
    stage, bob = stage_of(make_stage, mode, "en")
    stage.backend.set_person("bob", hides_content=True)
    message = stage.backend.say("alice", "bob", "hello")
    rings(bob, message, badge=1)
    assert shown(bob, message) == ("", NEUTRAL["en"])


@pytest.mark.parametrize("listens", [False, True], ids=["nobody-listens", "nobody-answers"])
def test_an_extension_that_gets_no_answer_leaves_the_neutral_alert(make_stage, listens):
    # A connection is taken by the system already, and then nothing comes.
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        stage, bob = stage_of(
            make_stage, "id_only", "en", environment={"CHAT_API_URL": f"http://127.0.0.1:{server.getsockname()[1]}"})
        message = stage.backend.say("alice", "bob", "hello")
        rings(bob, message, badge=1)
        assert shown(bob, message) == ("", NEUTRAL["en"])
