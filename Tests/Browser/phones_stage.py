"""A server with a local APNs, the example's backend, and `tidings phones` with the example app on two phones: what the page Phones shows.

Run by itself it stays, and prints its address: TIDINGS_TOOL=… python phones_stage.py
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import time
import typing
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "Tests" / "Interop")]

from conftest import Program, Site, tool  # noqa: E402
from console_stage import Stage  # noqa: E402
from example_backend import ExampleBackend  # noqa: E402
from ports import free_port  # noqa: E402

PASSWORDS = {"alice": "alice's password", "bob": "bob's password"}
# Of somebody who has no phone until a test makes one.
DORAS_PASSWORD = "dora's password"
OPERATORS = {"anna": "administer", "carl": "content", "vera": "view"}
# iOS gives an app in the background so many milliseconds here, so that nobody waits for half a minute.
BACKGROUND_TIME = 8_000
SECONDS = 60
SCENARIO_SECONDS = 300


class PhonesStage:
    """What the console shows phones of."""

    def __init__(self):
        self.phones_port = free_port()
        self.site = Site(with_apns=True, settings={"lease": {"grace_milliseconds": 200}})
        self.token_path = self.site.folder / "phones" / "control.token"
        self.site.settings["console"] = {"phones": f"127.0.0.1:{self.phones_port}", "phones_token_path": str(self.token_path)}
        self.site.write_configuration(with_apns=True)
        self.site.start()
        self.backend = ExampleBackend(self.site, passwords=PASSWORDS | {"dora": DORAS_PASSWORD})
        self.phones = Program(
            [
                tool(), "phones", "--port", str(self.phones_port), "--folder", str(self.site.folder / "phones"), "--courier",
                f"127.0.0.1:{self.site.courier_port}", "--background-time", str(BACKGROUND_TIME), "--phone", "alice", "--phone", "bob",
                "--env", f"CHAT_BACKEND_URL={self.backend.address}", "--env", f"CHAT_API_URL={self.site.phone}",
            ], self.site.folder / "phones.log")
        self.phones.wait_for_log("phones at http://")
        self.url = f"{self.site.api}/console/"
        self.passwords = {name: f"the password of {name}" for name in OPERATORS}
        for name, role in OPERATORS.items():
            key = self.ask_server(f"operator {name} {role}")
            self.site.call("PUT", f"/v1/operators/{name}/password", {"password": self.passwords[name]}, key=key)

    ask_server = Stage.ask_server

    def do(self, phone: str, **command) -> dict:
        """What no person sees: asked of the host itself."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.phones_port}/v1/phones/{phone}/commands", method="POST", data=json.dumps(command).encode(),
            headers={"Authorization": f"Bearer {self.token_path.read_text().strip()}"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            said = json.load(answer)
        assert said["ok"], said
        return said["result"]

    def wait_for_app(self, phone: str, holds: typing.Callable[[dict], bool]):
        deadline = time.monotonic() + SECONDS
        while not holds(app := next(iter(self.do(phone, do="screen")["apps"].values()))):
            assert time.monotonic() < deadline, app
            time.sleep(0.05)

    def wait_for_notification(self, phone: str, text: str):
        """Until it stands in the phone's list."""
        deadline = time.monotonic() + SECONDS
        while text not in json.dumps(shown := self.do(phone, do="screen")["list"]):
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)

    def wait_for_device(self, user: str):
        """Until the server can push to the phone."""
        deadline = time.monotonic() + SECONDS
        path = f"/v1/apps/{self.site.app}/users/{user}/devices"
        while not any(device["push"] == "registered" for device in self.site.call("GET", path)["devices"]):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def start_scenario(self, text: str, name: str) -> subprocess.Popen:
        path = self.site.folder / f"{name}.yaml"
        path.write_text(text)
        return subprocess.Popen([tool(), "scenario", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_scenario(self, text: str, name: str) -> tuple[int, str]:
        return self.wait_for_scenario(self.start_scenario(text, name))

    @staticmethod
    def wait_for_scenario(running: subprocess.Popen) -> tuple[int, str]:
        """How it ended, and what it said."""
        said, _ = running.communicate(timeout=SCENARIO_SECONDS)
        return running.returncode, said

    def stop(self):
        with contextlib.suppress(Exception):
            self.phones.stop()
        self.backend.stop()
        self.site.stop()


def main():
    # In the background a shell lets Ctrl-C be ignored; ended otherwise, it takes its servers with it, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    stage = PhonesStage()
    try:
        print(json.dumps({"url": stage.url, "passwords": stage.passwords, "people": PASSWORDS, "backend": stage.backend.address}), flush=True)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    finally:
        stage.stop()


if __name__ == "__main__":
    main()
