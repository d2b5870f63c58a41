"""A push to everybody, where everybody has thousands of devices (`make prove-push`: a million): the server's memory, its progress, its
statistics, and what the local APNs has got, in one go, across a kill, and when it is cancelled."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import threading
import time
import urllib.request

import pytest
from conftest import TOPIC, Site, tool
from push_proof import (
    GROWTH_MAX, MEGABYTE, Sample, cancelled_faults, halfway_faults, memory_faults, once_faults, progress_faults, repeated_faults,
    statistics_faults,
)

DEVICES = int(os.environ.get("TIDINGS_PUSH_DEVICES", "20000"))
# Devices of a person.
EACH = 10
PEOPLE = DEVICES // EACH
# Slower than a hundred a second is a fault by itself.
SECONDS = 120 + DEVICES // 100
# Between two looks at the server: 20,000 devices are pushed to within a second.
INTERVAL = min(0.1, DEVICES / 1_000_000)
SETTINGS = {
    "limits": {"mode": "none"},
    "lease": {"grace_milliseconds": 0, "restart_grace_milliseconds": 0},
    "policy": {"active_elsewhere_milliseconds": 0, "devices_max": 100},
}


def tell(line: str):
    print(f"push: {line}", flush=True)


class Ground:
    """A server with many devices, and their APNs."""

    def __init__(self, site: Site):
        self.site = site

    def ask(self, method: str, path: str, body: dict | None = None):
        """Asks the API, without a look at its description each time."""
        return self._call(method, f"{self.site.api}/v1/apps/{self.site.app}/{path}", body)

    def control(self, method: str, path: str, body: dict | None = None):
        return self._call(method, f"http://127.0.0.1:{self.site.control_port}{path}", body)

    def _call(self, method: str, address: str, body: dict | None):
        request = urllib.request.Request(
            address, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.site.api_key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def fill(self):
        """Signs in every device, with a token of the local APNs; all are gone afterwards."""
        done = subprocess.run(
            [
                tool(), "bench", "devices", "--gateway-port", str(self.site.gateway_port), "--control-port",
                str(self.site.control_port), "--app", self.site.app, "--topic", TOPIC, "--people", str(PEOPLE), "--each", str(EACH),
                "--json",
            ],
            env={**os.environ, "TIDINGS_TOKEN_SECRET": self.site.secret}, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=120 + DEVICES // 50)
        assert done.returncode == 0, done.stderr
        figures = json.loads(done.stdout)
        assert figures["devices"] == DEVICES and figures["people"] == PEOPLE
        tell(f"{DEVICES:,} devices of {PEOPLE:,} people registered in {figures['seconds']:.0f} s")

    def push(self, text: str) -> str:
        """Begins a count at the local APNs and a push to everybody; returns the push's id."""
        self.control("POST", "/tally", {})
        body = {"notification": {"title": "Sale", "text": text}, "audience": {"everybody": True}}
        return self.ask("POST", "pushes", body)["id"]

    def tally(self) -> dict:
        return self.control("GET", "/tally")

    def show(self, push: str) -> dict:
        return self.ask("GET", f"pushes/{push}")

    def wait(self, push: str, holds):
        """Until it holds for the push as it is shown."""
        deadline = time.monotonic() + SECONDS
        while not holds(shown := self.show(push)):
            assert time.monotonic() < deadline, f"waited for {push}: {json.dumps(shown)}, {self.tally()}"
            time.sleep(0.1)
        return shown

    def wait_for_pushes(self, least: int):
        """Until the local APNs has taken so many."""
        deadline = time.monotonic() + SECONDS
        while self.tally()["pushes"] < least:
            assert time.monotonic() < deadline, f"waited for {least} pushes: {self.tally()}"
            time.sleep(0.02)

    def resident(self) -> int:
        return self._memory("VmRSS")

    def peak(self) -> int:
        """The most since `forget_peak`."""
        return self._memory("VmHWM")

    def forget_peak(self):
        # proc_pid_clear_refs(5): 5 resets the peak to what is used now.
        pathlib.Path(f"/proc/{self.site.server.child_pid}/clear_refs").write_text("5")

    def _memory(self, name: str) -> int:
        for line in pathlib.Path(f"/proc/{self.site.server.child_pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1_024
        return 0

    def wait_until_idle(self) -> int:
        """Returns the memory of a server that does nothing: the first that stays for two seconds within a megabyte."""
        deadline = time.monotonic() + 60
        before = self.resident()
        while time.monotonic() < deadline:
            time.sleep(2)
            now = self.resident()
            if abs(now - before) < MEGABYTE:
                return now
            before = now
        raise AssertionError("the server's memory does not come to rest")

    @contextlib.contextmanager
    def watched(self, push: str):
        """Samples memory and progress in the background while the block runs."""
        samples: list[Sample] = []
        start, ended = time.monotonic(), threading.Event()

        def look():
            while not ended.wait(INTERVAL):
                # The server may be away: it was killed.
                with contextlib.suppress(OSError, KeyError):
                    recipients = self.show(push)["progress"]["recipients"]
                    samples.append(Sample(time.monotonic() - start, self.resident(), recipients))

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            yield samples
        finally:
            ended.set()
            watcher.join()
        samples.append(Sample(time.monotonic() - start, self.resident(), self.show(push)["progress"]["recipients"]))


def has_ended(shown: dict) -> bool:
    return shown["state"] == "done" and sum(shown["statistics"]["ends"].values()) >= DEVICES


def figures(name: str, seconds: float, idle: int, most: int, pushes: int, repeated: int, repeats: int):
    tell(
        f"{name}: {pushes:,} pushes in {seconds:.1f} s, {pushes / seconds:,.0f} a second; resident idle {idle / MEGABYTE:.1f} MB, "
        f"at most {most / MEGABYTE:.1f} MB; {repeated:,} repeated by the statistics, {repeats:,} came again")


@pytest.mark.alone
def test_a_push_to_everybody_is_exact_in_bounded_memory_also_from_a_server_that_is_killed_half_way(make_site):
    site = make_site(with_apns=True, settings=SETTINGS).start()
    ground = Ground(site)
    ground.fill()
    # What signing in has left in memory is not the server's idle.
    site.server.stop()
    site.start()
    idle = ground.wait_until_idle()
    in_one_go(ground, idle)
    killed_half_way(ground, idle)
    cancelled_half_way(ground)


def in_one_go(ground: Ground, idle: int):
    ground.forget_peak()
    start = time.monotonic()
    push = ground.push("Everything half price")
    with ground.watched(push) as samples:
        shown = ground.wait(push, has_ended)
    seconds = time.monotonic() - start
    tally, peak = ground.tally(), ground.peak()
    figures(
        "in one go", seconds, idle, max(peak, *(sample.resident for sample in samples)), tally["pushes"],
        shown["statistics"]["repeated"], tally["repeats"])
    assert memory_faults(idle, samples, peak) == []
    assert progress_faults(samples, PEOPLE) == []
    assert statistics_faults(shown["statistics"], DEVICES) == []
    assert once_faults(tally, DEVICES) == [] and shown["statistics"]["repeated"] == 0


def killed_half_way(ground: Ground, idle: int):
    start = time.monotonic()
    push = ground.push("Everything at a third")
    ground.wait_for_pushes(DEVICES // 2)
    ground.site.server.kill()
    assert halfway_faults(ground.tally()["pushes"], DEVICES) == []
    with ground.watched(push) as samples:
        ground.site.start()
        shown = ground.wait(push, has_ended)
    seconds = time.monotonic() - start
    tally, peak, repeated = ground.tally(), ground.peak(), shown["statistics"]["repeated"]
    figures(
        "killed half-way", seconds, idle, max(peak, *(sample.resident for sample in samples)), tally["pushes"], repeated,
        tally["repeats"])
    assert memory_faults(idle, samples, peak) == []
    assert statistics_faults(shown["statistics"], DEVICES) == []
    assert repeated_faults(tally, DEVICES, repeated) == []


def cancelled_half_way(ground: Ground):
    push = ground.push("A mistake")
    ground.wait_for_pushes(DEVICES // 2)
    recipients = ground.ask("POST", f"pushes/{push}/cancel")["progress"]["recipients"]
    shown = ground.wait(push, lambda shown: sum(shown["statistics"]["ends"].values()) >= recipients * EACH)
    tally = ground.tally()
    time.sleep(2)
    tell(f"cancelled half-way: {tally['pushes']:,} pushes to {recipients:,} people, and none after that")
    assert halfway_faults(tally["pushes"], DEVICES) == []
    assert shown["progress"]["recipients"] == recipients
    assert cancelled_faults(shown, ground.show(push), tally, ground.tally(), EACH) == []


# What judges it.

GOOD = [Sample(number, 50 * MEGABYTE, min(number, 10)) for number in range(1, 12)]
ENDS = {"ends": {"accepted": 100, "settled": 0}, "accepted": 100}
ONCE = {"pushes": 100, "devices": 100, "once": 100, "repeated": 0, "repeats": 0, "several": 0, "names": 100}
AGAIN = {"pushes": 103, "devices": 100, "once": 97, "repeated": 3, "repeats": 3, "several": 0, "names": 100}
CANCELLED = {"state": "cancelled", "progress": {"recipients": 10}, "statistics": ENDS}


def test_what_is_as_it_must_be_has_no_faults():
    assert memory_faults(50 * MEGABYTE, GOOD, 50 * MEGABYTE + GROWTH_MAX) == []
    assert progress_faults(GOOD, 10) == []
    assert statistics_faults(ENDS, 100) == [] and once_faults(ONCE, 100) == []
    assert repeated_faults(AGAIN, 100, 3) == [] and repeated_faults(ONCE, 100, 5) == []
    assert cancelled_faults(CANCELLED, CANCELLED, ONCE, ONCE, 10) == []
    assert halfway_faults(50, 100) == []


@pytest.mark.parametrize("faults", [
    # Memory: too much in a sample, or at a peak between two; seen too seldom, or not at all.
    memory_faults(50 * MEGABYTE, [*GOOD, Sample(12, 115 * MEGABYTE, 10)], 0),
    memory_faults(50 * MEGABYTE, GOOD, 115 * MEGABYTE),
    memory_faults(50 * MEGABYTE, GOOD[:4], 0),
    memory_faults(0, GOOD, 0),
    # Progress: falls, is told at the end alone, does not come to the end, is not told.
    progress_faults([*GOOD[:6], GOOD[2], *GOOD[6:]], 10),
    progress_faults([GOOD[0], GOOD[-1]], 10),
    progress_faults(GOOD, 11),
    progress_faults([], 10),
    # Statistics: one device without an end, with another end, with two; a sum that is told otherwise.
    statistics_faults({"ends": {"accepted": 99}, "accepted": 99}, 100),
    statistics_faults({"ends": {"accepted": 99, "token_dead": 1}, "accepted": 99}, 100),
    statistics_faults({"ends": {"accepted": 101}, "accepted": 101}, 100),
    statistics_faults({"ends": {"accepted": 100}, "accepted": 99}, 100),
    # Once: a device that got nothing, twice, or something else; two devices with one name.
    once_faults({**ONCE, "pushes": 99, "devices": 99, "once": 99, "names": 99}, 100),
    once_faults(AGAIN, 100),
    once_faults({**ONCE, "once": 99, "several": 1, "pushes": 101, "names": 101}, 100),
    once_faults({**ONCE, "names": 99}, 100),
    # Across a kill: a device that got nothing, or the push under two names; more that came again than is told.
    repeated_faults({**AGAIN, "devices": 99, "names": 99, "pushes": 102}, 100, 3),
    repeated_faults({**AGAIN, "repeated": 2, "repeats": 2, "several": 1, "names": 101}, 100, 3),
    repeated_faults(AGAIN, 100, 2),
    # Cancelled: not cancelled, gone on with by the server or at APNs, without anything that was sent, or with a leg that has not ended.
    cancelled_faults({**CANCELLED, "state": "done"}, CANCELLED, ONCE, ONCE, 10),
    cancelled_faults(CANCELLED, {**CANCELLED, "progress": {"recipients": 11}}, ONCE, ONCE, 10),
    cancelled_faults(CANCELLED, CANCELLED, ONCE, {**ONCE, "pushes": 101}, 10),
    cancelled_faults({**CANCELLED, "progress": {"recipients": 0}}, CANCELLED, ONCE, ONCE, 10),
    cancelled_faults(CANCELLED, CANCELLED, {**ONCE, "pushes": 99}, {**ONCE, "pushes": 99}, 10),
    # Half-way: nothing yet, or everything.
    halfway_faults(0, 100), halfway_faults(100, 100),
])
def test_what_is_not_is_named(faults):
    assert faults and all(faults)
