"""Two apps on one server: what one of them asks, sends or watches never touches or shows the other.

The operations are those of /openapi.yaml, the frames those of the .proto file: one that is new needs a case here before this passes.
"""

import asyncio
import base64
import copy
import json
import re
import time
import urllib.parse
import uuid
from datetime import datetime, timedelta, timezone

import pytest
import requests
from api_cases import JPEG, read_document
from conftest import PHONE_PATHS, ROOT, TOPIC
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from media import everything
from test_api_events import Reader
from test_apps import SCOPES, first_operator
from test_push_credentials import apple, refusal
from tidings_client import Client, Refused

# In everything that people of the other app have written; nothing of it may be seen.
MARK = "OnlyForTheOther"
CALL = "0b0e8f5e-6b1c-4c9e-9d61-4f2f6c5d7a10"
OUR_TOPIC = "com.example.ours"
# Nobody's, but theirs to name.
TOKEN = "ab" * 32
ALIAS, TAG = "customer-7", "gold"
# Of a push: whoever of the other app could be named.
AUDIENCE = {"any": [{"users": ["bea"]}, {"alias": ALIAS}, {"tag": TAG}, {"everybody": True}]}


class Tenant:
    """An app with people of its own. Ours has nobody yet: whoever and whatever our requests name is theirs."""

    def __init__(self, site, app: str, key: str, topic: str):
        self.site, self.app, self.key, self.topic = site, app, key, topic

    def call(self, method: str, path: str, body: dict | None = None):
        return self.site.call(method, f"/v1/apps/{self.app}/{path}", body, key=self.key)

    def token(self, user: str) -> str:
        return self.call("POST", "tokens", {"user": user})["token"]

    def upload(self, path: str, base: str, token: str, size: int) -> str:
        headers = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"}
        begun = requests.post(base + path, timeout=20, headers={
            **headers, "Upload-Length": "64", "Upload-Metadata": "filetype aW1hZ2UvanBlZw=="})
        name = begun.json()["media_id"]
        if size:
            headers |= {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            assert requests.patch(f"{base}{path}/{name}", data=JPEG[:size], headers=headers, timeout=20).status_code == 204
        return name

    def settle(self):
        """People, conversations, an account, files, settings: something of everything that can be read or changed."""
        for user in ("bea", "ben"):
            self.call("PUT", f"users/{user}/profile", {"name": f"{MARK} {user}"})
        self.call("PUT", "conversations/GRP/team", {
            "name": f"{MARK} team", "members": [{"user": "bea", "role": "owner"}, {"user": "ben", "nickname": f"{MARK} nick"}]})
        self.call("PUT", "conversations/CHRM/room", {"name": f"{MARK} room", "members": ["bea"]})
        self.call("PUT", "conversations/GRP/team/mutes/ben", {})
        self.call("PUT", "conversations/CHRM/room/bans/carl", {})
        self.call("PUT", "users/dora/settings", {"may_be_added_by": "nobody"})
        self.call("POST", "conversations/GRP/team/members?actor=bea", {"users": ["dora"]})
        self.call("PUT", "accounts/MP/news", {"owner": "bea", "audience": "followers"})
        self.call("PUT", "users/news/profile", {"name": f"{MARK} News"})
        self.call("PUT", "accounts/MP/news/followers/ben")
        self.call("PUT", "users/ben/blocked/carl")
        self.call("PUT", "users/bea/settings", {"language": "de", "levels": {"GRP": "mentions"}})
        self.call("PUT", "users/bea/settings/GRP/team", {"level": "blocked"})
        self.message = self.say("PR", "ben", "bea")
        self.of_team = self.say("GRP", "bea", "team")
        self.call("POST", "calls", {"id": CALL, "from": "ben", "to": "bea"})
        self.media = self.upload(f"/v1/apps/{self.app}/media/uploads", self.site.api, self.key, 64)
        self.under_way = self.upload(f"/v1/apps/{self.app}/media/uploads", self.site.api, self.key, 0)
        self.own_media = self.upload("/v1/media/uploads", self.site.phone, self.token("bea"), 64)
        self.own_under_way = self.upload("/v1/media/uploads", self.site.phone, self.token("bea"), 0)
        self.channel = self.call("POST", "broadcast-channels", {"environment": "sandbox", "topic": self.topic})["id"]
        self.activity = self.call("POST", "live-activities", {
            "environment": "sandbox", "topic": self.topic, "token": TOKEN, "event": "update", "content_state": {}})["id"]
        self.wait_until(lambda: self.call("GET", f"live-activities/{self.activity}")["state"] != "pushing")
        self.call("PUT", "users/bea/aliases", {"aliases": [ALIAS]})
        self.call("PUT", "users/bea/tags", {"tags": [TAG]})
        self.push = self.call("POST", "pushes", {"notification": {"text": f"{MARK} push"}, "audience": {"users": ["bea"]}})["id"]
        self.wait_until(lambda: self.call("GET", f"pushes/{self.push}")["state"] == "done")

    def wait_until(self, holds):
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def say(self, kind: str, sender: str, target: str) -> str:
        return self.call("POST", "messages", {
            "sender": sender, "client_message_id": uuid.uuid4().hex, "conversation": {"type": kind, "target": target},
            "content": json.dumps({"content": f"{MARK} text"})})["message_id"]

    def reader(self) -> Reader:
        """Of the app's events."""
        site = copy.copy(self.site)
        site.app, site.api_key = self.app, self.key
        return Reader(site)

    def state(self, operator) -> dict:
        """Everything that can be read of the app."""
        reads = [
            "users", "object-names", "accounts", "accounts/MP/news", "accounts/MP/news/followers", "media", "statistics", "storage", "audit", "conversations",
            *(f"conversations/{it}{rest}" for it in ("GRP/team", "CHRM/room") for rest in ("", "/bans", "/mutes", "/invitations") if (it, rest) != ("GRP/team", "/bans")),
            *(f"conversations/{it}/messages?user=bea" for it in ("PR/ben", "GRP/team")),
            *(f"messages/{it}/{rest}" for it in (self.message, self.of_team) for rest in ("trace", "receipts")), f"calls/{CALL}",
            "legs", "legs?state=open", "legs?wait=quiet_hours", *(f"legs?user={it}" for it in ("bea", "ben")), f"legs?message_id={self.message}",
            f"live-activities/{self.activity}", f"broadcast-channels?environment=sandbox&topic={self.topic}", "pushes", "pushes/contents", f"pushes/{self.push}",
        ]
        for user in ("bea", "ben", "carl", "dora", "news"):
            reads += [f"users/{user}{rest}" for rest in ("", "/conversations", "/settings", "/unread", "/unread/GRP/team", "/devices", "/account", "/profile", "/aliases", "/tags")]
        told = {path: self.call("GET", path) for path in reads}
        told["app"] = operator.call("GET", f"/v1/apps/{self.app}")
        for key in told["app"]["api_keys"]:
            # To the minute.
            del key["last_used_at"]
        told["webhooks"] = operator.call("GET", f"/v1/apps/{self.app}/webhooks")
        told["credentials"] = operator.call("GET", f"/v1/apps/{self.app}/push-credentials")
        return told


@pytest.fixture
def stage(make_site, tmp_path):
    """Two apps: theirs with a phone and pushes, and ours, whose credentials are used against it."""
    site = make_site(
        with_apns=True, with_production=True, settings=everything(tmp_path), app_settings={"own_profiles": True, "tags": [TAG]}).start()
    operator = first_operator(site)
    operator.call("POST", "/v1/apps", {"id": "ours"})
    key = operator.call("POST", "/v1/apps/ours/api-keys", {"name": "backend", "scopes": SCOPES})["key"]
    operator.call("PUT", "/v1/apps/ours/settings", {"push": {"topics": [OUR_TOPIC]}, "tags": [TAG]})
    # APNs would let it push to the other app's topic, too: both are of one team.
    made = apple(site, "/keys", {})
    upload(operator, "ours", made["p8"].encode(), name=f"AuthKey_{made['key_id']}.p8", team_id=made["team_id"])
    tenants = Tenant(site, "ours", key, OUR_TOPIC), Tenant(site, site.app, site.api_key, TOPIC)
    for tenant in tenants:
        tenant.client_key = operator.call("POST", f"/v1/apps/{tenant.app}/client-keys", {"name": "ios"})["key"]
        # Where it goes is shown to nobody else; it is told nothing, for nobody is there.
        tenant.webhook = operator.call("POST", f"/v1/apps/{tenant.app}/webhooks", {
            "name": "Orders", "url": f"https://hooks.example.com/{MARK}", "types": ["receipt"], "enabled": False})["webhook"]["id"]
        tenant.guest = site.call("POST", "/v1/installations", {}, key=tenant.client_key)
    return operator, *tenants


def upload(operator, app: str, file: bytes, **more) -> str:
    """A push credential that is active at once; returns its id."""
    path = f"/v1/apps/{app}/push-credentials"
    name = operator.call("POST", path, {"file": base64.b64encode(file).decode(), **more})["id"]
    operator.call("POST", f"{path}/{name}/activate", {"unproven": True})
    return name


class Watcher(Client):
    """A client that keeps every frame it gets."""

    def __post_init__(self):
        super().__post_init__()
        self.frames: list[dict] = []

    async def _take(self, frame: dict):
        self.frames.append(frame)
        await super()._take(frame)


# The HTTP API.

# The names of an operation that the server has drawn: of another app they are unknown. Everything else is a name that each app chooses for
# itself, and means its own.
DRAWN = {
    "/v1/apps/{app}/messages/{id}": "message", "/v1/apps/{app}/media/uploads/{id}": "under_way", "/v1/apps/{app}/media/{id}": "media",
    "/v1/media/uploads/{id}": "own_under_way", "/v1/media/{id}": "own_media",
    "/v1/apps/{app}/pushes/{id}": "push", "/v1/apps/{app}/live-activities/{id}": "activity", "/v1/apps/{app}/broadcast-channels/{channel}": "channel",
}
# These open nothing that is anybody's, and need no credential.
OPEN = {"GET /healthz", "GET /readyz", "GET /metrics", "GET /openapi.yaml", "GET /openapi.json", "OPTIONS /v1/media/uploads"}
# Refused otherwise than with 403 or 404: a device that the person does not have, or another app's topic, is a field at fault; and PUT has made ours of
# that name just before.
REFUSED = {
    "POST /v1/apps/{app}/live-activities": {"400"}, "POST /v1/apps/{app}/broadcast-channels": {"400"},
    "POST /v1/apps/{app}/users/{user}/devices/{device}/test-push": {"400"}, "POST /v1/apps/{app}/users/{user}/silent-push": {"400"},
    "DELETE /v1/apps/{app}/users/{user}/devices/{device}": {"400"}, "POST /v1/apps/{app}/conversations/{type}/{id}": {"409"},
    "POST /v1/apps/{app}/users/{user}/read": {"400"},
}
# Pages of files, and where a wrong password or link is a field at fault.
PAGES = {"GET /": {"307"}, "GET /console": {"308"}, "GET /console/{file}": {"404"}, "POST /v1/session": {"400"}}
# What a case of a phone says that names nothing of another app.
NAMES_NOTHING = {"POST /v1/media/uploads", "GET /v1/extension/missed", "POST /v1/installations"}


def example(schema: dict, name: str, theirs: Tenant, document: dict):
    """A value as the schema wants it, with what is the other app's wherever something is named."""
    while "$ref" in schema:
        schema = {**document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], **{key: it for key, it in schema.items() if key != "$ref"}}
    if "oneOf" in schema and "properties" not in schema:
        return example(schema["oneOf"][0], name, theirs, document)
    if name in {"up_to", "message_id"}:
        return theirs.message
    if name == "audience" and "enum" not in schema:
        return AUDIENCE
    if name == "id" and schema.get("format") == "uuid":
        return str(uuid.uuid4())
    plain = {
        "sender": "ben", "from": "ben", "to": "bea", "user": "bea", "owner": "bea", "target": "team", "type": "GRP", "content": "{\"content\":\"x\"}",
        "client_message_id": uuid.uuid4().hex, "portrait": f"media:{theirs.media}", "language": "de", "role": "member", "level": "all",
        "topic": theirs.topic, "token": TOKEN, "event": "update", "device": "their-phone", "aliases": ALIAS, "tags": TAG,
    }
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if name in plain and kind != "array":
        return plain[name]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        members = schema.get("properties", {})
        chosen = [key for key in members if key in schema.get("required", []) or key in {"portrait", "up_to", "operators", "owner", "recipients", "message_id", "token", "content_state", "device", "notification", "text"}]
        return {key: example(members[key], key, theirs, document) for key in chosen}
    if kind == "array":
        return [example(schema["items"], {"users": "user", "members": "user", "recipients": "user", "operators": "user"}.get(name, name), theirs, document)]
    return {"integer": 1, "number": 0.5, "boolean": True}.get(kind, "bea")


class Asker:
    def __init__(self, document: dict, ours: Tenant, theirs: Tenant, extension_token: str):
        self.document, self.ours, self.theirs = document, ours, theirs
        self.extension_token = extension_token
        self.client_key, self.renewal = ours.client_key, ours.guest["renewal"]

    def ask(self, method: str, path: str, operation: dict, app: str) -> tuple[requests.Response, set[str]]:
        """One operation with our credential, and with what is theirs in path, query, headers and body."""
        theirs = self.theirs
        drawn = next((getattr(theirs, it) for prefix, it in DRAWN.items() if path.startswith(prefix)), None)
        values = {"app": app, "user": "bea", "other": "ben", "device": "their-phone", "name": "tests", "type": "GRP", "id": drawn or "team",
                  "channel": urllib.parse.quote(theirs.channel, safe=""), "key": theirs.client_key, "file": "index",
                  "webhook": theirs.webhook, "delivery": "d1"}
        if path.startswith("/v1/installations/"):
            values["user"] = theirs.guest["user"]
        if "/accounts/" in path:
            values |= {"type": "MP", "id": "news"}
        if "/bans" in path:
            values |= {"type": "CHRM", "id": "room"}
        if "/calls/{id}" in path:
            values["id"] = CALL
        address = path.format(**values)
        query, headers = {}, {"Authorization": f"Bearer {self.credential(operation)}"}
        for it in operation.get("parameters", []):
            it = self.document["components"]["parameters"][it["$ref"].rpartition("/")[2]] if "$ref" in it else it
            if it["in"] == "query" and it["name"] in {"user", "actor", "message", "after", "environment", "topic", "audience", "text"}:
                # Their channel under a topic that is ours to ask for.
                query[it["name"]] = {
                    "message": theirs.message, "after": 0, "environment": "sandbox", "topic": self.ours.topic,
                    "audience": json.dumps(AUDIENCE), "text": MARK}.get(it["name"], "bea")
            elif it["in"] == "header" and it.get("required"):
                headers[it["name"]] = {
                    "Tus-Resumable": "1.0.0", "Upload-Length": "64", "Upload-Offset": "0", "Upload-Metadata": "filetype aW1hZ2UvanBlZw==",
                    "X-HTTP-Method-Override": "HEAD",
                }[it["name"]]
        body = None
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            headers["Content-Type"] = kind
            body = json.dumps(example(content["schema"], "", theirs, self.document)).encode() if "json" in kind else JPEG[:64]
        base = theirs.site.phone if path.startswith(PHONE_PATHS) else theirs.site.api
        return requests.request(method, base + address, params=query, headers=headers, data=body, timeout=20, stream="/events" in path, allow_redirects=False)

    def credential(self, operation: dict) -> str:
        kinds = {name for requirement in operation.get("security", []) for name in requirement}
        if "userToken" in kinds:
            return self.ours.token("ben")
        for kind, text in (("clientKey", self.client_key), ("renewal", self.renewal)):
            if kind in kinds:
                return text
        return self.extension_token if "extensionToken" in kinds else self.ours.key


def operations(document: dict) -> list[tuple[str, str, dict]]:
    return [(method.upper(), path, it) for path, methods in document["paths"].items() for method, it in methods.items() if method != "servers"]


def seen(answer: requests.Response) -> str:
    return f"{answer.headers} {'' if 'event-stream' in answer.headers.get('Content-Type', '') else answer.content.decode(errors='replace')}"


async def connected(tenant: Tenant, user: str, device: str) -> Watcher:
    client = Watcher(tenant.site.gateway, tenant.token(user), device=device)
    await client.connect()
    return client


def quiet(reader: Reader, theirs: Tenant) -> list[tuple[str, dict]]:
    """What the stream tells before a message that is sent now."""
    last = theirs.say("PR", "carl", "dora")
    events = reader.until("message_accepted", message_id=last)[:-1]
    # A phone that is on a screen all the time is asked for a sign of life.
    return [event for event in events if event[0] != "device_lease"]


def test_no_operation_crosses_from_one_app_into_the_other(stage):
    operator, ours, theirs = stage
    document = read_document(theirs.site)

    async def story():
        theirs.settle()
        phone = await connected(theirs, "bea", "their-phone")
        own = await connected(ours, "ben", "our-phone")
        asker = Asker(document, ours, theirs, own.welcome["extensionToken"])
        await phone.ping()
        reader = await asyncio.to_thread(theirs.reader)
        before, known = await asyncio.to_thread(theirs.state, operator), len(phone.frames)
        assert json.dumps(before).count(MARK) > 10
        faults = await asyncio.to_thread(check, asker)
        await phone.ping()
        assert [frame for frame in phone.frames[known:] if "pong" not in frame] == []
        assert await asyncio.to_thread(quiet_and_same, reader, before)
        await phone.close()
        await own.close()
        return faults

    def quiet_and_same(reader, before):
        # Reading one's own state makes no events.
        assert theirs.state(operator) == before
        assert quiet(reader, theirs) == []
        reader.close()
        return True

    def check(asker):
        faults = []
        for method, path, operation in operations(document):
            label = f"{method} {path}"
            told = set(operation["responses"])
            for app in (["demo", "ours"] if "{app}" in path else ["ours"]):
                answer = asker.ask(method, path, operation, app)
                # A session is an operator's; a request with a key has none.
                kinds = {name for requirement in operation.get("security", []) for name in requirement} - {"session"}
                if label in OPEN:
                    wanted = {"200", "204"}
                elif label in PAGES:
                    wanted = PAGES[label]
                elif kinds == {"operatorKey"}:
                    # An app's key opens nothing of the server's operators.
                    wanted = {"403"}
                elif operation.get("security") == [{"session": []}]:
                    wanted = {"401"}
                elif app == "demo" or "renewal" in kinds:
                    wanted = {"401"}
                elif any(path.startswith(prefix) for prefix in DRAWN):
                    wanted = {"404"}
                elif label in NAMES_NOTHING:
                    wanted = {"200", "201"}
                else:
                    wanted = {"200", "201", "202", "204", "403", "404"} | REFUSED.get(label, set())
                if str(answer.status_code) not in wanted & told:
                    faults.append(f"{label} of {app}: {answer.status_code}, not {sorted(wanted)}: {answer.text[:300] if not answer.headers.get('Content-Type', '').startswith('text/event') else ''}")
                if MARK in seen(answer) or (app == "demo" and theirs.message in seen(answer)):
                    faults.append(f"{label} of {app} shows: {seen(answer)[:500]}")
                answer.close()
        return faults

    faults = asyncio.run(asyncio.wait_for(story(), 240))
    assert faults == [], "\n".join(faults)


def test_with_their_own_key_the_same_requests_show_it(stage):
    _, _, theirs = stage
    theirs.settle()
    document = read_document(theirs.site)
    asker = Asker(document, theirs, theirs, "")
    shown = {
        path for method, path, operation in operations(document)
        if method == "GET" and "{app}" in path and not path.endswith("/events") and "conversations/{type}/{id}/" not in path
        and MARK in seen(asker.ask(method, path, operation, theirs.app))}
    assert shown >= {
        f"/v1/apps/{{app}}/{rest}" for rest in ("conversations/{type}/{id}", "accounts/{type}/{id}", "accounts", "users/{user}", "users/{user}/profile")}


def test_an_operator_finds_the_push_credentials_of_one_app_in_that_app_alone(stage):
    operator, ours, theirs = stage
    before = operator.call("GET", f"/v1/apps/{theirs.app}/push-credentials")
    ((own,), (other,)) = ([it["id"] for it in operator.call("GET", f"/v1/apps/{it}/push-credentials")["push_credentials"]] for it in (ours.app, theirs.app))
    path = f"/v1/apps/{ours.app}/push-credentials"
    for method, rest, body in [
        ("GET", "", None), ("DELETE", "", None), ("POST", "/activate", {"unproven": True}), ("POST", "/roll-back", {}), ("POST", "/retire", {}),
        ("POST", "/prove", {"environment": "sandbox", "topic": OUR_TOPIC}),
    ]:
        refused = refusal(lambda: operator.call(method, f"{path}/{other}{rest}", body))
        assert refused == (404, "unknown_push_credential", "id"), (method, rest)
    assert refusal(lambda: operator.call("POST", f"{path}/{own}/activate", {"in_place_of": other, "unproven": True}))[0] in (404, 409)
    assert operator.call("GET", f"/v1/apps/{theirs.app}/push-credentials") == before


def test_an_operator_finds_the_webhooks_of_one_app_in_that_app_alone(stage):
    operator, ours, theirs = stage
    before = operator.call("GET", f"/v1/apps/{theirs.app}/webhooks")
    assert [it["id"] for it in before["webhooks"]] == [theirs.webhook] != [ours.webhook]
    document, path = read_document(theirs.site), "/v1/apps/{app}/webhooks/{webhook}"
    asked = [(method, rest) for method, rest, _ in operations(document) if rest.startswith(path)]
    assert len(asked) >= 4
    for method, rest in asked:
        address = rest.format(app=ours.app, webhook=theirs.webhook, delivery="d1")
        refused = refusal(lambda: operator.call(method, address, {} if method in ("POST", "PATCH") else None))
        assert refused == (404, "unknown_webhook", "webhook"), (method, rest)
    assert operator.call("GET", f"/v1/apps/{theirs.app}/webhooks") == before


# The client protocol.

# What is theirs, in frames of ours. `MESSAGE` stands for a message's id.
TEAM = {"type": "GRP", "target": "team"}
BEA = {"type": "PR", "target": "bea"}
NEWS = {"type": "MP", "target": "news"}
ACTIONS = {
    "create": {"name": "x", "members": ["bea"]}, "add": {"users": ["bea"]}, "join": {}, "remove": {"users": ["bea"]}, "leave": {},
    "rename": {"name": "x"}, "setPortrait": {"portrait": "https://x.example/x.png"}, "setRole": {"user": "bea", "role": "member"},
    "setNickname": {"user": "bea", "nickname": "x"}, "dissolve": {}, "ban": {"users": ["bea"]}, "unban": {"users": ["bea"]},
    "mute": {"users": ["bea"]}, "unmute": {"users": ["bea"]}, "onlyAdminsWrite": {"isOn": True}, "invite": {"users": ["bea"], "name": "x"},
    "decline": {}, "withdraw": {"users": ["bea"]},
}
STATES = {"isPinned": True, "isArchived": True, "hiddenUpTo": "MESSAGE", "draft": "x"}
REQUESTS = {
    "change": [{"conversation": it, "action": {name: fields}} for it in (TEAM, {"type": "CHRM", "target": "room"}) for name, fields in ACTIONS.items()],
    "recall": [{"message": "MESSAGE"}], "edit": [{"message": "MESSAGE", "content": "x"}],
    "delete": [{"conversation": BEA, "messages": ["MESSAGE"]}],
    "setConversationSettings": [{"conversation": TEAM, "level": "all"}], "setPersonSettings": [{"language": "fr"}],
    "setBlocked": [{"user": "bea", "isBlocked": True}, {"user": "bea"}], "conversation": [{"conversation": TEAM}], "settings": [{}],
    "history": [{"conversation": it, "before": "MESSAGE", "limit": 10} for it in (BEA, TEAM)],
    "enterRoom": [{"conversation": {"type": "CHRM", "target": "room"}, "history": 10}],
    "exitRoom": [{"conversation": {"type": "CHRM", "target": "room"}}], "receipts": [{"message": "MESSAGE"}],
    "watch": [{"users": ["bea", "ben"]}], "unwatch": [{"users": ["bea"]}], "renewToken": [{"token": "TOKEN"}],
    "setProfile": [{"name": "x"}], "profiles": [{"users": ["bea", "ben", "news"]}],
    "registerVoip": [{"token": "cd" * 32, "environment": "sandbox", "topic": TOPIC + ".voip"}], "devices": [{}],
    "signOutDevice": [{"device": "their-phone"}],
    "setConversationState": [{"conversation": it, name: value} for it in (BEA, TEAM) for name, value in STATES.items()],
    "setFollowing": [{"account": NEWS, "isFollowing": True}, {"account": NEWS}], "following": [{}],
    "setTags": [{"tags": ["gold"]}],
}
SEND = {"objectName": "RC:TxtMsg", "content": "{\"content\":\"x\"}"}
FRAMES = {
    # Their token is not ours to say; with our own, and their device's id, it is a device of ours.
    "hello": "the second connection of the test",
    "send": [
        {**SEND, "conversation": BEA}, {**SEND, "conversation": TEAM, "mentions": {"users": ["bea"]}, "recipients": ["bea"]},
        {**SEND, "conversation": BEA, "push": "{\"image\":\"media:MEDIA\"}"}, {**SEND, "conversation": NEWS, "account": "news"},
        {**SEND, "conversation": {"type": "CHRM", "target": "room"}},
    ],
    "ack": [{"stored": "0"}], "runState": [{"state": "background", "remainingMs": "30000"}, {"state": "foreground"}],
    "registerPush": [{"token": token, "environment": "sandbox", "topic": TOPIC} for token in ("ab" * 32, "no token")], "sync": [{"after": "0", "limit": 100}],
    "markRead": [{"conversation": BEA, "upTo": "1"}, {"conversation": TEAM, "upTo": "1"}], "ping": [{"nonce": "7"}],
    "signOut": "the last frame of the test", "deviceStatus": [{"authorization": "authorized", "backgroundRefresh": "available"}],
    "opened": [{"message": "MESSAGE"}], "request": "REQUESTS has each", "typing": [{"conversation": it, "isTyping": True} for it in (BEA, TEAM)],
}
# What a connection is told: theirs is told none of it for what ours does, but for the answer to its own ping.
TOLD = {
    "welcome", "sendAccepted", "sendRefused", "entry", "page", "pong", "problem", "reconnect", "answer", "signal", "tokenExpiring",
}
# Frames of the server that nothing of this test brings: it goes away in peace, and tokens last.
NOT_TOLD = {"reconnect", "tokenExpiring"}


def of_proto(message: str, group: str) -> set[str]:
    """The members of one `oneof` of the .proto file, as JSON names them."""
    text = (ROOT / "Sources/Model/TidingsWire/tidings.proto").read_text()
    body = re.search(rf"^message {message} {{\n.*?^}}", text, re.MULTILINE | re.DOTALL)[0]
    members = re.search(rf"  oneof {group} {{\n(.*?)^  }}", body, re.MULTILINE | re.DOTALL)[1]
    names = re.findall(r"^    \w+ (\w+) = \d+;", members, re.MULTILINE)
    return {re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in names}


def test_every_frame_has_a_case():
    for cases, message, group in [
        (FRAMES, "ClientFrame", "frame"), (REQUESTS, "Request", "request"), (ACTIONS, "Action", "action"),
        (STATES, "ConversationState", "change"), (TOLD, "ServerFrame", "frame"),
    ]:
        assert set(cases) == of_proto(message, group), f"{message}.{group}"


def test_no_frame_crosses_from_one_app_into_the_other(stage):
    operator, ours, theirs = stage

    async def story():
        theirs.settle()
        phone = await connected(theirs, "bea", "their-phone")
        await phone.ping()
        reader = await asyncio.to_thread(theirs.reader)
        before, known = await asyncio.to_thread(theirs.state, operator), len(phone.frames)
        filled = {"MESSAGE": theirs.message, "MEDIA": theirs.media, "TOKEN": theirs.token("bea")}

        def fill(fields):
            return json.loads(re.sub("MESSAGE|MEDIA|TOKEN", lambda match: filled[match[0]], json.dumps(fields)))

        seen: list[dict] = []
        own = await connected(ours, "ben", "our-phone")
        for kind, bodies in REQUESTS.items():
            for fields in bodies:
                try:
                    await own.request(kind, **fill(fields))
                except Refused:
                    pass
                except ConnectionError:
                    # A token of somebody else ends the connection.
                    assert kind == "renewToken"
                    seen += own.frames
                    own = await connected(ours, "ben", "our-phone")
        for kind, bodies in FRAMES.items():
            for fields in bodies if isinstance(bodies, list) else []:
                more = {"clientMessageId": uuid.uuid4().hex} if kind == "send" else {}
                await own.raw({kind: {**fill(fields), **more}})
        await own.ping()
        # The same device id, and the person of the same name: a device of ours.
        namesake = await connected(ours, "bea", "their-phone")
        namesake.log.clear()
        await namesake.raw({"sync": {"after": "0", "limit": 100}})
        await namesake.ping()
        await namesake.raw({"signOut": {}})
        await namesake.wait_for(lambda: namesake.is_closed)
        seen += own.frames + namesake.frames
        await own.close()
        kinds = {kind for frame in seen for kind in frame} | {"welcome"}
        assert kinds == TOLD - NOT_TOLD
        assert MARK not in json.dumps(seen) and theirs.of_team not in json.dumps(seen)
        await phone.ping()
        assert [frame for frame in phone.frames[known:] if "pong" not in frame] == []
        await asyncio.to_thread(unchanged, reader, before)
        await phone.close()

    def unchanged(reader, before):
        assert theirs.state(operator) == before
        assert quiet(reader, theirs) == []
        reader.close()

    asyncio.run(asyncio.wait_for(story(), 240))


# Events.

# The type that this test does not bring: it tells of the server's disk.
NOT_BROUGHT = {"storage"}


def expiring_certificate(site) -> bytes:
    """One like those of the local APNs that has five days left; for production, so that nothing goes out with it."""
    made = apple(site, "/certificates", {"bundle_id": TOPIC, "environments": ["production"]})
    pattern = x509.load_pem_x509_certificate(made["certificate_pem"].encode())
    key = serialization.load_pem_private_key(made["key_pem"].encode(), None)
    now = datetime.now(timezone.utc)
    builder = (
        x509.CertificateBuilder().subject_name(pattern.subject).issuer_name(pattern.issuer).public_key(pattern.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=360)).not_valid_after(now + timedelta(days=5)))
    for extension in pattern.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + made["key_pem"].encode()


def test_no_event_of_one_app_is_told_in_the_other(stage):
    operator, ours, theirs = stage
    document = read_document(theirs.site)

    async def story():
        own = await asyncio.to_thread(ours.reader)
        their = await asyncio.to_thread(theirs.reader)
        theirs.settle()
        phone = await connected(theirs, "bea", "their-phone")
        await phone.register_push(TOKEN, TOPIC, is_answered=True)
        await phone.raw({"opened": {"message": theirs.message}})
        theirs.call("PATCH", f"messages/{theirs.message}", {"content": "{\"content\":\"y\"}"})
        theirs.call("DELETE", f"messages/{theirs.message}")
        await phone.ping()
        await phone.close()
        pushed = theirs.say("PR", "ben", "bea")
        told = await asyncio.to_thread(their.until, "push_answered", message_id=pushed)
        certificate = await asyncio.to_thread(lambda: upload(operator, theirs.app, expiring_certificate(theirs.site)))
        told += await asyncio.to_thread(their.until, "credential_expiring", credential=certificate)
        theirs.call("DELETE", "users/bea/devices")
        last = theirs.say("PR", "carl", "dora")
        told += await asyncio.to_thread(their.until, "message_accepted", message_id=last)
        assert {kind for kind, _ in told} == set(document["components"]["schemas"]["EventType"]["enum"]) - NOT_BROUGHT
        assert await asyncio.to_thread(quiet, own, ours) == []
        own.close()
        their.close()

    asyncio.run(asyncio.wait_for(story(), 120))
