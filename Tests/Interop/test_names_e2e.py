"""Who a notification says it is from, end to end: what the app's backend calls people, on the screen of a phone whose app is not running.

Server, local APNs and phones are real. The app has shown no notification before, so its extension knows no names of the app's own.
"""

from __future__ import annotations

import json
import urllib.error

import pytest

from phone_stage import freeze, kill, rings

# The newest iOS.
VERSION = ("--ios", "26")


def words(phone, message: str) -> tuple[str, str]:
    """Title and text of a message's notification in the list."""
    (entry,) = [entry for entry in phone.do("screen")["list"] if entry["notification"] == message]
    return entry["title"], entry["body"]


@pytest.mark.parametrize("state", [freeze, kill], ids=["frozen", "killed"])
def test_the_first_push_ever_says_who_writes(make_stage, state):
    stage = make_stage()
    bob = stage.phone("bob", arguments=VERSION)
    state(bob)
    stage.backend.call_person("u-81723", "Alice Liddell")
    message = stage.backend.say("u-81723", "bob", "hello")
    rings(bob, message, badge=1)
    assert words(bob, message) == ("Alice Liddell", "hello")
    # Nothing is told by an id: without a profile there is no title.
    nameless = stage.backend.say("u-4", "bob", "psst")
    rings(bob, nameless, badge=2)
    assert words(bob, nameless) == ("", "psst")


def test_a_push_of_a_group_names_group_and_sender_and_the_nickname_goes_before_the_name(make_stage):
    stage = make_stage()
    bob = stage.phone("bob", arguments=VERSION)
    kill(bob)
    stage.backend.call("PUT", "profiles", {"profiles": [
        {"user": "u-1", "name": "Alice"}, {"user": "u-2", "name": "Carol", "portrait": "https://files.example.com/c.png"},
    ]})
    stage.backend.call("PUT", "conversations/GRP/team", {
        "name": "The team", "members": ["bob", "u-1", {"user": "u-2", "role": "admin", "nickname": "Boss"}],
    })
    first = stage.backend.say("u-1", "team", "hello", kind="GRP")
    rings(bob, first, badge=1)
    assert words(bob, first) == ("The team", "Alice: hello")
    second = stage.backend.say("u-2", "team", "hi", kind="GRP", mentions={"users": ["bob"]})
    rings(bob, second, badge=2)
    assert words(bob, second) == ("The team", "Boss: hi")


def test_what_is_hidden_names_nobody(make_stage):
    stage = make_stage()
    bob = stage.phone("bob", arguments=VERSION)
    stage.backend.set_person("bob", hides_content=True, language="zh-Hans")
    kill(bob)
    stage.backend.call_person("alice", "Alice")
    message = stage.backend.say("alice", "bob", "hello")
    rings(bob, message, badge=1)
    assert words(bob, message) == ("", "您收到一条新消息")


def test_a_picture_is_named_in_the_words_of_the_recipient(make_stage):
    stage = make_stage()
    bob = stage.phone("bob", arguments=VERSION)
    stage.backend.set_person("bob", language="zh-Hans")
    kill(bob)
    stage.backend.call_person("alice", "爱丽丝")
    message = stage.backend.say("alice", "bob", "", object_name="RC:ImgMsg")
    rings(bob, message, badge=1)
    assert words(bob, message) == ("爱丽丝", "[图片]")


def test_a_profile_is_read_replaced_and_forgotten(site):
    def call(method, path, body=None):
        return site.call(method, f"/v1/apps/{site.app}/{path}", body)

    assert call("GET", "users/zoe/profile") == {"user": "zoe", "name": None, "portrait": None}
    call("PUT", "users/zoe/profile", {"name": "Zoe", "portrait": "https://files.example.com/z.png"})
    assert call("GET", "users/zoe/profile") == {
        "user": "zoe", "name": "Zoe", "portrait": "https://files.example.com/z.png"}
    call("PUT", "users/zoe/profile", {"name": "Zo"})
    assert call("GET", "users/zoe/profile") == {"user": "zoe", "name": "Zo", "portrait": None}
    call("DELETE", "users/zoe/profile")
    assert call("GET", "users/zoe/profile")["name"] is None


@pytest.mark.parametrize(
    "body, field",
    [
        ({"profiles": []}, "profiles"),
        ({}, "profiles"),
        ({"profiles": [{"name": "A"}]}, "profiles[0].user"),
        ({"profiles": [{"user": "a", "name": "A"}, {"user": "b", "name": ""}]}, "profiles[1].name"),
        ({"profiles": [{"user": "a", "name": "A\nB"}]}, "profiles[0].name"),
        ({"profiles": [{"user": "a", "name": "\u202eA"}]}, "profiles[0].name"),
        ({"profiles": [{"user": "a", "name": "\u200b"}]}, "profiles[0].name"),
        ({"profiles": [{"user": "a", "portrait": ""}]}, "profiles[0].portrait"),
        ({"profiles": [{"user": "a", "nickname": "A"}]}, "profiles[0].nickname"),
        ({"profiles": [{"user": f"u{number}"} for number in range(1_001)]}, "profiles"),
    ],
)
def test_of_bad_profiles_none_is_set(site, body, field):
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("PUT", f"/v1/apps/{site.app}/profiles", body)
    problem = json.loads(refused.value.read())
    assert (problem["status"], problem["field"]) == (400, field), problem
    assert site.call("GET", f"/v1/apps/{site.app}/users/a/profile")["name"] is None


@pytest.mark.parametrize("letter", ["x", "e\u0301"], ids=["one scalar", "two scalars"])
def test_a_name_has_at_most_64_letters_as_they_are_seen(site, letter):
    def put(name):
        site.call("PUT", f"/v1/apps/{site.app}/profiles", {"profiles": [{"user": "a", "name": name}]})

    put(letter * 64)
    with pytest.raises(urllib.error.HTTPError) as refused:
        put(letter * 65)
    problem = json.loads(refused.value.read())
    assert (problem["status"], problem["field"]) == (400, "profiles[0].name"), problem
    assert problem["detail"] == "profiles[0].name must be at most 64 letters, got 65"
    assert site.call("GET", f"/v1/apps/{site.app}/users/a/profile")["name"] == letter * 64
