"""The page Phones: the demo's steps by clicking alone, phones that are started and ended there, and what was done as a scenario that holds."""

from __future__ import annotations

import json
import re
import subprocess
import typing
import urllib.error

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import SECONDS, Console, PhonesStage
from phones_stage import BACKGROUND_TIME, DORAS_PASSWORD, PASSWORDS
from playwright.sync_api import Locator, Page, expect
from test_every_page import KEYS_SHOWN, OVERFLOW, find_serious

# How long a push may take on two busy cores.
PUSH_SECONDS = 60
WIDTHS = (1280, 768, 390)
TABS = ("Trace", "Settings", "Push", "iOS and app", "Copy as scenario")
# Whoever writes or is called so is shown as text, on a phone as beside it.
SCRIPT = "<img src=x onerror=window.hit=1>"
# What can be pressed or typed into beside the phones, the phones and their parts: none lies on another, as far as it is to be seen. On the glass
# lies what iOS lays over the app.
OVERLAPS = """() => {
  const seen = new Map([[null, {left: -1e6, top: -1e6, right: 1e6, bottom: 1e6}]]);
  const within = (a, b) => ({left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)});
  const clip = outer => {
    if (!seen.has(outer)) {
      const box = clip(outer.parentElement);
      seen.set(outer, getComputedStyle(outer).overflow === 'visible' ? box : within(outer.getBoundingClientRect(), box));
    }
    return seen.get(outer);
  };
  const visible = each => ({each, ...within(each.getBoundingClientRect(), clip(each.parentElement))});
  const found = [];
  for (const kind of ['main a, main button, main input, main select, main textarea, main summary',
    '.phones-head, .phone-glass, .phones-controls, .phones-tabs, .trace-head, .trace-room, .phones-start']) {
    const all = [...document.querySelectorAll(kind)].filter(each => !each.closest('.off-screen') && each.checkVisibility({visibilityProperty: true})
      && !each.parentElement.closest('.phone-glass')).map(visible).filter(box => box.right - box.left > 1 && box.bottom - box.top > 1);
    for (let one = 0; one < all.length; one += 1) {
      for (const b of all.slice(one + 1)) {
        const a = all[one];
        if (a.each.contains(b.each) || b.each.contains(a.each) || a.each.matches('.trace-newest') || b.each.matches('.trace-newest')) continue;
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) {
          found.push(`${a.each.outerHTML.slice(0, 60)} | ${b.each.outerHTML.slice(0, 60)}`);
        }
      }
    }
  }
  return {seen: document.querySelectorAll('.phone-glass').length, found: found.slice(0, 5)};
}"""


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

    def unfold(self):
        """Opens what is folded below phones that stand side by side."""
        folded = self.card.locator(".phones-fold-button[aria-expanded=false]")
        if folded.count():
            folded.click()

    def open_tab(self, name: str):
        self.unfold()
        self.card.get_by_role("tab", name=name, exact=True).click()

    def shows(self, text: str, seconds: float = SECONDS):
        expect(self.glass).to_contain_text(text, timeout=seconds * 1_000)

    def wait_for_state(self, words: str, seconds: float = SECONDS):
        expect(self.card.locator(".phones-state")).to_contain_text(words, timeout=seconds * 1_000)

    def calls(self, name: str) -> Locator:
        return self.card.locator(".trace-row", has_text=name)

    def row(self, call: str) -> Locator:
        """The newest line of a call, by its name in Apple's words."""
        return self.card.locator(".trace-row").filter(has=self.page.locator(f"code:has-text('{call}')")).last

    def unlock(self):
        self.glass.locator(".phone-unlock").click()
        expect(self.glass.locator(".phone-face.is-home, .phone-face.is-app")).to_be_visible()

    def sign_in(self):
        """To the example app as the person of the phone's name, with notifications allowed."""
        self.touch("Chat")
        self.shows("Sign In")
        self.enter("User name", self.name)
        self.enter("Password", PASSWORDS[self.name])
        self.touch("Sign In")
        self.touch("Allow")
        self.shows("No conversations yet")

    def say(self, text: str):
        self.enter("Message", text)
        self.touch("Send")
        self.shows(text)

    def find_notification(self, text: str) -> Locator:
        """In the list, which is opened by keyboard: for a while the banner lies over what is touched to open it."""
        if not self.glass.locator(".phone-notices").is_visible():
            self.glass.get_by_role("button", name="Notification Center", exact=True).press("Enter")
        return self.glass.locator(".phone-notices .phone-notice", has_text=text)

    def open_notification(self, text: str):
        self.find_notification(text).locator(".phone-hit").click()

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
        phone.sign_in()
        phone.unfold()
        expect(phone.calls("didFinishLaunching").first).to_be_attached()
        stage.wait_for_app(phone.name, lambda app: (app["screen"] or {}).get("connection") == "connected")
    # Until the server knows the token, nothing is pushed.
    stage.wait_for_device("bob")
    stage.site.call("PUT", f"/v1/apps/{stage.site.app}/profiles", {"profiles": [{"user": "alice", "name": f"Alice {SCRIPT}"}]})
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
    bob.glass.locator(".phone-row", has_text="one of five").filter(has_text=f"Alice {SCRIPT}").locator(".phone-hit").click()
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
    # The line of the trace: when, what was called with what, in which words it is explained, and where those come from.
    row = bob.row("userNotificationCenter(_:didReceive:")
    expect(row.locator(".trace-title code")).to_have_text("userNotificationCenter(_:didReceive:withCompletionHandler:)")
    expect(row.locator(".trace-arguments")).to_contain_text("four of five")
    expect(row.locator(".trace-time")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d{3}$"))
    expect(row.locator(".trace-time")).to_have_attribute("datetime", re.compile(r"^20\d\d-\d\d-\d\dT"))
    expect(row.locator(".trace-line")).to_contain_text("The person tapped the notification.")
    expect(row.get_by_role("link", name=re.compile("^Section 6.1 of "))).to_have_text("§6.1")
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


def test_a_notification_is_answered_and_dismissed_where_it_stands(demo, two_people, page, stage):
    alice, bob = two_people
    bob.open_tab("Trace")
    bob.press("Open the app")
    bob.wait_for_state("in the foreground, active")
    bob.press("Home")
    bob.wait_for_state("in the background, running")
    alice.say(f"where are you {SCRIPT}")
    shown = bob.find_notification(f"where are you {SCRIPT}")
    expect(shown).to_contain_text(f"Alice {SCRIPT}")
    shown.get_by_role("button", name=re.compile("^Show large: ")).click()
    # Nothing is sent before something is typed.
    reply = bob.glass.get_by_role("button", name="Reply", exact=True)
    expect(reply).to_be_disabled()
    bob.enter("Reply", " ")
    expect(reply).to_be_disabled()
    bob.enter("Reply", f"on my way {SCRIPT}")
    bob.touch("Reply")
    row = bob.card.locator(".trace-row", has_text="The person answered in the notification.").last
    expect(row.locator(".trace-arguments")).to_contain_text(f"“on my way {SCRIPT}”")
    expect(row.get_by_role("link", name=re.compile("^Section 6.4 of "))).to_be_attached()
    alice.shows(f"on my way {SCRIPT}")
    alice.say("never mind")
    stage.wait_for_notification("bob", "never mind")
    # The lock screen shows its list by itself.
    bob.press("Lock")
    shown = bob.glass.locator(".phone-notices .phone-notice", has_text="never mind")
    shown.get_by_role("button", name=re.compile("^Clear: ")).click()
    expect(shown).to_have_count(0)
    bob.press("Unlock")
    # The categories of the SDK do not ask for that (customDismissAction), so iOS tells the app nothing.
    expect(bob.card.locator(".trace-row", has_text="The person cleared the notification")).to_have_count(0)
    assert page.evaluate("window.hit") is None


def test_two_phones_stand_side_by_side_with_the_life_of_their_message_below(demo, two_people, page):
    alice, bob = two_people
    # Traces are folded until somebody wants them.
    alice.card.locator(".phones-fold-button").click()
    expect(alice.card.locator(".phones-folded")).to_be_hidden()
    alice.unfold()
    expect(alice.card.locator(".trace-room")).to_be_visible()
    boxes = [phone.glass.bounding_box() for phone in two_people]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 2 and boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"]
    line = page.locator(".phones-life-line")
    expect(line.locator(".phones-life-who")).to_contain_text("bob’s virtual iPhone", timeout=SECONDS * 1_000)
    expect(line.locator("li").first).to_have_text("stored 0")
    expect(line.locator("li").last).to_have_text(re.compile(r"^(shown|opened|accepted by APNs|on the open screen|as a local notification) \+[\d.,]+ (ms|sec|min)$"))
    assert line.bounding_box()["y"] > boxes[0]["y"] + boxes[0]["height"]


def test_a_line_of_the_trace_leads_to_its_message_and_back(demo, two_people, page):
    _, bob = two_people
    bob.open_tab("Trace")
    link = bob.card.locator(".trace-row[data-kind=push] a.trace-message").first
    message = link.inner_text()
    with page.context.expect_page() as opened:
        link.click()
    other = opened.value
    expect(other.locator("main h1")).to_contain_text(message)
    back = other.locator("main .lane", has_text="bob’s virtual iPhone").get_by_role("link", name="See it on the phone")
    back.click()
    card = other.locator("article[data-phone=bob]")
    expect(card.locator(".trace-search")).to_have_value(message)
    expect(card.locator(".trace-row:visible", has_text=message).first).to_be_visible(timeout=SECONDS * 1_000)
    expect(card.locator("h2")).to_be_focused()
    other.close()


def find_serious_in(page: Page, selector: str, rules: list[str] | None) -> list:
    """Of a part of the page: a long trace takes axe-core seconds."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("async ([part, options]) => (await axe.run(part, options)).violations", [selector, options])
    return [(each["id"], each["nodes"][0]["target"], each["nodes"][0]["failureSummary"])
            for each in found if each["impact"] in ("serious", "critical")]


def test_the_page_with_living_phones_stands_at_every_width_and_in_both_lights(demo, two_people, page, make_console):
    _, bob = two_people
    room = f"article[data-phone={bob.name}] .phones-tab-room"
    for tab in TABS:
        bob.open_tab(tab)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1_000})
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert page.evaluate(OVERFLOW) == [], (tab, width)
            assert page.evaluate(OVERLAPS) == {"seen": 2, "found": []}, (tab, width)
        # Narrow, since the width is 390 now: the whole page once, then what the tab has put into it.
        for scheme in ("light", "dark") if tab in ("Trace", "iOS and app") else ("light",):
            page.emulate_media(color_scheme=scheme)
            rules = ["color-contrast"] if scheme == "dark" else None
            assert find_serious_in(page, "body" if (tab, scheme) == ("Trace", "light") else room, rules) == [], (tab, scheme)
    bob.open_tab("Trace")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1500, "height": 1_000})
    chinese = make_console(width=390, locale="zh-CN").page
    chinese.evaluate("location.hash = '#/phones'")
    expect(chinese.locator(".phones-status.is-good")).to_have_count(2)
    expect(chinese.locator(".trace-section").first).to_be_attached()
    assert chinese.evaluate(KEYS_SHOWN) == []
    assert chinese.evaluate(OVERFLOW) == []
    assert chinese.evaluate(OVERLAPS) == {"seen": 2, "found": []}


def test_a_line_of_the_trace_leads_to_its_section(demo, two_people, page):
    _, bob = two_people
    bob.open_tab("Trace")
    link = bob.row("userNotificationCenter(_:didReceive:").locator("a.trace-section")
    section = link.inner_text().removeprefix("§")
    with page.context.expect_page() as opened:
        link.press("Enter")
    reference = opened.value
    expect(reference.locator(f"[data-section='{section}']")).to_be_focused()
    expect(reference.locator("main h1")).to_have_text("What iOS does with a notification")
    assert reference.locator("main table").count() > 10
    assert reference.evaluate(OVERFLOW) == []
    assert find_serious(reference) == []
    reference.close()


def test_a_phone_is_reached_by_keyboard_and_its_question_keeps_the_focus(two_people, page):
    _, bob = two_people
    bob.open_tab("Trace")
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"
    bob.card.locator("h2").focus()
    reached = []
    while len(reached) < 60 and "To the newest" not in reached and "Find in the trace" not in reached:
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
    for label in ("Close", "Open the app", "Home", "Restart the phone", "Offline", "Low Power Mode", "Trace", "Find in the trace"):
        assert label in reached, reached
    bob.card.get_by_role("tab", name="Trace", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(bob.card.get_by_role("tab", name="iOS and app", exact=True)).to_be_focused()
    for label, question in (("Start anew with these", "Start bob’s phone anew?"), ("End this phone", "End bob’s phone?")):
        button = bob.card.get_by_role("button", name=label, exact=True)
        while page.evaluate(focused) != label:
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name=question)
        expect(dialog).to_contain_text("trace are lost" if label.startswith("Start") else "the trace are lost")
        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
    # Nothing was done to it.
    expect(bob.card.locator(".phones-status")).to_contain_text("live")
    bob.open_tab("Trace")


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


def test_a_phone_is_started_with_chosen_methods_and_ended_on_the_page(page, stage):
    page.locator(".phones-start summary").click()
    form = page.locator(".phones-start form")
    form.get_by_label("Name, also the person signed in").fill("dora")
    form.get_by_label("iOS version").select_option("12")
    form.get_by_label("Life cycle").select_option("application")
    # A preset ticks its boxes.
    form.get_by_label("Delegate methods").select_option("legacy")
    expect(form.get_by_label("handleLocalAction", exact=True)).to_be_checked()
    form.get_by_label("Delegate methods").select_option("modern")
    expect(form.locator("input[type=checkbox]:checked")).to_have_count(5)
    form.get_by_label("willPresent", exact=True).uncheck()
    form.get_by_role("button", name="Start", exact=True).click()
    dora = PhoneOnPage(page, "dora")
    expect(dora.card).to_contain_text("iOS 12 · application")
    dora.touch("Chat")
    dora.shows("Sign In")
    dora.enter("User name", "dora")
    dora.enter("Password", DORAS_PASSWORD)
    dora.touch("Sign In")
    dora.touch("Allow")
    dora.shows("No conversations yet")
    # What iOS does not find it does not call: in front of the person nothing is shown, and the app is not asked.
    push_in_front(dora)
    expect(dora.card.locator(".trace-row", has_text="In the foreground the delegate has no willPresent: nothing is shown.")).to_be_attached()
    expect(dora.row("willPresent")).to_have_count(0)
    assert dora.card.locator(".trace-filter[data-kind=fault] .trace-count").inner_text() == "0"
    # What it was made with is in its scenarios, of either kind.
    for kind in (RULES, CODE):
        text = dora.copy_scenario(kind)
        assert "implements: [didReceiveRemoteNotification, didReceiveRemoteNotificationFetch, didReceive, performFetch]" in text
    assert 'CHAT_IMPLEMENTS: "didReceiveRemoteNotification,didReceiveRemoteNotificationFetch,didReceive,performFetch"' in text
    # Anew, with another version, and asked for it.
    dora.open_tab("iOS and app")
    expect(dora.card.get_by_label("willPresent", exact=True)).not_to_be_checked()
    dora.card.get_by_label("willPresent", exact=True).check()
    dora.card.get_by_label("iOS version").select_option("16")
    dora.card.get_by_role("button", name="Start anew with these").click()
    page.get_by_role("dialog", name="Start dora’s phone anew?").get_by_role("button", name="Start anew with these").click()
    expect(dora.card).to_contain_text("iOS 16 · application")
    expect(dora.card.locator("h2")).to_be_focused()
    expect(dora.glass.locator(".phone-face.is-home")).to_be_visible()
    dora.touch("Chat")
    dora.shows("No conversations yet")
    # What the person allowed is the phone's, not the app's, and went with it.
    dora.touch("Allow")
    push_in_front(dora)
    expect(dora.row("willPresent")).to_be_attached()
    dora.open_tab("iOS and app")
    dora.card.get_by_role("button", name="End this phone").click()
    question = page.get_by_role("dialog", name="End dora’s phone?")
    question.get_by_role("button", name="Cancel").click()
    expect(dora.card).to_have_count(1)
    dora.card.get_by_role("button", name="End this phone").click()
    question.get_by_role("button", name="End this phone").click()
    expect(dora.card).to_have_count(0)
    expect(page.locator("main h1")).to_be_focused()
    expect(page.locator(".phones-said").first).to_contain_text("dora was ended.")


def push_in_front(phone: PhoneOnPage):
    phone.wait_for_state("in the foreground, active")
    phone.open_tab("Push")
    phone.card.get_by_role("button", name="Let it arrive", exact=True).click()
    phone.open_tab("Trace")
    expect(phone.card.locator(".trace-row", has_text="Push arrived")).to_be_attached()


def test_methods_that_the_app_has_not_are_refused(stage):
    key = stage.ask_server("operator fred administer")
    for wrong in ("fly", "handleLocalAction"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            stage.site.call("POST", "/v1/phones", {"id": "dora", "implements": ["willPresent", wrong]}, key=key)
        problem = json.load(refused.value)
        assert problem["field"] == "implements" and f'got "{wrong}"' in problem["detail"], problem


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
