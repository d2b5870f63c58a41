"""Accounts: what the backend says of them, who writes as them, and what stands on the phone of a person whose app is not running.

Server, local APNs and phones are real. The operators are clients in Python, as phones of people would be.
"""

from __future__ import annotations

import hashlib
import json
import urllib.error

import pytest
from phone_stage import events_of, kill, rings
from test_names_e2e import VERSION, words
from test_requests import api, people, refusal, run
from tidings_client import Client


def refused(call) -> tuple[int, str, str]:
    """Status, code and field of what has to be refused."""
    with pytest.raises(urllib.error.HTTPError) as answer:
        call()
    problem = json.loads(answer.value.read())
    return answer.value.code, problem["code"], problem.get("field")


@pytest.mark.parametrize("version", ["15", "26"])
def test_a_killed_phone_names_the_account_and_never_the_operator(make_stage, version):
    stage = make_stage()
    bob = stage.phone("bob", arguments=("--ios", version))
    kill(bob)
    stage.backend.call_person("help", "Help Desk")
    stage.backend.call("PUT", "accounts/CS/help", {"operators": ["u-olga"]})

    async def write():
        async with people(stage.site, "u-olga") as (olga,):
            return (await olga.send("bob", "How can we help?", kind="CS", account="help"))["messageId"]

    message = run(write())
    rings(bob, message, badge=1)
    assert words(bob, message) == ("Help Desk", "How can we help?")
    (push,) = events_of(bob, "push")
    assert push["collapse_id"] == message and "help" in json.dumps(push["payload"])
    assert "u-olga" not in json.dumps(push)
    assert "u-olga" not in json.dumps(bob.do("screen"))
    trace = stage.site.trace(message)
    assert (trace["sender"], trace["author"]) == ("help", "u-olga")
    # What the backend writes as the account names its author in the same way.
    second = stage.backend.say("help", "bob", "Anything else?", kind="CS", author="u-piet")
    rings(bob, second, badge=2)
    assert words(bob, second) == ("Help Desk", "Anything else?")
    assert stage.site.trace(second)["author"] == "u-piet"
    assert "u-piet" not in json.dumps(events_of(bob, "push"))


def test_operators_write_as_their_account_and_nobody_else_does(site):
    async def play():
        await api(site, "PUT", "accounts/CS/desk", {"owner": "olga", "operators": ["piet"]})
        async with people(site, "olga", "piet", "mallory", "bob") as (olga, piet, mallory, bob):
            one = await olga.send("bob", "one", kind="CS", account="desk", client_message_id="x-1")
            again = await olga.send("bob", "one", kind="CS", account="desk", client_message_id="x-1")
            assert again["messageId"] == one["messageId"]
            # It is in the account's log, and at no place of the operator's own.
            assert int(one.get("position", 0)) == 0 and olga.messages == []
            await piet.send("bob", "two", kind="CS", account="desk")
            await bob.wait_for(lambda: len(bob.messages) == 2)
            assert [message["sender"] for message in bob.messages] == ["desk", "desk"]
            assert not any(name in json.dumps(list(bob.log.values())) for name in ["olga", "piet"])
            assert await refusal(mallory.send("bob", "x", kind="CS", account="desk")) == ("not_allowed", "account")
            assert await refusal(mallory.send("bob", "x", kind="CS", account="none")) == ("not_allowed", "account")
            assert await refusal(piet.send("bob", "x", kind="SYS", account="desk")) == ("not_allowed", "account")
            assert await refusal(piet.send("bob", "x", account="desk")) == ("invalid_field", "account")
            assert await refusal(piet.send("bob", "x", kind="CS", account="d k")) == ("invalid_field", "account")
            # What a person writes to the account is in its log, which the backend reads: no operator's phone gets it.
            await bob.send("desk", "Thanks!", kind="CS")
            history = await api(site, "GET", "conversations/CS/bob/messages?user=desk")
            assert [json.loads(said["content"])["content"] for said in history["messages"]] == ["Thanks!", "two", "one"]
            assert "olga" not in json.dumps(history)
            assert olga.messages == piet.messages == []
            # Whoever operates it takes back and changes what was sent as it, a fellow operator's, too.
            for request in ["edit", "recall"]:
                change = {"message": one["messageId"]} | ({"content": "{}"} if request == "edit" else {})
                assert await refusal(mallory.request(request, **change)) == ("not_allowed", "message")
                await piet.request(request, **change)
            await bob.wait_for(lambda: any("recall" in entry for entry in bob.log.values()))
            (recall,) = [entry["recall"] for entry in bob.log.values() if "recall" in entry]
            assert (recall["message"], recall["sender"]) == (one["messageId"], "desk")
            assert any("edit" in entry for entry in bob.log.values())
            assert not any(name in json.dumps(list(bob.log.values())) for name in ["olga", "piet"])

    run(play())


@pytest.mark.requirement("C0.2")
def test_people_follow_an_account_and_only_they_get_what_it_sends(make_stage):
    stage = make_stage()
    site = stage.site
    bob = stage.phone("bob", arguments=VERSION)
    stage.backend.call_person("news", "The News")
    stage.backend.call("PUT", "accounts/MP/news", {"audience": "followers"})

    def say(target="bob"):
        return stage.backend.say("news", target, "Extra!", kind="MP")

    async def follow(is_following: bool):
        async with people(site, "bob") as (client,):
            account = {"type": "MP", "target": "news"}
            await client.request("setFollowing", account=account, isFollowing=is_following)
            followed = (await client.request("following")).get("accounts", [])
            assert followed == ([account] if is_following else [])
            other = {"type": "MP", "target": "none"}
            assert await refusal(client.request("setFollowing", account=other, isFollowing=True)) == (
                "not_allowed", "account")

    assert refused(say) == (403, "not_a_follower", "conversation.target")
    run(follow(True))
    kill(bob)
    message = say()
    rings(bob, message, badge=1)
    assert words(bob, message) == ("The News", "Extra!")
    for user in ["carol", "dave", "eve"]:
        stage.backend.call("PUT", f"accounts/MP/news/followers/{user}")
    page = stage.backend.call("GET", "accounts/MP/news/followers?limit=3")
    assert page["followers"] == ["bob", "carol", "dave"]
    rest = stage.backend.call("GET", f"accounts/MP/news/followers?limit=3&cursor={page['next']}")
    assert (rest["followers"], rest["next"]) == (["eve"], None)
    assert stage.backend.call("GET", "accounts/MP/news")["followers"] == 4
    run(follow(False))
    stage.backend.call("DELETE", "accounts/MP/news/followers/eve")
    assert refused(say) == refused(lambda: say("eve")) == (403, "not_a_follower", "conversation.target")
    assert stage.backend.call("GET", "accounts/MP/news")["followers"] == 2
    # An account that writes to everybody has nobody to follow it.
    stage.backend.call("PUT", "accounts/MC/all")
    assert refused(lambda: stage.backend.call("PUT", "accounts/MC/all/followers/bob")) == (
        403, "not_allowed", "account")
    assert refused(lambda: stage.backend.call("GET", "accounts/MC/none/followers")) == (404, "unknown_account", "id")


def test_an_account_is_put_read_listed_and_taken_back(site):
    def call(method, path, body=None):
        return site.call(method, f"/v1/apps/{site.app}/{path}", body)

    assert refused(lambda: call("GET", "accounts/SYS/sys-1")) == (404, "unknown_account", "id")
    call("PUT", "accounts/SYS/sys-1")
    bare = {
        "kind": "SYS", "kind_name": "system", "id": "sys-1", "owner": None, "operators": [], "audience": "everybody", "name": None,
        "portrait": None, "followers": 0,
    }
    assert call("GET", "accounts/SYS/sys-1") == bare
    call("PUT", "accounts/SYS/sys-1", {"owner": "ann", "operators": ["zed", "bea"], "audience": "followers"})
    call("PUT", "users/sys-1/profile", {"name": "The system", "portrait": "https://files.example.com/s.png"})
    full = bare | {
        "owner": "ann", "operators": ["bea", "zed"], "audience": "followers", "name": "The system",
        "portrait": "https://files.example.com/s.png",
    }
    assert call("GET", "accounts/SYS/sys-1") == full
    # A program that knows no more than that it is one changes nothing.
    call("PUT", "accounts/SYS/sys-1")
    assert full in call("GET", "accounts?limit=100")["accounts"]
    call("PUT", "accounts/SYS/sys-1", {"operators": None})
    assert call("GET", "accounts/SYS/sys-1") == full | {"owner": None, "operators": [], "audience": "everybody"}
    call("DELETE", "accounts/SYS/sys-1")
    call("DELETE", "accounts/SYS/sys-1")
    assert refused(lambda: call("GET", "accounts/SYS/sys-1")) == (404, "unknown_account", "id")


@pytest.mark.parametrize(
    "path, body, field",
    [
        ("GRP/x", {}, "type"),
        ("CS/a%20b", {}, "id"),
        ("CS/a", {"owner": "a b"}, "owner"),
        ("CS/a", {"owner": 7}, "owner"),
        ("CS/a", {"operators": ["a", ""]}, "operators[1]"),
        ("CS/a", {"operators": [f"u{number}" for number in range(101)]}, "operators"),
        ("CS/a", {"audience": "all"}, "audience"),
        ("CS/a", {"name": "A"}, "name"),
    ],
)
def test_of_a_bad_account_nothing_is_kept(site, path, body, field):
    assert refused(lambda: site.call("PUT", f"/v1/apps/{site.app}/accounts/{path}", body)) == (
        400, "invalid_field", field)
    assert refused(lambda: site.call("GET", f"/v1/apps/{site.app}/accounts/CS/a"))[1] == "unknown_account"


def test_the_audit_log_names_who_wrote_as_an_account(make_site, tmp_path):
    path = tmp_path / "audit.log"
    site = make_site(settings={"log": {"audit_path": str(path)}}).start()

    async def play():
        await api(site, "PUT", "accounts/CS/help", {"operators": ["olga"]})
        async with people(site, "olga", "mallory") as (olga, mallory):
            said = await olga.send("bob", "hi", kind="CS", account="help")
            await olga.request("edit", message=said["messageId"], content="{}")
            await olga.request("recall", message=said["messageId"])
            await refusal(mallory.send("bob", "x", kind="CS", account="help"))
        await api(site, "POST", "messages", {
            "sender": "help", "client_message_id": "b-1", "conversation": {"type": "CS", "target": "bob"},
            "content": json.dumps({"content": "hi"}), "author": "piet",
        })

    run(play())
    site.server.stop()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (sent,) = [line for line in lines if line["message"] == "sent as account"]
    assert (sent["user"], sent["account"]) == ("olga", "CS:help") and len(sent["sent"]) == 13
    for deed in ["edited", "recalled"]:
        (done,) = [line for line in lines if line["message"] == f"{deed} as account"]
        assert (done["user"], done["account"], done["sent"]) == ("olga", "CS:help", sent["sent"])
    (denied,) = [line for line in lines if line["message"] == "account refused"]
    assert (denied["user"], denied["account"], denied["code"]) == ("mallory", "CS:help", "not_allowed")
    (said,) = [line for line in lines if line.get("author")]
    assert (said["message"], said["author"]) == ("call", "piet")


@pytest.mark.requirement("C0.2")
def test_people_of_another_app_see_the_card_of_an_offered_account_and_nothing_else(make_site):
    other = {"token_secret": "another secret of thirty-two bytes", "api_keys": ["o"], "api_key": {"o": {
        "sha256": hashlib.sha256(b"other-key").hexdigest(), "scopes": ["tokens"]}}}
    site = make_site(settings={"app": {"other": other}}, app_settings={"offered_accounts": ["news"]})
    configuration = json.loads(site.config.read_text())
    configuration["apps"].append("other")
    site.config.write_text(json.dumps(configuration))
    site.start()
    for account in ["news", "tips"]:
        site.call("PUT", f"/v1/apps/{site.app}/accounts/MP/{account}", {"owner": "ann", "audience": "followers"})
        site.call("PUT", f"/v1/apps/{site.app}/users/{account}/profile", {
            "name": account.title(), "portrait": f"https://files.example.com/{account}.png"})
    token = site.call("POST", "/v1/apps/other/tokens", {"user": "bob"}, key="other-key")["token"]

    async def play():
        client = Client(site.gateway, token)
        await client.connect()
        try:
            ids = [f"{site.app}/news", f"{site.app}/tips", "news"]
            answer = (await client.request("profiles", users=ids))["people"]
            assert [person["user"] for person in answer] == ids
            assert [person.get("profile") or {} for person in answer] == [
                {"name": "News", "portrait": "https://files.example.com/news.png"}, {}, {}]
            for target in ["news", f"{site.app}/news"]:
                account = {"type": "MP", "target": target}
                assert await refusal(client.request("setFollowing", account=account, isFollowing=True)) == (
                    "not_allowed", "account")
                assert await refusal(client.send(target, "hi", kind="MP")) == ("not_allowed", "conversation.target")
        finally:
            await client.close()

    run(play())
    # Only the server's operator offers: its own app asks by the id alone.
    assert site.call("GET", f"/v1/apps/{site.app}/accounts/MP/news")["followers"] == 0
