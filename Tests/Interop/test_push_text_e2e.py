"""Where the text of a push stands (`app.ID.push.text`), end to end: what is on the screen of a phone whose app is not running, with its service
extension and without, and what APNs has carried.

Server, local APNs and phones are real. The app has shown no notification before.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import socket
import typing

import pytest
from media import JPEG, settings, show, upload

from phone import Phone
from phone_stage import Stage, badge, events_of, kill, listed, presentation, rings

MODES = ["extension", "alert", "id_only"]
LANGUAGES = ["en", "zh-Hans"]
NEUTRAL = {"en": "You have a new message", "zh-Hans": "您收到一条新消息"}
PICTURE = {"en": "[Image]", "zh-Hans": "[图片]"}
RECALLED = {"en": "A message was recalled", "zh-Hans": "一条消息已被撤回"}


class Kind(typing.NamedTuple):
    """How bob gets a message, and title, text and image of its notification wherever the text reaches the phone."""

    send: typing.Callable[[Stage], str]
    title: str
    text: str | dict[str, str]
    image: bytes | None = None


def first_push_ever(stage: Stage) -> str:
    return stage.backend.say("alice", "bob", "hello")


def mention_in_a_group(stage: Stage) -> str:
    return stage.backend.say("alice", "team", "look here", kind="GRP", mentions={"users": ["bob"]})


def account(stage: Stage) -> str:
    return stage.backend.say("help", "bob", "How can we help you?", kind="CS", author="u-olga")


def image(stage: Stage) -> str:
    return show(stage.site, "alice", upload(stage.site, stage.site.token("alice")))


def hidden_content(stage: Stage) -> str:
    """Bob hides on another device what messages say: this phone's app is not there to hear of it."""
    language = stage.backend.call("GET", "users/bob/settings")["language"]
    stage.backend.set_person("bob", language=language, hides_content=True)
    return stage.backend.say("alice", "bob", "secret")


# In this order on each phone, so that the number tells how many came before.
KINDS = [
    Kind(first_push_ever, "Alice", "hello"),
    Kind(mention_in_a_group, "The team", "Alice: look here"),
    Kind(account, "Help Desk", "How can we help you?"),
    Kind(image, "Alice", PICTURE, image=JPEG),
    Kind(hidden_content, "", NEUTRAL),
]

# Everything on the newest iOS, each mode on the oldest, the default also on those between them.
ROWS = [
    *itertools.product(MODES, LANGUAGES, ["26"]),
    ("extension", "en", "15"),
    ("alert", "zh-Hans", "15"),
    ("id_only", "zh-Hans", "15"),
    *(("extension", "en", version) for version in ["16", "17", "18"]),
]


def notifications(phone: Phone) -> list[tuple[str, str, str, str]]:
    """The list, newest first: message, title, subtitle and text."""
    entries = phone.do("screen")["list"]
    return [(entry["notification"], entry["title"], entry["subtitle"], entry["body"]) for entry in entries]


def images(phone: Phone, message: str) -> list[bytes]:
    """What stands beside the text of a message's notification."""
    (entry,) = [entry for entry in phone.do("screen")["list"] if entry["notification"] == message]
    return [pathlib.Path(shown.removeprefix("file://")).read_bytes() for shown in entry["attachments"]]


def stage_of(make_stage, mode: str, language: str = "en", own: dict | None = None) -> Stage:
    """A stage for bob, whose team is called The team; alice is called Alice, and an account Help Desk."""
    stage = make_stage(own, app_settings={"push": {"text": mode}})
    stage.backend.set_person("bob", language=language)
    stage.backend.call_person("alice", "Alice")
    stage.backend.make_group("team", "The team", "alice", "bob")
    stage.backend.call_person("help", "Help Desk")
    stage.backend.call("PUT", "accounts/CS/help", {"operators": ["u-olga"]})
    return stage


def killed(stage: Stage, *arguments: str, version: str = "26", **options) -> Phone:
    """A phone of bob's with this iOS on which he has killed the app."""
    phone = stage.phone("bob", arguments=("--ios", version, *arguments), **options)
    kill(phone)
    return phone


@pytest.mark.parametrize("mode, language, version", ROWS)
def test_title_text_image_sound_and_badge(make_stage, tmp_path, mode, language, version):
    stage = stage_of(make_stage, mode, language, settings(tmp_path))
    runs = killed(stage, version=version, name="with-extension")
    none = killed(stage, "--extension", "none", version=version, name="without-extension")
    shows_text = {runs.name: True, none.name: mode == "alert"}
    neutral = ("", "", NEUTRAL[language])
    lists: dict[str, list] = {runs.name: [], none.name: []}
    for number, kind in enumerate(KINDS, start=1):
        message = kind.send(stage)
        real = (kind.title, "", kind.text if isinstance(kind.text, str) else kind.text[language])
        for phone in [runs, none]:
            rings(phone, message, badge=number)
            lists[phone.name].insert(0, (message, *(real if shows_text[phone.name] else neutral)))
            assert notifications(phone) == lists[phone.name], (kind.send.__name__, phone.name)
        assert images(runs, message) == ([kind.image] if kind.image else []), kind.send.__name__
        assert images(none, message) == [], kind.send.__name__
    for phone in [runs, none]:
        carried = [push["payload"] for push in events_of(phone, "push")]
        assert len(carried) == len(KINDS)
        # Nobody learns who wrote as the account, nor anything of what is hidden.
        assert "u-olga" not in json.dumps([carried, phone.do("screen")])
        assert not any(word in json.dumps(carried[-1]) for word in ["secret", "Alice"])
        if mode == "id_only":
            kept = ["hello", "look here", "Alice", "The team", "help you", "Help Desk", "media:"]
            assert not any(word in json.dumps(carried) for word in kept)

    # What was recalled stands there without its text, in each mode and however it was shown, and nothing is heard of it.
    for phone in [runs, none]:
        phone.begin()
    first = lists[none.name][-1][0]
    stage.backend.recall(first, "alice")
    for phone in [runs, none]:
        shown = presentation(phone, first)
        assert shown["list"] and shown["replaced"] and shown["badge"] == len(KINDS) - 1, shown
        assert not (shown["ring"] or shown["sound"] or shown["banner"]), shown
        assert notifications(phone) == [(first, "", "", RECALLED[language]), *lists[phone.name][:-1]], phone.name
        assert badge(phone) == len(KINDS) - 1
        (recall,) = events_of(phone, "push")
        assert recall["collapse_id"] == first and "hello" not in json.dumps(recall["payload"])
        assert phone.faults == []


@pytest.mark.parametrize("mode", MODES)
def test_what_was_recalled_is_gone_where_the_extension_may_discard_alerts(make_stage, mode):
    stage = stage_of(make_stage, mode)
    bob = killed(stage, "--filtering")
    first = first_push_ever(stage)
    rings(bob, first, badge=1)
    mention = mention_in_a_group(stage)
    rings(bob, mention, badge=2)
    bob.begin()
    stage.backend.recall(first, "alice")
    shown = presentation(bob, first)
    assert shown["badge"] == 1, shown
    assert not (shown["list"] or shown["ring"] or shown["sound"] or shown["banner"]), shown
    bob.wait_until(lambda: listed(bob) == [mention], "the list without what was recalled")
    assert notifications(bob) == [(mention, "The team", "", "Alice: look here")]
    assert badge(bob) == 1
    assert bob.faults == []


@pytest.mark.parametrize("listens", [False, True], ids=["nobody-listens", "nobody-answers"])
def test_an_extension_that_gets_no_answer_leaves_the_neutral_alert(make_stage, listens):
    # A connection is taken by the system already, and then nothing comes.
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        stage = stage_of(make_stage, "id_only")
        bob = killed(stage, environment={"CHAT_API_URL": f"http://127.0.0.1:{server.getsockname()[1]}"})
        message = stage.backend.say("alice", "bob", "hello")
        rings(bob, message, badge=1)
        assert notifications(bob) == [(message, "", "", NEUTRAL["en"])]
