"""The page Phones: the demo's steps by clicking alone, phones that are started and ended there, and what was done as a scenario that holds."""

from __future__ import annotations

import subprocess
import typing

import pytest
from conftest import SECONDS, Console, PhonesStage
from phones_stage import BACKGROUND_TIME, PASSWORDS
from playwright.sync_api import Locator, Page, expect

# How long a push may take on two busy cores.
PUSH_SECONDS = 60


@pytest.fixture(scope="module")
def stage() -> typing.Iterator[PhonesStage]:
    stage = PhonesStage()
    try:
        yield stage
    finally:
        stage.stop()


class PhoneOnPage:
    """One phone of the page, by what a person finds there."""

    def __init__(self, page: Page, name: str):
        self.name = name
        self.page = page
        self.card: Locator = page.locator(f"article.phones-card[data-phone={name}]")
        self.glass: Locator = self.card.locator(".phone-glass")

    def press(self, label: str):
        """A key beside the phone."""
        self.card.locator(".phones-controls").get_by_role("button", name=label, exact=True).click()

    def touch(self, label: str):
        self.glass.get_by_role("button", name=label, exact=True).click()

    def enter(self, field: str, text: str):
        self.glass.get_by_label(field, exact=True).fill(text)

    def open_tab(self, name: str):
        self.card.get_by_role("tab", name=name, exact=True).click()

    def shows(self, text: str, seconds: float = SECONDS):
        expect(self.glass).to_contain_text(text, timeout=seconds * 1_000)

    def wait_for_state(self, words: str, seconds: float = SECONDS):
        expect(self.card.locator(".phones-state")).to_contain_text(words, timeout=seconds * 1_000)

    def calls(self, name: str) -> Locator:
        return self.card.locator(".trace-row", has_text=name)

    def unlock(self):
        self.glass.locator(".phone-unlock").click()
        expect(self.glass.locator(".phone-face.is-home, .phone-face.is-app")).to_be_visible()

    def say(self, text: str):
        self.enter("Message", text)
        self.touch("Send")
        self.shows(text)

    def open_notification(self, text: str):
        """By keyboard: for a while the banner lies over what is touched to open the list."""
        self.glass.get_by_role("button", name="Notification Center", exact=True).press("Enter")
        self.glass.locator(".phone-notices .phone-notice", has_text=text).locator(".phone-hit").click()

    def copy_scenario(self, kind: str) -> str:
        self.open_tab("Copy as scenario")
        self.card.get_by_label(kind).check()
        self.card.get_by_role("button", name="Copy", exact=True).click()
        expect(self.card.get_by_role("button", name="Copied", exact=True)).to_be_visible()
        text = self.page.evaluate("navigator.clipboard.readText()")
        assert text == self.card.get_by_label("The scenario as YAML").input_value()
        return text


RULES = "The rules of iOS: a simulated app, the same calls expected"
CODE = "The example app’s own code, with a server"


@pytest.fixture(scope="module")
def page(stage, browser) -> typing.Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 1500, "height": 1_000}, locale="en-US", reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"])
    console = Console(stage, context.new_page())
    console.sign_in()
    console.go("#/phones", "Phones")
    yield console.page
    assert not console.errors
    context.close()


@pytest.fixture(scope="module")
def two_people(page, stage) -> tuple[PhoneOnPage, PhoneOnPage]:
    """Step one: two people sign in."""
    phones = tuple(PhoneOnPage(page, name) for name in PASSWORDS)
    for phone in phones:
        expect(phone.card).to_contain_text("iOS 17 · scenes · delegate of iOS 10 and later")
        expect(phone.card.locator(".phones-status")).to_contain_text("live")
        phone.touch("Chat")
        phone.shows("Sign In")
        phone.enter("User name", phone.name)
        phone.enter("Password", PASSWORDS[phone.name])
        phone.touch("Sign In")
        phone.touch("Allow")
        phone.shows("No conversations yet")
        expect(phone.calls("didFinishLaunching").first).to_be_attached()
        stage.wait_for_app(phone.name, lambda app: (app["screen"] or {}).get("connection") == "connected")
    # Until the server knows the token, nothing is pushed.
    stage.wait_for_device("bob")
    return phones


@pytest.fixture(scope="module")
def demo(two_people, stage) -> typing.Iterator[tuple[str, subprocess.Popen]]:
    """The steps of the demo, by clicking alone; and what was done as a scenario with the app's own code, which runs beside other tests."""
    alice, bob = two_people
    # In the foreground: on the open screen, without a notification.
    alice.touch("New Chat")
    alice.enter("User name", "bob")
    alice.touch("Open")
    alice.shows("No messages yet")
    alice.say("one of five")
    # With her name, which comes a moment after the message: until then the row is called otherwise.
    bob.glass.locator(".phone-row", has_text="one of five").filter(has_text="Alice").locator(".phone-hit").click()
    expect(bob.glass.get_by_label("Message", exact=True)).to_be_visible()
    bob.open_tab("Copy as scenario")
    bob.card.get_by_role("button", name="Begin again from here").click()
    bob.open_tab("Trace")
    alice.say("two of five")
    bob.shows("two of five")
    expect(bob.glass.locator(".phone-banner")).to_have_count(0)
    # In the background: a banner of the SDK's own.
    bob.press("Home")
    bob.wait_for_state("in the background, running")
    expect(bob.calls("sceneDidEnterBackground").first).to_be_attached()
    stage.wait_for_app("bob", lambda app: app["screen"]["run_state"] == "backgroundActive")
    alice.say("three of five")
    expect(bob.glass.locator(".phone-banner", has_text="three of five")).to_be_visible()
    # Killed: a push.
    bob.press("Let the system kill it")
    bob.wait_for_state("not running")
    alice.say("four of five")
    expect(bob.glass.locator(".phone-banner", has_text="four of five")).to_be_visible(timeout=PUSH_SECONDS * 1_000)
    expect(bob.glass.get_by_role("button", name="Chat, badge 2")).to_be_visible()
    # The tap opens the conversation, with all of it.
    bob.open_notification("four of five")
    bob.wait_for_state("in the foreground, active")
    for text in ("one of five", "two of five", "three of five", "four of five"):
        expect(bob.glass.locator(".phone-message", has_text=text)).to_have_count(1)
    expect(bob.calls("didReceive").first).to_be_attached()
    alice.shows("Read")
    assert bob.card.locator(".trace-filter[data-kind=fault] .trace-count").inner_text() == "0"
    # As a scenario with the app's own code, from when the conversation was open: of what came on the open screen iOS knows nothing.
    text = bob.copy_scenario(CODE)
    running = stage.start_scenario(text, "code")
    yield text, running
    running.kill()
    running.wait()


def test_the_steps_of_the_demo_are_done_by_clicking(demo):
    text, _ = demo
    assert text.count("- message:") == 2 and "- system: kill" in text and "- tap: " in text


def test_what_was_done_is_a_scenario_of_the_rules_with_the_same_calls(two_people, stage):
    _, bob = two_people
    bob.press("Open the app")
    bob.wait_for_state("in the foreground, active")
    bob.open_tab("Copy as scenario")
    bob.card.get_by_role("button", name="Begin again from here").click()
    bob.press("Home")
    bob.wait_for_state("suspended", BACKGROUND_TIME / 1_000 + SECONDS)
    bob.press("Lock")
    bob.open_tab("Push")
    bob.card.get_by_role("button", name="Let it arrive", exact=True).click()
    bob.shows("Your order can be picked up")
    bob.press("Unlock")
    bob.open_notification("Your order can be picked up")
    bob.wait_for_state("in the foreground, active")
    bob.press("Memory warning")
    bob.open_tab("Trace")
    expect(bob.calls("applicationDidReceiveMemoryWarning").last).to_be_attached()
    text = bob.copy_scenario(RULES)
    assert "callbacks:" in text and "didReceiveMemoryWarning" in text
    status, said = stage.run_scenario(text, "rules")
    assert status == 0, said + text
    # It is not true of whatever was done.
    status, said = stage.run_scenario(text.replace("didReceiveMemoryWarning", "willTerminate"), "wrong")
    assert status == 1, said


def test_what_is_turned_on_a_phone_is_seen_on_it(two_people):
    _, bob = two_people
    for label in ("Offline", "Focus", "Low Power Mode"):
        switch = bob.card.get_by_role("switch", name=label)
        expect(switch).to_have_attribute("aria-checked", "false")
        switch.click()
        expect(switch).to_have_attribute("aria-checked", "true")
        switch.click()
        expect(switch).to_have_attribute("aria-checked", "false")
    # How settings stand is marked, also after another tab was looked at.
    bob.open_tab("Settings")
    sounds = bob.card.get_by_role("group", name="Sounds", exact=True)
    for label in ("Off", "On"):
        sounds.get_by_role("button", name=label, exact=True).click()
        expect(sounds.get_by_role("button", name=label, exact=True)).to_have_attribute("aria-pressed", "true")
        bob.open_tab("Trace")
        bob.open_tab("Settings")
        expect(sounds.get_by_role("button", name=label, exact=True)).to_have_attribute("aria-pressed", "true")
    bob.open_tab("Trace")
    bob.press("Restart the phone")
    bob.shows("Not unlocked since the restart")
    bob.unlock()
    bob.press("Open the app")
    bob.wait_for_state("in the foreground, active")
    bob.press("Freeze")
    bob.wait_for_state("suspended")
    bob.press("Swipe the app away")
    bob.wait_for_state("swiped away")


def test_what_is_written_goes_to_a_virtual_phone_first(two_people, make_console, stage):
    console = make_console()
    console.go("#/apps/demo/pushes/new", "New push")
    console.page.fill("textarea[name=text]", "Half price")
    console.page.get_by_role("button", name="Send to bob’s virtual phone").click()
    expect(console.main).to_contain_text("APNs took the push", timeout=PUSH_SECONDS * 1_000)
    stage.wait_for_notification("bob", "Half price")
    console.page.click("main a:has-text('Look at the phone')")
    expect(console.page.locator("main h1")).to_have_text("Phones")


def test_a_phone_is_started_and_ended_on_the_page(page, stage):
    page.locator(".phones-start summary").click()
    form = page.locator(".phones-start form")
    form.get_by_label("Name, also the person signed in").fill("dora")
    form.get_by_label("iOS version").select_option("12")
    form.get_by_label("Life cycle").select_option("application")
    form.get_by_role("button", name="Start", exact=True).click()
    dora = PhoneOnPage(page, "dora")
    expect(dora.card).to_contain_text("iOS 12 · application")
    dora.touch("Chat")
    dora.shows("Sign In")
    # Anew, with another version.
    dora.open_tab("iOS and app")
    expect(dora.card.locator(".phones-methods")).to_contain_text("willPresent")
    dora.card.get_by_label("iOS version").select_option("16")
    dora.card.get_by_role("button", name="Start anew with these").click()
    expect(dora.card).to_contain_text("iOS 16 · application")
    expect(dora.glass.locator(".phone-face.is-home")).to_be_visible()
    dora.open_tab("iOS and app")
    dora.card.get_by_role("button", name="End this phone").click()
    expect(dora.card).to_have_count(0)
    expect(page.locator(".phones-said").first).to_contain_text("dora was ended.")


def test_who_may_only_look_looks(make_console):
    carl = make_console(who="carl")
    carl.go("#/phones", "Phones")
    alice = PhoneOnPage(carl.page, "alice")
    expect(alice.card.locator(".phones-status")).to_contain_text("live")
    expect(alice.card.locator(".phones-controls").get_by_role("button", name="Home", exact=True)).to_be_disabled()
    expect(carl.page.locator(".phones-start")).to_have_count(0)
    vera = make_console(who="vera")
    vera.go("#/phones", "Phones")
    expect(PhoneOnPage(vera.page, "alice").card).to_be_visible()
    expect(PhoneOnPage(vera.page, "alice").glass).to_have_count(0)


def test_the_steps_of_the_demo_are_a_scenario_that_holds(demo, stage):
    text, running = demo
    status, said = stage.wait_for_scenario(running)
    assert status == 0, said + text


def test_a_host_that_is_gone_is_told_of(make_console, stage):
    """The last one: it ends the phones."""
    stage.phones.stop()
    console = make_console(who="anna")
    console.go("#/phones", "Phones")
    expect(console.main).to_contain_text("tidings phones")
    expect(console.main.get_by_role("button", name="Try again")).to_be_visible()
