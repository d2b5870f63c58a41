"""The commands of the tool, as a person types them, against a real server."""

import asyncio
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error

import pytest

from conftest import tool
from test_sessions import at_terminal
from tidings_client import Client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*arguments: str, site=None, status: int = 0) -> str:
    environment = dict(os.environ)
    if site:
        environment["TIDINGS_API_KEY"] = site.api_key
    done = subprocess.run(
        [tool(), *arguments], capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr + done.stdout


def test_a_message_is_sent_and_traced(site):
    sent = run("message", "send", "demo", "--api", site.api, "--gateway", site.gateway, "--from", "alice", "--to", "bob", "hello", site=site)
    message_id = sent.strip()
    assert len(message_id) == 13
    table = run("message", "trace", "demo", "--api", site.api, message_id, site=site)
    assert table.startswith(f"message {message_id} from alice to PR:bob, accepted 20")
    assert "own_device" in table
    raw = run("message", "trace", "demo", "--api", site.api, "--json", message_id, site=site)
    assert f'"message_id":"{message_id}"' in raw
    assert "hello" not in raw, "the text belongs to the people"


def test_a_token_of_the_tool_signs_a_person_in(site):
    token = run("token", "create", "demo", "alice", "--api", site.api, site=site).strip()
    sent = run(
        "message", "send", "demo", "--api", site.api, "--gateway", site.gateway, "--from", "alice", "--to", "bob", "--user-token", token,
        "hi",
    )
    assert len(sent.strip()) == 13


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["message", "send", "demo", "--from", "a", "--to", "b", "--type", "XX", "x"], "The value 'XX' is invalid for '--type <type>'. Please provide one of the following:"),
        (["message", "trace", "demo", "nonsense"], "13 characters"),
        (["token", "create", "demo", "alice", "--seconds", "0"], "--seconds must be at least 1"),
        (["token", "create", "demo", "alice", "--api", "http://127.0.0.1:9"], "an API key is needed"),
        (["simulate", "--phones", "1"], "--phones must be 2 to 1000"),
        (["simulate", "--faults", "some"], "--faults must be none, default, harsh or swarm"),
        (["simulate", "--seeds", "9-1"], "--seeds must be a range"),
        (["simulate", "--seed", "1", "--seeds", "1-2"], "not both"),
        (["simulate", "--jobs", "0"], "--jobs must be 1 to 64, got 0"),
        (["simulate", "--shrink-runs", "100001"], "--shrink-runs must be 0 to 100000, got 100001"),
        (["simulate", "--replay", "x", "--seed", "1"], "--replay says itself what is run"),
        (["simulate", "--replay", "/nonexistent.replay"], "--replay must be a file that can be read"),
        (["simulate", "--replay", "Makefile"], 'line 1: the first line must be "tidings world 1"'),
        (["simulate", "--seed", "1", "--save", "/nonexistent/a"], "--save must be in a folder that can be written"),
        (["bench", "--pairs", "0"], "--pairs must be 1 to 10000"),
        (["bench", "live", "--seconds", "0"], "--seconds must be 1 to 3600"),
        (["bench", "live", "--pid", "1"], "--pid and --mqtt are about a server at --url"),
        (["bench", "live", "--url", "ws://127.0.0.1:1/", "--under", "env"], "not both"),
        (["bench", "live", "--url", "http://127.0.0.1"], "--url must be ws://HOST:PORT/PATH"),
        (["bench", "live", "--window", "65"], "--window must be 1 to 64"),
        (["bench", "idle", "--connections", "9"], "--connections must be 10 to 20000"),
        (["bench", "backlog", "--messages", "0"], "--messages must be 1 to 1000000"),
        (["bench", "group", "--members", "3001"], "--members must be 2 to 3000"),
        (["bench", "push", "--people", "0"], "--people must be 1 to 100000"),
        (["bench", "apns", "--trust-roots", "x.pem", "--port", "0"], "--port must be 1 to 65535"),
        (
            ["bench", "apns", "--trust-roots", "x.pem", "--port", "1", "--connections", "2", "--in-flight", "1"],
            "--in-flight must be at least the connections",
        ),
        (["bench", "apns", "--trust-roots", "x.pem", "--port", "1", "--key-file", "k"], "must be given together"),
        (["bench", "apns", "--trust-roots", "/nonexistent.pem", "--port", "1"], "trust_roots must be a file that can be read"),
        (["chaos", "--notifications", "0"], "--notifications must be 1 to 10000000"),
        (["chaos", "--streams", "1001"], "--streams must be 1 to 1000"),
        (["phone", "--ios", "two"], "--ios must be a version"),
        (["phone", "--courier", "somewhere"], "--courier must be host:port"),
        (["phone", "--lifecycle", "both"], "The value 'both' is invalid for '--lifecycle <lifecycle>'. Please provide one of 'application' and 'scenes'."),
        (["apns", "--team-id", "short", "--state", "/nonexistent/state"], "team_id must be 10"),
        (["message", "send", "demo", "--from", "a", "--to", "b", "--mention", "c", "--mention-all", "x"], "must not be given together"),
        (["conversation", "show", "demo", "team"], "conversation"),
        (["conversation", "messages", "demo", "GRP:team", "--user", "a", "--limit", "101"], "--limit must be 1 to 100"),
        (["settings", "level", "demo", "bob", "GRP:team", "loud"], "level must be one of"),
        (["settings", "level", "demo", "bob", "GRP:team", "default", "--until", "5"], "--until needs another level"),
        (["settings", "object-names", "demo", "--register", "my:Card", "--clear"], "must not be given together"),
        (["device", "sign-out", "demo", "bob"], "give a device, or --all"),
        (["device", "sign-out", "demo", "bob", "phone", "--all"], "give a device, or --all"),
        (["app", "list", "--api", "http://127.0.0.1:9"], "the key of an operator is needed"),
        (["app", "apply", "/nonexistent.yaml"], "/nonexistent.yaml cannot be read"),
        (["app", "secret", "rotate", "chat", "--overlap", "2592001"], "--overlap must be 0 to 2592000, got 2592001"),
        (["app", "key", "rotate", "chat", "backend", "--overlap", "-1"], "--overlap"),
        (["app", "key", "add", "chat", "backend"], "--scope"),
        (["operator", "rotate", "anna", "--overlap", "2592001"], "--overlap must be 0 to 2592000, got 2592001"),
        (["operator", "add", "anna", "--role", "owner"], "The value 'owner' is invalid for '--role <role>'. Please provide one of 'view', 'content', 'send' or 'administer'."),
        (["operator", "add", "anna", "--role", "view", "--store", "a", "--config", "b"], "must not be given together"),
        (["serve", "--set", "nothing"], "--set must be key=value"),
    ],
)
def test_a_wrong_option_is_named_with_its_rule(arguments, words):
    environment = {key: value for key, value in os.environ.items() if key not in ("TIDINGS_API_KEY", "TIDINGS_OPERATOR_KEY")}
    done = subprocess.run(
        [tool(), *arguments], capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode != 0
    assert words in done.stderr
    assert "Fatal error" not in done.stderr


def test_worlds_side_by_side_print_what_one_after_the_other_does():
    options = ["simulate", "--seeds", "1-3", "--phones", "2"]
    alone = run(*options)
    assert alone == run(*options, "--jobs", "3")
    lines = alone.splitlines()
    assert lines[0] == "3 seeds, 2 phones, 1 h, faults default: every promise held"
    assert lines[1].split() == ["count", "what"]
    counts = [re.fullmatch(r" *([1-9]\d*)  (\w.*)", line) for line in lines[2:-2]]
    assert all(counts), "a row each for what is not zero"
    assert {"messages acknowledged", "pushes", "rings"} <= {count[2] for count in counts}
    assert re.fullmatch(r"came to \d+ of \d+ situations", lines[-2])


def test_what_goes_on_is_shown_at_a_terminal_and_leaves_the_output_as_it_is():
    options = ["simulate", "--seeds", "1-3", "--phones", "4"]
    plain = run(*options)
    assert "\x1b" not in plain
    shown = at_terminal(*options, TERM="xterm", NO_COLOR="1").replace("\r\n", "\n")
    assert re.search(r"\r\x1b\[K(running seed 1|\d seeds? up to \d), ", shown), shown
    # The line is gone before anything is printed.
    assert [part.rpartition("\r\x1b[K")[2] for part in shown.split("\n")] == plain.split("\n")
    assert "\x1b[32m3 seeds" in at_terminal(*options, TERM="xterm", NO_COLOR="")
    assert "\x1b" not in at_terminal(*options, TERM="dumb")


def test_a_run_of_one_seed_prints_the_hash_that_the_page_has():
    page = (ROOT / "docs" / "inside" / "simulation.md").read_text()
    options, recorded = re.search(r"^\| `(--seed \d+ .* --faults none)` \| \d+ \| `([0-9a-f]+)` \|$", page, re.MULTILINE).groups()
    assert f"trace hash: {recorded}\n" in run("simulate", *options.split())


def test_a_replay_runs_what_its_file_says_and_nothing_else(tmp_path):
    file = tmp_path / "world.replay"
    lines = ["tidings world 1", "seed 7", "phones 2", "milliseconds 600000", "faults harsh"]
    kept = ["keep person-0/3", "keep person-0/4  # a remark", "keep server/2"]
    file.write_text("\n".join([*lines, *kept]) + "\n")
    first = run("simulate", "--replay", str(file))
    assert first == run("simulate", "--replay", str(file))
    assert "every promise held" in first
    happened = first.split("what happened from outside:\n")[1].split("the last lines")[0].splitlines()
    assert {line.split()[0] for line in happened} <= {"person-0/3", "person-0/4", "server/2"}
    assert happened[0].split()[0] == "person-0/3"
    traced = first.split("trace hash: ")[1].split()[0]
    file.write_text("\n".join([*lines, f"trace {traced}", *kept]) + "\n")
    assert "the same trace as in the file" in run("simulate", "--replay", str(file))
    file.write_text("\n".join([*lines, f"trace {traced}", *kept[:1]]) + "\n")
    assert "another trace than in the file" in run("simulate", "--replay", str(file))


@pytest.mark.parametrize(
    "line, words",
    [
        ("serv", "there is no 'tidings serv'; did you mean 'tidings serve'?"),
        ("app lst demo", "there is no 'tidings app lst'; did you mean 'tidings app list'?"),
        ("serve --confg x", "Unknown option '--confg'. Did you mean '--config'?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_one_that_was_meant(line, words):
    assert words in run(*line.split(), status=64)


@pytest.mark.parametrize("line", ["device list --app demo bob", "push list", "token create alice --api-key k"])
def test_the_app_stands_behind_the_verb_and_a_key_has_one_name(line):
    """Neither a silent app nor a second name for the same option."""
    assert run(*line.split(), status=64)


def test_the_version_is_printed_and_offered_once():
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run("--version"))
    assert "--version" in run("--help") and "--version" not in run("app", "list", "--help")


def test_bash_completes_commands_once_the_script_is_installed(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash", "XDG_DATA_HOME": ""}
    done = subprocess.run([tool(), "completion", "install"], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    script = tmp_path / ".local/share/bash-completion/completions/tidings"
    assert done.stdout == f"{script}\n"
    asked = subprocess.run(
        ["bash", "-c", 'source "$1"; complete -p tidings', "bash", script], capture_output=True, text=True, timeout=60)
    assert asked.returncode == 0 and "tidings" in asked.stdout, asked.stderr
    wrong = subprocess.run([tool(), "completion", "install", "tcsh"], capture_output=True, text=True, timeout=60, env=environment)
    assert wrong.returncode == 64 and 'must be bash, zsh or fish, got "tcsh"' in wrong.stderr


def test_nobody_answering_is_said_with_the_address():
    assert "127.0.0.1:9" in run(
        "token", "create", "demo", "alice", "--api", "http://127.0.0.1:9", "--key", "k", status=1
    )


@pytest.mark.parametrize(
    "command",
    [
        "serve", "apns", "phone", "phones", "demo", "message", "message send", "message trace", "message why", "token", "token create",
        "simulate", "bench", "bench live", "bench idle", "bench backlog",
        "bench group", "bench push", "bench apns", "bench devices", "chaos",
        "conversation", "conversation create", "conversation show", "conversation add", "conversation remove",
        "conversation rename", "conversation dissolve", "conversation messages",
        "settings", "settings show", "settings level", "settings unread", "settings object-names",
        "audit", "audit list", "console", "console link", "store", "store backup", "store restore", "store check", "store rebuild",
        "push", "push send", "push list", "push show", "push cancel", "push recall",
        "user", "user show", "user ban", "user unban", "user revoke-tokens", "user sign-out", "device", "device list", "device sign-out", "credential", "credential inspect", "credential prove",
        "app", "app list", "app create", "app show", "app apply", "app export", "app suspend", "app resume",
        "app key", "app key add", "app key rotate", "app key remove", "app client-key", "app client-key add", "app client-key list", "app client-key revoke", "app secret", "app secret rotate", "app secret remove",
        "completion", "completion install", "operator", "operator add", "operator list", "operator role", "operator rotate", "operator remove",
    ],
)
def test_every_command_explains_itself(command):
    text = run(*command.split(), "--help")
    assert text.startswith("OVERVIEW: ")
    assert f"tidings {command}" in text


def test_a_group_is_made_changed_and_read_as_a_person_types_it(site):
    def operate(*arguments: str, status: int = 0) -> str:
        return run(*arguments, "--api", site.api, site=site, status=status)

    operate("conversation", "create", "demo", "GRP:team", "--name", "The team", "--actor", "alice", "--member", "bob")
    operate("conversation", "add", "demo", "GRP:team", "carol", "dave", "--actor", "alice")
    operate("conversation", "remove", "demo", "GRP:team", "dave")
    operate("conversation", "rename", "demo", "GRP:team", "Crew")
    shown = operate("conversation", "show", "demo", "GRP:team").splitlines()
    assert shown == ["Crew, version 4, 3 members", "  alice owner", "  bob", "  carol"]
    assert '"name":"Crew"' in operate("conversation", "show", "demo", "GRP:team", "--json")
    assert "must be done by an owner or admin" in operate(
        "conversation", "rename", "demo", "GRP:team", "Ours", "--actor", "bob", status=1
    )

    def send(*options: str) -> str:
        return operate("message", "send", "demo", "--gateway", site.gateway, "--from", "alice", "--to", "team", "--type", "GRP", *options).strip()

    send("--mention", "bob", "look")
    send("--mention-all", "all of you")
    only_carol = send("--recipient", "carol", "for you alone")
    assert operate("settings", "unread", "demo", "bob").strip() == "2 unread, 2 with muted conversations, 2 mentions"
    assert operate("settings", "unread", "demo", "carol", "GRP:team").strip() == "3 unread, 1 mention"
    operate("settings", "level", "demo", "bob", "GRP:team", "blocked")
    assert operate("settings", "unread", "demo", "bob", "GRP:team").strip() == "2 unread, 2 mentions, muted"
    assert operate("settings", "unread", "demo", "bob").strip() == "0 unread, 2 with muted conversations, 2 mentions"
    assert '"level":"blocked"' in operate("settings", "show", "demo", "bob")
    operate("settings", "level", "demo", "bob", "GRP:team", "default")
    assert operate("settings", "unread", "demo", "bob", "GRP:team").strip() == "2 unread, 2 mentions"

    history = operate("conversation", "messages", "demo", "GRP:team", "--user", "carol").splitlines()
    assert len(history) == 3 and only_carol in history[0]
    assert len(operate("conversation", "messages", "demo", "GRP:team", "--user", "bob", "--limit", "1").splitlines()) == 1
    operate("conversation", "dissolve", "demo", "GRP:team")
    assert operate("conversation", "show", "demo", "GRP:team").startswith("Crew, version 5, dissolved, 3 members")


def test_a_type_nobody_registered_is_refused_once_the_app_has_registered_any(site):
    assert run("settings", "object-names", "demo", "--api", site.api, site=site) == ""
    names = run(
        "settings", "object-names", "demo", "--register", "my:Poll", "--register", "my:Card", "--api", site.api, site=site
    )
    assert names.split() == ["my:Card", "my:Poll"]
    body = {
        "sender": "alice", "client_message_id": "c1", "conversation": {"type": "PR", "target": "bob"},
        "object_name": "my:Crad", "content": "{}",
    }
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.call("POST", "/v1/apps/demo/messages", body)
    problem = json.loads(refused.value.read())
    assert (refused.value.code, problem["code"], problem["field"]) == (400, "unknown_object_name", "object_name")
    assert site.call("POST", "/v1/apps/demo/messages", body | {"object_name": "my:Card"})["message_id"]
    assert run("settings", "object-names", "demo", "--clear", "--api", site.api, site=site) == ""
    assert site.call("POST", "/v1/apps/demo/messages", body | {"client_message_id": "c2"})["message_id"]


def test_serve_lists_and_checks_its_configuration(site):
    keys = run("serve", "--keys")
    assert "gateway.port = 7400" in keys
    assert "the configuration is good" in run("serve", "--config", str(site.config), "--check")
    fault = run("serve", "--config", str(site.config), "--check", "--set", "gateway.port=70000", status=78)
    assert "gateway.port must be 0 to 65535, got 70000" in fault


def test_a_check_reads_the_key_files_too(site):
    apns = {"environment": "sandbox", "team_id": "TEAM123456", "key_id": "KEY1234567", "topic": "com.example.chat"}
    settings = [f"app.demo.apns.{key}={value}" for key, value in (apns | {"key_path": str(site.folder / "none.p8")}).items()]
    fault = run("serve", "--config", str(site.config), "--check", *(f"--set={pair}" for pair in settings), status=78)
    assert "app.demo.apns.key_path must name a readable file" in fault


def test_a_phone_that_stays_silent_says_why_in_list_and_trace_also_when_it_is_gone(site):
    async def visit() -> None:
        client = Client(site.gateway, site.token("frank"), device="phone")
        await client.connect()
        await client.tell_status("authorized", model="iPhone16,1")
        await client.ping()
        listed = await asyncio.to_thread(run, "device", "list", "demo", "frank", "--api", site.api, site=site)
        assert listed.splitlines() == [
            "device  platform  model       lease       last seen  push  badge  notifications",
            "phone   python    iPhone16,1  foreground  -          none  -      authorized",
        ]
        await client.tell_status("denied", off=("alert", "sound"), refresh="restricted", model="iPhone16,1")
        await client.ping()
        await client.close()

    asyncio.run(asyncio.wait_for(visit(), 60))
    off = "off: alert, sound, background_refresh (restricted)"
    deadline = time.monotonic() + 20
    while " UTC  none " not in (listed := run("device", "list", "demo", "frank", "--api", site.api, site=site)):
        assert time.monotonic() < deadline, f"still connected: {listed}"
    seen = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC"
    row = rf"phone +python +iPhone16,1 +(grace until 20\S+ \S+ UTC|gone) +{seen}  none  -      denied {re.escape(f'({off})')}"
    assert re.fullmatch(row, listed.splitlines()[1]), listed
    sent = run("message", "send", "demo", "--api", site.api, "--gateway", site.gateway, "--from", "alice", "--to", "frank", "hello", site=site)
    table = run("message", "trace", "demo", "--api", site.api, sent.strip(), site=site)
    assert re.search(rf"^  frank/phone +allows +denied +{re.escape(off)}  20\S+ \S+ UTC$", table, re.MULTILINE), table
    (device,) = (entry for entry in site.trace(sent.strip())["devices"] if entry["user"] == "frank")
    at, off_since = device["status"].pop("at"), device["status"].pop("off_since")
    assert 1_700_000_000_000 < off_since <= at, "known to be off as long as this server knows it"
    assert device == {
        "user": "frank", "device": "phone", "status": {
            "authorization": "denied", "alert": False, "sound": False, "badge": True, "lock_screen": True,
            "notification_center": True, "background_refresh": "restricted", "icon_number": "app", "low_power_mode": False,
            "time_zone": "", "languages": [], "app_version": "", "system_version": "", "model": "iPhone16,1"},
    }


def test_a_person_is_signed_out_on_one_device_and_on_all(site):
    def operate(*arguments: str, status: int = 0) -> list[str]:
        return run(*arguments, "--api", site.api, site=site, status=status).splitlines()

    async def visit() -> None:
        phone, tablet = (Client(site.gateway, site.token("erin"), device=name) for name in ("phone", "tablet"))
        try:
            await phone.connect()
            await tablet.connect()
            await phone.register_push("ab" * 32, "com.example.chat")
            await phone.ping()
            listed = await asyncio.to_thread(operate, "device", "list", "demo", "erin")
            assert listed == [
                "device  platform  model  lease       last seen  push                                           badge  notifications",
                "phone   python    -      foreground  -          registered com.example.chat sandbox abab…abab  -      -",
                "tablet  python    -      foreground  -          none                                           -      -",
            ]
            assert "must be a device of this person that is signed in" in "".join(
                await asyncio.to_thread(operate, "device", "sign-out", "demo", "erin", "watch", status=1)
            )
            await asyncio.to_thread(operate, "device", "sign-out", "demo", "erin", "phone")
            await phone.wait_for(lambda: phone.fatal)
            assert [line.split()[0] for line in await asyncio.to_thread(operate, "device", "list", "demo", "erin")] == ["device", "tablet"]
            await asyncio.to_thread(operate, "device", "sign-out", "demo", "erin", "--all")
            await tablet.wait_for(lambda: tablet.fatal)
        finally:
            await phone.close()
            await tablet.close()

    asyncio.run(asyncio.wait_for(visit(), 60))
    assert operate("device", "list", "demo", "erin") == ["erin is signed in on no device"]
