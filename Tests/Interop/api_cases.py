"""Requests drawn from the description of the HTTP API, by schemathesis, against a running server: every answer must be as described.

Operations are drawn in an order the seed decides, several requests each time. Most name what is there: people, conversations, messages,
files, … that the server made, or told of in earlier answers, so that they are carried out and not merely refused. Others are as schemathesis draws them, and some
break the description, which the server must refuse.
"""

from __future__ import annotations

import base64
import collections
import copy
import json
import random
import re
import time
import typing
import urllib.error
import urllib.parse
import uuid
from dataclasses import dataclass, field

import requests
import schemathesis
import websockets.sync.client
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.specs.openapi import checks as described

from conftest import PHONE_PATHS, TOPIC, Site
from media import JPEG
from test_apps import SCOPES, Operator, first_operator
from test_push_credentials import Courier, apple

# What is not drawn, and why.
LEFT_OUT = {
    "GET /v1/apps/{app}/events": "an answer without an end; test_api_events.py reads it",
    **{name: "needs phones, which are processes of the machine; test_phones_host.py asks for each" for name in (
        "GET /v1/phones", "POST /v1/phones", "DELETE /v1/phones/{id}", "GET /v1/phones/{id}/events", "POST /v1/phones/{id}/commands")},
    "POST /v1/session": "answers with a cookie, and wrong passwords make the address wait; test_sessions.py signs in",
    "GET /v1/session": "needs a cookie; test_sessions.py has one",
    "DELETE /v1/session": "needs a cookie; test_sessions.py has one",
    "GET /": "leads to a page; test_sessions.py follows it",
    "GET /console": "a page for browsers; test_sessions.py looks at it",
    "GET /console/{file}": "files for browsers; the server's own tests look at each",
    "GET /v1/connect": "a web socket, no operation of OpenAPI; test_protocol.py and test_websocket_conformance.py speak it",
}
# They answer for each line: one that breaks the description is refused alone, with status 200.
BY_LINE = {"POST /v1/apps/{app}/installations"}
USERS = [f"person{number}" for number in range(6)]
# The phone of somebody whom nobody bans: its tokens stay good.
PHONE = "phone-owner"
# What every answer has to pass; one that was drawn to break the description must be refused, too.
CHECKS = [
    described.status_code_conformance, described.content_type_conformance, described.response_headers_conformance,
    described.response_schema_conformance,
]
CASES_A_TURN = 5
# Of the app's list.
TAGS = ["gold", "quiet"]


@schemathesis.serializer("application/offset+octet-stream")
def bytes_of_upload(_, value):
    return value if isinstance(value, bytes) else b"" if value is None else str(value).encode(errors="replace")


@dataclass
class Turn:
    """What the requests of an operation were answered with."""

    statuses: collections.Counter = field(default_factory=collections.Counter)

    @property
    def done(self) -> int:
        return sum(count for status, count in self.statuses.items() if 200 <= status < 400)

    @property
    def count(self) -> int:
        return sum(self.statuses.values())


class World:
    """What there is on the server, by kind; what is missing is made when it is asked for."""

    def __init__(self, site: Site, chance: random.Random):
        self.site = site
        self.chance = chance
        self.operator: Operator = first_operator(site)
        self.known: dict[str, list] = collections.defaultdict(list)
        self.cursors: dict[str, str] = {}
        # Of the local APNs, by team.
        self.keys: dict[str, dict] = {}
        self.numbers = 0
        self.call("PUT", self._path("profiles"), {"profiles": [{"user": user, "name": user.title()} for user in USERS]})
        self.user_token = site.token(PHONE)
        self.extension_token = self._sign_in(PHONE, "the-phone", self.user_token)
        self.client_key = self.operate("POST", self._path("client-keys"), {"name": f"ios-{chance.randbytes(4).hex()}"})["key"]
        self.guest = self.call("POST", "/v1/installations", {}, key=self.client_key)
        self.first_message = self.message("PR", USERS[0], PHONE)

    def _path(self, rest: str) -> str:
        return f"/v1/apps/{self.site.app}/{rest}"

    def call(self, method: str, path: str, body: dict | None = None, key: str | None = None):
        """A request of the tests' own, which has to succeed."""
        try:
            return self.site.call(method, path, body, key=key)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path} {body}: {error.read().decode()}") from None

    def operate(self, method: str, path: str, body: dict | None = None):
        return self.call(method, path, body, key=self.operator.key)

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    def _sign_in(self, user: str, device: str, token: str, push_token: str | None = None) -> str:
        with websockets.sync.client.connect(f"{self.site.gateway}/v1/connect", subprotocols=["tidings.v1.json"]) as socket:
            socket.send(json.dumps({"hello": {
                "versionMin": 1, "versionMax": 1, "token": token, "device": device, "platform": "python",
                "runState": {"state": "foreground"}}}))
            welcome = json.loads(socket.recv())["welcome"]
            if push_token:
                socket.send(json.dumps({"registerPush": {"token": push_token, "environment": "sandbox", "topic": TOPIC}}))
                socket.send(json.dumps({"ping": {"nonce": "1"}}))
                while "pong" not in json.loads(socket.recv()):
                    pass
            return welcome["extensionToken"]

    def user(self) -> str:
        return self.chance.choice(USERS)

    def some(self, kind: str):
        """One of a kind: an older one or, if there is none or by chance, a new one."""
        there = self.known[kind]
        if not there or (len(there) < 30 and self.chance.random() < 0.1):
            there.append(getattr(self, f"make_{kind}")())
        return self.chance.choice(there[-12:])

    def forget(self, kind: str, it):
        if it in self.known[kind]:
            self.known[kind].remove(it)

    # Makers: each returns what a path or a body names it by.

    def make_conversation(self) -> tuple[str, str]:
        kind, target = self.chance.choice(["GRP", "DS", "CHRM"]), f"c{self._number()}"
        self.call("PUT", self._path(f"conversations/{kind}/{target}"), {
            "name": "Everybody", "members": [{"user": USERS[0], "role": "owner"}, *USERS[1:5], PHONE]})
        return kind, target

    def make_room(self) -> tuple[str, str]:
        self.call("PUT", self._path("conversations/CHRM/hall"), {"name": "Hall", "members": [{"user": USERS[0], "role": "owner"}]})
        return "CHRM", "hall"

    def make_account(self) -> tuple[str, str]:
        kind, name = self.chance.choice(["CS", "SYS", "MC", "MP", "PH"]), f"account{self._number()}"
        self.call("PUT", self._path(f"accounts/{kind}/{name}"), {"owner": USERS[0], "audience": "followers"})
        return kind, name

    def make_message(self) -> str:
        return self.message("PR", USERS[self.chance.randrange(3)], USERS[3 + self.chance.randrange(3)])

    def message(self, kind: str, sender: str, target: str) -> str:
        body = {
            "sender": sender, "client_message_id": f"made{self._number()}", "conversation": {"type": kind, "target": target},
            "content": "{\"content\":\"hello\"}", "ignores_blocks": True}
        return self.call("POST", self._path("messages"), body)["message_id"]

    def make_call(self) -> str:
        name = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        self.call("POST", self._path("calls"), {"id": name, "from": USERS[0], "to": PHONE})
        return name

    def make_device(self) -> tuple[str, str]:
        user, device = self.user(), f"device{self._number()}"
        self.call("DELETE", self._path(f"users/{user}/ban"))
        self._sign_in(user, device, self.site.token(user), self.push_token(device))
        return user, device

    def push_token(self, device: str) -> str | None:
        """One of a phone, one that nobody has, or none."""
        kind = self.chance.randrange(3)
        if kind == 0:
            with Courier(self.site, device) as phone:
                return phone.ask({"type": "register", "id": 1, "topic": TOPIC, "environment": "sandbox"})["token"]
        return self.chance.randbytes(32).hex() if kind == 1 else None

    def make_activity(self) -> str:
        return self.call("POST", self._path("live-activities"), {
            "environment": "sandbox", "topic": TOPIC, "token": self.chance.randbytes(32).hex(), "event": "end"})["id"]

    def make_push(self) -> str:
        return self.call("POST", self._path("pushes"), {"notification": {"text": "hello"}, "audience": self.audience()})["id"]

    def audience(self) -> dict:
        user, device = self.some("device")
        return copy.deepcopy(self.chance.choice([
            {"devices": [{"user": user, "device": device}]},
            {"everybody": True}, {"users": sorted({self.user(), PHONE})}, {"all": [{"tag": TAGS[0]}, {"not": {"tag": TAGS[1]}}]},
            {"any": [{"alias": "customer-7"}, {"not": {"users": [self.user()]}}]}]))

    def make_channel(self) -> str:
        return self.call("POST", self._path("broadcast-channels"), {"environment": "sandbox", "topic": TOPIC})["id"]

    def key_file(self, team: str = "FIRSTTEAM1") -> dict[str, str]:
        """The key of a team, as it is uploaded: an app takes it once, and APNs makes a team a few at most."""
        if team not in self.keys:
            self.keys[team] = apple(self.site, "/keys", {"team_id": team})
        made = self.keys[team]
        return {
            "file": base64.b64encode(made["p8"].encode()).decode(), "name": f"AuthKey_{made['key_id']}.p8", "team_id": made["team_id"]}

    def make_push_credential(self) -> tuple[str, str]:
        """One that is not active yet."""
        app = self.make_app()
        return app, self.operate("POST", f"/v1/apps/{app}/push-credentials", self.key_file())["id"]

    def make_active_credential(self) -> tuple[str, str]:
        app, first = self.make_push_credential()
        self.operate("POST", f"/v1/apps/{app}/push-credentials/{first}/activate", {"unproven": True})
        return app, first

    def make_replacing_credential(self) -> tuple[str, str]:
        app, first = self.make_active_credential()
        second = self.operate("POST", f"/v1/apps/{app}/push-credentials", self.key_file("SECONDTEAM"))["id"]
        self.operate("POST", f"/v1/apps/{app}/push-credentials/{second}/activate", {"in_place_of": first, "unproven": True})
        return app, second

    def clear_uploads(self):
        """Few may be under way at once."""
        for it in self.call("GET", self._path("media?state=unfinished&limit=100"))["media"]:
            self.call("DELETE", self._path(f"media/{it['media_id']}"))
        self.known["upload"], self.known["own_upload"] = [], []

    def _upload(self, path: str, token: str, size: int, is_whole: bool) -> str:
        base = self.site.api if path.startswith("/v1/apps/") else self.site.phone
        if not is_whole:
            self.clear_uploads()
        headers = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"}
        begun = requests.post(base + path, timeout=20, headers={
            **headers, "Upload-Length": str(size), "Upload-Metadata": "filename Y2F0LmpwZw==,filetype aW1hZ2UvanBlZw=="})
        assert begun.status_code == 201, begun.text
        name = begun.json()["media_id"]
        if is_whole:
            headers |= {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            sent = requests.patch(f"{base}{path}/{name}", data=JPEG[:size], headers=headers, timeout=20)
            assert sent.status_code == 204, sent.text
        return name

    def make_media(self) -> str:
        return self._upload(self._path("media/uploads"), self.site.api_key, 64, is_whole=True)

    def make_upload(self) -> str:
        return self._upload(self._path("media/uploads"), self.site.api_key, 64, is_whole=False)

    def make_own_media(self) -> str:
        return self._upload("/v1/media/uploads", self.user_token, 64, is_whole=True)

    def make_own_upload(self) -> str:
        return self._upload("/v1/media/uploads", self.user_token, 64, is_whole=False)

    def make_app(self) -> str:
        name = f"app{self._number()}"
        self.operate("POST", "/v1/apps", {"id": name})
        return name

    def make_secret(self) -> tuple[str, str]:
        """One that may be ended: another one signs."""
        app = self.make_app()
        first = self.operate("POST", f"/v1/apps/{app}/token-secrets", {})["id"]
        self.operate("POST", f"/v1/apps/{app}/token-secrets", {})
        return app, first

    def make_api_key(self) -> tuple[str, str]:
        app, name = self.some("app"), f"key{self._number()}"
        self.operate("POST", f"/v1/apps/{app}/api-keys", {"name": name, "scopes": SCOPES})
        return app, name

    def make_client_key(self) -> tuple[str, str]:
        app = self.make_app()
        return app, self.operate("POST", f"/v1/apps/{app}/client-keys", {"name": "ios"})["key"]

    def make_webhook(self) -> tuple[str, str]:
        app = self.make_app()
        # Nothing has to come of it: the name is nobody's.
        body = {"name": "Orders", "url": "https://hooks.example.com/tidings", "types": ["receipt"], "enabled": False}
        return app, self.operate("POST", f"/v1/apps/{app}/webhooks", body)["webhook"]["id"]

    def make_operator(self) -> str:
        name = f"operator{self._number()}"
        self.operate("POST", "/v1/operators", {"name": name, "role": "view"})
        return name

    # What requests say.

    def credential(self, kinds: list[str]) -> str | None:
        return {
            "apiKey": self.site.api_key, "operatorKey": self.operator.key, "userToken": self.user_token,
            "extensionToken": self.extension_token, "clientKey": self.client_key, "renewal": self.guest["renewal"],
        }[self.chance.choice(kinds)] if kinds else None

    def path_values(self, path: str) -> dict[str, str]:
        """Something that is there for each name in the path."""
        values = {"app": self.site.app, "user": self.user(), "other": self.chance.choice(USERS)}
        if values["other"] == values["user"]:
            values["other"] = PHONE
        if path.endswith("/media/uploads"):
            self.clear_uploads()
        for prefix, kind, names in [
            ("/v1/apps/{app}/conversations/{type}/{id}", "conversation", ("type", "id")),
            ("/v1/apps/{app}/accounts/{type}/{id}", "account", ("type", "id")),
            ("/v1/apps/{app}/users/{user}/devices/{device}", "device", ("user", "device")),
            ("/v1/apps/{app}/token-secrets/{id}", "secret", ("app", "id")),
            ("/v1/apps/{app}/api-keys/{name}", "api_key", ("app", "name")),
            ("/v1/apps/{app}/messages/{id}", "message", ("id",)), ("/v1/apps/{app}/calls/{id}", "call", ("id",)),
            ("/v1/apps/{app}/media/uploads/{id}", "upload", ("id",)), ("/v1/apps/{app}/media/{id}", "media", ("id",)),
            ("/v1/media/uploads/{id}", "own_upload", ("id",)), ("/v1/media/{id}", "own_media", ("id",)),
            ("/v1/operators/{name}", "operator", ("name",)), ("/v1/apps/{app}/client-keys/{key}", "client_key", ("app", "key")),
            ("/v1/apps/{app}/push-credentials/{id}/retire", "active_credential", ("app", "id")),
            ("/v1/apps/{app}/push-credentials/{id}/roll-back", "replacing_credential", ("app", "id")),
            ("/v1/apps/{app}/push-credentials/{id}", "push_credential", ("app", "id")),
            ("/v1/apps/{app}/webhooks/{webhook}", "webhook", ("app", "webhook")),
            ("/v1/apps/{app}/pushes/{id}", "push", ("id",)), ("/v1/apps/{app}/live-activities/{id}", "activity", ("id",)),
            ("/v1/apps/{app}/broadcast-channels/{channel}", "channel", ("channel",)),
        ]:
            if path.startswith(prefix):
                found = self.some(kind)
                if "/bans" in path and found[0] != "CHRM":
                    self.known["room"] = self.known["room"] or [self.make_room()]
                    found = self.known["room"][0]
                # Of those that are there some have been made accounts that nobody follows.
                if "/followers/" in path:
                    found = self.make_account()
                return {**values, **dict(zip(names, found if isinstance(found, tuple) else (found,)))}
        if path.endswith("/users/{user}/read"):
            values["user"] = PHONE
        if path == "/v1/installations/{user}/token":
            values["user"] = self.guest["user"]
        if "/settings/{type}/{id}" in path or "/unread/{type}/{id}" in path:
            values["type"], values["id"] = self.some("conversation")
        if self.is_for_operators(path):
            # An app has a few secrets, keys, credentials and webhooks at most.
            few = ("/token-secrets", "/api-keys", "/push-credentials", "/client-keys", "/webhooks")
            values["app"] = self.make_app() if path.endswith(few) else self.some("app")
        return values

    def is_for_operators(self, path: str) -> bool:
        return re.fullmatch(r"/v1/apps/\{app\}(/settings|/suspend|/resume|/token-secrets.*|/api-keys.*|/client-keys.*|/push-credentials.*|/webhooks.*)?", path) is not None

    def conversation(self) -> dict[str, str]:
        if self.chance.random() < 0.4:
            return {"type": "PR", "target": self.user()}
        kind, target = self.some("conversation")
        return {"type": kind, "target": target}

    def dress(self, name: str, value, path: str):
        """A drawn member of a query or body, with what is there in place of what was drawn for names of things."""
        if name == "audience" and "/pushes" in path:
            return self.audience()
        if name == "tags" and path.endswith("/tags"):
            return TAGS[:self.chance.randrange(3)]
        if isinstance(value, dict):
            if name == "conversation":
                return {"type": "PR", "target": USERS[0]} if path.endswith("/read") else self.conversation()
            return {key: self.dress(key, inner, path) for key, inner in value.items()}
        if value is None:
            return None
        if name in {"sender", "user", "from", "to", "author", "owner", "actor"}:
            return self.user()
        if name in {"users", "operators", "recipients"}:
            return sorted({self.user() for _ in value}) or ([self.user()] if name == "recipients" else value)
        if name in {"members", "profiles"}:
            people = sorted({self.user() for _ in value}) if name == "members" else self.chance.sample(USERS, min(len(value), len(USERS)))
            plain = name == "members" and self.chance.random() < 0.5
            return people if plain else [{"user": person, **({} if "POST" in path else {"name": person.title()} if name == "profiles" else {"role": "member"})} for person in people]
        if name == "up_to":
            return self.first_message
        if name in {"message_id", "message"}:
            return self.some("message")
        if name == "message_ids":
            return sorted({self.some("message") for _ in value})
        if name == "url" and "/webhooks" in path:
            return f"https://hooks{self._number()}.example.com/tidings"
        if name == "level_until":
            return int(time.time() * 1_000) + 3_600_000
        plausible = {
            "time_zone": "Europe/Berlin", "language": "de", "object_name": "RC:TxtMsg", "nickname": "Nick", "name": f"n{self._number()}",
            "portrait": "https://files.example.com/a.png", "client_message_id": f"drawn{self._number()}", "push": None, "mentions": None,
            "before": 1_577_836_800_000, "until": int(time.time() * 1_000) + 3_600_000, "since": "2020-01-01T00:00:00Z", "environment": "sandbox", "topic": TOPIC,
        }
        return plausible.get(name, value)

    def learn(self, path: str, method: str, values: dict, status: int, answer):
        """Takes up what an answer tells of, and forgets what is gone."""
        if isinstance(answer, dict):
            if isinstance(answer.get("message_id"), str) and status < 300 and path.endswith("/messages"):
                self.known["message"].append(answer["message_id"])
            if isinstance(answer.get("next"), str):
                self.cursors[path] = answer["next"]
            if status == 201 and path == "/v1/apps/{app}/conversations/{type}/{id}":
                self.known["conversation"].append((answer["type"], answer["target"]))
        gone = method == "DELETE" and status < 300 or status in (404, 410)
        if gone:
            id, name = values.get("id"), values.get("name")
            for kind, it in [
                ("message", id), ("media", id), ("upload", id), ("own_media", id), ("own_upload", id), ("call", id),
                ("operator", name), ("conversation", (values.get("type"), id)), ("account", (values.get("type"), id)),
                ("device", (values.get("user"), values.get("device"))), ("api_key", (values.get("app"), name)),
                ("secret", (values.get("app"), id)), ("push_credential", (values.get("app"), id)), ("activity", id), ("channel", values.get("channel")),
                ("push", id), ("webhook", (values.get("app"), values.get("webhook"))),
            ]:
                if "members/" not in path and "bans/" not in path and "mutes/" not in path and "invitations/" not in path and "followers/" not in path:
                    self.forget(kind, it)
        if status == 200 and "/push-credentials/{id}/" in path:
            # Each is activated, retired and rolled back once.
            for kind in ("active_credential", "replacing_credential", *(["push_credential"] if path.endswith("/activate") else [])):
                self.forget(kind, (values.get("app"), values.get("id")))
        if path.endswith("/suspend") and status == 200 and isinstance(answer, dict):
            self.operate("POST", f"/v1/apps/{answer['id']}/resume", {})
        if path == "/v1/apps/{app}/settings" and method == "PUT" and status == 200 and answer["id"] == self.site.app:
            # Audiences name them.
            self.operate("PUT", self._path("settings"), {**answer["settings"], "tags": TAGS})
        if path.endswith("/ban") and method == "PUT" and values.get("user") in USERS:
            self.call("DELETE", self._path(f"users/{values['user']}/ban"))
        if path.endswith("/object-names") and method == "PUT" and status < 300:
            self.call("PUT", self._path("object-names"), {"names": []})
        # What else would keep others from sending.
        if path.endswith("/blocked/{other}") and values["user"] in USERS and values["other"] in [*USERS, PHONE] and values["user"] != values["other"] and self.chance.random() < 0.5:
            self.call("DELETE", self._path(f"users/{values['user']}/blocked/{values['other']}"))


class Run:
    """Draws requests and holds their answers against a document, which a test may have changed."""

    def __init__(self, site: Site, document: dict, number: int):
        self.site = site
        self.chance = random.Random(number)
        self.number = number
        self.world = World(site, self.chance)
        # Credentials are chosen here: they have to be good.
        self.kinds = {
            f"{method.upper()} {path}": [name for requirement in it.get("security", []) for name in requirement if name != "session"]
            for path, methods in document["paths"].items() for method, it in methods.items() if method != "servers"}
        document = copy.deepcopy(document)
        del document["components"]["securitySchemes"]
        for methods in document["paths"].values():
            for method, it in methods.items():
                if method != "servers":
                    it.pop("security", None)
        self.schema = schemathesis.openapi.from_dict(document)
        # What a failure prints can be typed.
        self.schema.config.output.sanitization.update(enabled=False)
        self.strategies = {}
        # How often each operation has had its turn.
        self.taken: collections.Counter[str] = collections.Counter()
        self.operations = [found.ok() for found in self.schema.get_all_operations()]
        self.turns: dict[str, Turn] = {}
        # By operation and kind, the first of each.
        self.failures: dict[tuple[str, str], str] = {}
        self.session = requests.Session()

    def play(self, cases: int, only: typing.Callable[[str], bool] = lambda label: True):
        """This many requests, all operations in turns."""
        drawn = [found for found in self.operations if found.label not in LEFT_OUT and only(found.label)]
        left, turn, idle = cases, 0, 0
        while left > 0:
            self.chance.shuffle(drawn)
            before = left
            for operation in drawn:
                if left <= 0:
                    break
                left -= self._take_turn(operation, min(CASES_A_TURN, left), self.number * 1_000 + turn)
                turn += 1
            idle = idle + 1 if left == before else 0
            assert idle < 20, "nothing can be drawn"

    def never(self) -> set[str]:
        """The operations of which no request was carried out."""
        labels = {operation.label for operation in self.operations} - set(LEFT_OUT)
        return {label for label in labels if not (turn := self.turns.get(label)) or turn.done == 0}

    def _take_turn(self, operation, cases: int, number: int) -> int:
        self.taken[operation.label] += 1
        breaks = self.taken[operation.label] % 3 == 0
        mode = schemathesis.GenerationMode.NEGATIVE if breaks else schemathesis.GenerationMode.POSITIVE
        if (operation.label, breaks) not in self.strategies:
            self.strategies[operation.label, breaks] = operation.as_strategy(generation_mode=mode)
        asked = 0

        @seed(number)
        @settings(
            max_examples=cases, database=None, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
        @given(self.strategies[operation.label, breaks])
        def ask(case):
            nonlocal asked
            asked += 1
            self._ask(case, breaks)

        try:
            ask()
        except Unsatisfiable:
            # Of an operation without anything to break nothing can be drawn.
            if not breaks:
                raise
        return asked

    def _ask(self, case, breaks: bool):
        operation = case.operation
        path, method = operation.path, operation.method.upper()
        values = self._dress(case, breaks)
        headers = {}
        case.headers = {name: text for name, text in (case.headers or {}).items() if name.lower() != "authorization"}
        if credential := self.world.credential(self.kinds[operation.label]):
            headers["Authorization"] = f"Bearer {credential}"
        base = self.site.phone if path.startswith(PHONE_PATHS) else self.site.api
        try:
            answer = case.call(base_url=base, session=self.session, headers=headers, timeout=20)
        except requests.RequestException as error:
            self._fail(case, base, headers, "no answer", str(error))
            return
        self.turns.setdefault(operation.label, Turn()).statuses[answer.status_code] += 1
        told = None
        if "json" in answer.headers.get("content-type", [""])[0] and method != "HEAD":
            told = answer.json()
        if answer.status_code >= 500 and answer.status_code not in (503, 507):
            self._fail(case, base, headers, f"status {answer.status_code}", str(answer.text))
        # A renewal is of one person.
        is_theirs = path != "/v1/installations/{user}/token" or values["user"] == self.world.guest["user"]
        if answer.status_code == 401 and not breaks and is_theirs and values.get("app", self.site.app) == self.site.app:
            self._fail(case, base, headers, "a good credential is refused", str(answer.text))
        for check in [*CHECKS, *([described.negative_data_rejection] if breaks and answer.status_code < 400 and operation.label not in BY_LINE else [])]:
            try:
                case.validate_response(answer, checks=[check])
            except* AssertionError as group:
                for failure in group.exceptions:
                    self._fail(case, base, headers, f"{check.__name__}: {getattr(failure, 'title', '')}", str(failure))
        self.world.learn(path, method, values, answer.status_code, told)

    def _fail(self, case, base: str, headers: dict, kind: str, text: str):
        self.failures.setdefault(
            (case.operation.label, kind), f"{text[:1_500]}\n  {case.as_curl_command(headers=headers, base_url=base)[:3_000]}")

    def _dress(self, case, breaks: bool) -> dict[str, str]:
        """Puts what is there into a request; returns what its path names. Of one that breaks the description, what it breaks stays."""
        world, path, method = self.world, case.operation.path, case.operation.method.upper()
        drawn = {name: urllib.parse.unquote(str(text)) for name, text in (case.path_parameters or {}).items()}
        is_broken = {location.name.lower() for location, info in case.meta.components.items() if info.mode.is_negative} if case.meta else set()
        values = drawn
        keeps_path = "path_parameters" in is_broken or "path" in is_broken
        if path == "/v1/media/uploads":
            world.clear_uploads()
        if case.path_parameters and not keeps_path and self.chance.random() < 0.97:
            there = world.path_values(path)
            values = {name: there.get(name, text) for name, text in drawn.items()}
            if method in ("POST", "PUT") and path.endswith("/conversations/{type}/{id}"):
                values["id"] = f"drawn{world._number()}" if self.chance.random() < 0.7 else values["id"]
                values["type"] = drawn["type"] if values["id"].startswith("drawn") else values["type"]
            if method == "PUT" and path.endswith("/accounts/{type}/{id}") and self.chance.random() < 0.5:
                values["id"] = f"drawn{world._number()}"
            case.path_parameters = {name: urllib.parse.quote(text, safe="") for name, text in values.items()}
        elif "app" in drawn and not keeps_path:
            values = {**drawn, "app": self.site.app}
            case.path_parameters = {**case.path_parameters, "app": self.site.app}
        if breaks or self.chance.random() < 0.12:
            return values
        self._dress_query(case, path)
        self._dress_headers(case)
        if isinstance(case.body, dict):
            case.body = {name: world.dress(name, value, f"{method} {path}") for name, value in case.body.items()}
            if path == "/v1/apps":
                case.body["id"] = f"drawn{world._number()}"
                case.body.pop("settings", None)
            if "message_id" in case.body:
                case.body.pop("message_ids", None)
            self._dress_push(case.body, path)
        elif isinstance(case.body, bytes):
            case.body = JPEG[:self.chance.choice([16, 64])]
        return values

    def _dress_push(self, body: dict, path: str):
        """What belongs together in a body that asks for pushes, or is about what they go out with."""
        token = self.chance.randbytes(32).hex()
        if path.endswith("/push-credentials"):
            for name in ("password", "key_id"):
                body.pop(name, None)
            body |= {**self.world.key_file(), **({"topics": [TOPIC]} if "topics" in body else {})}
            if "environments" in body:
                body["environments"] = ["sandbox"]
        elif path.endswith("/activate"):
            body.pop("in_place_of", None)
            body["unproven"] = True
        elif path.endswith("/prove"):
            body["topic"] = TOPIC
            if "token" in body:
                body["token"] = token
        elif path == "/v1/apps/{app}/messages":
            # Members that go together in few ways only.
            if self.chance.random() < 0.6:
                for name in ("recipients", "author", "push_text", "flags", "lifetime_ms"):
                    body.pop(name, None)
                body["content"] = "{\"content\":\"hello\"}"
                body.pop("text", None)
        elif path == "/v1/apps/{app}/messages/{id}":
            body.clear()
            body["text"] = "hello"
        elif path.endswith("/pushes/preview"):
            passing = ("silent", "call", "live_activity")
            for name in ("notification", "message", "send", *passing):
                body.pop(name, None)
            kind = self.chance.choice(["notification", "message", "send", *passing])
            body[kind] = {
                "notification": {"title": "Sale", "text": "Everything half price"}, "message": {"content": "{\"content\":\"hello\"}"},
                "send": {"sender": USERS[0], "client_message_id": "c1", "conversation": {"type": "PR", "target": USERS[1]}, "content": "{\"content\":\"hello\"}"},
                "silent": {"data": {"sync": True}}, "call": {"from": USERS[0], "to": USERS[1], "video": True},
                "live_activity": {"environment": "sandbox", "topic": TOPIC, "event": "update", "content_state": {"score": 1}},
            }[kind]
            if kind in passing:
                for name in ("account", "counted", "conversation", "recipient", "language"):
                    body.pop(name, None)
            elif kind == "send":
                for name in ("account", "counted", "conversation"):
                    body.pop(name, None)
            elif body.get("account") is not None:
                body["account"] = {"kind": "PH", "id": "push"}
            if body.get("counted"):
                body["conversation"] = True
            if body.get("recipient") is not None:
                body["recipient"] = PHONE
        elif path.endswith("/pushes"):
            kind = self.chance.choice(["notification", "message", "custom"])
            for name in {"notification", "message", "custom"} - {kind}:
                body.pop(name, None)
            body[kind] = {
                "notification": {"title": "Sale", "text": "Everything half price"}, "message": {"content": "{\"content\":\"hello\"}"},
                "custom": {"content": "refresh"}}[kind]
            if kind == "custom":
                for name in ("counted", "conversation"):
                    body.pop(name, None)
            elif body.get("counted"):
                body["conversation"] = True
            if body.get("account") is not None:
                body["account"] = {"kind": "PH", "id": self.chance.choice(["push", "offers"])}
            if body.get("send_at") is not None:
                body["send_at"] = int(time.time() * 1_000) + self.chance.choice([-1_000, 60_000])
            drawn = {name for name in ("send_at_local", "time_zone") if name in body}
            for name in drawn:
                del body[name]
            if drawn and self.chance.random() < 0.5:
                body.pop("send_at", None)
                at = time.gmtime(time.time() + self.chance.choice([-86_400, 0, 86_400]))
                body |= {"send_at_local": time.strftime("%Y-%m-%dT%H:%M", at), "time_zone": self.chance.choice(["Europe/Berlin", "UTC"])}
        elif path.endswith("/silent-push"):
            body.pop("device", None)
        elif path.endswith("/live-activities"):
            body.pop("id", None)
            is_start, is_broadcast = body["event"] == "start", body["event"] != "start" and self.chance.random() < 0.4
            if body["event"] != "end" or body.get("content_state") is not None:
                body["content_state"] = body.get("content_state") or {}
            of_start = ("attributes_type", "attributes", "input_push_token")
            for name in ("token", "channel", "priority", "expires_at", "input_push_channel", *(() if is_start else of_start)):
                body.pop(name, None)
            for name in {"timestamp", "stale_at", "dismissal_at"} & set(body):
                body[name] = int(time.time() * 1_000)
            if is_start:
                body |= {"attributes_type": "Ride", "attributes": body.get("attributes") or {}, "alert": {"title": "Ride", "body": "A car comes"}}
            body |= {"channel": self.world.some("channel")} if is_broadcast else {"token": token}

    def _dress_query(self, case, path: str):
        query = {name: self.world.dress(name, value, path) for name, value in (case.query or {}).items()}
        # Few may do what the backend may.
        if "actor" in query:
            query["actor"] = USERS[0]
            if self.chance.random() < 0.6:
                del query["actor"]
        if "cursor" in query:
            query["cursor"] = self.world.cursors.get(path)
            if query["cursor"] is None or "limit" not in query:
                del query["cursor"]
            else:
                query.pop("after", None)
        elif "audience" in query:
            query["audience"] = json.dumps(self.world.audience())
        elif "text" in query:
            query["text"] = self.chance.choice(["hello", "no such word"])
            place = self.world.conversation() if "conversation_id" in query and "user" in query else {}
            for name in ("conversation_type", "conversation_id"):
                query.pop(name, None)
            if place:
                query |= {"conversation_type": place["type"], "conversation_id": place["target"]}
            if "since" in query and "until" in query:
                del query["until"]
        elif path.endswith("/missed"):
            query["after"] = query.get("after", 0) % 3
        if path.endswith("/legs"):
            # Without a person or a message nobody without a device is found, a wait has no state but open, and a cursor is of its question.
            if not {"user", "message_id"} & set(query) and query.get("state") == "no_device" or "wait" in query:
                query.pop("state", None)
            for name in {"cursor", *(["until"] if "since" in query else [])}:
                query.pop(name, None)
        case.query = query

    def _dress_headers(self, case):
        headers = case.headers
        if "Upload-Length" in headers:
            headers["Upload-Length"] = self.chance.choice(["16", "64"])
        if "Upload-Metadata" in headers:
            name = base64.b64encode(self.chance.randbytes(6).hex().encode()).decode()
            headers["Upload-Metadata"] = f"filename {name},filetype aW1hZ2UvanBlZw=="
        if "Upload-Offset" in headers:
            headers["Upload-Offset"] = "0"
        for name in ("Upload-Checksum", "If-Match", "Idempotency-Key"):
            if name in headers and self.chance.random() < 0.7:
                del headers[name]

    def table(self) -> str:
        """By operation: requests, the share that was carried out, and the statuses."""
        rows = []
        for label, turn in sorted(self.turns.items()):
            statuses = " ".join(f"{status}×{count}" for status, count in sorted(turn.statuses.items()))
            rows.append(f"{turn.count:5} {turn.done * 100 // turn.count:4} %  {label}  {statuses}")
        return "\n".join(rows)

    @property
    def count(self) -> int:
        return sum(turn.count for turn in self.turns.values())

    @property
    def done(self) -> int:
        return sum(turn.done for turn in self.turns.values())


def read_document(site: Site) -> dict:
    """The description that the running server ships."""
    return yaml.load(requests.get(f"{site.api}/openapi.yaml", timeout=20).text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
