"""Requests that are right but for one value which a program converts, narrows or indexes: the server must answer each as described."""

import copy
import json
import os
import urllib.parse

import pytest
import websockets.sync.client
from api_cases import TAGS, Run, read_document
from conftest import ROOT
from media import everything
from websockets.exceptions import ConnectionClosed

# More of them, and from another number: make prove-api.
CASES = int(os.environ.get("TIDINGS_API_CASES", "1500")) // 3
SEED = int(os.environ.get("TIDINGS_API_SEED", "1"))

NUMBERS = [
    2**63 - 1, -2**63, 2**63, 2**64, 2**53, 2**53 + 1, 2**53 - 1, -2**53, 2**32, 2**31, -2**31, 2**16, 9_223_372_036_855, 1e308, -1e308, 1.5, -1, 0,
    1e-320,
]
TEXTS = [
    "", "é", "e\u0301", "密码", "🔑", "\u0000", "a\u0000b", "a\r\nb", "\r", "\ufeffa", "\u2028", "\u202e", "%00", "%", "x" * 300, "é" * 300, "🔑" * 5_000,
    "::1", "[::1]:99999", "https://ä.example:99999999/", "https://[::1%25eth0]/", "http://a\u0000b/", "../..", "9" * 400, "-9223372036854775808",
    "0001-01-01T00:00", "9999-12-31T23:59", "2026-03-29T02:30", "Etc/GMT+99", "GMT+2", "\"", "'; --", "* OR NEAR(", "-----BEGIN CERTIFICATE-----",
    "AA==", "====", "\u0130", "ﬃ",
]
ODD = NUMBERS + TEXTS + [None, True, [], {}, [[]], {"": ""}]


def places(value, way=()):
    """The way to each value that has none inside."""
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [place for name, inner in members for place in places(inner, (*way, name))] or ([way] if way else [])


def replace(value, way, make):
    *way, last = way
    for step in way:
        value = value[step]
    value[last] = make(value[last])


class OddRun(Run):
    """Puts an odd value in the place of one that was drawn, of its own kind three times in four."""

    odd = 0

    def _dress(self, case, breaks: bool) -> dict[str, str]:
        values = super()._dress(case, breaks)
        if breaks:
            return values
        self.odd += 1
        query = [("query", name) for name in case.query or {}]
        body = [("body", place) for place in places(case.body)] if isinstance(case.body, (dict, list)) else []
        path = [("path", name) for name in case.path_parameters or {} if name != "app"]
        # Bodies have the most values.
        chosen = [found for found in (query, body, body, path) if found]
        if not chosen:
            return values
        where, name = self.chance.choice(self.chance.choice(chosen))
        if where == "body":
            replace(case.body, name, self._value)
        else:
            text = str(self._value(case.query[name] if where == "query" else ""))
            if where == "query":
                case.query = {**case.query, name: text}
            else:
                values = {**values, name: text}
                case.path_parameters = {**case.path_parameters, name: urllib.parse.quote(text[:900], safe="") or "%20"}
        return values

    def _value(self, drawn):
        if self.chance.random() < 0.25:
            return self.chance.choice(ODD)
        is_number = isinstance(drawn, (int, float)) and not isinstance(drawn, bool)
        return self.chance.choice(NUMBERS if is_number else TEXTS)


@pytest.fixture
def described(make_site, tmp_path):
    return make_site(with_apns=True, with_production=True, settings=everything(tmp_path), app_settings={"tags": TAGS}).start()


def test_no_value_ends_the_server_or_its_answer(described):
    run = OddRun(described, read_document(described), SEED)
    run.play(CASES)
    print(f"odd values: seed {SEED}, {run.count} requests, {run.odd} with one, {len(run.failures)} kinds of failures")
    told = "\n\n".join(f"{operation}: {kind}\n  {text}" for (operation, kind), text in run.failures.items())
    assert not run.failures, f"seed {SEED}\n{told}"
    assert run.odd > CASES // 3


def test_no_number_in_a_frame_ends_the_server(described):
    """Of each frame that a phone may send, with each of its numbers in turn; what the server does not take, it answers or hangs up on."""
    frames = [
        json.loads(vector["json"]) for vector in json.loads((ROOT / "Tests/TidingsWireTests/Vectors/frames.json").read_text())
        if vector["frame"] == "ClientFrame"]
    sent = 0
    for frame in frames:
        for place in places(frame):
            if not (value := str(_at(frame, place))).lstrip("-").isdigit():
                continue
            for number in [2**64 - 1, 2**63 - 1, -2**63, 2**32 - 1, -1]:
                odd = copy.deepcopy(frame)
                replace(odd, place, lambda old: str(number) if isinstance(old, str) else number)
                # A person connects so often, and no oftener.
                token = described.token(f"odd{sent}")
                if "hello" in odd:
                    odd["hello"] |= {"token": token, "versionMin": 1, "versionMax": 1}
                _send(described, token, odd)
                sent += 1
    print(f"odd numbers: {sent} frames")
    assert sent > 200
    assert described.server.process.poll() is None


def _at(value, way):
    for step in way:
        value = value[step]
    return value


def _send(site, token: str, frame: dict):
    with websockets.sync.client.connect(f"{site.gateway}/v1/connect", subprotocols=["tidings.v1.json"]) as socket:
        try:
            if "hello" not in frame:
                socket.send(json.dumps({"hello": {
                    "versionMin": 1, "versionMax": 1, "token": token, "device": "odd", "platform": "python",
                    "runState": {"state": "foreground"}}}))
                assert "welcome" in json.loads(socket.recv(20))
            socket.send(json.dumps(frame))
            socket.send(json.dumps({"ping": {"nonce": "7"}}))
            while "pong" not in json.loads(socket.recv(20)):
                pass
        except ConnectionClosed:
            # Where it was not taken.
            return
