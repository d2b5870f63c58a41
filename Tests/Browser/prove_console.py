"""The console in front of a server that passes thousands of messages a second: does the page stay in hand, and what does it cost the server?

Usage: python prove_console.py [--rate N] [--seconds N] [--turns N]   (`make prove-console`)

A load of people over WebSockets (`tidings bench live`), a real browser with the overview and the messages open, and figures: bytes and time of
the first load, what the page holds, how late it answers, and the server's share of a core with the page and without, by turns in the same run.
Status 1 for a figure that is not as promised.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import Browser, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_LOAD_BYTES = 250_000
INTERACTIVE_SECONDS = 1.0
COST_PER_CENT = 2.0
GROWTH_MB = 5.0
LATE_MILLISECONDS = 500
VIEW = {"width": 1280, "height": 860}
# How late the page's own clock is called, at the worst, and how often the page is drawn.
WATCH = """() => {
  window.watch = {late: 0, beats: 0, drawn: 0};
  let before = performance.now();
  setInterval(() => {
    const now = performance.now();
    // What is held was measured meanwhile.
    if (window.watch.skips) { window.watch.skips = false; before = now; return; }
    window.watch.late = Math.max(window.watch.late, now - before - 20);
    window.watch.beats += 1;
    before = now;
  }, 20);
  new MutationObserver(() => { window.watch.drawn += 1; }).observe(document.querySelector('main'), {childList: true, subtree: true});
}"""


class Load:
    """A server of its own under constant load."""

    def __init__(self, rate: int, seconds: int):
        self.folder = tempfile.TemporaryDirectory(prefix="tidings-console-")
        ready = pathlib.Path(self.folder.name) / "ready.json"
        tool = os.environ.get("TIDINGS_TOOL", str(ROOT / ".build" / "release" / "tidings"))
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [tool, "bench", "live", "--pairs", "200", "--rate", str(rate), "--seconds", str(seconds), "--ready-file", str(ready)],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 120
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"prove-console: the load did not start: {self.said()}")
            time.sleep(0.1)
        told = json.loads(ready.read_text(encoding="utf-8"))
        self.url, self.database, self.server = f"{told['api']}/console/", told["database"], told["server"]

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def link(self) -> str:
        """A link that signs in once, as `tidings console link` asks for it."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60)
            control.connect(f"{self.database}.control")
            control.sendall(b"console local\n")
            answer = control.makefile("r", encoding="utf-8").readline().split()
        if answer[0] != "done":
            raise SystemExit(f"prove-console: no link: {answer}")
        return answer[1]

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.server}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cost(self, seconds: float) -> float:
        """The share of a core that the server takes, in per cent."""
        started, before = time.monotonic(), self.cpu_seconds()
        time.sleep(seconds)
        return 100 * (self.cpu_seconds() - before) / (time.monotonic() - started)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
        self.folder.cleanup()


def sign_in(browser: Browser, load: Load):
    """A page that is signed in, by the link."""
    page = browser.new_context(viewport=VIEW, locale="en-US").new_page()
    page.goto(load.link())
    page.click(".signin-card button")
    page.wait_for_selector("nav.side-nav", state="attached")
    return page


def first_load(browser: Browser, page, load: Load) -> tuple[int, float]:
    """Bytes over the network and seconds until the first page can be used, for somebody who is signed in and has nothing in the cache."""
    context = browser.new_context(viewport=VIEW, locale="en-US", storage_state=page.context.storage_state())
    fresh = context.new_page()
    session = context.new_cdp_session(fresh)
    session.send("Network.enable")
    loaded = []
    session.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    started = time.monotonic()
    fresh.goto(f"{load.url}#/apps/demo", wait_until="commit")
    fresh.wait_for_selector("nav.side-nav", state="attached")
    fresh.wait_for_selector("main:not(:has(.skeleton)) h1")
    taken = time.monotonic() - started
    fresh.wait_for_timeout(500)
    context.close()
    return int(sum(loaded)), taken


def heap(session) -> float:
    """What the page holds after the garbage was collected, in MB."""
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"] / 1e6


def stay(page, load: Load, address: str, seconds: int) -> dict:
    """What a page does that is looked at for so long."""
    page.goto(f"{load.url}{address}")
    page.wait_for_selector("main h1")
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    # Until what is bounded is full.
    page.wait_for_timeout(min(60, seconds) * 1_000)
    page.evaluate(WATCH)
    held = [heap(session)]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        page.wait_for_timeout(min(30_000, max(1_000, (deadline - time.monotonic()) * 1_000)))
        found = page.evaluate("() => { window.watch.skips = true; return {...window.watch}; }")
        held.append(heap(session))
    return {"late": found["late"], "drawn per second": found["drawn"] / seconds, "grown": held[-1] - held[0], "held": held[-1]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="prove-console", description=__doc__.split("\n")[0])
    parser.add_argument("--rate", type=int, default=2_000, help="messages a second (2,000)")
    parser.add_argument("--seconds", type=int, default=600, help="how long each page is looked at (600)")
    parser.add_argument("--turns", type=int, default=6, help="turns of 30 seconds with the page and without (6)")
    options = parser.parse_args()
    faults = []

    def tell(name: str, text: str, holds: bool):
        print(f"console: {name}: {text}{'' if holds else '   NOT AS PROMISED'}", flush=True)
        if not holds:
            faults.append(name)

    load = Load(options.rate, 2 * (options.turns * 40 + options.seconds + 120))
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=os.environ.get("TIDINGS_CHROMIUM", "/usr/bin/chromium-headless-shell"), args=["--no-sandbox"])
            page = sign_in(browser, load)
            loads = [first_load(browser, page, load) for _ in range(5)]
            most, median = max(size for size, _ in loads), statistics.median(taken for _, taken in loads)
            tell("first load", f"{most / 1e3:.0f} kB of {FIRST_LOAD_BYTES / 1e3:.0f}", most < FIRST_LOAD_BYTES)
            tell("interactive", f"after {median:.2f} s (median of {len(loads)})", median < INTERACTIVE_SECONDS)
            for address in ("#/apps/demo", "#/apps/demo/messages"):
                costs = []
                for _ in range(options.turns):
                    page.goto("about:blank")
                    page.wait_for_timeout(1_000)
                    without = load.cost(15)
                    page.goto(f"{load.url}{address}")
                    page.wait_for_timeout(3_000)
                    costs.append((load.cost(15), without))
                cost = statistics.median(beside - without for beside, without in costs)
                tell(f"cost of {address}", f"{cost:.1f} % of a core beside {statistics.median(w for _, w in costs):.1f}", cost < COST_PER_CENT)
                found = stay(page, load, address, options.seconds)
                tell(f"{address} holds", f"{found['held']:.1f} MB, {found['grown']:+.1f} MB in {options.seconds} s", found["grown"] < GROWTH_MB)
                tell(f"{address} late", f"{found['late']:.0f} ms at the worst, drawn {found['drawn per second']:.1f} times a second",
                     found["late"] < LATE_MILLISECONDS)
            browser.close()
    finally:
        load.stop()
    if faults:
        print(f"prove-console: FAILED: {', '.join(faults)}", file=sys.stderr)
        return 1
    print("prove-console: every figure as promised")
    return 0


if __name__ == "__main__":
    sys.exit(main())
