"""The example app's backend (Examples/Backend) as a child process, beside a site."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.request

from conftest import Program, Site, tool
from ports import free_port


def executable() -> str:
    """The program, built beside the tool."""
    return str(pathlib.Path(tool()).parent / "ChatBackend")


class ExampleBackend:
    """Signs people in for a site; its API key is the site's unless another is given."""

    def __init__(self, site: Site, *options: str, passwords: dict[str, str], api_key: str | None = None):
        self.site = site
        self.port = free_port()
        self.options = options
        self.api_key = api_key or site.api_key
        self.state = site.folder / f"chat-backend-{self.port}"
        for user, password in passwords.items():
            self.add_user(user, password)
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_user(self, user: str, password: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [executable(), "add-user", "--state", str(self.state), user], input=password + "\n", capture_output=True,
            text=True, timeout=30, check=False)

    def start(self):
        self.program = Program(
            [
                "env", f"TIDINGS_API_KEY={self.api_key}", executable(), "--state", str(self.state), "--port",
                str(self.port), "--tidings", self.site.api, "--app", self.site.app, "--gateway", self.site.gateway,
                "--phone-routes", self.site.phone, *self.options,
            ],
            self.site.folder / f"chat-backend-{self.port}.log",
        )
        self.program.wait_until(f"{self.address}/healthz")

    def stop(self):
        self.program.stop()

    @property
    def log(self) -> str:
        return self.program.log.read_text()

    def post(self, path: str, body: dict | bytes | None = None, session: str | None = None) -> tuple[int, str, dict]:
        """Status, content type and JSON of an answer, whichever it is."""
        headers = {"Content-Type": "application/json"}
        if session is not None:
            headers["Authorization"] = f"Bearer {session}"
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        request = urllib.request.Request(self.address + path, method="POST", data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                status, kind, text = answer.status, answer.headers.get("Content-Type", ""), answer.read()
        except urllib.error.HTTPError as error:
            status, kind, text = error.code, error.headers["Content-Type"], error.read()
        return status, kind, json.loads(text) if text else {}

    def sign_in(self, user: str, password: str) -> dict:
        status, _, answer = self.post("/sign-in", {"user": user, "password": password})
        assert status == 200, answer
        return answer


def environment(**variables: str) -> dict[str, str]:
    """This process's variables without an API key, and these."""
    kept = {name: value for name, value in os.environ.items() if name != "TIDINGS_API_KEY"}
    return {**kept, **variables}
