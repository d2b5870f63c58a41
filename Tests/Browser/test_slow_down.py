"""Who guesses passwords is slowed down, by the address from which they come through a proxy."""

from __future__ import annotations

from playwright.sync_api import expect


def test_who_tries_too_often_is_told_how_long_to_wait(make_console):
    console = make_console(who=None)
    console.page.set_extra_http_headers({"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"})
    console.page.goto(console.stage.url)
    for number in range(20):
        # For one name alone the answers would come later and later, before the address is out of tries.
        console.page.fill("input[name=operator]", f"nobody{number}")
        console.page.fill("input[name=password]", "guess")
        with console.page.expect_response("**/v1/session") as answer:
            console.page.click("button[type=submit]")
        if answer.value.status == 429:
            break
    expect(console.page.locator(".note-wait")).to_contain_text("You can try again in")
    expect(console.page.locator("button[type=submit]")).to_have_attribute("aria-disabled", "true")
