"""The example app (Examples/Chat) as two people use it: by what stands on their screens, and with nothing from outside.

The apps have no variables: a person types the server's address, their name and their password, and every later launch, by the person or
by iOS, finds what it needs on the phone. Server, local APNs, backend and phones are real processes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from conftest import Site
from example_backend import ExampleBackend
from phone import Phone
from phone_stage import SETTINGS, crash, events_of, presentation
from screen import Screen, roles_in

PASSWORDS = {"alice": "correct horse", "bob": "battery staple"}
REPLY = "tidings.reply"
RESPONSE = "userNotificationCenter(_:didReceive:withCompletionHandler:)"


@dataclass
class User:
    """A person with a phone of their own."""

    name: str
    phone: Phone
    screen: Screen

    def sign_in(self, backend: ExampleBackend, password: str):
        """On the screen that the app shows before anything else."""
        self.screen.enter("User name", self.name)
        self.screen.enter("Password", password)
        self.screen.enter("Server", backend.address)
        self.screen.touch("Password", "submit")

    def say(self, text: str):
        """Types a message into the open conversation and sends it."""
        self.screen.enter("Message", text)
        self.screen.touch("Send")
        # The server has it.
        self.screen.wait_until(
            lambda: any(text in row and {"Sent", "Delivered", "Read"} & set(row) for row in self.screen.rows()), text)

    def back(self):
        self.screen.touch("back")

    def leave(self):
        """The home button, and then iOS takes the process away."""
        self.phone.do("home")
        self.phone.wait_until(lambda: self.phone.shown.get("run_state") != "foreground", "the app to know that it is left")
        crash(self.phone)


class Street:
    """Two people on phones of the same version, a server, and the example's backend."""

    def __init__(self, site: Site, ios: str, lifecycle: str):
        self.site = site
        self.backend = ExampleBackend(site, passwords=PASSWORDS)
        self.alice, self.bob = (self._user(name, ios, lifecycle) for name in PASSWORDS)

    def _user(self, name: str, ios: str, lifecycle: str) -> User:
        phone = Phone(
            self.site, name, "--ios", ios, "--lifecycle", lifecycle, "--background-time", "20000", is_signed_in=False)
        phone.do("unlock")
        phone.do("launch")
        return User(name, phone, Screen(phone))

    def wait_for_device(self, user: User):
        """Until the server can push to the phone."""

        def has_token() -> bool:
            devices = self.site.call("GET", f"/v1/apps/{self.site.app}/users/{user.name}/devices")["devices"]
            return any(device["push"] == "registered" for device in devices)

        user.phone.wait_until(has_token, "the device token at the server")

    def message(self, text: str) -> str:
        """The id that the server gave a message of Alice's to Bob."""
        path = f"/v1/apps/{self.site.app}/conversations/PR/bob/messages?user=alice"

        def find() -> str | None:
            found = [each for each in self.site.call("GET", path)["messages"] if text in each["content"]]
            return found[0]["message_id"] if found else None

        return self.alice.phone.wait_until(find, f"{text} at the server")

    def stop(self):
        for user in (self.alice, self.bob):
            user.phone.stop()
        self.backend.stop()


@pytest.fixture
def make_street(make_site, tmp_path):
    streets = []

    def make(ios: str, lifecycle: str) -> Street:
        site = make_site(with_apns=True, settings={**SETTINGS, "media": {"path": str(tmp_path / "media")}}).start()
        street = Street(site, ios, lifecycle)
        streets.append(street)
        return street

    yield make
    for street in streets:
        street.stop()


@pytest.mark.parametrize(
    "ios, lifecycle", [("15", "scenes"), ("15", "application"), ("26", "scenes"), ("26", "application")])
def test_two_people_chat_by_what_they_see(make_street, ios, lifecycle):
    street = make_street(ios, lifecycle)
    alice, bob = street.alice, street.bob
    they_sign_in(street)
    they_write(alice, bob)
    they_answer_and_take_back(alice, bob)
    an_image_is_sent(alice, bob)
    a_muted_conversation_does_not_ring(street)
    settings_are_kept(street)
    a_banner_opens_what_it_is_about(street)
    a_tap_and_a_reply_find_a_killed_app(street)
    who_signs_out_is_left_alone(street)
    assert (alice.phone.faults, bob.phone.faults) == ([], [])


def they_sign_in(street: Street):
    alice, bob = street.alice, street.bob
    for user in (alice, bob):
        user.screen.wait_for("Sign In")
    # A wrong password is told, and changes nothing.
    bob.sign_in(street.backend, "not his password")
    bob.screen.wait_for("User name or password is wrong.", "Sign In")
    for user in (alice, bob):
        user.sign_in(street.backend, PASSWORDS[user.name])
        user.screen.wait_for("Conversations", "No conversations yet")
        street.wait_for_device(user)


def they_write(alice: User, bob: User):
    # Alice begins a conversation; Bob finds it on his list, with its text and one unread message.
    alice.screen.touch("New Chat")
    alice.screen.enter("User name", "bob")
    alice.screen.touch("Open")
    alice.screen.wait_for("Bob", "No messages yet")
    alice.say("lunch at noon?")
    bob.screen.row_with("Alice", "lunch at noon?", "1")
    bob.screen.touch(bob.screen.row_with("Alice"))
    bob.screen.row_with("lunch at noon?")
    # She is told that he has read it.
    alice.screen.row_with("lunch at noon?", "Read")


def they_answer_and_take_back(alice: User, bob: User):
    bob.screen.menu(bob.screen.row_with("lunch at noon?"), "Reply")
    bob.screen.wait_for("Reply to Alice")
    bob.say("gladly")
    alice.screen.row_with("You: lunch at noon?", "gladly")
    bob.screen.row_with("gladly", "Read")
    alice.say("bring the money")
    bob.screen.row_with("bring the money")
    alice.screen.menu(alice.screen.row_with("bring the money"), "Recall")
    alice.screen.wait_for("You recalled a message")
    bob.screen.wait_for("Alice recalled a message")
    bob.screen.wait_while("bring the money")


def an_image_is_sent(alice: User, bob: User):
    alice.screen.touch("More")
    alice.screen.touch("Photo")
    alice.screen.touch("Photo 1")

    # Spoken as one with who sent it.
    for user, way in ((alice, "outgoing"), (bob, "incoming")):
        user.screen.wait_until(
            lambda user=user, way=way: [
                row for row in user.screen.nodes()
                if row["role"] == "row" and (row.get("identifier") or "").startswith(way) and "Image" in (row.get("label") or "")
                and "image" in roles_in(row)
            ], f"the image on {user.name}'s screen")


def a_muted_conversation_does_not_ring(street: Street):
    alice, bob = street.alice, street.bob
    bob.back()
    row = bob.screen.row_with("Alice")
    bob.screen.touch(row, "swipe", direction="left")
    bob.screen.touch("Mute")
    street.site.call("PUT", f"/v1/apps/{street.site.app}/users/carol/profile", {"name": "Carol"})
    bob.leave()
    alice.say("are you asleep?")
    muted = street.message("are you asleep?")
    # What rings after it tells that it has not rung.
    sent = carol_says(street, "hello from carol")
    assert presentation(bob.phone, sent)["banner"]
    assert muted not in {event["notification"] for event in events_of(bob.phone, "presentation") if event["ring"]}
    bob.phone.do("launch")
    bob.screen.row_with("Alice", "are you asleep?")
    bob.screen.touch(bob.screen.row_with("Alice"), "swipe", direction="left")
    bob.screen.touch("Unmute")


def carol_says(street: Street, text: str) -> str:
    """Somebody without a phone writes to Bob; the message's id."""
    return street.site.call("POST", f"/v1/apps/{street.site.app}/messages", {
        "sender": "carol", "client_message_id": text.replace(" ", "-"), "conversation": {"type": "PR", "target": "bob"},
        "content": json.dumps({"content": text})})["message_id"]


def settings_are_kept(street: Street):
    bob = street.bob
    app = f"/v1/apps/{street.site.app}"
    portrait = "https://images.example.com/bob.png"
    street.site.call("PUT", f"{app}/users/bob/profile", {"name": "bob", "portrait": portrait})
    bob.screen.touch("Settings")
    bob.screen.row_with("Name", "bob")
    bob.screen.touch(bob.screen.row_with("Name"))
    bob.screen.enter("Name", "Robert")
    bob.screen.touch("Save")
    bob.screen.row_with("Name", "Robert")
    profile = street.site.call("GET", f"{app}/users/bob/profile")
    assert (profile["name"], profile["portrait"]) == ("Robert", portrait)
    switch_in_notifications(bob, "Hide messages' text")
    bob.screen.touch(bob.screen.row_with("My Devices"))
    bob.screen.wait_for("This device")
    bob.back()
    settings = street.site.call("GET", f"{app}/users/bob/settings")
    assert settings["hides_content"] is True
    switch_in_notifications(bob, "Hide messages' text")


def switch_in_notifications(bob: User, name: str):
    bob.screen.touch(bob.screen.row_with("Notifications"))
    # What iOS allows is asked of it, and stands above.
    bob.screen.wait_for("Allowed")
    bob.screen.scroll_to(name)
    bob.screen.touch(name)
    bob.back()


def a_banner_opens_what_it_is_about(street: Street):
    bob = street.bob
    switch_in_notifications(bob, "Banner and sound while the app is open")
    carol_says(street, "look up")
    bob.screen.wait_for("Settings", "look up")
    bob.screen.touch("Carol")
    bob.screen.row_with("look up")


def a_tap_and_a_reply_find_a_killed_app(street: Street):
    alice, bob = street.alice, street.bob
    # A tap on a notification: iOS launches the app, which knows who is signed in, and where.
    bob.leave()
    alice.say("the soup gets cold")
    shown = presentation(bob.phone, street.message("the soup gets cold"))
    assert shown["remote"] and shown["ring"], shown
    listed = next(each for each in bob.phone.do("screen")["list"] if each["notification"] == shown["notification"])
    assert (listed["title"], listed["body"]) == ("Alice", "the soup gets cold")
    bob.phone.do("tap", notification=shown["notification"])
    bob.screen.row_with("the soup gets cold")
    bob.say("on my way")
    alice.screen.row_with("on my way")
    # An answer on the notification itself: the app is launched in the background, and shows nothing.
    bob.leave()
    alice.say("take the bus")
    shown = presentation(bob.phone, street.message("take the bus"))
    bob.phone.begin()
    bob.phone.do("action", notification=shown["notification"], action=REPLY, text="it is late, as ever")
    alice.screen.row_with("it is late, as ever")
    assert bob.phone.wait_for_callback(RESPONSE)["state"] == "background"
    # A refresh: the app is launched in the background, and connects whoever is signed in where they are.
    crash(bob.phone)
    alice.say("are you there?")
    bob.phone.do("background_chance")
    bob.phone.wait_until(
        lambda: (bob.phone.shown.get("user"), bob.phone.shown.get("unread")) == ("bob", 1),
        "the message in the store of an app that was launched for a refresh")
    bob.phone.wait_for_state("suspended")
    assert "foregroundActive" not in [event["state"] for event in events_of(bob.phone, "state")]


def who_signs_out_is_left_alone(street: Street):
    alice, bob = street.alice, street.bob
    bob.phone.do("launch")
    bob.screen.touch("Settings")
    bob.screen.touch(bob.screen.row_with("Sign Out"))
    bob.screen.wait_for("Sign In")
    bob.leave()
    bob.phone.do("launch")
    bob.screen.wait_for("Sign In")
    # Whoever takes over the phone finds nothing of his.
    assert street.backend.add_user("dora", "quiet goldfish").returncode == 0
    User("dora", bob.phone, bob.screen).sign_in(street.backend, "quiet goldfish")
    bob.screen.wait_for("Conversations", "No conversations yet")
    assert not [text for text in bob.screen.texts() if text in ("Alice", "Carol") or "bus" in text]
    # Whose session the backend has ended is told so at the next launch.
    alice.leave()
    assert street.backend.add_user("alice", "another horse").returncode == 0
    alice.phone.do("launch")
    alice.screen.wait_for("You have been signed out.", "Sign In")
