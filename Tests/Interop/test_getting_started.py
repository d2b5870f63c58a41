"""docs/getting-started.md: every command of the page, in its order, in a new home; only the ports are others."""

from __future__ import annotations

import json
import re

import test_start_page
from conftest import ROOT
from test_start_page import NAMES


def blocks() -> list[str]:
    return re.findall(r"^```bash\n(.*?)^```", (ROOT / "docs/getting-started.md").read_text(), re.MULTILINE | re.DOTALL)


class Walk(test_start_page.Walk):
    """What each block prints is kept."""

    def __init__(self, home):
        super().__init__(home)
        self.folder = home / "tidings-first"

    def run(self, commands: str) -> str:
        options = " ".join(f"{NAMES[port]} {self.ports[port]}" for port in (7443, 7444, 7445, 7446))
        commands = self.with_ports(commands).replace("tidings apns >", f"tidings apns {options} >")
        # The example knows the usual ports by itself.
        commands = commands.replace(
            "--env CHAT_APP_KEY",
            f"--env CHAT_SERVER_URL=ws://127.0.0.1:{self.ports[7400]} --env CHAT_API_URL=http://127.0.0.1:{self.ports[7481]} --env CHAT_APP_KEY")
        printed = self.home / "printed"
        self.shell.stdin.write(f"exec 3>&1 >{printed}\n{commands}\nexec >&3\necho obeyed\n")
        self.shell.stdin.flush()
        assert self.shell.stdout.readline() == "obeyed\n", self.story()
        return printed.read_text()

    def story(self) -> str:
        return "\n".join(f"{file.name}:\n{file.read_text()[-2_000:]}" for file in [self.home / "errors", *self.folder.glob("*.log"), *self.folder.glob("*.json")])


def test_from_nothing_to_a_push_on_the_lock_screen(tmp_path):
    walk = Walk(tmp_path)
    try:
        printed = [walk.run(block) for block in blocks()]
        story = f"{printed}\n{walk.story()}"
        made, phone, trace, events, statistics = printed[3], *printed[-4:]
        assert json.loads(made)["app"]["id"] == "chat", story
        # The lock screen, as the phone draws it.
        assert "Alice Liddell" in phone and "Lunch?" in phone, story
        message = json.loads((walk.folder / "sent.json").read_text())["message_id"]
        trace = json.loads(trace)
        assert trace["message_id"] == message
        assert [(leg["user"], leg["end"]) for leg in trace["ended_legs"] if leg["user"] == "carol"] == [("carol", "accepted")], story
        assert {receipt["receipt"] for receipt in trace["receipts"]} >= {"shown"}, story
        found = set(re.findall(r"^event: (\w+)", events, re.MULTILINE))
        assert found >= {"message_accepted", "leg_sent", "push_answered", "leg_ended", "receipt"}, story
        statistics = json.loads(statistics)
        assert (statistics["messages"]["accepted"], statistics["pushes"]["accepted"]) == (1, 1), story
    finally:
        walk.stop()
