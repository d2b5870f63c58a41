"""The example app on phones of four ages: iOS 6 and 9 with the delegate of those years, iOS 12 without scenes, iOS 17 with them.

Everything is real: server, local APNs, the phone, and the processes of the app and its extension. Calls have Apple's names, and are
compared as whole lists (ios-delivery.md §2 and §6.1).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass

import pytest

from conftest import tool
from phone import Person, Phone

# Calls into the app.
WILL_LAUNCH = "application(_:willFinishLaunchingWithOptions:)"
DID_LAUNCH = "application(_:didFinishLaunchingWithOptions:)"
CONFIGURATION = "application(_:configurationForConnecting:options:)"
SCENE_CONNECTS = "scene(_:willConnectTo:options:)"
REMOTE = "application(_:didReceiveRemoteNotification:)"
REMOTE_FETCH = "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
LOCAL = "application(_:didReceive:)"
RESPONSE = "userNotificationCenter(_:didReceive:withCompletionHandler:)"
ACTION_TEXT = (
    "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)"
)
EXTENSION = "didReceive(_:withContentHandler:)"
# Their moment depends on the person's answer and on the network.
REGISTRATION = {
    "application(_:didRegister:)",
    "application(_:didRegisterForRemoteNotificationsWithDeviceToken:)",
}

REPLY, MARK_READ = "tidings.reply", "tidings.mark_read"


@dataclass(frozen=True)
class Era:
    """One age of the system: how the phone is started, and what iOS calls."""

    ios: str
    options: tuple[str, ...]
    launch: list[str]
    leave: list[str]
    local_tap: list[str]
    push_tap: list[str]
    cold_tap: list[str]
    # Whether the launch options, or the scene's connection options, tell the tap of a cold start.
    launch_options_tell: bool
    # The call an action makes; None before there were actions.
    action: str | None
    has_extension: bool


SCENE_LAUNCH = [WILL_LAUNCH, DID_LAUNCH, CONFIGURATION, SCENE_CONNECTS, "sceneWillEnterForeground(_:)"]
APP_LEAVES = ["applicationWillResignActive(_:)", "applicationDidEnterBackground(_:)"]
ENTER, ACTIVE = "applicationWillEnterForeground(_:)", "applicationDidBecomeActive(_:)"
SCENE_ENTER, SCENE_ACTIVE = "sceneWillEnterForeground(_:)", "sceneDidBecomeActive(_:)"

IOS_6 = Era(
    # A push of the server's does not fit the 256 bytes of that time.
    ios="6", options=("--delegate", "legacy", "--payload-limit", "4096"),
    launch=[WILL_LAUNCH, DID_LAUNCH, ACTIVE], leave=APP_LEAVES,
    local_tap=[ENTER, LOCAL, ACTIVE], push_tap=[ENTER, REMOTE, ACTIVE], cold_tap=[WILL_LAUNCH, DID_LAUNCH, ACTIVE],
    launch_options_tell=True, action=None, has_extension=False,
)
IOS_9 = Era(
    ios="9", options=("--delegate", "legacy"),
    launch=[WILL_LAUNCH, DID_LAUNCH, ACTIVE], leave=APP_LEAVES,
    local_tap=[ENTER, LOCAL, ACTIVE], push_tap=[ENTER, REMOTE_FETCH, ACTIVE],
    cold_tap=[WILL_LAUNCH, DID_LAUNCH, REMOTE_FETCH, ACTIVE],
    launch_options_tell=True, action=ACTION_TEXT, has_extension=False,
)
IOS_12 = Era(
    ios="12", options=("--lifecycle", "application"),
    launch=[WILL_LAUNCH, DID_LAUNCH, ACTIVE], leave=APP_LEAVES,
    local_tap=[ENTER, RESPONSE, ACTIVE], push_tap=[ENTER, RESPONSE, ACTIVE],
    cold_tap=[WILL_LAUNCH, DID_LAUNCH, RESPONSE, ACTIVE],
    launch_options_tell=True, action=RESPONSE, has_extension=True,
)
IOS_17 = Era(
    ios="17", options=(),
    launch=[*SCENE_LAUNCH, SCENE_ACTIVE], leave=["sceneWillResignActive(_:)", "sceneDidEnterBackground(_:)"],
    local_tap=[SCENE_ENTER, RESPONSE, SCENE_ACTIVE], push_tap=[SCENE_ENTER, RESPONSE, SCENE_ACTIVE],
    cold_tap=[*SCENE_LAUNCH, RESPONSE, SCENE_ACTIVE],
    launch_options_tell=False, action=RESPONSE, has_extension=True,
)
ERAS = [IOS_6, IOS_9, IOS_12, IOS_17]


@pytest.fixture
def stage(make_site):
    """Starts a server, bob's phone with the app in the foreground, and alice; all are stopped at the end."""
    started = []

    def make(era: Era) -> tuple[Phone, Person]:
        site = make_site(with_apns=True).start()
        # Enough background time for a message, little enough to wait for its end.
        bob = Phone(site, "bob", "--ios", era.ios, "--background-time", "20000", *era.options)
        started.append(bob)
        alice = Person(site, "alice")
        started.append(alice)
        bob.do("unlock")
        bob.begin()
        bob.do("launch")
        bob.wait_for_connection()
        bob.wait_for_event("the device token", lambda event: event["event"] == "token")
        bob.wait_for_callback("application(_:didRegisterForRemoteNotificationsWithDeviceToken:)")
        assert calls(bob) == era.launch
        return bob, alice

    yield make
    for part in reversed(started):
        part.stop()


def calls(bob: Phone) -> list[str]:
    """The calls into the app since `begin`, but for those of the registration."""
    bob.read_trace()
    return [name for name in bob.callbacks if name not in REGISTRATION]


def events(bob: Phone, kind: str) -> list[dict]:
    bob.read_trace()
    return [event for event in bob.new_events if event["event"] == kind]


def call(bob: Phone, name: str) -> dict:
    return bob.wait_for_callback(name)


def presentation(bob: Phone, remote: bool) -> dict:
    """The first notification since `begin`; it rang."""
    shown = bob.wait_for_event("a notification", lambda event: event["event"] == "presentation")
    assert shown["remote"] is remote, shown
    assert shown["banner"] and shown["list"] and shown["ring"], shown
    return shown


def leave(bob: Phone, era: Era):
    """Another chat is opened before the app is left, so that a tap has to change the screen."""
    bob.do("input", value={"open": "PR:zoe"})
    bob.wait_for_chat("PR:zoe")
    bob.begin()
    bob.do("home")
    bob.wait_for_callback(era.leave[-1])
    # A message that comes before the app has heard that it is left comes in the foreground.
    bob.wait_until(lambda: bob.shown.get("run_state") != "foreground", "the app to know that it is in the background")
    assert calls(bob) == era.leave


def extension_calls(bob: Phone) -> list[str]:
    return [event["name"] for event in events(bob, "callback") if event["role"] == "serviceExtension"]


def receipts(bob: Phone, message: str) -> list[str]:
    """What the extension of this phone has told the server of a message."""
    return [
        receipt["receipt"] for receipt in bob.site.trace(message)["receipts"] if receipt["user"] == bob.user
    ]


def settled(bob: Phone, message: str) -> list[str]:
    """How this phone's app has settled a message."""
    return [leg["detail"] for leg in bob.site.trace(message)["ended_legs"] if (leg["user"], leg["end"]) == (bob.user, "settled")]


def tap(bob: Phone, shown: dict, expected: list[str], *texts: str):
    """A tap opens the chat, by these calls and no others."""
    bob.begin()
    bob.do("tap", notification=shown["notification"])
    bob.wait_for_callback(expected[-1])
    bob.wait_for_chat("PR:alice", *texts)
    bob.wait_for_connection()
    assert calls(bob) == expected
    assert bob.do("screen")["list"] == []


@pytest.mark.parametrize("era", ERAS, ids=lambda era: f"iOS {era.ios}")
def test_a_message_finds_its_screen_whatever_state_the_app_is_in(stage, era):
    bob, alice = stage(era)

    # In the foreground: the message is on the open screen; nothing rings and nothing is called.
    bob.do("input", value={"open": "PR:alice"})
    bob.wait_for_chat("PR:alice")
    bob.begin()
    message = alice.send("bob", "one")
    bob.wait_for_chat("PR:alice", "alice: one")
    assert (calls(bob), events(bob, "presentation"), events(bob, "push")) == ([], [], [])
    bob.wait_until(lambda: settled(bob, message) == ["shown"], "the open screen in the trace")

    # In the background with its connection alive: a local notification, no push.
    leave(bob, era)
    local = alice.send("bob", "two")
    shown = presentation(bob, remote=False)
    assert events(bob, "push") == []
    bob.wait_until(lambda: settled(bob, local) == ["notified"], "the local notification in the trace")
    tap(bob, shown, era.local_tap, "alice: one", "alice: two")
    (process,) = {event["process"] for event in events(bob, "callback") if event["role"] == "app"}

    # Frozen: a push. The tap thaws the same process.
    leave(bob, era)
    bob.wait_for_state("suspended")
    bob.begin()
    message = alice.send("bob", "three")
    shown = presentation(bob, remote=True)
    assert len(events(bob, "push")) == 1
    assert calls(bob) == []
    assert extension_calls(bob) == [EXTENSION] * era.has_extension
    bob.wait_until(lambda: receipts(bob, message) == ["shown"] * era.has_extension, "the extension's receipt")
    tap(bob, shown, era.push_tap, "alice: one", "alice: two", "alice: three")
    assert {event["process"] for event in events(bob, "callback")} == {process}
    assert len(events(bob, "process_resumed")) == 1

    # Killed: a push. The tap starts a new process, which is told by options what it was started for.
    bob.do("kill")
    bob.wait_for_state("notRunning")
    bob.begin()
    alice.send("bob", "four")
    shown = presentation(bob, remote=True)
    assert calls(bob) == []
    tap(bob, shown, era.cold_tap, "alice: one", "alice: two", "alice: three", "alice: four")
    launched = call(bob, DID_LAUNCH)
    assert launched["process"] != process
    assert (launched["arguments"]["remote_notification"] is not None) == era.launch_options_tell
    if SCENE_CONNECTS in era.cold_tap:
        response = call(bob, SCENE_CONNECTS)["arguments"]["response"]
        assert response["notification"]["request"]["identifier"] == shown["notification"]
    # The tap was told by more than one callback path, and opened one screen.
    assert len(bob.shown["stack"]) == 2 and bob.shown["stack"][0] == "Conversations", bob.shown
    bob.wait_until(lambda: "Alice" in bob.do("screen")["texts"], "her name on the screen")
    bob.wait_until(lambda: bob.shown["unread"] == 0, "an unread count of 0")
    assert bob.faults == []


ERAS_WITH_ACTIONS = [era for era in ERAS if era.action]


def press(bob: Phone, era: Era, shown: dict, action: str, **members):
    """Presses a button of a notification while the app is killed: it runs in the background, and no screen opens."""
    bob.begin()
    bob.do("action", notification=shown["notification"], action=action, **members)
    made = bob.wait_for_callback(era.action)
    assert made["state"] == "background"
    bob.wait_for_event(
        "the end of the action",
        lambda event: event["event"] == "completion" and event["number"] == made["number"])
    assert calls(bob) == [WILL_LAUNCH, DID_LAUNCH, era.action]
    states = {event["state"] for event in events(bob, "state")}
    assert not states & {"foregroundActive", "foregroundInactive"}, states


def kill(bob: Phone):
    bob.do("kill")
    bob.wait_for_state("notRunning")
    bob.begin()


@pytest.mark.parametrize("era", ERAS_WITH_ACTIONS, ids=lambda era: f"iOS {era.ios}")
def test_a_reply_from_a_killed_app_reaches_the_other_person(stage, era):
    bob, alice = stage(era)
    kill(bob)
    alice.send("bob", "coming?")
    press(bob, era, presentation(bob, remote=True), REPLY, text="at eight")
    alice.wait_for_text("at eight")
    # Who has answered has read.
    kill(bob)
    alice.send("bob", "fine")
    assert presentation(bob, remote=True)["badge"] == 1
    bob.do("launch")
    bob.wait_until(lambda: bob.shown.get("stack") == ["Conversations"], "the list of conversations")
    bob.do("input", value={"open": "PR:alice"})
    bob.wait_for_chat("PR:alice", "alice: coming?", "bob: at eight", "alice: fine")
    assert bob.faults == []


@pytest.mark.parametrize("era", ERAS_WITH_ACTIONS, ids=lambda era: f"iOS {era.ios}")
def test_mark_as_read_from_a_killed_app_clears_the_unread_count(stage, era):
    bob, alice = stage(era)
    kill(bob)
    alice.send("bob", "one")
    assert presentation(bob, remote=True)["badge"] == 1
    bob.begin()
    alice.send("bob", "two")
    shown = presentation(bob, remote=True)
    assert shown["badge"] == 2
    press(bob, era, shown, MARK_READ)
    kill(bob)
    bob.do("launch")
    bob.wait_for_connection()
    bob.wait_until(lambda: bob.shown.get("unread") == 0, "an unread count of 0")
    # The server counts anew as well.
    kill(bob)
    alice.send("bob", "three")
    assert presentation(bob, remote=True)["badge"] == 1
    assert bob.faults == []


PERFORM_FETCH = "application(_:performFetchWithCompletionHandler:)"
REFRESH_TASK = "app refresh task launch handler"


@pytest.mark.parametrize(
    "era, name", [(IOS_9, PERFORM_FETCH), (IOS_12, PERFORM_FETCH), (IOS_17, REFRESH_TASK)],
    ids=["iOS 9", "iOS 12", "iOS 17"])
def test_a_background_refresh_fetches_what_the_frozen_app_missed(stage, era, name):
    bob, alice = stage(era)
    leave(bob, era)
    bob.wait_for_state("suspended")
    bob.begin()
    alice.send("bob", "while you slept")
    bob.do("background_chance")
    made = bob.wait_for_callback(name)
    assert made["state"] == "background"
    # The app's own count: it has the message, without ever having been in the foreground.
    bob.wait_until(lambda: bob.shown.get("unread") == 1, "the message in the app's store")
    bob.wait_for_state("suspended")
    assert calls(bob) == [name]
    if name == PERFORM_FETCH:
        (result,) = [e["result"] for e in events(bob, "completion") if e["number"] == made["number"]]
        assert result["fetch"] == 0, "0 is newData"
    else:
        assert [event["outcome"] for event in events(bob, "refresh_task")] == ["launched", "submitted", "completed"]
    assert bob.faults == []


# Without a courier there is no token, but the app has asked for one, and may be pushed to from then on.
REGISTERED = "wait-for didFailToRegisterForRemoteNotificationsWithError"


def script(*arguments: str, text: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory(prefix="tidings-eras-") as folder:
        return subprocess.run(
            [
                tool(), "phone", "--folder", folder + "/phone", "--script", "-", "--env", "CHAT_TOKEN=none",
                *arguments,
            ],
            input=text, capture_output=True, text=True, timeout=120, check=False)


def push(body: str) -> str:
    tidings = {"cType": "PR", "tId": "alice", "fId": "alice", "oName": "RC:TxtMsg"}
    return "push " + json.dumps({"aps": {"alert": body}, "rc": tidings})


@pytest.mark.parametrize("ios", ["6", "9"])
def test_in_front_the_app_shows_its_own_banner_where_the_system_shows_none(ios):
    done = script(
        "--ios", ios, "--delegate", "legacy",
        text=f"""open
wait-for screens: Conversations
{REGISTERED}
{push("dinner is ready")}
wait-for banner: dinner is ready
expect system_sound
expect-not notification 1
input {{"banner":"tap"}}
wait-for shown: Alice
expect-not banner: dinner is ready
""")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_push_above_the_payload_limit_does_not_arrive():
    text = f"open\n{REGISTERED}\nhome\n{push('x' * 300)}\n"
    arrived = "wait-for notification 1"
    legacy = ("--ios", "6", "--delegate", "legacy")
    done = script(*legacy, text=text + arrived + " within 2s\n")
    assert done.returncode == 1, done.stdout + done.stderr
    done = script(*legacy, "--payload-limit", "4096", text=text + arrived + "\n")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--delegate", "old"], "The value 'old' is invalid for '--delegate <delegate>'. Please provide one of 'modern' and 'legacy'."),
        (["--payload-limit", "0"], "--payload-limit must be 1 to 1000000 bytes, got 0"),
    ],
)
def test_a_wrong_option_names_what_is_allowed(arguments, words):
    done = script(*arguments, text="open\n")
    assert done.returncode == 64
    assert words in done.stderr
