"""`tidings bench` against servers of its own, and `dev/bench-server` in its short form: figures come, and nothing is lost."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from conftest import tool
from test_demo_signals import nothing_is_left

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "dev" / "bench-server"


def bench(*arguments: str, environment: dict[str, str] | None = None) -> dict:
    done = subprocess.run(
        [tool(), "bench", *arguments, "--json"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_pairs_are_measured_and_the_line_is_appended(tmp_path):
    file = tmp_path / "lines.jsonl"
    for _ in range(2):
        figures = bench(
            "live", "--pairs", "10", "--window", "3", "--seconds", "1", "--warm-up", "0", "--commit", "abc", "--append", str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 2 and lines[1] == figures
    assert figures["bench"] == "live" and figures["commit"] == "abc" and figures["limits"] == "none"
    assert figures["compiler"].startswith("Swift 6.") and figures["processor"] and figures["date"].endswith("Z")
    assert figures["delivered_a_second"] > 0 and figures["cpu_us_a_message"] > 0 and figures["cpu_us_a_message_by_thread"]
    assert figures["ack_ms_p50"] <= figures["ack_ms_p99"] <= figures["ack_ms_p99_9"] <= figures["ack_ms_longest"]
    assert (figures["lost"], figures["doubled"], figures["out_of_order"]) == (0, 0, 0)


def test_a_constant_rate_is_kept():
    figures = bench("live", "--pairs", "10", "--rate", "200", "--seconds", "2", "--warm-up", "0")
    assert figures["rate"] == 200 and figures["lost"] == 0
    assert figures["delivered_a_second"] < 250


@pytest.mark.parametrize("how", ["exec", ""])
def test_a_server_under_a_wrapper_ends_with_the_bench(tmp_path, how):
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'{how} "$@"\nexit $?\n')
    figures = bench(
        "live", "--pairs", "1", "--seconds", "1", "--warm-up", "0", "--under", f"sh {wrapper}",
        environment={**os.environ, "TMPDIR": str(tmp_path)})
    assert figures["lost"] == 0
    nothing_is_left(tmp_path)


def test_a_server_that_runs_is_measured(make_site):
    site = make_site(settings={"limits": {"mode": "none"}}).start()
    arguments = ("live", "--url", f"{site.gateway}/v1/connect", "--pid", str(site.server.pid), "--pairs", "5", "--seconds", "1", "--warm-up", "0")
    # People of another run are others.
    for _ in range(2):
        figures = bench(*arguments, environment={**os.environ, "TIDINGS_TOKEN_SECRET": site.secret})
        assert figures["limits"] == "as the server has them"
        assert figures["delivered_a_second"] > 0 and figures["cpu_us_a_message"] > 0 and figures["lost"] == 0


def test_a_group_a_backlog_and_pushes_are_measured():
    group = bench("group", "--members", "20", "--seconds", "1")
    assert group["deliveries_a_second"] > 0 and group["last_delivery_ms_p50"] > 0 and group["out_of_order"] == 0
    backlog = bench("backlog", "--messages", "450", "--devices", "2")
    assert backlog["messages"] == 450 and 0 < backlog["all_in_ms_p50"] <= backlog["all_in_ms_longest"]
    push = bench("push", "--messages", "300", "--people", "20", "--writers", "3")
    assert push["pushes"] == 300 and push["cpu_us_a_push"] > 0


@pytest.mark.alone
def test_the_relay_an_earlier_build_and_tidings_are_compared(tmp_path):
    file = tmp_path / "lines.jsonl"
    done = subprocess.run(
        [
            str(SCRIPT), "--seconds", "1", "--rounds", "1", "--pairs", "20", "--window", "1", "--servers", "relay", "tidings", "--tool", tool(),
            "--before", tool(), "--append", str(file), "--commit", "abc",
        ],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing lost, doubled or out of order" in done.stdout
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["server"] for line in lines] == ["relay", "before", "tidings"]
    for line in lines:
        assert line["commit"] == "abc" and line["delivered_a_second"] > 0 and line["allocations_a_message"] >= 0
    titles = [line[:15].strip() for line in done.stdout.splitlines() if line.startswith(("C relay", "Tidings"))]
    assert titles == ["C relay", "Tidings, before", "Tidings"]
