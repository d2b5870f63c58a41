"""A server with something to see on it, and its console: people with phones in every state, messages, pushes, operators of each role.

`Stage` is the one place that knows how the console is reached. With `TIDINGS_CONSOLE_PROXY` set to a program that serves the pages and
signs in beside a server that does not yet, it is asked; without it the server is.

Run by itself it stays, and prints its address: TIDINGS_TOOL=… python console_stage.py
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "Tests" / "Interop")]

from backend import Backend  # noqa: E402
from conftest import TOPIC, Site  # noqa: E402
from tidings_client import Client  # noqa: E402

PAGES = ROOT / "Sources" / "Server" / "Console" / "Pages"
# Chromium without what surrounds a page, which takes an eighth of the time of tests.
CHROMIUM = os.environ.get("TIDINGS_CHROMIUM", "/usr/bin/chromium-headless-shell")
SETTINGS = {"proxy": {"addresses": ["127.0.0.1"]}, "console": {"local": "true"},
            "lease": {"grace_milliseconds": 100, "restart_grace_milliseconds": 100}, "policy": {"badge_delay_milliseconds": 200},
            "push": {"back_off_milliseconds": 200, "back_off_milliseconds_max": 1_000}}
# Whatever a stranger writes: it has to be seen as it is.
SCRIPT = "<img/src=x/onerror=window.hit=1>"
OPERATORS = {"anna": "administer", "sven": "send", "carl": "content", "vera": "view"}


def apple(stage: Stage, path: str, body: dict):
    """What Apple does on a stage: makes keys and certificates, has faults."""
    return stage.site.call("POST", path, body, base=f"http://127.0.0.1:{stage.site.control_port}")


class Loop:
    """Phones that stay connected need something that runs beside the test."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


class Stage:
    """A server with a local APNs, filled, and its console."""

    def __init__(self):
        self.site = Site(with_apns=True, settings=SETTINGS)
        self.site.settings = {**SETTINGS, "search": {"path": str(self.site.folder / "search.sqlite")}}
        self.site.write_configuration(with_apns=True)
        self.site.start()
        self.loop = Loop()
        self.clients: dict[str, Client] = {}
        self.backend = Backend(self.site)
        self.proxy = None
        self.messages: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._reach_console()

    def _reach_console(self):
        program = os.environ.get("TIDINGS_CONSOLE_PROXY")
        if not program:
            self.url = f"{self.site.api}/console/"
            self.passwords = {name: f"the password of {name}" for name in OPERATORS}
            for name, role in OPERATORS.items():
                self.site.call(
                    "PUT", f"/v1/operators/{name}/password", {"password": self.passwords[name]}, key=self.operator_key(name, role))
            return
        self.proxy = subprocess.Popen(
            [sys.executable, program, "--pages", str(PAGES), "--api", f"127.0.0.1:{self.site.api_port}", "--store",
             str(self.site.database)], stdout=subprocess.PIPE, text=True)
        told = json.loads(self.proxy.stdout.readline())
        self.url = told["url"]
        self.passwords = {name: told["operators"][name]["password"] for name in OPERATORS}

    def link(self) -> str:
        """A link that signs in once."""
        if not self.proxy:
            return self.ask_server("console local")
        with urllib.request.urlopen(self.url.replace("/console/", "/dev/link"), timeout=20) as answer:
            return json.load(answer)["link"]

    def operator_key(self, name: str = "olga", role: str = "administer") -> str:
        return self.ask_server(f"operator {name} {role}")

    def ask_server(self, words: str) -> str:
        """What is asked on the server's own machine, over the socket beside its database."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60)
            control.connect(f"{self.site.database}.control")
            control.sendall(f"{words}\n".encode())
            answer = control.makefile("r", encoding="utf-8").readline().split()
        assert answer[0] == "done", answer
        return answer[1]

    def register_token(self, phone: str) -> str:
        """A device token that the local APNs knows."""
        answer = self.site.call(
            "POST", "/devices", {"phones": [phone], "topic": TOPIC, "environment": "sandbox"},
            base=f"http://127.0.0.1:{self.site.control_port}")
        return answer["devices"][0]["token"] if "devices" in answer else answer["tokens"][0]

    def add_phone(self, user: str, device: str, token: str | None, stays: bool = False, disposition: str | None = "shown",
                  platform: str = "python", system: str = "", model: str = ""):
        """Signs a person in on a device; with `stays` it remains connected in the foreground and settles what comes."""
        if token:
            self.tokens[device] = token

        async def work():
            client = Client(self.site.gateway, self.site.token(user), device=device, disposition=disposition, platform=platform)
            await client.connect()
            if token:
                await client.register_push(token, TOPIC, is_answered=True)
            await client.tell_status("authorized" if token else "denied", systemVersion=system, model=model)
            if stays:
                self.clients[device] = client
            else:
                await asyncio.sleep(0.1)
                await client.close()

        self.loop.run(work())

    def say_run_state(self, device: str, state: str, remaining: int = 0):
        """A connected phone says where its app is; of the background for how many milliseconds."""
        self.loop.run(self.clients[device].say_run_state(state, remaining))

    def drop_phones(self):
        """The connected phones go."""
        for device in list(self.clients):
            self.loop.run(self.clients.pop(device).close())

    def read(self, device: str, target: str):
        """A connected phone marks a conversation as read, up to the newest message it has."""
        client = self.clients[device]

        async def work():
            await client.wait_for(lambda: client.messages)
            await client.mark_read(target, client.stored)

        self.loop.run(work())

    def fill(self):
        """People with phones in every state, and messages to each of them."""
        backend = self.backend
        dead = self.register_token("gina")
        self.add_phone("alice", "alice-iphone", self.register_token("alice"), stays=True)
        self.add_phone("bob", "bob-iphone", self.register_token("bob"))
        self.add_phone("bob", "bob-ipad", self.register_token("bob-ipad"))
        self.add_phone("carol", "carol-iphone", self.register_token("carol"))
        self.add_phone("dave", "dave-iphone", None)
        self.add_phone("frank", "frank-iphone", self.register_token("frank"))
        self.add_phone("hank", "hank-iphone", self.register_token("hank"))
        self.add_phone("hank", "hank-ipad", self.register_token("hank-ipad"), stays=True)
        self.add_phone("gina", "gina-iphone", dead)
        # On the screen, and it settles nothing, as if it had been frozen.
        self.add_phone("ivan", "ivan-iphone", self.register_token("ivan"), stays=True, disposition=None)
        self.add_phone("ivan", "ivan-ipad", self.register_token("ivan-ipad"), stays=True)
        self.add_phone(SCRIPT, "x-iphone", self.register_token("x"))
        backend.call_person("alice", "Alice Liddell")
        backend.call_person("bob", "Bob 王小明")
        backend.call_person(urllib.parse.quote(SCRIPT, safe=""), "<b>Bobby</b> \u05d0\u05d1\u05d2")
        backend.set_level("carol", "PR:alice", "blocked")
        backend.set_person("frank", quiet_hours={"start": 0, "end": 0, "time_zone": "Europe/Berlin", "manner": "defer"})
        self.site.call("POST", f"/devices/{dead}/retire", {"end": "unregistered"}, base=f"http://127.0.0.1:{self.site.control_port}")
        backend.make_group("team", "Weekend team", "alice", "bob", "carol", "dave")
        # iOS gives a phone that goes a moment to come back.
        time.sleep(0.5)
        say = lambda name, *rest, **more: self.messages.__setitem__(name, backend.say(*rest, **more))  # noqa: E731
        say("pushed", "alice", "bob", "Lunch at twelve?")
        say("muted", "alice", "carol", "Are you there?")
        say("tokenless", "alice", "dave", "Hello Dave")
        say("homeless", "alice", "erin", "Hello Erin")
        say("late", "alice", "frank", "Good night")
        say("dead", "alice", "gina", "Hi Gina")
        say("live", "bob", "alice", "On my way")
        say("script", SCRIPT, "alice", f"{SCRIPT} 你好")
        say("group", "alice", "team", "Meet at nine, 北京时间", kind="GRP")
        say("elsewhere", "alice", "hank", "Read on the iPad")
        # Its phone's deadline is ten seconds away, and nothing here waits for that.
        say("deadline", "alice", "ivan", "Read before the deadline")
        self.read("ivan-ipad", "alice")
        self.read("hank-ipad", "alice")
        backend.wait_for_ends(self.messages["elsewhere"], "hank", "read_elsewhere", "settled")
        backend.wait_for_ends(self.messages["pushed"], "bob", "accepted", "accepted")
        backend.wait_for_ends(self.messages["dead"], "gina", "token_dead")

    def places(self) -> dict[str, str]:
        """What addresses of pages name: the messages, a push that is done, and a webhook."""
        if not self._places:
            push = self.backend.call("POST", "pushes", {"notification": {"text": "News"}, "audience": {"users": ["bob"]}})
            # To this machine itself no webhook goes, so that it has something to tell, and nobody is asked.
            made = self.site.call("POST", f"/v1/apps/{self.site.app}/webhooks", {
                "name": "Orders", "url": "https://127.0.0.1:1/orders", "types": ["device_signed_out"]}, key=self.operator_key())
            self._places = {**self.messages, "push": push["id"], "webhook": made["webhook"]["id"]}
        return self._places

    def stop(self):
        async def close():
            for client in self.clients.values():
                await client.close()

        try:
            self.loop.run(close())
        except Exception:  # The server may be gone already.
            pass
        self.loop.stop()
        if self.proxy:
            self.proxy.terminate()
            self.proxy.wait(20)
        self.site.stop()


def main():
    # In the background a shell lets Ctrl-C be ignored; ended otherwise, it takes its servers with it, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    stage = Stage()
    try:
        stage.fill()
        key = stage.operator_key()
        print(json.dumps({
            "url": stage.url, "link": stage.link(), "passwords": stage.passwords, "api": stage.site.api, "gateway": stage.site.gateway,
            "key": key, "app_key": stage.site.api_key, "control": stage.site.control_port, "messages": stage.messages, "folder": str(stage.site.folder),
            "server": stage.site.server.pid}), flush=True)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    finally:
        stage.stop()


if __name__ == "__main__":
    main()
