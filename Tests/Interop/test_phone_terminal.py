"""`tidings phone` on a real terminal (a pty): what stands on the screen, what the keys do, and how the terminal is left."""

from __future__ import annotations

import codecs
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

import pytest

from conftest import tool

SECONDS = 30
# With a token, if only this, the example app shows its list; no server is there.
SIGNED_IN = ("--env", "CHAT_TOKEN=none")


class Screen:
    """As much of a terminal as the phone needs: what stands where, which screen is shown, whether the cursor is."""

    SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")

    def __init__(self, columns: int, rows: int):
        self.columns, self.rows = columns, rows
        self.clear()
        self.modes: set[str] = set()
        self.renditions = 0
        self.rest = ""
        self.updates = 0
        self.seen: set[str] = set()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.column = self.row = 0

    def feed(self, text: str):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            match = self.SEQUENCE.match(text, at)
            if not match:
                if len(text) - at < 32:
                    self.rest = text[at:]
                    return
                raise AssertionError(f"a sequence that is none: {text[at:at + 20]!r}")
            self.control(*match.groups())
            at = match.end()

    def control(self, private: str, parameters: str, final: str):
        if private:
            (self.modes.add if final == "h" else self.modes.discard)(parameters)
            self.updates += parameters == "2026" and final == "h"
            if parameters == "2026" and final == "l":
                self.seen.update(self.lines)
        elif final == "H":
            row, column = (int(number) for number in parameters.split(";"))
            assert 1 <= row <= self.rows and 1 <= column <= self.columns, parameters
            self.row, self.column = row - 1, column - 1
        elif final == "J":
            self.clear()
        elif final == "K":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
        elif final == "m":
            self.renditions += 1
        else:
            raise AssertionError(f"the phone sends no {final}")

    def put(self, letter: str):
        if letter == "\r":
            self.column = 0
            return
        if letter == "\n":
            self.row = min(self.row + 1, self.rows - 1)
            return
        assert unicodedata.category(letter) != "Cc", f"a control character reached the terminal: {letter!r}"
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return
        width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + width > self.columns and "1049" not in self.modes:
            self.column, self.row = 0, min(self.row + 1, self.rows - 1)
        if self.column + width <= self.columns:
            self.cells[self.row][self.column:self.column + width] = [letter] + [""] * (width - 1)
        self.column += width

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.cells]


class Terminal:
    """A phone on a pty, below a helper that stands for a shell: it owns the session, as job control wants it."""

    SHELL = (
        "import os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
        "child = subprocess.Popen(sys.argv[2:], process_group=0, restore_signals=True)\n"
        "os.tcsetpgrp(0, child.pid)\n"
        "with open(sys.argv[1] + '.new', 'w') as file: file.write(str(child.pid))\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "status = child.wait()\n"
        "os.tcsetpgrp(0, os.getpgrp())\n"
        "sys.exit(status if status >= 0 else 128 - status)\n"
    )

    def __init__(self, *arguments: str, columns: int = 80, rows: int = 24, environment: dict[str, str] | None = None):
        self.folder = tempfile.mkdtemp(prefix="tidings-terminal-")
        self.screen = Screen(columns, rows)
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.master, slave = pty.openpty()
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(slave)
        variables = {**os.environ, "TERM": "xterm-256color", **(environment or {})}
        if environment is None or "NO_COLOR" not in environment:
            variables.pop("NO_COLOR", None)
        pid_file = self.folder + "/pid"
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.SHELL, pid_file, tool(), "phone", "--folder", self.folder + "/phone",
             *SIGNED_IN, *arguments],
            stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.slave = slave
        self.wait_until(lambda: os.path.exists(pid_file), "the phone's process")
        with open(pid_file) as file:
            self.pid = int(file.read())

    def set_size(self, columns: int, rows: int):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def pump(self, seconds: float = 0.05):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.screen.feed(self.decoder.decode(os.read(self.master, 65_536)))

    def wait_until(self, holds, what: str):
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come; the terminal shows\n{self.screen.text}"
            self.pump()

    def wait_for(self, *texts: str):
        for text in texts:
            self.wait_until(lambda: text in self.screen.text, repr(text))

    def wait_without(self, text: str):
        self.wait_until(lambda: text not in self.screen.text, f"a screen without {text!r}")

    def wait_for_registration(self):
        """The phone refuses a push to an app that has not asked for its token yet; no server is there to give one."""
        self.wait_until(
            lambda: any("didFailToRegister" in line for line in self.screen.seen), "the answer to the app's registration"
        )

    def press(self, keys: str):
        os.write(self.master, keys.encode())

    def send_signal(self, number: int):
        os.kill(self.pid, number)

    @property
    def state(self) -> str:
        """The letter of proc(5): T is stopped."""
        with open(f"/proc/{self.pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]

    def is_given_back(self) -> bool:
        settings = termios.tcgetattr(self.slave)
        return settings == self.before and self.screen.modes & {"1049", "2004", "2026"} == set() and {
            "7", "25"
        } <= self.screen.modes

    def end(self) -> int:
        """The exit status; the terminal must be as it was."""
        self.wait_until(lambda: self.process.poll() is not None, "the end")
        self.pump()
        self.wait_until(self.is_given_back, "the terminal as it was")
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            if hasattr(self, "pid"):
                os.kill(self.pid, signal.SIGKILL)
            self.process.wait(10)
        os.close(self.master)
        os.close(self.slave)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def terminal():
    terminals: list[Terminal] = []

    def make(*arguments: str, **options) -> Terminal:
        terminals.append(Terminal(*arguments, **options))
        return terminals[-1]

    yield make
    for made in terminals:
        made.close()


def opened(terminal, *arguments: str, **options) -> Terminal:
    """A phone with the example app in the foreground, notifications allowed."""
    phone = terminal("--ios", "17", "--app", "chat", *arguments, **options)
    phone.wait_for("home screen", "icons")
    phone.press("o")
    phone.wait_for("would like to send no")
    phone.press("y")
    phone.wait_for("Conversations", "foregroundActive")
    phone.wait_without("would like to send no")
    phone.wait_for_registration()
    return phone


def test_keys_do_what_they_say_and_the_screen_follows(terminal):
    phone = opened(terminal)
    phone.wait_for("sceneDidBecomeActive")
    phone.press("h")
    phone.wait_for("home screen", "sceneDidEnterBackground")
    phone.press("l")
    phone.wait_for(" locked")
    phone.press("l")
    phone.wait_for("home screen")
    phone.press("p")
    phone.wait_for("[airplane mode]")
    phone.press("p")
    phone.wait_without("[airplane mode]")
    phone.press("w")
    phone.wait_for("[low power]")
    phone.press("f")
    phone.wait_for("[focus]")
    phone.press("x")
    phone.wait_for("Chat forceQuit")
    phone.press("k")
    phone.wait_for("app does not run")
    phone.press("R")
    phone.wait_for("locked since restart")
    phone.press("?")
    phone.wait_for("any other key returns", "go to the home screen")
    phone.press("\x1b")
    phone.wait_for("locked since restart")
    phone.press("qq")
    assert phone.end() == 0


def test_a_notification_is_shown_chosen_and_tapped(terminal):
    phone = opened(terminal)
    phone.press("h")
    phone.wait_for("home screen")
    phone.press(":push first 你好👋\r")
    phone.wait_for("▼ first 你好👋", "notifications (1)", "> 1 first 你好👋")
    phone.press(":push second\r")
    phone.wait_for("notifications (2)", "> 1 second", "2 first")
    # A banner ends by itself, without a line in the trace.
    phone.wait_without("▼")
    phone.press("\x1b[B")
    phone.wait_for("> 2 first")
    phone.press("\x1b[A")
    phone.wait_for("> 1 second")
    phone.press("d")
    phone.wait_for("notifications (1)", "> 1 first")
    phone.press("\r")
    phone.wait_for("center didReceive", "Conversations")
    phone.wait_without("notifications (1)")
    phone.press("qq")
    assert phone.end() == 0


def old_phone(terminal) -> Terminal:
    """iOS 9 on its home screen, the app's alerts as panels."""
    phone = terminal("--ios", "9", "--delegate", "legacy")
    phone.wait_for("home screen", "icons")
    phone.press("o")
    phone.wait_for("would like to send no")
    phone.press("y")
    phone.wait_for("Conversations", "foregroundActive")
    phone.wait_for_registration()
    phone.press(":alert-style alert\r")
    phone.press("h")
    phone.wait_for("home screen")
    return phone


def test_an_alert_panel_is_closed_and_viewed(terminal):
    phone = old_phone(terminal)
    phone.press(":push first\r")
    phone.wait_for("! first", "[v View] [c Close]", " v view  c close")
    assert phone.screen.lines[23].startswith(" v view  c close")
    phone.press("c")
    phone.wait_without("! first")
    phone.wait_for("home screen")
    phone.press("c")
    phone.wait_for("alert panel is missing")
    phone.press(":push second\r")
    phone.wait_for("! second")
    phone.press("v")
    phone.wait_without("! second")
    phone.wait_for("foregroundActive", "Conversations")
    phone.press("qq")
    assert phone.end() == 0


def test_a_message_cannot_drive_the_terminal(terminal):
    phone = opened(terminal)
    phone.press("h")
    phone.wait_for("home screen")
    payload = '{"aps":{"alert":"\\u001b[2J\\u001b]0;owned\\u0007\\u009b5nend"}}'
    # `Screen.feed` fails on a sequence of the message's own, and on any control character.
    phone.press(f":push {payload}\r")
    phone.wait_for("␛[2J␛]0;owned␇")
    phone.press("qq")
    assert phone.end() == 0


def test_a_change_draws_only_what_changed(terminal):
    phone = opened(terminal)
    phone.press("h")
    phone.wait_for("home screen")
    # No server is there: the app gives up its connection and all is quiet.
    quiet, updates = 0, phone.screen.updates
    for _ in range(400):
        phone.pump(0.05)
        quiet = quiet + 1 if phone.screen.updates == updates else 0
        updates = phone.screen.updates
        if quiet == 20:
            break
    assert quiet == 20, "the phone draws although nothing changes"
    phone.press("p")
    ready, _, _ = select.select([phone.master], [], [], SECONDS)
    assert ready
    sent = os.read(phone.master, 65_536).decode()
    phone.screen.feed(sent)
    assert "\x1b[2J" not in sent
    assert len(sent) < 600, sent
    phone.wait_for("[airplane mode]")


def test_it_follows_the_size_of_the_terminal(terminal):
    phone = opened(terminal, columns=80, rows=24)

    def resize(columns: int, rows: int):
        phone.screen = Screen(columns, rows)
        phone.set_size(columns, rows)

    resize(120, 40)
    phone.wait_for("Conversations", "─ trace ─")
    phone.wait_until(lambda: phone.screen.lines[39].startswith(" o open"), "the last row")
    resize(40, 12)
    phone.wait_until(lambda: phone.screen.lines[11].startswith(" o open"), "the last row")
    resize(30, 8)
    phone.wait_until(lambda: "phone needs 40×12" in " ".join(phone.screen.lines), "the refusal")
    resize(80, 24)
    phone.wait_for("Conversations", "─ apps ─")


def test_a_terminal_that_is_too_small_is_refused(terminal):
    phone = terminal(columns=39, rows=24)
    phone.wait_until(lambda: phone.process.poll() is not None, "the end")
    phone.pump()
    assert phone.process.returncode not in (0, None)
    assert "the phone needs 40×12 or more" in "".join(phone.screen.lines)
    assert phone.screen.modes == set(), "it never took the terminal over"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(terminal, number):
    phone = opened(terminal)
    phone.send_signal(number)
    assert phone.end() == 0


def test_ctrl_c_gives_the_terminal_back(terminal):
    phone = opened(terminal)
    phone.press("\x03")
    assert phone.end() == 0


def test_it_can_be_stopped_and_goes_on(terminal):
    phone = opened(terminal)
    for stop in (lambda: phone.press("\x1a"), lambda: phone.send_signal(signal.SIGTSTP)):
        stop()
        phone.wait_until(lambda: phone.state == "T", "the stop")
        phone.pump()
        phone.wait_until(phone.is_given_back, "the terminal as it was")
        # What a shell prints meanwhile.
        phone.screen.clear()
        phone.send_signal(signal.SIGCONT)
        phone.wait_for("Conversations", "─ apps ─")
        assert not phone.is_given_back()
    phone.press("h")
    phone.wait_for("home screen")
    phone.press("qq")
    assert phone.end() == 0


def test_the_app_may_crash_and_the_phone_stays(terminal):
    # Swift's own report of a crash takes its time and is not what is looked at here.
    phone = opened(terminal, environment={"SWIFT_BACKTRACE": "enable=no"})
    phone.wait_for(" pid ")
    app = int(re.search(r" pid (\d+)", phone.screen.text)[1])
    os.kill(app, signal.SIGSEGV)
    phone.wait_for("notRunning", "process_died")
    phone.wait_without(f"pid {app}")
    phone.press("o")
    phone.wait_for("foregroundActive", "Conversations")
    phone.press("qq")
    assert phone.end() == 0


def test_keys_are_obeyed_while_an_app_does_not_answer_a_touch(terminal):
    phone = terminal("--app", str(pathlib.Path(tool()).parent / "ScreenApp"), "--lifecycle", "application")
    phone.wait_for("home screen", "icons")
    phone.press("o")
    phone.wait_for("0 taps", "foregroundActive", " pid ")
    app = int(re.search(r" pid (\d+)", phone.screen.text)[1])
    os.kill(app, signal.SIGSTOP)
    phone.press(":press Count\r")
    phone.press("p")
    phone.wait_for("[airplane mode]")
    os.kill(app, signal.SIGCONT)
    phone.wait_for("1 taps")
    # Whoever waits for the app obeys the key only when the touch is given up.
    assert not [line for line in phone.screen.seen if "did not answer" in line]
    phone.press("qq")
    assert phone.end() == 0


def test_no_color_means_no_colours(terminal):
    assert opened(terminal).screen.renditions > 0
    assert opened(terminal, environment={"NO_COLOR": "1"}).screen.renditions == 0


def run(script: str | None, *arguments: str, text: str | None = None, timeout: float = 60):
    folder = tempfile.mkdtemp(prefix="tidings-script-")
    try:
        path = folder + "/script"
        if script is not None:
            with open(path, "w") as file:
                file.write(script)
            arguments = ("--script", path, *arguments)
        return subprocess.run(
            [tool(), "phone", "--folder", folder + "/phone", *SIGNED_IN, *arguments], capture_output=True, text=True,
            timeout=timeout,
            **({"stdin": subprocess.DEVNULL} if text is None else {"input": text}),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


HELD = """
# One notification, tapped from a suspended app.
open
wait-for screens: Conversations
home
wait 100ms
push hello 你好
wait-for notification 1: hello 你好
expect banner: hello 你好
tap
wait-for center didReceive within 20s
wait-for in the foreground: com.example.chat
expect-not notification 1
lock
wait-for locked
quit
"""


def test_a_script_runs_unattended():
    done = run(HELD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "line 4: wait-for screens: Conversations" in done.stdout
    assert "sceneDidBecomeActive(_:)" in done.stdout
    assert "\x1b" not in done.stdout


PANEL = """
# iOS 9 with the alert style of panels: one is closed, one opens the app.
open
wait-for screens: Conversations
# Its store is open: what it shows as unread, none, it has told the system, and 0 clears its notifications.
wait-for "user":"phone"
alert-style alert
home
wait-for "run_state":"background
push first
wait-for alert: first
close
expect-not alert: first
expect home screen
push second
wait-for alert: second
view
wait-for in the foreground: com.example.chat
expect-not alert: second
quit
"""


def test_a_script_answers_an_alert_panel():
    done = run(PANEL, "--ios", "9", "--delegate", "legacy")
    assert done.returncode == 0, done.stdout + done.stderr
    failed = run("close\n", "--ios", "9", "--delegate", "legacy")
    assert failed.returncode == 1
    assert "alert panel is missing" in failed.stdout


def test_a_script_may_come_from_standard_input():
    done = run(None, "--script", "-", text="open\nwait-for sceneDidBecomeActive\n")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "step, reason",
    [
        ("expect nonsense", '"nonsense" is not there'),
        ("expect-not home screen", '"home screen" is there'),
        ("wait-for nonsense within 200ms", '"nonsense" did not appear in 200 ms'),
        ("tap", "notification is missing: the list is empty"),
        ("kill", "app does not run"),
    ],
)
def test_a_step_that_does_not_hold_ends_the_script_with_the_screen(step, reason):
    done = run(f"airplane\n{step}\nlock\n")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "home screen [airplane mode]" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith(f"line 2: {step}: failed: ")
    assert reason in last
    assert "line 3" not in done.stdout


@pytest.mark.parametrize(
    "script, words",
    [
        ("home\nblub\n", "line 2: step must be one of home, lock, unlock"),
        ("", "script must have at least one step"),
        ("wait soon\n", "line 1: wait must be a time"),
    ],
)
def test_a_script_that_cannot_be_read_starts_nothing(script, words):
    done = run(script)
    assert done.returncode == 64
    assert words in done.stderr
    assert done.stdout == ""


def test_a_script_ends_at_a_signal():
    folder = tempfile.mkdtemp(prefix="tidings-script-")
    process = subprocess.Popen(
        [tool(), "phone", "--folder", folder + "/phone", "--script", "-"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )
    try:
        process.stdin.write("lock\nwait 600s\n")
        process.stdin.close()
        while "wait" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def test_without_a_terminal_it_prints_lines():
    folder = tempfile.mkdtemp(prefix="tidings-lines-")
    process = subprocess.Popen(
        [tool(), "phone", "--folder", folder + "/phone"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(process.stdout.readline().removeprefix("control port "))
        with socket.create_connection(("127.0.0.1", port), timeout=10) as control:
            control.sendall(b'{"do":"launch"}\n')
            line = ""
            while "sceneDidBecomeActive(_:)" not in line:
                line = process.stdout.readline()
                assert line and "\x1b" not in line
            assert re.match(r"\d\d:\d\d:\d\d\.\d{3}  callback  ", line)
            control.sendall(b'{"do":"quit"}\n')
            assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--app", "mail"], '--app must be one of chat, or the path of an executable, got "mail"'),
        (["--app", "/nonexistent/app"], "--app must be an executable file"),
        (["--script", "/nonexistent/script"], "--script must be a file that can be read"),
        (["--plain", "--script", "-"], "--plain and --script cannot both be given"),
        (["--deny-notifications", "--ask-notifications"], "cannot both be given"),
    ],
)
def test_a_wrong_option_names_what_is_allowed(arguments, words):
    done = run(None, *arguments)
    assert done.returncode == 64
    assert words in done.stderr


def test_help_has_every_word():
    done = subprocess.run([tool(), "phone", "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    for word in ["force-quit [APP]", "low-power [on|off]", "wait-for TEXT [within TIME]", "--script <file>", "(key R)"]:
        assert word in done.stdout
