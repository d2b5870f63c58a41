"""`tidings apns` as a process of its own, for the tests in Python: ports, credentials, a phone, log and control."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

import jwt

from conftest import Program, tool
from ports import free_port

TOPIC = "com.example.chat"


@dataclasses.dataclass
class Key:
    """A signing key for provider tokens."""

    pem: str
    key_id: str
    team_id: str

    def token(self, age: int = 0) -> str:
        """A provider token issued so many seconds ago."""
        claims = {"iss": self.team_id, "iat": int(time.time()) - age}
        return jwt.encode(claims, self.pem, algorithm="ES256", headers={"kid": self.key_id})


class Apple:
    """`tidings apns` in a folder of its own, with a phone at the courier."""

    def __init__(self, folder: pathlib.Path, *options: str):
        self.folder = folder
        self.state = folder / "apns-state"
        self.port, self.courier_port, self.control_port = free_port(), free_port(), free_port()
        self.program = Program(
            [
                tool(), "apns", "--state", str(self.state), "--port", str(self.port), "--courier-port",
                str(self.courier_port), "--control-port", str(self.control_port), "--channel-port", "0", *options,
            ],
            folder / "apns.log",
        )
        self.program.wait_until(f"http://127.0.0.1:{self.control_port}/devices")
        self.authority = self.state / "ca.pem"
        held = json.loads((self.state / "credential.json").read_text())
        self.key = Key(pathlib.Path(held["p8_path"]).read_text(), held["key_id"], held["team_id"])
        self.phone = socket.create_connection(("127.0.0.1", self.courier_port), timeout=60)
        self.lines = self.phone.makefile("r", encoding="utf-8")
        self.say({"type": "hello", "phone": "p1"})
        assert self.hear()["type"] == "welcome"
        self.device = self.register()

    def register(self, environment: str = "sandbox", topic: str = TOPIC) -> str:
        """Registers an app of the phone: its device token."""
        self.say({"type": "register", "id": 1, "topic": topic, "environment": environment})
        return self.hear()["token"]

    def say(self, line: dict):
        self.phone.sendall((json.dumps(line) + "\n").encode())

    def hear(self) -> dict:
        return json.loads(self.lines.readline())

    def get(self, path: str):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.control_port}{path}", timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict):
        """A control request."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control_port}{path}", method="POST", data=json.dumps(body).encode()
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def add_key(self, **members) -> Key:
        """A further signing key."""
        made = self.post("/keys", members)
        return Key(made["p8"], made["key_id"], self.key.team_id)

    @functools.cached_property
    def production_key(self) -> Key:
        """A signing key that is not good for the sandbox. There is one, since Apple lets a team have two of its kind."""
        return self.add_key(environments=["production"])

    def add_certificate(self, **members) -> pathlib.Path:
        """A client certificate and its key, in one PEM file."""
        made = self.post("/certificates", {"bundle_id": TOPIC, **members})
        path = self.folder / f"{made['fingerprint'][:16]}.pem"
        path.write_text(made["certificate_pem"].rstrip() + "\n" + made["key_pem"].rstrip() + "\n")
        return path

    def refusals(self) -> list[str]:
        """The reasons of the refusals in the log."""
        return [entry["reason"] for entry in self.get("/log?event=refused")]

    def with_ports(self, text: str) -> str:
        return text.replace("7443", str(self.port)).replace("7445", str(self.control_port))

    def run(self, arguments: list[str], **environment: str) -> str:
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=120, cwd=self.folder, stdin=subprocess.DEVNULL,
            env={**os.environ, "DEVICE": self.device, **environment},
        )
        assert done.returncode == 0, f"{arguments[0]}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def expect_push(self, payload: dict | None = None):
        push = self.hear()
        assert push["payload"] == (payload or {"aps": {"alert": "hi"}})
        self.say({"type": "ack", "delivery": push["delivery"]})

    def stop(self):
        self.lines.close()
        self.phone.close()
        self.program.stop()
