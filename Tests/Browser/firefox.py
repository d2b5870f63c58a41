"""Firefox, driven over WebDriver BiDi itself: the protocol is JSON on a WebSocket, and needs no driver between."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from websockets.sync.client import connect

SECONDS = 60


class Firefox:
    """One window without a screen."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidings-firefox-"))
        self.log = open(self.folder / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [os.environ.get("TIDINGS_FIREFOX", "/usr/bin/firefox-esr"), "--headless", "--no-remote", "--profile", str(self.folder),
             "--remote-debugging-port", "0", "--width", "1280", "--height", "860"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env={**os.environ, "HOME": str(self.folder)})
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self._socket = connect(f"{self._address()}/session", max_size=2**24, legacy=True)
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self.context = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _address(self) -> str:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = re.search(r"ws://[\d.:]+", (self.folder / "log").read_text(encoding="utf-8"))
            if found:
                return found[0]
            time.sleep(0.1)
        raise AssertionError(f"Firefox did not start: {(self.folder / 'log').read_text(encoding='utf-8')[-2_000:]}")

    def _ask(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=SECONDS))
            # That a stream was cut or refused is told as an error, too; the page comes back from that by itself.
            if (answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error"
                    and "/events?" not in answer["params"]["text"]):
                self.errors.append(answer["params"]["text"])
            if answer.get("id") != number:
                continue
            assert answer["type"] == "success", answer
            return answer["result"]

    def open(self, address: str):
        self._ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, expression: str):
        answer = self._ask("script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True)
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def wait_for(self, expression: str):
        deadline = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"{expression} does not hold: {self.evaluate('document.body.innerText')}"
            time.sleep(0.1)

    def wait_for_text(self, text: str):
        self.wait_for(f"document.body.innerText.includes({json.dumps(text)})")

    def type(self, selector: str, text: str):
        """Keys as a person presses them, into a field."""
        self.wait_for(f"document.querySelector({json.dumps(selector)})")
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        keys = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self._ask("input.performActions", context=self.context, actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def press(self, label: str, within: str = "main"):
        """The button of this label."""
        found = f"[...document.querySelectorAll({json.dumps(within + ' button')})].find(each => each.textContent.trim() === {json.dumps(label)})"
        self.wait_for(found)
        place = (f"(() => {{ const each = {found}; each.scrollIntoView({{block: 'center'}}); const box = each.getBoundingClientRect();"
                 " return `${Math.round(box.x + box.width / 2)} ${Math.round(box.y + box.height / 2)}`; })()")
        # What is still being laid out would be gone from there when the pointer comes.
        deadline, box = time.monotonic() + SECONDS, ""
        while (before := box) != (box := self.evaluate(place)):
            assert time.monotonic() < deadline, f"{label} does not come to rest"
            time.sleep(0.1)
        x, y = (int(part) for part in box.split())
        self._ask("input.performActions", context=self.context, actions=[{
            "type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def picture(self) -> bytes:
        """A picture of the window, in Base64."""
        return self._ask("browsingContext.captureScreenshot", context=self.context)["data"]

    def stop(self):
        self._socket.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
