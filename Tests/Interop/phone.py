"""`tidings phone` as a child process, driven by its control channel, and a person who writes to it."""

from __future__ import annotations

import asyncio
import json
import pathlib
import socket
import threading
import time

from conftest import Program, Site, TOPIC, tool
from ports import free_port
from tidings_client import Client

SECONDS = 60


class Phone:
    """A virtual iPhone with the example app; every command waits for its answer.

    The person is signed in by the app's variables, unless `is_signed_in` is false: then the app has none, and asks them on its screen.
    """

    def __init__(
        self, site: Site, user: str, *options: str, name: str | None = None, wrapper: tuple[str, ...] = (),
        is_signed_in: bool = True,
    ):
        self.site = site
        self.user = user
        self.name = name or f"{user}-phone"
        self.port = free_port()
        self.program = Program(
            [
                *wrapper, tool(), "phone", "--id", self.name, "--folder", str(site.folder / self.name),
                "--courier", f"127.0.0.1:{site.courier_port}", "--control-port", str(self.port), "--bundle", TOPIC,
                *(self._variables() if is_signed_in else ()), *options,
            ],
            site.folder / f"{self.name}.log",
        )
        self.control = self._connect()
        self.lines = self.control.makefile("r", encoding="utf-8")
        self.events: list[dict] = []
        self.mark = 0

    def _variables(self) -> list[str]:
        site = self.site
        return [
            "--env", f"CHAT_SERVER_URL={site.gateway}", "--env", f"CHAT_APP_KEY={site.app}",
            "--env", f"CHAT_USER={self.user}", "--env", f"CHAT_TOKEN={site.token(self.user)}",
            "--env", f"CHAT_API_URL={site.phone}",
        ]

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
            except OSError:
                assert self.program.process.poll() is None, self.program.tail()
                assert time.monotonic() < deadline, self.program.tail()
                time.sleep(0.05)

    def do(self, name: str, **members) -> dict:
        self.control.sendall((json.dumps({"id": 1, "do": name, **members}) + "\n").encode())
        answer = json.loads(self.lines.readline())
        assert answer["ok"], f"{name} was refused: {answer}"
        return answer["result"]

    def read_trace(self):
        after = self.events[-1]["n"] if self.events else 0
        self.events += self.do("trace", after=after)["events"]

    def begin(self):
        """What follows is looked for from here on."""
        self.read_trace()
        self.mark = len(self.events)

    @property
    def new_events(self) -> list[dict]:
        return self.events[self.mark:]

    @property
    def callbacks(self) -> list[str]:
        """The calls into the app since `begin`."""
        return [e["name"] for e in self.new_events if e["event"] == "callback" and e["role"] == "app"]

    @property
    def app(self) -> dict:
        return self.do("screen")["apps"][TOPIC]

    @property
    def shown(self) -> dict:
        """What the app said last of its screen."""
        return self.app.get("screen") or {}

    def wait_until(self, holds, what: str, seconds: float = SECONDS):
        deadline = time.monotonic() + seconds
        while True:
            found = holds()
            if found:
                return found
            assert time.monotonic() < deadline, f"{what} did not come: {self.story()}"
            time.sleep(0.1)

    def wait_for_event(self, what: str, holds) -> dict:
        """The first event since `begin` for which the condition holds."""

        def look():
            self.read_trace()
            return next((event for event in self.new_events if holds(event)), None)

        return self.wait_until(look, what)

    def wait_for_callback(self, name: str) -> dict:
        return self.wait_for_event(
            name, lambda event: event["event"] == "callback" and event["role"] == "app" and event["name"] == name)

    def wait_for_state(self, *states: str):
        self.wait_until(lambda: self.app["state"] in states, f"the state {' or '.join(states)}")

    def wait_for_chat(self, conversation: str, *texts: str):
        """Until the open screen is this conversation with all these messages."""
        self.wait_until(
            lambda: (screen := self.shown).get("conversation") == conversation
            and all(text in screen.get("messages", []) for text in texts),
            f"the chat {conversation} with {texts}",
        )

    def wait_for_connection(self):
        self.wait_until(lambda: self.shown.get("connection") == "connected", "the connection")

    def wait_for_registration(self):
        """Until the server has the device token: what the app sends after it has been answered."""
        self.wait_until(
            lambda: "application(_:didRegisterForRemoteNotificationsWithDeviceToken:)" in self._all_callbacks(),
            "the device token")
        earlier = self.shown.get("sent")
        self.do("input", value={"send": {"to": "nobody", "text": "registered"}})
        self.wait_until(lambda: self.shown.get("sent") not in (None, earlier), "the answer to a message")

    def _all_callbacks(self) -> list[str]:
        self.read_trace()
        return [event["name"] for event in self.events if event["event"] == "callback"]

    def story(self) -> str:
        self.read_trace()
        lines = [json.dumps(event)[:300] for event in self.events[-40:]]
        return "\n".join([json.dumps(self.do("screen"))[:2000], *lines, self.program.tail(5)])

    @property
    def faults(self) -> list[str]:
        self.read_trace()
        return [event["text"] for event in self.events if event["event"] == "fault"]

    def stop(self):
        self.lines.close()
        self.control.close()
        self.program.stop()


class Person:
    """A client on a thread of its own, for tests that also wait for phones."""

    def __init__(self, site: Site, user: str):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.client = Client(site.gateway, site.token(user))
        self._run(self.client.connect())

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def send(self, target: str, text: str) -> str:
        """Sends a text; returns the message's id."""
        return self._run(self.client.send(target, text))["messageId"]

    def request(self, kind: str, **fields) -> dict:
        """Asks anything that is answered by itself."""
        return self._run(self.client.request(kind, **fields))

    def wait_for_text(self, text: str):
        def has() -> bool:
            return any(json.loads(message["content"]).get("content") == text for message in self.client.messages)

        self._run(self.client.wait_for(has, SECONDS))

    def stop(self):
        self._run(self.client.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(SECONDS)
        self.loop.close()
