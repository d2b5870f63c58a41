"""Calls, end to end: the backend rings, a real server, a real local APNs, and phones with the example app (PushKit, CallKit)."""

from __future__ import annotations

import json
import urllib.error
import uuid

import pytest
from conftest import TOPIC
from phone_stage import events_of, freeze, kill

CALLS = {"CHAT_CALLS": "yes"}


def callee(stage, user: str = "bob", **options):
    """A phone whose app takes calls, in the foreground; the server knows its token for calls."""
    phone = stage.phone(user, environment=CALLS, **options)
    phone.wait_until(lambda: device(stage, user)["voip"] == "registered", "the token for calls")
    return phone


def device(stage, user: str) -> dict:
    (found,) = stage.backend.call("GET", f"users/{user}/devices")["devices"]
    return found


def ring(stage, caller: str, callee: str, **more) -> str:
    call = str(uuid.uuid4())
    answer = stage.backend.call("POST", "calls", {"id": call, "from": caller, "to": callee, **more})
    assert answer["id"] == call
    assert answer["expires_at"] - answer["sent_at"] == more.get("lifetime_ms", 30_000)
    return call


def states(stage, call: str) -> list[str]:
    return [found["state"] for found in stage.backend.call("GET", f"calls/{call}")["devices"]]


def ringing(phone) -> list[tuple[str, bool]]:
    return [(call["caller"], call["answered"]) for call in phone.do("screen")["calls"]]


@pytest.mark.parametrize("leave", [kill, freeze, lambda phone: phone.begin()], ids=["killed", "frozen", "in front"])
def test_a_call_rings_with_the_callers_name_and_the_answer_comes_to_the_app(make_stage, leave):
    stage = make_stage()
    stage.backend.call_person("alice", "Alice Liddell")
    bob = callee(stage)
    leave(bob)
    call = ring(stage, "alice", "bob", data={"room": "tea"})
    bob.wait_until(lambda: ringing(bob) == [("Alice Liddell", False)], "the call on the screen")
    bob.wait_until(lambda: states(stage, call) == ["accepted"], "what APNs said")
    (push,) = events_of(bob, "push")
    assert push["push_type"] == "voip"
    assert push["payload"]["data"] == {"room": "tea"}
    bob.do("answer_call")
    bob.wait_until(lambda: bob.shown.get("call") == f"answered {call}", "the answer in the app")
    assert ringing(bob) == [("Alice Liddell", True)]
    bob.do("decline_call")
    # An app that runs for the call alone is frozen with its end, before its screen can tell of it.
    bob.wait_until(
        lambda: any("CXEndCallAction" in event["name"] for event in events_of(bob, "callback")), "the end in the app")
    assert ringing(bob) == []
    # A call is no message.
    assert bob.do("screen")["list"] == [] and stage.backend.unread("bob") == 0
    assert bob.faults == []


def test_a_blocked_caller_rings_nowhere(make_stage):
    stage = make_stage()
    bob = callee(stage)
    stage.backend.call("PUT", "users/bob/blocked/mallory")
    kill(bob)
    with pytest.raises(urllib.error.HTTPError) as refused:
        ring(stage, "mallory", "bob")
    problem = json.loads(refused.value.read())
    assert (refused.value.code, problem["code"], problem["field"]) == (403, "blocked", "to")
    call = ring(stage, "alice", "bob")
    bob.wait_until(lambda: ringing(bob) == [("alice", False)], "the other call")
    assert len(events_of(bob, "push")) == 1
    bob.wait_until(lambda: states(stage, call) == ["accepted"], "what APNs said")


def test_the_token_for_calls_ends_with_a_410_and_the_one_for_messages_stays(make_stage):
    stage = make_stage()
    bob = callee(stage)
    kill(bob)
    control = f"http://127.0.0.1:{stage.site.control_port}"
    devices = stage.site.call("GET", f"/devices?topic={TOPIC}.voip", base=control)
    (token,) = [found["token"] for found in devices]
    stage.site.call("POST", f"/devices/{token}/retire", base=control)
    call = ring(stage, "alice", "bob")
    bob.wait_until(lambda: states(stage, call) == ["refused"], "the refusal")
    (told,) = stage.backend.call("GET", f"calls/{call}")["devices"]
    assert (told["reason"], told["status"]) == ("Unregistered", 410)
    bob.wait_until(lambda: device(stage, "bob")["voip"] == "none", "the token to be forgotten")
    assert device(stage, "bob")["push"] == "registered"
    again = ring(stage, "alice", "bob")
    assert states(stage, again) == ["no_token"]
    assert ringing(bob) == []


def test_a_repeated_request_rings_once(make_stage):
    stage = make_stage()
    bob = callee(stage)
    kill(bob)
    body = {"id": str(uuid.uuid4()), "from": "alice", "to": "bob", "lifetime_ms": 0}
    path = f"/v1/apps/{stage.site.app}/calls"
    answers = [
        stage.site.call("POST", path, body, headers={"Idempotency-Key": '"one"'}) for _ in range(2)
    ]
    assert answers[0] == answers[1]
    bob.wait_until(lambda: ringing(bob) == [("alice", False)], "the call on the screen")
    with pytest.raises(urllib.error.HTTPError) as refused:
        stage.site.call("POST", path, body)
    assert (refused.value.code, json.loads(refused.value.read())["code"]) == (409, "exists")
    assert len(events_of(bob, "push")) == 1
