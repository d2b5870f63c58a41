"""Saves a picture of every page of the console: wide and narrow, light and dark. Usage: python screenshots.py FOLDER"""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from conftest import CHROMIUM, Console, PhonesStage, Stage  # noqa: E402
from phones_stage import PASSWORDS  # noqa: E402
from playwright.sync_api import Browser, expect, sync_playwright  # noqa: E402
from test_every_page import PAGES  # noqa: E402
from test_phones import TABS, PhoneOnPage  # noqa: E402


def main(folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    stage = Stage()
    try:
        stage.fill()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            console = Console(stage, browser.new_context(locale="en-US", reduced_motion="reduce").new_page())
            console.page.goto(stage.url)
            console.page.wait_for_selector("input[name=operator]")
            save(console, folder, "sign in")
            console.sign_in()
            for name, (address, heading, _) in PAGES.items():
                console.page.set_viewport_size({"width": 1280, "height": 860})
                console.go(address.format(**stage.places()), heading)
                console.page.wait_for_timeout(2_500 if name == "overview" else 500)
                save(console, folder, name)
            save_phones(browser, folder)
            browser.close()
    finally:
        stage.stop()


def save_phones(browser: Browser, folder: pathlib.Path):
    """The page with two phones that are on: one in the app, one locked with a notification; and what stands beside them, tab by tab."""
    stage = PhonesStage()
    try:
        console = Console(stage, browser.new_context(locale="en-US", reduced_motion="reduce").new_page())
        console.sign_in()
        console.go("#/phones", "Phones")
        alice, bob = (PhoneOnPage(console.page, name) for name in PASSWORDS)
        for phone in (alice, bob):
            phone.sign_in()
        stage.wait_for_device("bob")
        bob.press("Lock")
        alice.touch("New Chat")
        alice.enter("User name", "bob")
        alice.touch("Open")
        alice.say("Shall we meet at eight?")
        bob.shows("Shall we meet at eight?", 60)
        for tab in TABS:
            bob.open_tab(tab)
            expect(bob.card.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
            save(console, folder, "living phones" if tab == TABS[0] else f"living phones {tab.lower()}")
        console.go("#/phones/reference/6.1", "What iOS does")
        save(console, folder, "reference")
    finally:
        stage.stop()


def save(console: Console, folder: pathlib.Path, name: str):
    for width in (1280, 390):
        console.page.set_viewport_size({"width": width, "height": 860})
        for scheme in ("light", "dark"):
            console.page.emulate_media(color_scheme=scheme)
            # What stays at the top would stand in the middle of the picture.
            console.page.evaluate("scrollTo(0, 0)")
            console.page.wait_for_timeout(100)
            console.page.screenshot(path=folder / f"{name.replace(' ', '-')}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
