"""`dev/bench-apns` in its short form: every client sends to every server, and the table says so."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from conftest import tool

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "dev" / "bench-apns"


@pytest.mark.alone
def test_every_client_is_measured_with_every_server():
    done = subprocess.run(
        [str(SCRIPT), "--short", "--rtt", "0", "20", "--tool", tool()], capture_output=True, text=True, timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    for server, rtt in [("nghttpd", "0"), ("tidings apns", "0"), ("tidings apns", "20")]:
        of_server = [line for line in done.stdout.splitlines() if line.startswith(f"{server:<13}{rtt:>4} ")]
        clients = {line[32:41].strip() for line in of_server}
        assert {"h2load", "tidings"} <= clients
        assert ("aioapns" in clients) == (server == "tidings apns")
        for line in of_server:
            rate = float(line[41:51].replace(",", ""))
            assert rate > 0
