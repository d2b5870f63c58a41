"""Who has changed what of apps and operators, and what operators have done in apps, kept by a running server and printed by the tool."""

import itertools
import json
import subprocess
import threading
import urllib.error
import uuid

import pytest
from conftest import Site, tool
from test_apps import Operator, SCOPES, first_operator, message, refusal

TEXT = "nobody has to read this"


@pytest.fixture
def anna(make_site) -> Operator:
    return first_operator(make_site().start())


def told(records: list[dict]) -> list[tuple]:
    return [
        (it["actor"]["name"] or it["actor"]["kind"], it["action"], it["app"], it["subject"], it["outcome"]) for it in records]


def every(operator: Operator, query: str = "") -> list[dict]:
    """All records, page by page, the newest first."""
    records, cursor = [], ""
    while cursor is not None:
        page = operator.call("GET", f"/v1/audit?limit=7{query}{cursor}")
        records += page["records"]
        cursor = page["next"] and f"&cursor={page['next']}"
    return records


def on_disk(site: Site, command: str) -> str:
    done = subprocess.run([tool(), "store", command, "--store", site.database], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_operators_do_is_kept_with_who_and_what_and_survives_a_kill_and_a_rebuild(anna):
    site = anna.site
    anna.make_app("chat")
    olga = anna.add("olga", "send")
    path = "/v1/apps/chat"
    sent = olga.call("POST", f"{path}/messages", {**message(), "content": json.dumps({"content": TEXT})})["message_id"]
    pushed = olga.call(
        "POST", f"{path}/pushes", {"notification": {"text": TEXT}, "audience": {"everybody": True}},
        Idempotency_Key=f"\"{uuid.uuid4()}\"")["id"]
    assert TEXT in json.dumps(olga.call("GET", f"{path}/conversations/PR/bob/messages?user=alice"))
    assert TEXT in json.dumps(olga.call("GET", f"{path}/messages/{sent}"))
    assert TEXT in json.dumps(olga.call("GET", f"{path}/pushes/contents"))
    assert TEXT not in json.dumps(olga.call("GET", f"{path}/pushes"))
    anna.call("PUT", f"{path}/users/bob/profile", {"name": TEXT})
    anna.call("POST", f"{path}/users/bob/revoke-tokens", {"sign_out": True})
    # The backend's own, reading without texts, and what a role does not open are not kept.
    site.call("POST", f"{path}/messages", message(2))
    olga.call("GET", f"{path}/messages/{sent}/trace")
    assert refusal(lambda: olga.call("PUT", f"{path}/settings", {"name": TEXT})) == (403, "missing_role")
    assert refusal(lambda: anna.call("DELETE", "/v1/operators/anna")) == (409, "still_needed")
    expected = [
        ("anna", "remove_operator", None, "anna", "not_allowed"),
        ("anna", "POST users/{user}/revoke-tokens", "chat", "bob", "done"),
        ("anna", "PUT users/{user}/profile", "chat", "bob", "done"),
        ("olga", "GET pushes/contents", "chat", "", "done"),
        ("olga", "GET messages/{id}", "chat", sent, "done"),
        ("olga", "GET conversations/{type}/{id}/messages", "chat", "direct bob user=alice", "done"),
        ("olga", "POST pushes", "chat", pushed, "done"),
        ("olga", "POST messages", "chat", sent, "done"),
        ("anna", "add_operator", None, "olga", "done"),
        ("anna", "add_api_key", "chat", "backend", "done"),
        ("anna", "create_app", "chat", "", "done"),
        ("command_line", "add_operator", None, "anna", "done"),
        ("configuration", "import_app", "demo", "", "done"),
    ]
    before = every(anna)
    assert told(before) == expected
    assert [it["number"] for it in before] == list(range(len(expected), 0, -1))
    assert {it["address"] for it in before} == {"127.0.0.1", ""}
    for secret in (TEXT, anna.key, olga.key, site.api_key, site.secret):
        assert secret not in json.dumps(before)
    # The app's own key is told what is of the app, and not from where.
    own = site.call("GET", f"{path}/audit?limit=100")
    assert told(own["records"]) == [it for it in expected if it[2] == "chat"] and own["next"] is None
    assert all("address" not in it for it in own["records"])
    assert told(every(anna, "&actor=olga")) == [it for it in expected if it[0] == "olga"]
    assert told(every(anna, "&app=demo")) == expected[-1:]

    site.server.kill()
    site.start()
    assert every(anna) == before
    site.server.stop()
    on_disk(site, "check")
    on_disk(site, "rebuild")
    on_disk(site, "check")
    site.start()
    assert every(anna) == before


def test_no_change_is_on_disk_without_its_record_and_no_record_without_its_change(anna):
    """Killed in the middle of changes by several operators, again and again."""
    site = anna.site
    anna.make_app("chat")
    path = "/v1/apps/chat/settings"
    answered = 0
    for round in range(4):
        stopped = threading.Event()
        done: list[int] = []

        def change(writer: int):
            for number in itertools.count():
                try:
                    done.append(anna.call("PUT", path, {"name": f"{round} {writer} {number}"})["revision"])
                except (urllib.error.URLError, ConnectionError, OSError):
                    return
                if stopped.is_set():
                    return

        writers = [threading.Thread(target=change, args=(it,)) for it in range(4)]
        for writer in writers:
            writer.start()
        while len(done) < 20:
            assert any(it.is_alive() for it in writers)
        site.server.kill()
        stopped.set()
        for writer in writers:
            writer.join(30)
        site.start()
        answered += len(done)
        records = [it for it in every(anna, "&app=chat") if it["action"] in {"create_app", "add_api_key", "set_settings"}]
        revision = anna.call("GET", "/v1/apps/chat")["revision"]
        assert revision == len(records) >= answered + 2
        assert max(done) <= revision


def test_the_tool_prints_it_and_says_so_if_there_is_nothing(anna):
    anna("app", "create", "chat")
    for number in range(120):
        anna.call("PUT", "/v1/apps/chat/settings", {"name": f"Chat {number}"})
    header, *lines = anna("audit", "list").splitlines()
    assert header.split() == ["time", "who", "from", "what", "app", "of", "what", "outcome"]
    assert len(lines) == 50
    assert lines[0].split()[3:] == ["anna", "127.0.0.1", "set_settings", "chat", "-", "done"]
    all_lines = anna("audit", "list", "--limit", "1000").splitlines()[1:]
    assert len(all_lines) == 123 and "(configuration)" in all_lines[-1] and "(command line)" in all_lines[-2]
    assert len(anna("audit", "list", "--limit", "110", "chat").splitlines()) == 111
    assert anna("audit", "list", "elsewhere") == "nothing is kept of this"
    assert anna("audit", "list", "--actor", "nobody") == "nothing is kept of this"
    assert len(json.loads(anna("audit", "list", "--json", "--limit", "3"))) == 3
    assert "--limit" in anna("audit", "list", "--limit", "0", status=64)
    vera = anna.add("vera", "send")
    assert "administer" in vera("audit", "list", status=1)
    assert "TIDINGS_OPERATOR_KEY" in Operator(anna.site)("audit", "list", status=1)


def test_only_operators_who_administer_are_told_everything(anna):
    anna.make_app("chat")
    site = anna.site
    for role, status in [("view", 403), ("content", 403), ("send", 403), ("administer", None)]:
        operator = anna.add(role, role)
        # Of one app it is no more than view.
        assert operator.call("GET", "/v1/apps/chat/audit")["records"]
        if status:
            assert refusal(lambda: operator.call("GET", "/v1/audit")) == (status, "missing_role")
        else:
            assert operator.call("GET", "/v1/audit")["records"]
    assert refusal(lambda: site.call("GET", "/v1/audit")) == (403, "wrong_key")
    for scope in SCOPES:
        key = anna.call("POST", "/v1/apps/chat/api-keys", {"name": scope, "scopes": [scope]})["key"]
        if scope == "trace":
            assert site.call("GET", "/v1/apps/chat/audit", key=key)["records"]
        else:
            assert refusal(lambda: site.call("GET", "/v1/apps/chat/audit", key=key)) == (403, "missing_scope")
    for query in ("app=a%20b", "cursor=x", "limit=0", "limit=101", "who=anna", "app=chat&app=chat"):
        assert refusal(lambda: anna.call("GET", f"/v1/audit?{query}"))[0] == 400
    cursor = anna.call("GET", "/v1/audit?limit=1")["next"]
    # Of another list.
    assert refusal(lambda: anna.call("GET", f"/v1/audit?limit=1&app=chat&cursor={cursor}"))[0] == 400
