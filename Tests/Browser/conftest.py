"""One browser for all tests of the console; its two servers, without phones and with them, have a process and a signed-in page each.

Tests share the page, and sign in anew only where that is what they look at: an operator has sixteen sessions at most.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import typing

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright
from xdist.scheduler import LoadScopeScheduling

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests" / "Browser"), str(ROOT / "Tests")]


def _import_stages() -> tuple[type, type, str]:
    """What the tests in Python share is in a file of this file's name, one folder up: while it is imported it has the name."""
    own = sys.modules.get("conftest")
    specification = importlib.util.spec_from_file_location("conftest", ROOT / "Tests" / "conftest.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["conftest"] = module
    specification.loader.exec_module(module)
    from console_stage import CHROMIUM, Stage
    from phones_stage import PhonesStage

    if own is not None:
        sys.modules["conftest"] = own
    return Stage, PhonesStage, CHROMIUM


Stage, PhonesStage, CHROMIUM = _import_stages()

DEMO = "#/apps/demo"
# Two cores that others use, too, are slow at times.
SECONDS = 20
expect.set_options(timeout=SECONDS * 1_000)


class Console:
    """A page of the console, with what tests do there."""

    def __init__(self, stage: Stage, page: Page):
        self.stage = stage
        self.page = page
        self.errors: list[str] = []
        page.set_default_timeout(SECONDS * 1_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        # What the policy or a missing file keeps from loading is an error of ours, too; what the API refuses is not.
        page.on("console", lambda message: self.errors.append(message.text)
                if message.type == "error" and "Failed to load resource" not in message.text else None)

    def sign_in(self, name: str = "anna", password: str | None = None):
        self.page.goto(self.stage.url)
        self.page.fill("input[name=operator]", name)
        self.page.fill("input[name=password]", password or self.stage.passwords[name])
        self.page.click("button[type=submit]")
        if password is None:
            # The first page takes the focus, and with it closes what was opened before.
            self.page.wait_for_selector("nav.side-nav", state="attached")
            self.page.wait_for_selector("main h1:focus, main .problem")

    def enter(self, name: str = "anna"):
        """Comes in without the form, which the tests of signing in fill."""
        answer = self.page.context.request.post(
            self.stage.url.replace("/console/", "/v1/session"), data={"operator": name, "password": self.stage.passwords[name]})
        assert answer.ok, answer.text()
        # As the page keeps it that has signed in.
        self.page.goto(f"{self.stage.url}icon-tidings.svg")
        self.page.evaluate("token => localStorage.setItem('tidings.token', token)", answer.json()["csrf_token"])
        self.page.goto(self.stage.url)
        self.page.wait_for_function("() => document.querySelector('nav.side-nav') && document.querySelector('main h1, main .problem')")

    def sign_out(self):
        """An operator has sixteen sessions at most; the oldest, which tests share, would have to make room."""
        try:
            self.page.evaluate("""async () => {
              const token = localStorage.getItem('tidings.token');
              if (token) await fetch('/v1/session', {method: 'DELETE', headers: {'X-CSRF-Token': token}});
            }""")
        except Error:  # It never got as far as a page of the console.
            pass

    def confirm(self, password: str | None = None):
        """Types the operator's own password, anna's, where it is asked for."""
        dialog = self.page.locator("dialog:has-text('Confirm with your password')")
        dialog.locator("input").fill(password or self.stage.passwords["anna"])
        dialog.locator("button[type=submit]").click()
        if password is None:
            expect(dialog).to_have_count(0)

    def settle(self):
        """Until what was changed is drawn, and whoever watches sizes has seen it."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def go(self, address: str, heading: str | None = None):
        """Goes to an address of the console, and waits until the page stands."""
        self.page.evaluate("address => { location.hash = address; }", address)
        self.page.wait_for_function(
            "address => location.hash.startsWith(address.split('?')[0]) && document.querySelector('main h1')"
            " && !document.querySelector('main .skeleton')", arg=address)
        if heading:
            expect(self.page.locator("main h1")).to_contain_text(heading)

    def wait_for_stream(self):
        expect(self.page.locator(".live")).to_contain_text("Live", timeout=40_000)

    @property
    def main(self):
        return self.page.locator("main")


class ByServer(LoadScopeScheduling):
    """Half the time a test waits for something. So what asks the server with phones is tested beside what asks the other: tests of one server
    stay in one process and in their order, and both processes have one browser."""

    def _split_scope(self, nodeid: str) -> str:
        return "phones" if "/test_phones.py" in nodeid else "console"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByServer(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tells a process of the browser that all share, which the first of them starts."""
    config = node.config
    if not hasattr(config, "shared_browser"):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as options:
            json.dump({"executablePath": CHROMIUM, "args": ["--no-sandbox"]}, options)
            options.flush()
            config.shared_browser = subprocess.Popen(
                [sys.executable, "-m", "playwright", "launch-server", "--browser", "chromium", "--config", options.name],
                stdout=subprocess.PIPE, text=True, start_new_session=True)
            config.shared_address = config.shared_browser.stdout.readline().strip()
        assert config.shared_address.startswith("ws://"), "no browser"
    node.workerinput["browser"] = config.shared_address


def pytest_unconfigure(config):
    if hasattr(config, "shared_browser"):
        # With the processes it has started, which would hold the run's output open.
        os.killpg(config.shared_browser.pid, signal.SIGTERM)
        config.shared_browser.wait(20)


@pytest.fixture(scope="session")
def stage() -> typing.Iterator[Stage]:
    stage = Stage()
    try:
        stage.fill()
        yield stage
    finally:
        stage.stop()


@pytest.fixture(scope="session")
def browser(pytestconfig) -> typing.Iterator[Browser]:
    with sync_playwright() as playwright:
        address = getattr(pytestconfig, "workerinput", {}).get("browser")
        browser = playwright.chromium.connect(address) if address else playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def make_console(stage, browser):
    """Makes pages of their own: of another size, language or operator."""
    consoles = []

    def make(width: int = 1280, scheme: str = "light", locale: str = "en-US", who: str | None = "anna") -> Console:
        context = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme, locale=locale)
        console = Console(stage, context.new_page())
        consoles.append(console)
        if who:
            console.enter(who)
        return console

    yield make
    for console in consoles:
        console.sign_out()
        console.page.context.close()


@pytest.fixture(scope="session")
def shared(stage, browser) -> typing.Iterator[Console]:
    # A colour that is just changing is neither the one nor the other.
    context = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-US", reduced_motion="reduce")
    console = Console(stage, context.new_page())
    console.sign_in()
    yield console
    context.close()


@pytest.fixture
def console(shared) -> typing.Iterator[Console]:
    """The signed-in page that tests share; nothing may have gone wrong in it."""
    shared.errors.clear()
    yield shared
    assert not shared.errors
