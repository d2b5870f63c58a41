"""Pushes without chat: to an audience, over real sockets, with the local APNs and phones in each of their states. Very many devices, and a
server that is killed half-way: test_push_proof.py."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse

import pytest
from backend import Backend
from conftest import Site, tool
from phone_stage import badge, bodies, freeze, kill, presentation, rings
from screen import Screen
from story import run
from tidings_client import Client, Refused

SECONDS = 90
TAGS = {"tags": ["shoes", "quiet"]}
RINGS_IN_FRONT = "Banner and sound while the app is open"


class Pushes:
    """What a backend does with pushes to an audience."""

    def __init__(self, site: Site):
        self.site = site
        self.backend = Backend(site)

    def send(self, audience: dict, text: str = "Everything half price", **more) -> str:
        """Returns the push's id."""
        body = {"notification": {"title": "Sale", "text": text}, "audience": audience, **more}
        return self.backend.call("POST", "pushes", body)["id"]

    def show(self, push: str) -> dict:
        return self.backend.call("GET", f"pushes/{push}")

    def message(self, push: str, user: str) -> str | None:
        return self.backend.call("GET", f"pushes/{push}/recipients/{user}")["message_id"]

    def wait_for_message(self, push: str, user: str) -> str:
        return self.wait(lambda: self.message(push, user), push)

    def count(self, audience: dict) -> int:
        return self.backend.call("GET", f"pushes/count?audience={urllib.parse.quote(json.dumps(audience))}")["people"]

    def devices(self, user: str) -> list[str]:
        found = self.backend.call("GET", f"users/{urllib.parse.quote(user, safe='')}/devices")
        return [device["id"] for device in found["devices"]]

    def wait_for(self, push: str, state: str, **ends: int) -> dict:
        """Until the push has come to the state, and its legs to these ends."""

        def look():
            found = self.show(push)
            told = {name: count for name, count in found["statistics"]["ends"].items() if count}
            return found["state"] == state and told == ends and found

        return self.wait(look, push)

    def wait(self, holds, push: str):
        deadline = time.monotonic() + SECONDS
        while not (found := holds()):
            assert time.monotonic() < deadline, f"waited for {push}: {json.dumps(self.show(push))}"
            time.sleep(0.1)
        return found


def refusal(call) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as raised:
        call()
    return raised.value.code, json.loads(raised.value.read())["code"]


async def sign_in(site: Site, *users: str):
    """A phone for each, signed in without a token, and gone."""
    for user in users:
        client = Client(site.gateway, site.token(user))
        await client.connect()
        await client.close()


# To phones, as people see it.


def test_everybody_gets_it_in_whatever_state_the_app_is_and_no_badge_grows(make_stage):
    stage = make_stage()
    pushes = Pushes(stage.site)
    alice, bob, carol = [stage.phone(user) for user in ("alice", "bob", "carol")]
    alice.do("input", value={"open": "PR:bob"})
    freeze(bob)
    kill(carol)
    push = pushes.send({"everybody": True})
    for phone in (bob, carol):
        rings(phone, pushes.wait_for_message(push, phone.user), badge=0)
        assert bodies(phone) == ["Everything half price"]
    found = pushes.wait_for(push, "done", accepted=2, settled=1)
    assert found["progress"]["recipients"] == 3 and found["progress"]["skipped"] == 0
    assert found["account"] == {"kind": "PH", "kind_name": "push_service", "id": "push"} and found["counted"] is False
    # The extensions of two phones have told that they have shown it.
    pushes.wait(lambda: pushes.show(push)["statistics"]["shown"] == 2, push)
    assert pushes.show(push)["statistics"]["repeated"] == 0
    # Each has a message of their own, with a life of its own.
    ids = {pushes.message(push, user) for user in ("alice", "bob", "carol")}
    assert len(ids) == 3
    trace = stage.site.trace(pushes.message(push, "bob"))
    assert (trace["sender"], trace["conversation"]) == ("push", {"type": "PH", "type_name": "push_service", "target": "bob"})
    assert [stage.backend.unread(user) for user in ("alice", "bob", "carol")] == [0, 0, 0]

    # One that counts.
    counted = pushes.send({"users": ["bob"]}, "One more thing", counted=True, conversation=True)
    rings(bob, pushes.wait_for_message(counted, "bob"), badge=1)
    assert stage.backend.unread("bob") == 1
    assert [phone.faults for phone in (alice, bob, carol)] == [[], [], []]


def test_it_stands_among_the_conversations_only_if_it_says_so(make_stage):
    stage = make_stage()
    pushes = Pushes(stage.site)
    bob = stage.phone("bob")
    screen = Screen(bob)

    def listed(words: str) -> bool:
        return any(words in text for text in screen.texts())

    kill(bob)
    push = pushes.send({"users": ["bob"]}, "Not a chat")
    rings(bob, pushes.wait_for_message(push, "bob"), badge=0)
    assert pushes.show(push)["conversation"] is False
    bob.do("launch")
    bob.wait_for_connection()
    # What comes later in the log is there, so the push is, too.
    stage.backend.say("alice", "bob", "hello")
    screen.wait_until(lambda: listed("hello"), "the conversation with alice")
    assert not listed("Not a chat")
    chat = pushes.send({"users": ["bob"]}, "A chat", conversation=True)
    screen.wait_until(lambda: listed("A chat"), "the conversation with the account")
    assert pushes.show(chat)["conversation"] is True
    assert refusal(lambda: pushes.send({"users": ["bob"]}, counted=True)) == (400, "invalid_field")


COMMENT = {"title": "Well done", "text": "Your comment passed", "custom": {"type": "commentpass"}}


def test_its_type_opens_a_screen_before_its_conversation_in_whatever_state_the_app_is(make_stage):
    stage = make_stage()
    pushes = Pushes(stage.site)
    # One is left and still connected: its app shows a notification of its own. One is open.
    frozen, killed, left, front = [
        stage.phone(user, background_seconds=seconds)
        for user, seconds in (("bob", 8), ("carol", 8), ("dora", 60), ("emil", 8))]
    ring_in_front(front)
    freeze(frozen)
    kill(killed)
    left.do("home")
    left.wait_until(lambda: left.shown.get("run_state") == "backgroundActive", "the app in the background")
    push = pushes.send({"everybody": True}, notification=COMMENT)
    for phone in (frozen, killed, left):
        shown = presentation(phone, pushes.wait_for_message(push, phone.user))
        assert shown["remote"] == (phone is not left), shown
        phone.do("tap", notification=shown["notification"])
        wait_for_screen(phone, "Comments")
    front.wait_until(lambda: front.shown.get("banner") == COMMENT["text"], "the app's own banner")
    front.do("input", value={"banner": "tap"})
    wait_for_screen(front, "Comments")
    # One whose type no row names opens the conversation.
    kill(killed)
    other = pushes.send({"users": ["carol"]}, notification={**COMMENT, "custom": {"type": "news"}})
    shown = presentation(killed, pushes.wait_for_message(other, "carol"))
    killed.do("tap", notification=shown["notification"])
    killed.wait_for_chat("PH:push", f"push: {COMMENT['text']}")
    assert [phone.faults for phone in (frozen, killed, left, front)] == [[], [], [], []]


def ring_in_front(phone):
    """The person wants to hear of what comes while the app is open."""
    screen = Screen(phone)
    screen.touch("Settings")
    screen.touch(screen.row_with("Notifications"))
    screen.wait_for("Allowed")
    screen.scroll_to(RINGS_IN_FRONT)
    screen.touch(RINGS_IN_FRONT)
    screen.touch("back")


def wait_for_screen(phone, title: str):
    phone.wait_until(lambda: phone.shown.get("stack", [])[-1:] == [title], f"the screen {title}")


def test_one_that_is_taken_back_goes_from_the_phones_that_show_it_and_reaches_no_other(make_stage):
    stage = make_stage()
    pushes = Pushes(stage.site)
    bob, carol = stage.phone("bob"), stage.phone("carol")
    # Carol sleeps: what is for her waits.
    stage.backend.set_person("carol", quiet_hours={
        "start": 0, "end": 1439, "weekdays": [1, 2, 3, 4, 5, 6, 7], "time_zone": "UTC", "manner": "defer"})
    kill(bob)
    kill(carol)
    push = pushes.send({"everybody": True}, "Wrong price", counted=True, conversation=True)
    message = pushes.wait_for_message(push, "bob")
    rings(bob, message, badge=1)
    waiting = pushes.wait_for_message(push, "carol")
    stage.backend.wait_for_open_leg(waiting, "carol", "quiet_hours")
    pushes.wait_for(push, "done", accepted=1)
    bob.begin()
    assert stage.backend.call("DELETE", f"pushes/{push}")["state"] in ("recalling", "recalled")
    shown = presentation(bob, message)
    assert shown["replaced"] and not shown["ring"], shown
    assert bodies(bob) == ["A message was recalled"] and badge(bob) == 0
    found = pushes.wait_for(push, "recalled", accepted=1, recalled=1)
    assert found["statistics"]["recalled"] == 2
    assert bodies(carol) == []
    # Once more, it is as it is.
    assert stage.backend.call("DELETE", f"pushes/{push}")["state"] == "recalled"


def test_one_to_a_device_rings_there_and_stands_in_the_history_of_the_others(make_stage):
    stage = make_stage()
    pushes = Pushes(stage.site)
    phone = stage.phone("bob")
    [device] = pushes.devices("bob")
    tablet = stage.phone("bob", name="bob-ipad")
    audience = {"devices": [{"user": "bob", "device": device}]}
    assert pushes.count(audience) == 1
    for one in (phone, tablet):
        kill(one)
    push = pushes.send(audience, "Only there", counted=True, conversation=True)
    message = pushes.wait_for_message(push, "bob")
    rings(phone, message, badge=1)
    pushes.wait_for(push, "done", accepted=1, not_notifiable=1)
    assert bodies(phone) == ["Only there"] and bodies(tablet) == []
    # In front, it is in the list of conversations as any message.
    tablet.do("launch")
    tablet.wait_for_connection()
    assert stage.backend.unread("bob") == 1
    assert bodies(tablet) == []
    # All but that one.
    kill(tablet)
    push = pushes.send({"all": [{"everybody": True}, {"not": audience}]}, "Not there")
    rings(tablet, pushes.wait_for_message(push, "bob"), badge=1)
    pushes.wait_for(push, "done", accepted=1, not_notifiable=1)
    assert bodies(phone) == ["Only there"] and bodies(tablet) == ["Not there"]
    assert [one.faults for one in (phone, tablet)] == [[], []]


# Whom it reaches, when and how fast.


@pytest.mark.requirement("C1.1")
def test_tags_and_aliases_say_whom_it_reaches(make_site):
    site = make_site(app_settings=TAGS).start()
    pushes = Pushes(site)
    call = pushes.backend.call
    run(sign_in(site, "alice", "bob", "carol", "dave"))
    call("PUT", "users/alice/tags", {"tags": ["shoes"]})
    call("PUT", "users/bob/tags", {"tags": ["shoes", "quiet"]})
    call("PUT", "users/carol/aliases", {"aliases": ["customer-7"]})
    audiences = {
        ("alice", "bob"): {"tag": "shoes"},
        ("alice",): {"all": [{"tag": "shoes"}, {"not": {"tag": "quiet"}}]},
        ("carol",): {"alias": "customer-7"},
        ("bob", "carol"): {"any": [{"tag": "quiet"}, {"alias": "customer-7"}, {"alias": "nobody"}]},
        ("carol", "dave"): {"not": {"tag": "shoes"}},
        ("alice", "bob", "carol", "dave"): {"everybody": True},
        ("dave",): {"users": ["dave"]},
    }
    for people, audience in audiences.items():
        assert pushes.count(audience) == len(people), audience
        push = pushes.send(audience)
        pushes.wait_for(push, "done", no_token=len(people))
        reached = {user for user in ("alice", "bob", "carol", "dave") if pushes.message(push, user)}
        assert reached == set(people), audience
    # An alias moves; a tag is one of the list.
    call("PUT", "users/dave/aliases", {"aliases": ["customer-7"]})
    assert call("GET", "users/carol/aliases") == {"aliases": []}
    assert refusal(lambda: call("PUT", "users/dave/tags", {"tags": ["made-up"]})) == (400, "invalid_field")
    assert refusal(lambda: pushes.send({"tag": "made-up"})) == (400, "invalid_field")
    call("DELETE", "users/bob/tags")
    assert call("GET", "users/bob/tags") == {"tags": []} and pushes.count({"tag": "shoes"}) == 1
    # Who is not known gets it in their log, as somebody without a phone.
    push = pushes.send({"users": ["eve", "dave"]})
    pushes.wait_for(push, "done", no_token=1, no_device=1)
    assert site.trace(pushes.message(push, "eve"))["ended_legs"][0]["end"] == "no_device"
    assert refusal(lambda: pushes.show("01qdq6qdr0000")) == (404, "unknown_push")


def test_people_choose_their_tags_on_the_phone_out_of_the_apps_list(make_site):
    site = make_site(app_settings=TAGS).start()
    pushes = Pushes(site)
    call = pushes.backend.call
    call("PUT", "users/alice/tags", {"tags": ["quiet"]})

    async def choose():
        alice = Client(site.gateway, site.token("alice"))
        await alice.connect()
        told = await alice.request("setTags", tags=["shoes", "quiet", "shoes"])
        with pytest.raises(Refused) as raised:
            await alice.request("setTags", tags=["made-up"])
        await alice.close()
        return told, raised.value

    told, refused = run(choose())
    assert told == {"tags": ["quiet", "shoes"]}
    assert (refused.code, refused.field) == ("invalid_field", "tags")
    assert call("GET", "users/alice/tags") == {"tags": ["quiet", "shoes"]} and pushes.count({"tag": "shoes"}) == 1
    # What is said last holds, whoever says it.
    call("DELETE", "users/alice/tags")
    assert pushes.count({"tag": "shoes"}) == 0


def test_who_has_blocked_the_account_is_skipped_unless_it_ignores_that(make_site):
    site = make_site().start()
    pushes = Pushes(site)
    run(sign_in(site, "alice", "bob"))
    pushes.backend.call("PUT", "users/bob/blocked/push")
    assert pushes.wait_for(pushes.send({"everybody": True}), "done", no_token=1)["progress"]["skipped"] == 1
    pushes.wait_for(pushes.send({"everybody": True}, ignores_blocks=True), "done", no_token=2)
    # Only accounts that the app has declared, and people who follow, if it is for followers.
    news = {"kind": "MP", "id": "news"}
    assert refusal(lambda: pushes.send({"everybody": True}, account=news)) == (403, "not_allowed")
    pushes.backend.call("PUT", "accounts/MP/news", {"audience": "followers"})
    pushes.backend.call("PUT", "accounts/MP/news/followers/alice")
    found = pushes.wait_for(pushes.send({"everybody": True}, account=news), "done", no_token=1)
    assert found["progress"]["skipped"] == 1


def test_it_begins_at_its_time_keeps_to_its_rate_and_can_be_stopped(make_site):
    site = make_site().start()
    pushes = Pushes(site)
    people = [f"user{number}" for number in range(30)]
    later = pushes.send({"users": ["bob"]}, send_at=int(time.time() * 1_000) + 3_600_000)
    assert pushes.show(later)["state"] == "scheduled"
    assert pushes.backend.call("POST", f"pushes/{later}/cancel")["state"] == "cancelled"
    at = int(time.time() * 1_000) + 1_500
    soon = pushes.send({"users": ["bob"]}, send_at=at)
    found = pushes.wait_for(soon, "done", no_device=1)
    assert found["changed_at"] >= at
    # One a second, from the second on: it would take half a minute.
    slow = pushes.send({"users": people}, rate_per_second=1)
    pushes.wait(lambda: pushes.show(slow)["progress"]["recipients"] >= 2, slow)
    stopped = pushes.backend.call("POST", f"pushes/{slow}/cancel")
    assert stopped["state"] == "cancelled" and stopped["progress"]["recipients"] < 30
    time.sleep(1.5)
    assert pushes.show(slow)["progress"] == stopped["progress"]
    listed = pushes.backend.call("GET", "pushes?limit=2")
    assert [push["id"] for push in listed["pushes"]] == [slow, soon]
    rest = pushes.backend.call("GET", f"pushes?limit=2&cursor={listed['next']}")
    assert [push["id"] for push in rest["pushes"]] == [later] and rest["next"] is None


def test_under_one_idempotency_key_it_is_one_push(make_site):
    site = make_site().start()
    body = {"notification": {"text": "once"}, "audience": {"users": ["bob"]}}
    path, key = f"/v1/apps/{site.app}/pushes", {"Idempotency-Key": '"k1"'}
    first = site.call("POST", path, body, headers=key)
    site.server.kill()
    site.start()
    assert site.call("POST", path, body, headers=key)["id"] == first["id"]
    assert [push["id"] for push in site.call("GET", path)["pushes"]] == [first["id"]]
    assert refusal(lambda: site.call("POST", path, {**body, "conversation": True}, headers=key)) == (
        422, "idempotency_key_reused")


def test_one_to_the_app_itself_is_handed_over_where_the_app_is(make_site):
    site = make_site().start()
    pushes = Pushes(site)

    async def story():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        push = pushes.backend.call("POST", "pushes", {"custom": {"content": "refresh"}, "audience": {"everybody": True}})
        await bob.wait_for(lambda: bob.entries("custom"))
        assert bob.entries("custom")[0]["content"] == "refresh"
        pushes.wait_for(push["id"], "done")
        await bob.close()
        assert refusal(lambda: pushes.backend.call("DELETE", f"pushes/{push['id']}")) == (403, "not_allowed")

    run(story())


def test_the_tool_sends_lists_shows_and_stops(make_site):
    site = make_site().start()
    pushes = Pushes(site)

    def tidings(*arguments: str) -> str:
        done = subprocess.run(
            [tool(), "push", arguments[0], site.app, *arguments[1:], "--api", site.api, "--key", site.api_key],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert tidings("list") == "there are no pushes"
    push = tidings("send", "--user", "bob", "--user", "eve", "--title", "Sale", "Half price")
    pushes.wait_for(push, "done", no_device=2)
    assert tidings("list").splitlines() == ["push           state  people", f"{push}  done        2"]
    shown = tidings("show", push).splitlines()
    assert shown[0] == f"{push}  done  2 people" and shown[-1] == "  no_device  2"
    assert tidings("cancel", push).startswith(f"{push}  done")
    tidings("recall", push)
    pushes.wait_for(push, "recalled", no_device=2)
    # To a device of somebody whose name has a slash.
    run(sign_in(site, "shop/bob"))
    [device] = pushes.devices("shop/bob")
    pushes.wait_for(tidings("send", "--device", f"shop/bob/{device}", "Half price"), "done", no_token=1)
    # At a time on people's own clocks, tomorrow or the day after.
    morning = time.strftime("%Y-%m-%dT09:00", time.gmtime(time.time() + 2 * 86_400))
    local = tidings("send", "--user", "bob", "--at-local", morning, "--time-zone", "Asia/Shanghai", "Half price")
    found = pushes.show(local)
    assert (found["state"], found["send_at_local"], found["time_zone"]) == ("scheduled", morning, "Asia/Shanghai")
    assert tidings("show", local).splitlines()[2].startswith(f"  at {morning} on people's own clocks, next 20")
    assert tidings("cancel", local).splitlines()[2] == f"  at {morning} on people's own clocks"
