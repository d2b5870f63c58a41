"""`tidings bench apns` against `tidings apns`: every notification is sent, answered and counted."""

from __future__ import annotations

import json
import urllib.request

import pytest

from apple import TOPIC, Apple
from conftest import tool


@pytest.fixture
def apple(tmp_path):
    apple = Apple(tmp_path)
    yield apple
    apple.stop()


def bench(apple: Apple, *options: str) -> str:
    papers = json.loads((apple.folder / "apns-state" / "credential.json").read_text())
    return apple.run(
        [
            tool(), "bench", "apns", "--port", str(apple.port), "--trust-roots", "apns-state/ca.pem", "--topic", TOPIC, "--key-file",
            f"apns-state/AuthKey_{papers['key_id']}.p8", "--key-id", papers["key_id"], "--team-id", papers["team_id"],
            "--notifications", "500", *options,
        ]
    )


def test_every_notification_is_answered_and_counted(apple):
    figures = json.loads(bench(apple, "--token", apple.device, "--connections", "3", "--in-flight", "30", "--json"))
    assert figures["notifications"] == 500
    assert figures["statuses"] == {"200": 500}
    assert figures["seconds"] > 0 and figures["cpu_seconds"] > 0 and figures["peak_resident_bytes"] > 0
    # Beside them the notifications that opened and used the three connections.
    sent = [line for line in apple.get("/log?limit=100000") if line["event"] == "accepted"]
    assert len(sent) > 500


def test_refusals_are_counted_by_status(apple):
    plan = {"seed": 7, "rules": [{"fault": "respond", "status": 400, "reason": "BadCollapseId", "per_mille": 300}]}
    url = f"http://127.0.0.1:{apple.control_port}/faults"
    with urllib.request.urlopen(url, data=json.dumps(plan).encode(), timeout=60) as answer:
        assert answer.status == 200
    statuses = json.loads(bench(apple, "--token", apple.device, "--json"))["statuses"]
    assert statuses["200"] + statuses["400"] == 500 and statuses["400"] > 50
