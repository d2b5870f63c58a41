"""A real server, and a local APNs, for the tests in Python: real processes on free loopback ports and fresh temporary state."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing
import urllib.error
import urllib.request

import pytest
from ports import free_port

# Beside what is built, not in the tree: Hypothesis writes down what it has drawn.
os.environ.setdefault(
    "HYPOTHESIS_STORAGE_DIRECTORY", str(pathlib.Path(__file__).resolve().parents[1] / ".build" / "hypothesis"))

if typing.TYPE_CHECKING:
    from moved_clock import MovedClock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
TOPIC = "com.example.chat"


def tool() -> str:
    """The built tool: TIDINGS_TOOL, or the newest debug build."""
    path = os.environ.get("TIDINGS_TOOL", str(ROOT / ".build" / "release" / "tidings"))
    if not os.access(path, os.X_OK):
        pytest.exit(f"{path} is not there: run make build first", returncode=1)
    return path


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: wants the machine for itself; dev/run-tests runs it beside no other test")
    config.addinivalue_line("markers", "requirement(row, ...): holds rows of docs/inside/requirements.md, as TidyTests checks")


class Program:
    """A child process with a log file, stopped by its own process id."""

    def __init__(self, arguments: list[str], log: pathlib.Path, is_wrapped: bool = False):
        self.log = log
        # Under strace or faketime the program is the child: a signal to that one alone would leave it running.
        self.is_wrapped = is_wrapped
        self._file = open(log, "ab")
        self.process = subprocess.Popen(arguments, stdout=self._file, stderr=self._file, stdin=subprocess.DEVNULL)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def child_pid(self) -> int:
        """The program itself, also under a wrapper."""
        return self._own_pids()[0]

    def wait_until(self, address: str, seconds: float = 60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(address, timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError(f"{address} did not become ready; last lines:\n{self.tail()}")

    def wait_for_log(self, pattern: str, seconds: float = 30):
        """Waits until its log tells of something: lines are written a little later than what they tell of happens."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.log.read_text(errors="replace")):
            assert time.monotonic() < deadline, f"{pattern} is not in the log; last lines:\n{self.tail()}"
            time.sleep(0.05)

    def tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def kill(self):
        """SIGKILL, as a crash."""
        for pid in self._own_pids():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            for pid in self._own_pids():
                os.kill(pid, signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                for pid in self._own_pids():
                    os.kill(pid, signal.SIGKILL)
                self.process.wait()
        self._file.close()

    def _own_pids(self) -> list[int]:
        if not self.is_wrapped:
            return [self.pid]
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                # proc(5): after the command's name in brackets come the state and the parent's id.
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == self.pid:
                found.append(int(stat.parent.name))
        return found or [self.pid]


def described_by(api: str) -> typing.Callable[[str, str], dict[int, set[str]]]:
    """What is described by the servers of the tests: read once, since it is large and they are all of one program."""
    if not DESCRIPTION:
        with urllib.request.urlopen(f"{api}/openapi.yaml", timeout=20) as answer:
            DESCRIPTION.append(answer.read().decode())
    return described_answers(DESCRIPTION[0])


DESCRIPTION: list[str] = []


@functools.cache
def described_answers(document: str) -> typing.Callable[[str, str], dict[int, set[str]]]:
    """The statuses that may be answered by method and path, each with the codes of its problems: as `/openapi.yaml` says, or that there
    is no such route."""
    statuses: dict[tuple[str, str], dict[int, set[str]]] = {}
    route = method = ""
    # The document is the server's own, with two spaces a level.
    paths, _, components = document.partition("\ncomponents:\n")
    codes: dict[str, set[str]] = {}
    name = ""
    for line in components.splitlines():
        if found := re.fullmatch(r"    (\w+):", line):
            name = found[1]
        elif found := re.search(r"code: \{enum: \[(.*?)\]", line):
            codes[name] = set(found[1].split(", "))
    for line in paths.splitlines():
        if found := re.fullmatch(r"  (/\S*):", line):
            route = found[1]
        elif found := re.fullmatch(r"    (get|head|options|put|post|patch|delete):", line):
            method = found[1]
        elif found := re.match(r'        "(\d{3})":(?:.*/responses/(\w+))?', line):
            statuses.setdefault((method.upper(), route), {})[int(found[1])] = codes.get(found[2], set())
    assert len(statuses) > 40, "the document could not be read"
    patterns = [
        (method, re.compile(re.sub(r"\{\w+\}", "[^/]+", route)), found) for (method, route), found in statuses.items()
    ]

    def find(method: str, path: str) -> dict[int, set[str]]:
        path = path.partition("?")[0]
        matching = [found for name, pattern, found in patterns if name == method and pattern.fullmatch(path)]
        answers: dict[int, set[str]] = {}
        for found in matching:
            for status, told in found.items():
                answers[status] = answers.get(status, set()) | told
        return answers or {404: {"unknown_route"}, 405: {"method_not_allowed"}}

    return find


# What is served on the port for phones.
PHONE_PATHS = ("/v1/extension/", "/v1/media/", "/v1/installations")


class Site:
    """One server with its configuration; it may be killed and started again on the same state."""

    def __init__(
        self, with_apns: bool = False, settings: dict[str, dict] | None = None, clock: MovedClock | None = None,
        app_settings: dict | None = None, with_production: bool = False, apns_options: tuple[str, ...] = (),
    ):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidings-test-"))
        self.gateway_port, self.api_port, self.phone_port = free_port(), free_port(), free_port()
        self.secret = secrets.token_hex(32)
        self.api_key = secrets.token_hex(16)
        self.app = "demo"
        self.settings = settings or {}
        self.app_settings = app_settings or {}
        self.apns = None
        self.server = None
        self.flags: list[str] = []
        # Of the local APNs; without it there is the sandbox alone.
        self.production_port = free_port() if with_production else None
        self.apns_options = apns_options
        # Server and APNs go by one clock: APNs refuses a provider token of another hour.
        self.wrapper: list[str] = clock.wrapper if clock else []
        if with_apns:
            self._start_apns()
        self.write_configuration(with_apns)

    @property
    def gateway(self) -> str:
        return f"ws://127.0.0.1:{self.gateway_port}"

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def phone(self) -> str:
        """Where the routes for phones are."""
        return f"http://127.0.0.1:{self.phone_port}"

    @property
    def database(self) -> pathlib.Path:
        return self.folder / "tidings.sqlite"

    def _start_apns(self):
        self.apns_port, self.courier_port, self.control_port = free_port(), free_port(), free_port()
        self.channel_port = free_port()
        self.apns_state = self.folder / "apns"
        self.apns = Program(
            [
                *self.wrapper, tool(), "apns", "--port", str(self.apns_port), "--courier-port", str(self.courier_port),
                "--control-port", str(self.control_port), "--channel-port", str(self.channel_port), "--state", str(self.apns_state),
                "--topic", TOPIC,
                *(["--production-port", str(self.production_port)] if self.production_port else []),
                *self.apns_options,
            ],
            self.folder / "apns.log", is_wrapped=bool(self.wrapper),
        )
        self.apns.wait_until(f"http://127.0.0.1:{self.control_port}/devices")

    def write_configuration(self, with_apns: bool = False):
        app = {
            "token_secret": self.secret,
            "own_profiles": True,
            "api_keys": ["tests"],
            "api_key": {
                "tests": {
                    "sha256": hashlib.sha256(self.api_key.encode()).hexdigest(),
                    "scopes": ["tokens", "messages", "conversations", "history", "settings", "trace", "accounts", "media"],
                }
            },
        }
        if with_apns:
            credential = json.loads((self.apns_state / "credential.json").read_text())
            app["apns"] = {
                "environment": "sandbox", "team_id": credential["team_id"], "key_id": credential["key_id"],
                "key_path": credential["p8_path"], "topic": TOPIC,
            }
            servers = {
                "sandbox_host": "localhost", "sandbox_port": self.apns_port, "sandbox_management_host": "localhost",
                "sandbox_management_port": self.channel_port, "trust_roots_path": credential["ca_path"],
            }
            if self.production_port:
                servers |= {"production_host": "localhost", "production_port": self.production_port}
        app.update(self.app_settings)
        configuration = {
            "gateway": {"port": self.gateway_port},
            "api": {"port": self.api_port},
            "phone": {"port": self.phone_port},
            "store": {"path": str(self.database)},
            "apps": [self.app],
            "app": {self.app: app},
        }
        if with_apns:
            configuration["apns"] = servers
        for group, values in self.settings.items():
            configuration.setdefault(group, {}).update(values)
        self.config = self.folder / "server.yaml"
        # JSON is YAML.
        self.config.write_text(json.dumps(configuration, indent=1))

    def start(self):
        self.server = Program(
            [*self.wrapper, tool(), "serve", "--config", str(self.config), *self.flags], self.folder / "server.log",
            is_wrapped=bool(self.wrapper),
        )
        self.server.wait_until(f"{self.api}/readyz")
        return self

    def token(self, user: str, seconds: int = 3600) -> str:
        return self.call("POST", f"/v1/apps/{self.app}/tokens", {"user": user, "expires_in_seconds": seconds})["token"]

    def call(
        self, method: str, path: str, body: dict | None = None, key: str | None = None, base: str | None = None,
        headers: dict[str, str] | None = None,
    ):
        """One request of the HTTP API, or of the routes for phones; raises urllib.error.HTTPError for anything but 2xx."""
        request = urllib.request.Request(
            (base or (self.phone if path.startswith(PHONE_PATHS) else self.api)) + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {key or self.api_key}", "Content-Type": "application/json", **(headers or {}),
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            # Read once for the check, and again by whoever catches it.
            text = error.read()
            error.fp = error.file = io.BytesIO(text)
            error.read = error.fp.read
            self.check_described(method, path, error.code, base, problem=json.loads(text) if base is None else None)
            raise
        self.check_described(method, path, status, base)
        return json.loads(text) if text else None

    def check_described(
        self, method: str, path: str, status: int, base: str | None = None, problem: dict | None = None
    ):
        """Fails for a status, or a problem's code, that the server's own description of its API does not name for the route."""
        if base is None:
            described = described_by(self.api)(method, path)
            assert status in described, f"{method} {path} was answered with {status}, which is not described"
            if problem is not None:
                assert problem["code"] in described[status], f"{method} {path}: {problem} is not described"
                assert problem["type"] == f"urn:tidings:problem:{problem['code']}" and problem["request_id"]

    def trace(self, message_id: str) -> dict:
        return self.call("GET", f"/v1/apps/{self.app}/messages/{message_id}/trace")

    def delivery_log(self) -> list[dict]:
        """What the local APNs was asked, in order."""
        answer = self.call("GET", "/log", base=f"http://127.0.0.1:{self.control_port}")
        return answer["events"] if isinstance(answer, dict) else answer

    def stop(self):
        for program in (self.server, self.apns):
            if program:
                program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def make_site():
    """Makes servers; all are stopped at the end of the test."""
    sites: list[Site] = []

    def make(**options) -> Site:
        site = Site(**options)
        sites.append(site)
        return site

    yield make
    for site in sites:
        site.stop()


@pytest.fixture
def site(make_site) -> Site:
    return make_site().start()


@pytest.fixture
def make_stage(make_site):
    """Makes stages with phones (`phone_stage.Stage`); all are stopped at the end of the test."""
    from phone_stage import Stage

    stages: list[Stage] = []

    def make(*settings, **options) -> Stage:
        stages.append(Stage(make_site, *settings, **options))
        return stages[-1]

    yield make
    for stage in stages:
        stage.stop()
