"""Apps, their keys and secrets, and operators, made and changed on a running server with the tool, as a person types it."""

import asyncio
import base64
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import time
import urllib.error

import jwt
import pytest
from conftest import ROOT, Site, tool
from story import run
from tidings_client import Client, Refused

SCOPES = ["tokens", "messages", "conversations", "history", "settings", "trace", "accounts", "media"]


class Operator:
    """Somebody who runs a site, at a terminal: each call is one command of the tool."""

    def __init__(self, site: Site, key: str = ""):
        self.site = site
        self.key = key

    def __call__(self, *arguments: str, status: int = 0) -> str:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("TIDINGS_")}
        done = subprocess.run(
            [tool(), *arguments, "--api", self.site.api], capture_output=True, text=True, timeout=60,
            env={**environment, "TIDINGS_OPERATOR_KEY": self.key}, stdin=subprocess.DEVNULL)
        assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return (done.stdout if status == 0 else done.stderr).strip()

    def call(self, method: str, path: str, body: dict | None = None, **headers: str):
        """The HTTP API itself, with the operator's key."""
        return self.site.call(
            method, path, body, key=self.key, headers={name.replace("_", "-"): text for name, text in headers.items()})

    def add(self, name: str, role: str) -> "Operator":
        return Operator(self.site, self("operator", "add", name, "--role", role))

    def make_app(self, app: str) -> None:
        """An app with one key, which the site uses from now on."""
        self.site.app = app
        self.site.secret = self("app", "create", app)
        self.site.api_key = self("app", "key", "add", app, "backend", *(f"--scope={scope}" for scope in SCOPES))


def first_operator(site: Site) -> Operator:
    anna = Operator(site)
    anna.key = anna("operator", "add", "anna", "--role", "administer", "--store", str(site.database))
    return anna


@pytest.fixture
def bare(make_site) -> Site:
    """A running server whose configuration names no app."""
    site = make_site()
    configuration = json.loads(site.config.read_text())
    del configuration["apps"], configuration["app"]
    site.config.write_text(json.dumps(configuration))
    return site.start()


@pytest.fixture
def anna(bare) -> Operator:
    return first_operator(bare)


def refusal(call) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as raised:
        call()
    return raised.value.code, json.loads(raised.value.read())["code"]


def signed(site: Site, secret: str) -> str:
    """A token that the app's backend has made by itself."""
    return jwt.encode({"app": site.app, "sub": "alice", "exp": int(time.time()) + 3_600}, secret)


async def verdict(site: Site, token: str) -> str:
    """What the server says to a hello with this token: `welcome`, or the code of its problem."""
    client = Client(site.gateway, token)
    try:
        await client.connect()
    except Refused as refused:
        return refused.code
    await client.close()
    return "welcome"


def message(number: int = 1) -> dict:
    return {
        "sender": "alice", "client_message_id": f"c{number}", "conversation": {"type": "PR", "target": "bob"},
        "content": "{\"content\":\"hi\"}",
    }


# From nothing.


def test_a_server_without_an_app_gets_one_that_sends(anna):
    site = anna.site
    assert re.fullmatch(r"to_[\w-]{43}", anna.key)
    assert anna("app", "list") == "there are no apps"
    anna.make_app("chat")
    assert re.fullmatch(r"[0-9a-f]{64}", site.secret) and re.fullmatch(r"tk_[\w-]{43}", site.api_key)

    async def story():
        alice, bob = Client(site.gateway, signed(site, site.secret)), Client(site.gateway, site.token("bob"))
        await alice.connect()
        await bob.connect()
        sent = await alice.send("bob", "hello")
        await bob.wait_for(lambda: bob.messages)
        assert [entry["id"] for entry in bob.messages] == [sent["messageId"]]
        await alice.close()
        await bob.close()

    run(story())
    assert re.search(r"^chat +- +active +1 +2  20", anna("app", "list"), re.MULTILINE)
    shown = anna("app", "show", "chat")
    assert shown.startswith("chat, active, ") and "  backend  accounts, conversations, history, " in shown
    assert site.secret not in shown and site.api_key not in shown
    assert '"chat" is taken' in anna("app", "create", "chat", status=1)
    assert "names no app" in anna("app", "show", "elsewhere", status=1)


def test_an_operator_who_has_lost_the_key_gets_another_on_the_servers_own_machine(anna):
    lost = anna.key
    assert first_operator(anna.site).key != lost
    assert refusal(lambda: anna.site.call("GET", "/v1/operators", key=lost)) == (401, "unauthorized")
    assert (os.stat(f"{anna.site.database}.control").st_mode & 0o777) == 0o600
    # Without a server nobody is asked, and nothing is made.
    folder = anna.site.folder / "elsewhere"
    folder.mkdir()
    said = Operator(anna.site)("operator", "add", "eve", "--role", "view", "--store", f"{folder}/a.sqlite", status=1)
    assert f"no server answers at {folder}/a.sqlite.control (No such file or directory): start it" in said and not list(folder.iterdir())
    assert "must" in Operator(anna.site)(
        "operator", "add", "a name", "--role", "view", "--store", str(anna.site.database), status=1)


def test_everything_is_there_after_a_crash(anna):
    site = anna.site
    anna.make_app("chat")
    anna.add("olga", "send")
    anna.call("PUT", "/v1/apps/chat/settings", {"members_max": 7})
    anna("app", "suspend", "chat")
    before = anna.call("GET", "/v1/apps/chat"), anna.call("GET", "/v1/operators")
    site.server.kill()
    site.start()
    # When keys were used last is written later than the rest.
    after = anna.call("GET", "/v1/apps/chat"), anna.call("GET", "/v1/operators")
    for record in [entry for app, operators in (before, after) for entry in [*app["api_keys"], *operators["operators"]]]:
        del record["last_used_at"]
    assert after == before
    assert after[0]["settings"]["members_max"] == 7 and after[0]["suspended"]
    anna("app", "resume", "chat")
    assert run(verdict(site, signed(site, site.secret))) == "welcome"
    assert site.token("bob")


# Secrets and keys.


def test_tokens_of_the_secret_before_are_good_until_its_time_is_over_or_it_is_removed(anna):
    site = anna.site
    anna.make_app("chat")
    first = site.secret

    def welcomed(*tokens: str) -> list[str]:
        return [run(verdict(site, signed(site, secret))) for secret in tokens]

    second = anna("app", "secret", "rotate", "chat")
    assert welcomed(first, second) == ["welcome", "welcome"]
    assert jwt.decode(site.token("alice"), second, ["HS256"])["sub"] == "alice"
    newest, before = anna.call("GET", "/v1/apps/chat")["secrets"]
    assert newest["ends_at"] is None and before["ends_at"] > newest["created_at"] + 86_000_000
    anna("app", "secret", "remove", "chat", before["id"])
    assert welcomed(first, second) == ["invalid_token", "welcome"]
    # The one that signs stays.
    assert refusal(lambda: anna.call("DELETE", f"/v1/apps/chat/token-secrets/{newest['id']}")) == (409, "still_needed")
    third = anna("app", "secret", "rotate", "chat", "--overlap", "0")
    assert welcomed(second, third) == ["invalid_token", "welcome"]
    fourth = anna("app", "secret", "rotate", "chat", "--overlap", "2")
    deadline = time.monotonic() + 60
    while welcomed(third) != ["invalid_token"]:
        assert time.monotonic() < deadline
        # A person may not connect more often than once a second for long.
        time.sleep(0.5)
    assert welcomed(fourth) == ["welcome"]


def test_a_key_before_is_good_until_its_time_is_over_and_a_removed_one_opens_nothing(anna):
    site = anna.site
    anna.make_app("chat")
    first = site.api_key

    def tries(*keys: str) -> list[int]:
        found = []
        for key in keys:
            try:
                site.call("POST", "/v1/apps/chat/tokens", {"user": "alice"}, key=key)
                found.append(201)
            except urllib.error.HTTPError as error:
                found.append(error.code)
        return found

    second = anna("app", "key", "rotate", "chat", "backend")
    assert tries(first, second) == [201, 201]
    assert re.search(r"^  backend .*  20\S+ \S+ UTC$", anna("app", "show", "chat"), re.MULTILINE), "until when the one before is good"
    third = anna("app", "key", "rotate", "chat", "backend", "--overlap", "0")
    assert tries(first, second, third) == [401, 401, 201]
    anna("app", "key", "add", "chat", "looker", "--scope", "trace")
    assert anna("app", "key", "add", "chat", "looker", "--scope", "trace", status=1)
    assert "scope" in anna("app", "key", "add", "chat", "other", "--scope", "everything", status=1)
    anna("app", "key", "remove", "chat", "backend")
    assert tries(third) == [401]
    assert [key["name"] for key in anna.call("GET", "/v1/apps/chat")["api_keys"]] == ["looker"]
    assert refusal(lambda: anna.call("DELETE", "/v1/apps/chat/api-keys/backend")) == (404, "unknown_api_key")


def test_a_secret_is_told_a_single_time(anna):
    """Also to whoever repeats the request under its key: it is kept nowhere."""
    anna.make_app("chat")
    for path, body in [
        ("/v1/apps", {"id": "shop"}), ("/v1/operators", {"name": "olga", "role": "view"}),
        ("/v1/apps/chat/token-secrets", {}), ("/v1/apps/chat/api-keys", {"name": "two", "scopes": ["tokens"]}),
    ]:
        assert anna.call("POST", path, body, Idempotency_Key=f"\"{path}\"")
        assert refusal(lambda: anna.call("POST", path, body, Idempotency_Key=f"\"{path}\"")) == (
            409, "secret_already_shown"), path
    assert [app["id"] for app in anna.call("GET", "/v1/apps")["apps"]] == ["chat", "shop"]
    assert len(anna.call("GET", "/v1/apps/chat")["secrets"]) == 2


def test_nothing_of_a_secret_or_key_lies_in_the_database_or_a_backup(make_site):
    site = make_site().start()
    imported = [site.secret, site.api_key]
    anna = first_operator(site)
    anna.make_app("chat")
    hidden = [*imported, anna.key, site.secret, site.api_key]
    hidden += [anna("app", "secret", "rotate", "chat"), anna("app", "key", "rotate", "chat", "backend")]
    hidden.append(anna.add("olga", "view").key)
    backup = site.folder / "backup.sqlite"
    subprocess.run([tool(), "store", "backup", "--store", site.database, "--to", backup], check=True, timeout=60)
    site.server.stop()
    files = [*site.folder.glob("tidings.sqlite*"), backup, site.server.log]
    key_file = site.folder / "tidings.sqlite.key"
    assert key_file in files and (os.stat(key_file).st_mode & 0o777) == 0o600
    master = re.findall(r"\S{40,}", key_file.read_text())
    files.remove(key_file)
    everything = b"".join(file.read_bytes() for file in files if file.is_file())
    assert b"olga" in everything and b"chat" in everything
    for secret in [*hidden, *master]:
        forms = [secret.encode(), secret.removeprefix("tk_").removeprefix("to_").encode()]
        if re.fullmatch(r"([0-9a-f]{2}){16,}", secret):
            forms.append(bytes.fromhex(secret))
        elif secret in master:
            forms.append(base64.b64decode(secret))
        else:
            forms.append(base64.urlsafe_b64decode(secret[3:] + "="))
        assert not [form for form in forms if form in everything], "a secret lies in a file"


def test_a_database_without_its_master_key_starts_nowhere(anna):
    site = anna.site
    anna.make_app("chat")
    site.server.stop()
    key_file = site.folder / "tidings.sqlite.key"
    lines = key_file.read_text()
    name = lines.split()[0]
    folder = site.folder / "copy"
    folder.mkdir()
    for part in site.folder.glob("tidings.sqlite*"):
        if part.is_file() and part != key_file:
            shutil.copy(part, folder)

    def serve(**variables: str) -> str:
        done = subprocess.run(
            [tool(), "serve", "--config", site.config, "--set", f"store.path={folder}/tidings.sqlite"],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, **variables})
        assert done.returncode == 78, done.stdout + done.stderr
        return done.stdout + done.stderr

    said = serve()
    assert f"copy/{key_file.name}" in said and "Fatal error" not in said
    assert not (folder / key_file.name).exists()
    other = f"other {base64.b64encode(secrets.token_bytes(32)).decode()}"
    said = serve(TIDINGS_MASTER_KEY=other)
    assert f'"{name}"' in said.replace("\\", "") and "chat" in said
    # Not by the name alone, either.
    assert "chat" in serve(TIDINGS_MASTER_KEY=f"{name} {other.split()[1]}")
    # A file that others may read is none.
    shutil.copy(key_file, folder)
    os.chmod(folder / key_file.name, 0o640)
    assert key_file.name in serve()
    # With the key it starts, from the environment too; the first of several seals what is made from then on.
    os.chmod(folder / key_file.name, 0o600)
    key_file.write_text(f"{other}\n{lines}")
    site.start()
    assert run(verdict(site, signed(site, site.secret))) == "welcome"
    second = anna("app", "secret", "rotate", "chat", "--overlap", "0")
    site.server.stop()
    key_file.write_text(f"{other}\n")
    site.start()
    assert run(verdict(site, signed(site, second))) == "welcome"


# Who may do what.


def test_each_role_may_do_what_the_ones_before_may_and_no_more(anna):
    anna.make_app("chat")
    sent = anna.site.call("POST", "/v1/apps/chat/messages", message())["message_id"]
    history = "/v1/apps/chat/conversations/PR/alice/messages?user=bob"
    requests = [
        ("view", "GET", "/v1/apps", None), ("view", "GET", "/v1/apps/chat", None), ("view", "GET", "/v1/operators", None),
        ("view", "GET", f"/v1/apps/chat/messages/{sent}/trace", None),
        ("view", "GET", "/v1/apps/chat/users/bob/devices", None), ("view", "GET", "/v1/apps/chat/users/bob/unread", None),
        ("content", "GET", history, None),
        ("send", "POST", "/v1/apps/chat/messages", message(2)),
        ("administer", "PUT", "/v1/apps/chat/users/carol/ban", None),
        ("administer", "POST", "/v1/apps/chat/tokens", {"user": "bob"}),
        ("administer", "PUT", "/v1/apps/chat/settings", {}), ("administer", "POST", "/v1/apps/chat/suspend", {}),
        ("administer", "POST", "/v1/apps/chat/resume", {}), ("administer", "POST", "/v1/apps/chat/token-secrets", {}),
        ("administer", "POST", "/v1/apps", {"id": "shop"}),
        ("administer", "POST", "/v1/operators", {"name": "eve", "role": "administer"}),
    ]
    roles = ["view", "content", "send", "administer"]
    for role in roles:
        person = anna.add(f"a-{role}", role)
        for needed, method, path, body in requests:
            if roles.index(role) >= roles.index(needed):
                person.call(method, path, body)
            else:
                assert refusal(lambda: person.call(method, path, body)) == (403, "missing_role"), (role, method, path)
    # No key, one that is nobody's, and that of an app.
    for key, problem in [("x", (401, "unauthorized")), ("to_" + "x" * 43, (401, "unauthorized")), (anna.site.api_key, (403, "wrong_key"))]:
        assert refusal(lambda: anna.site.call("GET", "/v1/apps", key=key)) == problem


def test_an_operator_gets_another_role_and_key_and_goes_and_one_who_administers_stays(anna):
    olga = anna.add("olga", "view")
    assert "missing_role" in refusal(lambda: olga.call("POST", "/v1/apps", {"id": "a"}))
    anna("operator", "role", "olga", "administer")
    olga.call("POST", "/v1/apps", {"id": "a"})
    anna("operator", "role", "olga", "view")
    before = olga.key
    olga.key = anna("operator", "rotate", "olga", "--overlap", "60")
    assert [olga.site.call("GET", "/v1/apps", key=key)["next"] for key in (before, olga.key)] == [None, None]
    header, *lines = anna("operator", "list").splitlines()
    assert header.endswith("the one before is good until")
    assert [line.split()[:2] for line in lines] == [["anna", "administer"], ["olga", "view"]]
    assert lines[0].endswith("  -") and lines[1].endswith(" UTC")
    anna("operator", "remove", "olga")
    assert refusal(lambda: olga.call("GET", "/v1/apps")) == (401, "unauthorized")
    assert refusal(lambda: anna.call("DELETE", "/v1/operators/anna")) == (409, "still_needed")
    assert refusal(lambda: anna.call("PATCH", "/v1/operators/anna", {"role": "send"})) == (409, "still_needed")
    assert refusal(lambda: anna.call("DELETE", "/v1/operators/olga")) == (404, "unknown_operator")


def test_a_key_opens_its_own_app_only(anna):
    anna.make_app("shop")
    shop = anna.site.api_key
    anna.make_app("chat")
    body = {"user": "alice"}
    assert anna.site.call("POST", "/v1/apps/shop/tokens", body, key=shop)
    for path, key in [("/v1/apps/chat/tokens", shop), ("/v1/apps/shop/tokens", anna.site.api_key)]:
        assert refusal(lambda: anna.site.call("POST", path, body, key=key)) == (401, "unauthorized")
    assert refusal(lambda: anna.site.call("POST", "/v1/apps/elsewhere/tokens", body, key=shop)) == (401, "unauthorized")
    assert refusal(lambda: anna.call("POST", "/v1/apps/elsewhere/tokens", body)) == (404, "unknown_app")


def test_it_is_seen_who_did_it_and_when_a_key_was_used_last(make_site):
    site = make_site()
    audit = site.folder / "audit.log"
    configuration = json.loads(site.config.read_text())
    configuration["log"] = {"audit_path": str(audit)}
    site.config.write_text(json.dumps(configuration))
    anna = first_operator(site.start())
    anna.make_app("chat")
    anna("app", "suspend", "chat")
    anna("app", "resume", "chat")
    assert anna.call("GET", "/v1/apps/demo")["api_keys"][0]["last_used_at"] is None
    began = int(time.time()) * 1_000
    site.token("alice")
    site.server.stop()
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    told = [(line.get("route"), line.get("status")) for line in lines if line.get("operator") == "anna"]
    for route in ["POST /v1/apps", "POST /v1/apps/{app}/api-keys", "POST /v1/apps/{app}/suspend"]:
        assert [entry for entry in told if entry[0] and route.endswith(entry[0])], (route, told)
    made = [line for line in lines if line["message"] == "operator changed on this machine"]
    assert [(line["operator"], line["role"], line["change"]) for line in made] == [("anna", "administer", "added")]
    assert not [secret for secret in (anna.key, site.secret, site.api_key) if secret in audit.read_text()]
    site.start()
    (key,) = anna.call("GET", "/v1/apps/chat")["api_keys"]
    (person,) = anna.call("GET", "/v1/operators")["operators"]
    for used in (key["last_used_at"], person["last_used_at"]):
        assert began - 60_000 <= used <= time.time() * 1_000
    assert anna.call("GET", "/v1/apps/demo")["api_keys"][0]["last_used_at"] is None


# Suspended.


def test_a_suspended_app_is_shut_and_what_waits_to_be_pushed_goes_when_it_is_resumed(make_site):
    site = make_site(with_apns=True, settings={"lease": {"grace_milliseconds": 10_000}}).start()
    anna = first_operator(site)
    trace = "/v1/apps/demo/messages/{}/trace"

    def waits() -> list[str]:
        return [leg["wait"] for leg in anna.call("GET", trace.format(sent))["open_legs"] if leg["user"] == "bob"]

    def wait_until(holds):
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline, anna.call("GET", trace.format(sent))
            time.sleep(0.1)

    async def leave():
        bob = Client(site.gateway, site.token("bob"), device="phone")
        await bob.connect()
        await bob.register_push(device_token, "com.example.chat", is_answered=True)
        await bob.close()

    from test_credentials import tokens

    device_token = tokens(site, "com.example.chat")["com.example.chat"]
    run(leave())
    # Bob's phone has ten seconds to return before it is pushed to.
    sent = site.call("POST", "/v1/apps/demo/messages", message())["message_id"]
    token = site.token("alice")

    async def suspend():
        alice = Client(site.gateway, token)
        await alice.connect()
        await asyncio.to_thread(anna, "app", "suspend", "demo")
        await alice.wait_for(lambda: alice.is_closed)
        assert alice.fatal["code"] == "wrong_app"
        assert await verdict(site, token) == "wrong_app"

    run(suspend())
    assert refusal(lambda: site.token("alice")) == (403, "app_suspended")
    assert refusal(lambda: anna.call("POST", "/v1/apps/demo/messages", message(2))) == (403, "app_suspended")
    assert anna("app", "list").splitlines()[1].split()[2] == "suspended"
    wait_until(lambda: waits() == ["config_fault"])
    anna("app", "resume", "demo")
    wait_until(lambda: "accepted" in [leg["end"] for leg in anna.call("GET", trace.format(sent))["ended_legs"]])
    assert run(verdict(site, token)) == "welcome"


# Configuration file and store.


def test_a_section_of_the_configuration_makes_its_app_once_and_then_the_store_wins(make_site):
    site = make_site(app_settings={"members_max": 9, "push": {"topics": ["com.example.chat"]}}).start()
    anna = first_operator(site)
    made = anna.call("GET", "/v1/apps/demo")
    assert made["imported"] and made["settings"]["members_max"] == 9
    assert "differs" not in site.server.log.read_text()
    configuration = json.loads(site.config.read_text())
    other = secrets.token_hex(32)
    configuration["app"]["demo"].update({"members_max": 8, "token_secret": other})
    site.config.write_text(json.dumps(configuration))
    for count in (1, 2):
        site.server.stop()
        site.start()
        warnings = [line for line in site.server.log.read_text().splitlines() if "members_max" in line and "store" in line]
        assert len(warnings) == count and "demo" in warnings[-1] and "token_secret" in warnings[-1], warnings
        assert other not in site.server.log.read_text()
        now = anna.call("GET", "/v1/apps/demo")
        assert (now["settings"], now["revision"]) == (made["settings"], made["revision"])
        assert [run(verdict(site, signed(site, secret))) for secret in (site.secret, other)] == ["welcome", "invalid_token"]
    # Without the section the app is there all the same.
    del configuration["apps"], configuration["app"]
    site.config.write_text(json.dumps(configuration))
    site.server.stop()
    site.start()
    assert site.token("alice") and anna.call("GET", "/v1/apps/demo")["settings"] == made["settings"]
    assert site.server.log.read_text().count("members_max") == 2


def test_what_is_exported_makes_the_same_app_elsewhere(anna, tmp_path):
    file = tmp_path / "chat.yaml"
    file.write_text("""
id: chat
settings:
  name: "The chat: \\U0001F5E8"
  members_max: 50
  push: {topics: [com.example.chat], text: alert, entitlements: [time_sensitive], options: {sound: chime.caf, custom: {a: [1, null]}}}
  words: {language: de, languages: {de: {neutral: Du hast eine neue Nachricht, hidden: Neue Nachricht, recalled: Zurückgezogen,
    several: "{count} neue", other: Neue Nachricht, kinds: {my:Poll: "[Umfrage]"}}}}
""")
    assert "would be made" in anna("app", "apply", str(file), "--dry-run")
    assert anna("app", "list") == "there are no apps"
    said = anna("app", "apply", str(file))
    anna.site.app = "chat"
    assert "  members_max: none -> 50" in said.splitlines() and said.startswith("chat is made\n")
    assert run(verdict(anna.site, signed(anna.site, re.search(r"^token secret: ([0-9a-f]{64})$", said, re.MULTILINE)[1]))) == "welcome"
    whole = anna.call("GET", "/v1/apps/chat")["settings"]
    assert whole["words"]["languages"]["de"]["kinds"] == {"my:Poll": "[Umfrage]"}
    assert whole["push"]["options"]["custom"] == {"a": [1, None]} and whole["own_profiles"] is False
    for option in ([], ["--json"]):
        exported = anna("app", "export", "chat", *option)
        copy = tmp_path / "copy"
        copy.write_text(exported)
        assert anna("app", "apply", str(copy)) == "chat is as the file says"
        copy.write_text(re.sub(r"\bchat\b", f"copy{len(option)}", exported, count=1))
        anna("app", "apply", str(copy))
        assert anna.call("GET", f"/v1/apps/copy{len(option)}")["settings"] == whole
    assert anna.call("GET", "/v1/apps/chat")["revision"] == 1


def test_an_app_is_changed_as_a_file_says_and_as_nobody_else_has_changed_it_meanwhile(anna, tmp_path):
    anna.make_app("chat")
    file = tmp_path / "chat.yaml"
    file.write_text("id: chat\nsettings: {members_max: 50, own_profiles: true}\n")
    changes = "\n  members_max: none -> 50\n  own_profiles: false -> true"
    revision = anna.call("GET", "/v1/apps/chat")["revision"]
    assert anna("app", "apply", str(file), "--dry-run") == "chat would be changed" + changes
    assert anna.call("GET", "/v1/apps/chat")["revision"] == revision
    assert anna("app", "apply", str(file)) == "chat is changed" + changes
    assert anna("app", "apply", str(file)) == "chat is as the file says"
    # What the file does not say is the default again.
    file.write_text("id: chat\n")
    assert json.loads(anna("app", "apply", str(file), "--json"))["changes"] == [
        {"name": "own_profiles", "before": True, "after": False}, {"name": "members_max", "before": 50, "after": None},
    ]
    settings = "/v1/apps/chat/settings"
    assert refusal(lambda: anna.call("PUT", settings, {}, If_Match=f"\"{revision}\"")) == (412, "revision_changed")
    now = anna.call("GET", "/v1/apps/chat")["revision"]
    assert anna.call("PUT", settings, {"members_max": 3}, If_Match=f"\"{now}\"")["revision"] == now + 1
    for text, words in [
        ("id: chat\nsettings: {members: 5}", "members"), ("id: chat\nsettings: {members_max: 3001}", "members_max must be"),
        ("id: chat\nsettings: {push: {text: loud}}", "push.text"), ("settings: {}", "id"), ("id: [", "must be YAML"),
        ("id: chat\nsecrets: []", "secrets"),
    ]:
        file.write_text(text)
        said = anna("app", "apply", str(file), status=1)
        assert words in said and "Fatal error" not in said, said
    assert anna.call("GET", "/v1/apps/chat")["revision"] == now + 1


# Webhooks.


def test_a_webhook_is_changed_by_its_name_and_shows_its_secrets_once(anna):
    anna("app", "create", "chat")
    first = anna("webhook", "add", "chat", "Orders", "https://hooks.example.com/a", "--type", "receipt", "--type", "leg_ended", "--disabled")
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", first)
    (told,) = json.loads(anna("webhook", "list", "chat", "--json"))["webhooks"]
    assert (told["name"], told["types"], told["enabled"]) == ("Orders", ["leg_ended", "receipt"], False)
    anna("webhook", "set", "chat", "Orders", "--enable", "--name", "Bills", "--type", "push_job")
    changed = {**told, "name": "Bills", "types": ["push_job"], "enabled": True}
    assert json.loads(anna("webhook", "show", "chat", "Bills", "--json")) == changed
    # By its id it is the same.
    assert json.loads(anna("webhook", "show", "chat", told["id"], "--json")) == changed
    second = anna("webhook", "rotate", "chat", "Bills", "--overlap", "0")
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", second) and second != first
    shown = anna("webhook", "show", "chat", "Bills") + anna("webhook", "list", "chat")
    assert "https://hooks.example.com/a" in shown and first not in shown and second not in shown
    assert "--enable" in anna("webhook", "set", "chat", "Bills", status=64)
    assert "not both" in anna("webhook", "set", "chat", "Bills", "--enable", "--disable", status=64)
    assert "names no webhook" in anna("webhook", "show", "chat", "Orders", status=1)
    assert "types" in anna("webhook", "add", "chat", "Others", "https://hooks.example.com", "--type", "everything", status=1)
    assert "https://" in anna("webhook", "set", "chat", "Bills", "--url", "http://hooks.example.com", status=1)
    assert json.loads(anna("webhook", "show", "chat", "Bills", "--json")) == changed
    anna("webhook", "remove", "chat", "Bills")
    assert anna("webhook", "list", "chat") == "there are no webhooks"
    actions = [it["action"] for it in anna.call("GET", "/v1/audit?app=chat")["records"]]
    assert [it for it in actions if "webhook" in it] == ["remove_webhook", "rotate_webhook_secret", "set_webhook", "add_webhook"]


# The page.


def test_the_commands_of_the_page_do_what_it_says(anna, tmp_path):
    """docs/server/apps.md, "Apps and operators": every command as it stands there, in its order; only paths and ports are put in."""
    section = (ROOT / "docs/server/apps.md").read_text().partition("## Apps and operators\n")[2].partition("\n## ")[0]
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
    assert commands.count("tidings ") > 10
    commands = commands.replace("/var/lib/tidings/tidings.sqlite", str(anna.site.database))
    commands = re.sub(r"^((?:\w+=\$\()?tidings (?:app|operator|audit|webhook)\b[^#\n)]*)", rf"\1 --api {anna.site.api} ", commands, flags=re.MULTILINE)
    done = subprocess.run(
        ["bash", "-euxc", commands], cwd=tmp_path, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{os.path.dirname(tool())}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "chat.yaml").read_text().startswith("id: chat\n")


def test_the_commands_about_webhooks_do_what_their_page_says(anna):
    """docs/server/webhooks.md: every command as it stands there, in its order; only the API's address is put in."""
    page = (ROOT / "docs/server/webhooks.md").read_text()
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)).splitlines()
    anna("app", "create", "demo")
    said = {}
    for words in filter(None, (shlex.split(command, comments=True) for command in commands)):
        assert words[0] == "tidings"
        # Nobody receives at an address that is an example.
        said[words[2]] = anna(*words[1:], status=1 if words[2] == "test" else 0)
    assert list(said) == ["add", "test", "show", "dead-letters", "retry"]
    assert said["add"].startswith("whsec_") and "Orders" in said["show"]
    assert said["dead-letters"] == "there are no dead letters"
