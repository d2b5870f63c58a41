"""The screen of an app on `tidings phone`: read and touched by a script and over the control channel, streamed and drawn.

The app is `Tests/ScreenApp`: one screen with a button that counts, and one whose work is done a moment later; at the end the example app,
between two people.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

import pytest

from conftest import tool
from test_example import Street, User, make_street, they_sign_in, they_write

__all__ = ["make_street"]

SECONDS = 30


def screen_app() -> str:
    path = pathlib.Path(tool()).parent / "ScreenApp"
    assert os.access(path, os.X_OK), f"{path} is not there: run make build first"
    return str(path)


OPTIONS = ["--lifecycle", "application", "--bundle", "com.example.screen"]


def run(script: str) -> subprocess.CompletedProcess:
    folder = tempfile.mkdtemp(prefix="tidings-screens-")
    try:
        return subprocess.run(
            [tool(), "phone", "--folder", folder + "/phone", "--app", screen_app(), *OPTIONS, "--script", "-"], input=script,
            capture_output=True, text=True, timeout=60,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_script_reads_and_touches_a_screen():
    done = run(
        """
        open
        wait-for shown: 0 taps
        wait-for foregroundActive
        press Count
        expect shown: 1 taps
        expect-not shown: 0 taps
        press Count Later
        wait-for shown: 2 taps
        picture 40x12
        home
        expect-not shown:
        open
        wait-for shown: 2 taps
        quit
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    picture = [line for line in done.stdout.splitlines() if line[:1] in "┌│└"]
    assert len(picture) == 14
    assert picture[1].startswith("│ Screen ")
    assert picture[2] == "│" + " 2 taps".ljust(40) + "│"
    assert picture[3] == "│" + " [Count] [Count Later]".ljust(40) + "│"
    assert "fault" not in done.stdout


@pytest.mark.parametrize(
    "step, reason",
    [
        ("press Cuont", 'view is not on the screen: Cuont; tap is taken by "Count", "Count Later"'),
        ("press 0 taps", 'action is not taken by 0 taps: tap; tap is taken by "Count", "Count Later"'),
        ("enter hi into Count", "action is not taken by Count: enter; nothing on the screen takes enter"),
        ("scroll down", "action is taken by no view: scroll"),
        ("expect shown: 7 taps", '"shown: 7 taps" is not there'),
    ],
)
def test_a_touch_that_cannot_be_done_ends_the_script(step, reason):
    done = run(f"open\nwait-for shown: 0 taps\nwait-for foregroundActive\n{step}\n")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.strip().splitlines()[-1] == f"line 4: {step}: failed: {reason}"


def test_an_app_in_the_background_is_not_touched():
    done = run("open\nwait-for foregroundActive\nhome\npress Count\n")
    assert done.returncode == 1
    assert "must be in the foreground to be touched: com.example.screen" in done.stdout


class Control:
    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def ask(self, **command) -> dict:
        self.socket.sendall((json.dumps(command) + "\n").encode())
        return self.read()

    def do(self, name: str, **members) -> dict:
        answer = self.ask(do=name, **members)
        assert answer["ok"], answer
        return answer["result"]

    def read(self) -> dict:
        return json.loads(self.lines.readline())

    def close(self):
        self.lines.close()
        self.socket.close()


@pytest.fixture
def phone():
    folder = tempfile.mkdtemp(prefix="tidings-screens-")
    process = subprocess.Popen(
        [tool(), "phone", "--folder", folder + "/phone", "--app", screen_app(), *OPTIONS], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True,
    )
    controls: list[Control] = []
    try:
        port = int(process.stdout.readline().removeprefix("control port "))

        def connect() -> Control:
            controls.append(Control(port))
            return controls[-1]

        yield connect
        connect().ask(do="quit")
        assert process.wait(SECONDS) == 0
    finally:
        for control in controls:
            control.close()
        process.kill()
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def texts(view: dict) -> list[str]:
    return ([view["text"]] if "text" in view else []) + [text for child in view["children"] for text in texts(child)]


def test_the_control_channel_streams_answers_and_touches(phone):
    watch, control = phone(), phone()
    assert watch.ask(do="subscribe", views=True)["ok"]

    def shown(*wanted: str) -> dict:
        """The next event that shows exactly these texts."""
        while True:
            event = watch.read()
            if event["event"] == "views" and [text for view in event["views"] for text in texts(view)] == list(wanted):
                return event

    assert control.do("views") == {"app": "com.example.screen", "number": 0, "views": []}
    control.do("launch")
    first = shown("0 taps", "Count", "Count Later")
    assert first["app"] == "com.example.screen"
    while control.do("screen")["apps"]["com.example.screen"]["state"] != "foregroundActive":
        pass
    control.do("touch", view="Count")
    assert control.do("screen")["texts"] == ["1 taps", "Count", "Count Later"], "known when the touch is answered"
    second = shown("1 taps", "Count", "Count Later")
    assert second["number"] > first["number"]
    assert control.do("views") == {key: second[key] for key in ("app", "number", "views")}
    control.do("touch", view="Count Later")
    shown("2 taps", "Count", "Count Later")
    assert control.do("picture", columns=40, rows=10)["lines"][2] == "│" + " 2 taps".ljust(40) + "│"
    control.do("home")
    assert shown()["views"] == []
    assert control.do("screen")["texts"] == []


@pytest.mark.parametrize(
    "command, field, rule",
    [
        ({"do": "touch", "view": "Count"}, "app", "must be in the foreground to be touched: com.example.screen"),
        ({"do": "touch", "view": "Count", "action": "stroke"}, "action", "is not what is done with a view: stroke"),
        ({"do": "touch", "view": 7}, "view", "must be a string, got a number"),
        ({"do": "views", "app": "com.example.mail"}, "app", "is not installed: com.example.mail; installed are com.example.screen"),
        ({"do": "picture", "columns": 1}, "columns", "must be a whole number from 40 to 250, got 1"),
        ({"do": "subscribe", "views": 1}, "views", "must be a Boolean, got a number"),
    ],
)
def test_a_wrong_command_is_refused(phone, command, field, rule):
    assert phone().ask(**command) == {"id": None, "ok": False, "field": field, "rule": rule}


TIME = r"\d{1,2}:\d\d.[AP]M"


def test_list_and_chat_can_be_read_on_a_terminal(make_street):
    street: Street = make_street("17", "scenes")
    alice, bob = street.alice, street.bob
    they_sign_in(street)
    they_write(alice, bob)

    def picture(user: User, *patterns: str):
        """Until the phone, as it is drawn in a terminal of 120×40, has lines like these, in this order."""
        lines: list[str] = []

        def holds() -> bool:
            lines[:] = user.phone.do("picture")["lines"]
            rest = iter(lines)
            return all(any(re.fullmatch(f"│{pattern} *│", line) for line in rest) for pattern in patterns)

        user.phone.wait_until(holds, f"a picture with {patterns}")
        assert len(lines) == 40
        assert all(line[0] + line[-1] in ("┌┐", "││", "└┘") for line in lines)

    input_line = r" \[More\] ⟨Message_+⟩ \[Send\]"
    picture(
        alice, r" Chat", r" ‹ Conversations +Bob +\[Settings\]", "─+", " +Today", rf" {{16,}}{TIME} Read  lunch at noon\? ▐",
        input_line)
    picture(bob, r" ‹ Conversations +Alice +\[Settings\]", " +Today", rf" ▌ lunch at noon\?  {TIME}", input_line)
    alice.back()
    picture(
        alice, r" +Conversations +\[New Chat\]", "─+", rf" ○ Bob {{20,}}{TIME}", r"   lunch at noon\?", "─+",
        r" +\[Chats\] +Settings")
