"""docs/start.md, "Sign in": every command of the walk, as it stands on the page, in a new home; only the ports are others."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

from conftest import ROOT, tool
from ports import free_port

# What the page's commands use where nothing else is said.
NAMES = {
    7400: "TIDINGS_GATEWAY_PORT", 7480: "TIDINGS_API_PORT", 7481: "TIDINGS_PHONE_PORT", 7443: "--port", 7444: "--courier-port",
    7445: "--control-port", 7446: "--channel-port", 7490: "--port",
}
PHONE = """
open
wait-for shown: Sign In
enter carol into User name
enter a walk in the park into Password
enter http://127.0.0.1:7490 into Server
submit Password
wait-for shown: No conversations yet within 30s
wait-for didRegisterForRemote within 30s
wait-for "connection":"connected" within 30s
press Settings
press Name
enter Carol Singer into Name
press Save
wait-for shown: Carol Singer within 30s
quit
"""


def blocks() -> list[str]:
    """The commands of the walk."""
    text = (ROOT / "docs/start.md").read_text().partition("## Sign in\n")[2].partition("\n## ")[0]
    return re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


class Walk:
    def __init__(self, home: pathlib.Path):
        self.home = home
        self.ports = {port: free_port() for port in NAMES}
        release = str(pathlib.Path(tool()).parent)
        variables = {NAMES[port]: str(self.ports[port]) for port in (7400, 7480, 7481)}
        kept = {name: value for name, value in os.environ.items() if name != "TIDINGS_API_KEY"}
        self.environment = {**kept, **variables, "HOME": str(home), "PATH": f"{release}:{os.environ['PATH']}"}
        # One shell, as the person has it.
        self.shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(home / "errors", "wb"), cwd=home, text=True,
            env=self.environment, start_new_session=True)

    def run(self, commands: str):
        """Types them, and waits until the shell has obeyed. What is added tells of other ports, and where the output goes."""
        options = " ".join(f"{NAMES[port]} {port}" for port in (7443, 7444, 7445, 7446))
        commands = commands.replace("tidings apns &", f"tidings apns {options} >apns.log 2>&1 &")
        commands = commands.replace("chat.yaml &", "chat.yaml >serve.log 2>&1 &")
        commands = commands.replace(
            "ChatBackend &",
            "ChatBackend --port 7490 --tidings http://127.0.0.1:7480 --gateway ws://127.0.0.1:7400"
            " --phone-routes http://127.0.0.1:7481 >backend.log 2>&1 &")
        commands = re.sub(r"(ChatBackend add-user carol).*", r"\1 <<< 'a walk in the park' >added", commands)
        commands = re.sub(r"(tidings phone .*?)( +#.*)?\n", r"\1 --script script >phone.log 2>&1; echo $? >phone.status\n", commands)
        commands = self.with_ports(commands)
        self.shell.stdin.write(commands + "\necho obeyed\n")
        self.shell.stdin.flush()
        assert self.shell.stdout.readline() == "obeyed\n", self.story()

    def with_ports(self, text: str) -> str:
        return re.sub(r"\b74[049]\d|\b748[01]", lambda match: str(self.ports[int(match[0])]), text)

    def wait_for(self, port: int, path: str = "/healthz"):
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[port]}{path}", timeout=2):
                    return
            except OSError:
                assert time.monotonic() < deadline, self.story()
                time.sleep(0.05)

    def story(self) -> str:
        files = [*self.home.glob("errors"), *self.home.glob("tidings-chat/*.log")]
        return "\n".join(f"{file.name}:\n{file.read_text()[-2_000:]}" for file in files)

    def stop(self):
        os.killpg(self.shell.pid, signal.SIGTERM)
        self.shell.communicate(timeout=60)


def test_somebody_signs_in_from_nothing(tmp_path):
    apns, server, people = blocks()
    walk = Walk(tmp_path)
    try:
        walk.run(apns)
        walk.wait_for(7445, "/log")
        walk.run(server)
        walk.wait_for(7480)
        (tmp_path / "tidings-chat/script").write_text(walk.with_ports(PHONE))
        # The person reads that the backend listens before they pick up the phone.
        backend, phone = people.split("tidings phone", 1)
        walk.run(backend)
        walk.wait_for(7490)
        walk.run("tidings phone" + phone)
        status = (tmp_path / "tidings-chat/phone.status").read_text().strip()
        assert status == "0", walk.story()
    finally:
        walk.stop()
