"""Who guesses passwords is slowed down. The address is everybody's here, so this comes after all other tests of the console."""

from __future__ import annotations

from playwright.sync_api import expect


def test_who_tries_too_often_is_told_how_long_to_wait(make_console):
    console = make_console(who=None)
    console.page.goto(console.stage.url)
    for _ in range(20):
        console.page.fill("input[name=operator]", "nobody")
        console.page.fill("input[name=password]", "guess")
        console.page.click("button[type=submit]")
        console.page.wait_for_timeout(250)
        if console.page.locator(".note-wait").count():
            break
    expect(console.page.locator(".note-wait")).to_contain_text("You can try again in")
    expect(console.page.locator("button[type=submit]")).to_have_attribute("aria-disabled", "true")
