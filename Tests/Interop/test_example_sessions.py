"""Who is signed in, in the example app: at another server, before the first unlock, and when the backend's answer is late."""

from __future__ import annotations

import http.server
import json
import os
import signal
import threading
import urllib.error
import urllib.request

import pytest

from conftest import Site
from example_backend import ExampleBackend
from phone import Phone
from phone_stage import SETTINGS
from screen import Screen
from test_example import User

PASSWORDS = {"bob": "battery staple", "dora": "quiet goldfish"}


class Door:
    """One person's phone, a server, and the example's backend."""

    def __init__(self, site: Site, *options: str):
        self.site = site
        self.backend = ExampleBackend(site, passwords=PASSWORDS)
        phone = Phone(site, "bob", "--background-time", "20000", *options, is_signed_in=False)
        self.bob = User("bob", phone, Screen(phone))
        phone.do("unlock")
        phone.do("launch")
        self.bob.screen.wait_for("Sign In")

    def carol_says(self, text: str):
        self.site.call("POST", f"/v1/apps/{self.site.app}/messages", {
            "sender": "carol", "client_message_id": text.replace(" ", "-"), "conversation": {"type": "PR", "target": "bob"},
            "content": json.dumps({"content": text})})

    def has_device_token(self) -> bool:
        devices = self.site.call("GET", f"/v1/apps/{self.site.app}/users/bob/devices")["devices"]
        return any(device["push"] == "registered" for device in devices)

    def stop(self):
        self.bob.phone.stop()
        self.backend.stop()


@pytest.fixture
def make_door(make_site):
    doors = []

    def make(*options: str) -> Door:
        doors.append(Door(make_site(with_apns=True, settings=SETTINGS).start(), *options))
        return doors[-1]

    yield make
    for door in doors:
        door.stop()


class Porter:
    """Stands between the app and the backend, and keeps the answers about tokens back while it is told to."""

    def __init__(self, backend: ExampleBackend):
        self.open = threading.Event()
        self.open.set()
        self.asked = threading.Event()
        porter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name: self.headers[name] for name in ("Content-Type", "Authorization") if self.headers[name]}
                request = urllib.request.Request(backend.address + self.path, method="POST", data=body, headers=headers)
                try:
                    with urllib.request.urlopen(request, timeout=20) as answer:
                        status, kind, text = answer.status, answer.headers["Content-Type"], answer.read()
                except urllib.error.HTTPError as error:
                    status, kind, text = error.code, error.headers["Content-Type"], error.read()
                if self.path == "/token":
                    porter.asked.set()
                    porter.open.wait(60)
                self.send_response(status)
                self.send_header("Content-Type", kind or "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def stop(self):
        self.open.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize("options", [("--ios", "26"), ("--ios", "9", "--delegate", "legacy")])
def test_a_sign_in_at_another_server_registers_the_device_there(make_door, options):
    door = make_door(*options)
    door.bob.sign_in(door.backend, PASSWORDS["bob"])
    door.bob.screen.wait_for("Conversations", "No conversations yet")
    door.bob.phone.wait_until(door.has_device_token, "the device token at the server, in the same launch")


@pytest.mark.parametrize("lifecycle", ["scenes", "application"])
def test_a_launch_before_the_first_unlock_finds_the_servers_after_it(make_door, lifecycle):
    door = make_door("--ios", "17", "--lifecycle", lifecycle)
    door.bob.sign_in(door.backend, PASSWORDS["bob"])
    door.bob.screen.wait_for("Conversations", "No conversations yet")
    door.bob.phone.do("restart")
    # Nothing of the phone can be read, so that it seems as if nobody were signed in.
    door.bob.phone.do("prewarm")
    door.bob.phone.wait_until(lambda: "pid" in door.bob.phone.app, "a process before the first unlock")
    door.bob.phone.wait_until(lambda: door.bob.phone.app["state"] == "suspended", "its end of work")
    door.bob.phone.do("unlock")
    door.bob.phone.do("launch")
    door.bob.screen.wait_for("Conversations")
    door.carol_says("good morning")
    door.bob.screen.row_with("Carol", "good morning")


def test_the_return_key_signs_in_once_while_the_backend_is_slow(make_door):
    door = make_door("--ios", "17")
    process = door.backend.program.process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        door.bob.sign_in(door.backend, PASSWORDS["bob"])
        for _ in range(3):
            door.bob.screen.touch("Password", "submit")
    finally:
        os.kill(process, signal.SIGCONT)
    door.bob.screen.wait_for("Conversations", "No conversations yet")
    door.bob.phone.wait_until(door.has_device_token, "the device token at the server")
    sessions = json.loads((door.backend.state / "sessions.json").read_text())
    assert [session["user"] for session in sessions.values()] == ["bob"]


def test_a_session_whose_end_is_heard_of_late_concerns_nobody_else(make_door):
    door = make_door("--ios", "17")
    bob = door.bob
    porter = Porter(door.backend)
    try:
        bob.screen.enter("User name", "bob")
        bob.screen.enter("Password", PASSWORDS["bob"])
        bob.screen.enter("Server", porter.address)
        bob.screen.touch("Password", "submit")
        bob.screen.wait_for("Conversations", "No conversations yet")
        bob.phone.wait_for_connection()
        bob.leave()
        # The backend ends his session, and its word of that is under way when he signs out himself.
        assert door.backend.add_user("bob", "another staple").returncode == 0
        porter.open.clear()
        porter.asked.clear()
        bob.phone.do("launch")
        assert porter.asked.wait(60)
        bob.screen.touch("Settings")
        bob.screen.touch(bob.screen.row_with("Sign Out"))
        porter.open.set()
        bob.screen.wait_for("Sign In")
        bob.screen.enter("User name", "dora")
        bob.screen.enter("Password", PASSWORDS["dora"])
        assert "You have been signed out." not in bob.screen.texts()
        bob.screen.touch("Password", "submit")
        bob.screen.wait_for("Conversations", "No conversations yet")
        bob.phone.wait_for_connection()
        assert bob.phone.shown["user"] == "dora"
    finally:
        porter.stop()


def test_names_are_asked_anew_when_the_app_comes_forward(make_door):
    door = make_door("--ios", "17")
    bob, site = door.bob, door.site
    site.call("PUT", f"/v1/apps/{site.app}/users/carol/profile", {"name": "Lina"})
    bob.sign_in(door.backend, PASSWORDS["bob"])
    bob.screen.wait_for("Conversations", "No conversations yet")
    door.carol_says("hello")
    bob.screen.row_with("Lina", "hello")
    leave_in_background(bob)
    site.call("PUT", f"/v1/apps/{site.app}/users/carol/profile", {"name": "Caroline"})
    bob.phone.do("launch")
    bob.screen.row_with("hello")
    bob.phone.wait_until(lambda: bob.phone.shown.get("run_state") == "foreground", "the app to know that it is in front")
    leave_in_background(bob)
    door.carol_says("good night")
    bob.phone.wait_until(
        lambda: [entry["title"] for entry in bob.phone.do("screen")["list"] if entry["body"] == "good night"] == ["Caroline"],
        "a notification with the new name")


def leave_in_background(user: User):
    user.phone.do("home")
    user.phone.wait_until(lambda: user.phone.shown.get("run_state") != "foreground", "the app to know that it is left")
