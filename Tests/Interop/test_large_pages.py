"""Large messages that wait for somebody: the tool's client, which is the SDK's, gets them all over one connection."""

from __future__ import annotations

import re

from backend import Backend
from conftest import tool
import os
import subprocess
import urllib.request

MESSAGES = 200
BYTES = 32_000


def counted(site, name: str) -> int:
    with urllib.request.urlopen(f"{site.api}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    return int(float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1]))


def test_who_has_much_waiting_gets_all_of_it_however_large_the_frames_of_clients_may_be(make_site):
    site = make_site(settings={"gateway": {"frame_bytes_max": 16_777_216}}).start()
    backend = Backend(site)
    # Bob is known to the server, and away.
    send = [
        tool(), "message", "send", site.app, "--api", site.api, "--gateway", site.gateway, "--from", "bob", "--to", "alice",
        "--user-token", site.token("bob"), "hello",
    ]
    environment = dict(os.environ)
    for number in range(MESSAGES):
        backend.say("alice", "bob", f"{number} " + "x" * BYTES)
    before = counted(site, "tidings_gateway_connections_accepted_total")
    done = subprocess.run(
        send, capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip()) == 13
    assert counted(site, "tidings_gateway_connections_accepted_total") == before + 1
