"""docs/getting-started.md, and the sign-in of docs/app/mac.md that goes on from it: every command, in its order, in a new home; only the
ports are others."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

from conftest import ROOT, tool
from ports import free_port

# What the pages' commands use where nothing else is said.
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


def blocks(page: str) -> list[str]:
    return re.findall(r"^```bash\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


class Walk:
    """Types blocks into one shell, as the person has it, and keeps what each prints."""

    def __init__(self, home: pathlib.Path):
        self.home = home
        self.folder = home / "tidings-first"
        self.ports = {port: free_port() for port in NAMES}
        release = str(pathlib.Path(tool()).parent)
        variables = {NAMES[port]: str(self.ports[port]) for port in (7400, 7480, 7481)}
        kept = {name: value for name, value in os.environ.items() if name != "TIDINGS_API_KEY"}
        self.environment = {**kept, **variables, "HOME": str(home), "PATH": f"{release}:{os.environ['PATH']}"}
        self.shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(home / "errors", "wb"), cwd=home, text=True,
            env=self.environment, start_new_session=True)

    def run(self, commands: str) -> str:
        options = " ".join(f"{NAMES[port]} {self.ports[port]}" for port in (7443, 7444, 7445, 7446))
        commands = self.with_ports(commands).replace("tidings apns >", f"tidings apns {options} >")
        gateway, phones = f"ws://127.0.0.1:{self.ports[7400]}", f"http://127.0.0.1:{self.ports[7481]}"
        # The example and its backend know the usual ports by themselves.
        commands = commands.replace("--env CHAT_APP_KEY", f"--env CHAT_SERVER_URL={gateway} --env CHAT_API_URL={phones} --env CHAT_APP_KEY")
        commands = commands.replace(
            "ChatBackend --app chat &",
            f"ChatBackend --app chat --port {self.ports[7490]} --tidings http://127.0.0.1:{self.ports[7480]} --gateway {gateway}"
            f" --phone-routes {phones} >backend.log 2>&1 &")
        printed = self.home / "printed"
        self.shell.stdin.write(f"exec 3>&1 >{printed}\n{commands}\nexec >&3\necho obeyed\n")
        self.shell.stdin.flush()
        assert self.shell.stdout.readline() == "obeyed\n", self.story()
        return printed.read_text()

    def with_ports(self, text: str) -> str:
        return re.sub(r"\b74[049]\d|\b748[01]", lambda match: str(self.ports[int(match[0])]), text)

    def wait_for(self, port: int):
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[port]}/healthz", timeout=2):
                    return
            except OSError:
                assert time.monotonic() < deadline, self.story()
                time.sleep(0.05)

    def story(self) -> str:
        files = [self.home / "errors", *self.folder.glob("*.log"), *self.folder.glob("*.json")]
        return "\n".join(f"{file.name}:\n{file.read_text()[-2_000:]}" for file in files)

    def stop(self):
        os.killpg(self.shell.pid, signal.SIGTERM)
        self.shell.communicate(timeout=60)


def test_from_nothing_to_a_push_on_the_lock_screen(tmp_path):
    walk = Walk(tmp_path)
    try:
        *steps, clean_up = blocks("docs/getting-started.md")
        printed = [walk.run(block) for block in steps]
        story = f"{printed}\n{walk.story()}"
        made, phone, trace, watched = printed[3], *printed[-3:]
        assert json.loads(made)["app"]["id"] == "chat", story
        # The lock screen and the chat, as the phone draws them, and nothing else.
        assert phone.count("┌") == 2 and "▼ Alice Liddell: Lunch?" in phone and "▌ Lunch?" in phone, story
        message = json.loads((walk.folder / "sent.json").read_text())["message_id"]
        trace = json.loads(trace)
        assert trace["message_id"] == message
        assert [(leg["user"], leg["end"]) for leg in trace["ended_legs"] if leg["user"] == "carol"] == [("carol", "accepted")], story
        assert {receipt["receipt"] for receipt in trace["receipts"]} >= {"shown"}, story
        found = set(re.findall(r"^event: (\w+)", watched, re.MULTILINE))
        assert found >= {"message_accepted", "leg_sent", "push_answered", "leg_ended", "receipt"}, story
        statistics = json.loads(watched.splitlines()[-1])
        assert (statistics["messages"]["accepted"], statistics["pushes"]["accepted"]) == (1, 1), story
        walk.run(clean_up)
        assert not walk.folder.exists() and walk.run("jobs -r") == "", "something is left"
    finally:
        walk.stop()


def test_somebody_signs_in_at_a_backend(tmp_path):
    walk = Walk(tmp_path)
    try:
        [people] = blocks("docs/app/mac.md")
        for block in blocks("docs/getting-started.md")[:6]:
            walk.run(block)
        (walk.folder / "script").write_text(walk.with_ports(PHONE))
        # The person reads that the backend listens before they pick up the phone.
        backend, phone = people.split("tidings phone", 1)
        walk.run(re.sub(r"(ChatBackend add-user carol).*", r"\1 <<< 'a walk in the park' >added", backend))
        walk.wait_for(7490)
        walk.run("tidings phone" + phone.partition("#")[0] + " --script script >phone.log 2>&1; echo $? >phone.status")
        assert (walk.folder / "phone.status").read_text().strip() == "0", walk.story()
    finally:
        walk.stop()
