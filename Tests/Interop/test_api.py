"""The HTTP API as an app's backend and an operator see it: what it answers, and how it refuses."""

import asyncio
import json
import urllib.error
import urllib.request

import pytest
from tidings_client import Client


def get(address):
    """Status and text of a plain GET without a key."""
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.status, answer.read().decode()


def refusal(site, method, path, body=None, key=None):
    """Status, type and problem of a request that has to be refused. A body of bytes is sent as it is."""
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    base = site.phone if path.startswith("/v1/extension/") else site.api
    request = urllib.request.Request(base + path, method=method, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            raise AssertionError(f"{method} {path} was answered with {answer.status}")
    except urllib.error.HTTPError as error:
        problem = json.loads(error.read())
        site.check_described(method, path, error.code, problem=problem)
        assert error.headers["X-Request-Id"] == problem["request_id"]
        return error.code, error.headers.get_content_type(), problem


def test_it_says_that_it_lives_takes_work_and_counts(site):
    assert get(f"{site.api}/healthz") == (200, "{\"status\":\"ok\"}\n")
    assert get(f"{site.api}/readyz")[0] == 200
    assert "tidings_gateway_connections" in get(f"{site.api}/metrics")[1]
    assert get(f"{site.api}/openapi.yaml")[1].startswith("openapi: 3.1")


def test_a_message_sent_over_http_arrives_once_and_can_be_traced(site):
    body = {
        "sender": "alice",
        "client_message_id": "over-http",
        "conversation": {"type": "PR", "target": "bob"},
        "object_name": "RC:TxtMsg",
        "content": "{\"content\":\"from the backend\"}",
    }

    async def story():
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        first = await asyncio.to_thread(site.call, "POST", "/v1/apps/demo/messages", body)
        again = await asyncio.to_thread(site.call, "POST", "/v1/apps/demo/messages", body)
        await bob.wait_for(lambda: bob.messages)
        await bob.ping()
        await bob.close()
        return bob.messages, first, again

    messages, first, again = asyncio.run(asyncio.wait_for(story(), 60))
    assert [(message["id"], message["sender"]) for message in messages] == [(first["message_id"], "alice")]
    assert (again["message_id"], first["repeated"], again["repeated"]) == (first["message_id"], False, True)
    assert {(leg["user"], leg["end"]) for leg in site.trace(first["message_id"])["ended_legs"]} >= {("bob", "settled")}


def test_a_text_is_written_in_three_ways_and_told_by_code_and_word(site):
    ways = [{"text": "Lunch?"}, {"content": {"content": "Lunch?"}}, {"content": "{\"content\":\"Lunch?\"}", "object_name": "text"}]
    for number, way in enumerate(ways):
        site.call("POST", "/v1/apps/demo/messages", {
            "sender": "alice", "client_message_id": f"way{number}", "conversation": {"type": "direct", "target": "bob"}, **way})
    told = site.call("GET", "/v1/apps/demo/conversations/direct/alice/messages?user=bob")["messages"]
    assert [json.loads(message["content"]) for message in told] == [{"content": "Lunch?"}] * 3
    assert {(it["object_name"], it["object_type"]) for it in told} == {("RC:TxtMsg", "text")}
    assert told[0]["conversation"] == {"type": "PR", "type_name": "direct", "target": "bob"}
    wrong = {"sender": "alice", "client_message_id": "wrong", "conversation": told[0]["conversation"], "content": "plain words"}
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("POST", "/v1/apps/demo/messages", wrong)
    assert json.loads(refused.value.read())["field"] == "content"
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("PATCH", f"/v1/apps/demo/messages/{told[0]['message_id']}", {"content": "plain words"})
    assert json.loads(refused.value.read())["field"] == "content"
    site.call("PATCH", f"/v1/apps/demo/messages/{told[0]['message_id']}", {"text": "Dinner?"})
    one = f"/v1/apps/demo/messages/{told[0]['message_id']}"
    assert json.loads(site.call("GET", one)["content"]) == {"content": "Dinner?"}
    site.call("DELETE", one)
    gone = site.call("GET", one)
    assert gone["content"] == "" and gone["recall"]


def test_what_it_cannot_do_it_refuses_by_code(site):
    tokens = "/v1/apps/demo/tokens"
    own = site.api_key
    for method, path, body, key, status, code in [
        ("POST", tokens, {"user": "a"}, None, 401, "unauthorized"),
        ("POST", tokens, {"user": "a"}, "wrong", 401, "unauthorized"),
        ("POST", "/v1/apps/elsewhere/tokens", {"user": "a"}, own, 401, "unauthorized"),
        ("POST", tokens, {}, own, 400, "invalid_field"),
        ("POST", tokens, {"user": "has space"}, own, 400, "invalid_field"),
        ("POST", tokens, {"user": 7}, own, 400, "invalid_field"),
        ("POST", tokens, {"user": "a", "colour": "green"}, own, 400, "invalid_field"),
        ("POST", tokens, b"{", own, 400, "malformed_json"),
        ("POST", tokens, b"[]", own, 400, "malformed_json"),
        ("GET", "/v1/apps/demo/messages/0000000000000/trace", None, own, 404, "unknown_message"),
        ("GET", "/v1/apps/demo/messages/short/trace", None, own, 400, "invalid_field"),
        ("PUT", "/v1/apps/demo/users/bob/blocked/mallory", b"not json", own, 400, "invalid_field"),
        ("DELETE", "/v1/apps/demo/users/bob/blocked/mallory", {"reason": "none"}, own, 400, "invalid_field"),
        ("GET", "/v1/lunch", None, own, 404, "unknown_route"),
        ("GET", "/v1/extension/missed", None, None, 401, "unauthorized"),
    ]:
        got, kind, problem = refusal(site, method, path, body, key)
        assert (got, problem["code"]) == (status, code), f"{method} {path} {body}: {problem}"
        assert kind == "application/problem+json"
        assert problem["status"] == status and problem["detail"].startswith(problem["field"])
