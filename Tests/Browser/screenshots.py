"""Saves a picture of every page of the console: at three widths, light and dark, in both languages; and with PICTURES, in that folder, those of the READMEs.

Usage: python screenshots.py FOLDER [PICTURES]
"""

from __future__ import annotations

import base64
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from conftest import CHROMIUM, Console, PhonesStage, Stage  # noqa: E402
from phones_stage import BACKGROUND_TIME, PASSWORDS  # noqa: E402
from playwright.sync_api import Browser, Locator, expect, sync_playwright  # noqa: E402
from test_every_page import PAGES  # noqa: E402
from test_phones import PUSH_SECONDS, TABS, PhoneOnPage  # noqa: E402

# All that the READMEs show, together.
PICTURE_BYTES = 600_000
# Each with what the names of its pictures have more.
LANGUAGES = {"en-US": "", "zh-CN": " zh"}


def main(folder: pathlib.Path, pictures: pathlib.Path | None):
    folder.mkdir(parents=True, exist_ok=True)
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    stage = Stage()
    try:
        stage.fill()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for locale, mark in LANGUAGES.items():
                console = Console(stage, browser.new_context(locale=locale, reduced_motion="reduce").new_page())
                console.page.goto(stage.url)
                console.page.wait_for_selector("input[name=operator]")
                save(console, folder, f"sign in{mark}")
                console.sign_in()
                for name, (address, *headings) in PAGES.items():
                    console.page.set_viewport_size({"width": 1280, "height": 860})
                    console.go(address.format(**stage.places()), headings[bool(mark)])
                    console.page.wait_for_timeout(2_500 if name == "overview" else 500)
                    save(console, folder, f"{name}{mark}")
                if pictures and not mark:
                    save_silent_message(console, pictures)
                console.page.context.close()
            save_phones(browser, folder, pictures)
            browser.close()
    finally:
        stage.stop()
    if pictures and (size := sum(picture.stat().st_size for picture in pictures.glob("*.webp"))) > PICTURE_BYTES:
        sys.exit(f"screenshots: the pictures of the READMEs have {size} bytes, more than {PICTURE_BYTES}")


def save_silent_message(console: Console, pictures: pathlib.Path):
    """Why a phone was silent, in a sentence: its person read the message on the other one."""
    console.page.set_viewport_size({"width": 1280, "height": 800})
    console.go("#/apps/demo/messages?find=person&person=hank", "Messages")
    console.page.click("main button:has-text('Say why')")
    sentence = console.page.locator(".lane", has_text="the message was read on hank-ipad")
    expect(sentence).to_have_count(1)
    save_picture(console, pictures, "silent", sentence)


def save_phones(browser: Browser, folder: pathlib.Path, pictures: pathlib.Path | None):
    """The page with two phones that are on: one in the app, one locked with a notification; and what stands beside them, tab by tab."""
    stage = PhonesStage()
    try:
        # Pushes are titled with them.
        stage.site.call("PUT", f"/v1/apps/{stage.site.app}/profiles", {"profiles": [{"user": name, "name": name.title()} for name in PASSWORDS]})
        console = Console(stage, browser.new_context(locale="en-US", reduced_motion="reduce").new_page())
        console.sign_in()
        console.go("#/phones", "Phones")
        alice, bob = (PhoneOnPage(console.page, name) for name in PASSWORDS)
        for phone in (alice, bob):
            phone.sign_in()
        stage.wait_for_device("bob")
        bob.press("Lock")
        # An app that runs would show it itself, without APNs.
        bob.wait_for_state("suspended", BACKGROUND_TIME / 1_000 + PUSH_SECONDS)
        alice.touch("New Chat")
        alice.enter("User name", "bob")
        alice.touch("Open")
        alice.say("Shall we meet at eight?")
        bob.shows("Shall we meet at eight?", PUSH_SECONDS)
        if pictures:
            expect(console.page.locator(".phones-life-line .is-shown")).to_be_visible(timeout=PUSH_SECONDS * 1_000)
            console.page.set_viewport_size({"width": 1280, "height": 800})
            save_picture(console, pictures, "phones", console.page.locator(".phones-life"))
        for mark in LANGUAGES.values():
            if mark:
                console.page.set_viewport_size({"width": 1280, "height": 860})
                console.page.evaluate("localStorage.setItem('tidings.language', 'zh-Hans')")
                console.go("#/phones")
                console.page.reload()
                bob.shows("Shall we meet at eight?")
            bob.unfold()
            for tab, name in zip(bob.card.get_by_role("tab").all(), TABS, strict=True):
                tab.click()
                expect(tab).to_have_attribute("aria-selected", "true")
                save(console, folder, f"living phones{mark}" if name == TABS[0] else f"living phones {name.lower()}{mark}")
            console.go("#/phones/reference/6.1")
            save(console, folder, f"reference{mark}")
    finally:
        stage.stop()


def save_picture(console: Console, pictures: pathlib.Path, name: str, last: Locator):
    """The page at 1280 pixels, down to what stands last; as WebP, which only the browser's own protocol makes."""
    page = console.page
    page.evaluate("scrollTo(0, 0)")
    box = last.bounding_box()
    page.set_viewport_size({"width": 1280, "height": math.ceil(box["y"] + box["height"]) + 24})
    session = page.context.new_cdp_session(page)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        clip = {"x": 0, "y": 0, **page.viewport_size, "scale": 1.5}
        told = session.send("Page.captureScreenshot", {"format": "webp", "quality": 80, "clip": clip})
        (pictures / f"{name}-{scheme}.webp").write_bytes(base64.b64decode(told["data"]))


def save(console: Console, folder: pathlib.Path, name: str):
    # What it lies on would look different.
    console.page.mouse.move(0, 0)
    for width in (1280, 1920, 390):
        console.page.set_viewport_size({"width": width, "height": 860})
        for scheme in ("light", "dark"):
            console.page.emulate_media(color_scheme=scheme)
            # What stays at the top would stand in the middle of the picture.
            console.page.evaluate("scrollTo(0, 0)")
            console.page.wait_for_timeout(100)
            console.page.screenshot(path=folder / f"{name.replace(' ', '-')}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if sys.argv[2:] else None)
