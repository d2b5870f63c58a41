"""Signing in and out, what a role may do, and what becomes of a session that ends."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


def test_a_wrong_password_is_told_and_a_right_one_lets_in(make_console):
    console = make_console(who=None)
    console.sign_in("anna", password="wrong")
    expect(console.page.locator("main")).to_contain_text("No operator has this name and password")
    console.page.fill("input[name=password]", console.stage.passwords["anna"])
    console.page.click("button[type=submit]")
    expect(console.page.locator("nav.side-nav")).to_be_visible()


def test_an_empty_form_says_what_is_missing(make_console):
    console = make_console(who=None)
    console.page.goto(console.stage.url)
    console.page.click("button[type=submit]")
    expect(console.page.locator("main")).to_contain_text("Type the name of an operator")
    expect(console.page.locator("input[name=operator]")).to_be_focused()


def test_a_link_signs_in_once(make_console):
    console = make_console(who=None)
    link = console.stage.link()
    console.page.goto(link)
    # The secret does not stay in the address, and nothing is done before the click.
    expect(console.page.locator("main")).to_contain_text("signs you in once")
    assert "link" not in console.page.url
    console.page.click("main button:has-text('Sign in')")
    expect(console.page.locator("nav.side-nav")).to_be_visible()
    again = make_console(who=None)
    again.page.goto(link)
    again.page.click("main button:has-text('Sign in')")
    expect(again.page.locator("main")).to_contain_text("was used already")


def test_signing_out_ends_the_session(make_console):
    console = make_console()
    console.page.click("button[aria-label^='Signed in as']")
    console.page.click(".menu-item:has-text('Sign out')")
    expect(console.page.locator("input[name=operator]")).to_be_visible()
    console.page.reload()
    expect(console.page.locator("input[name=operator]")).to_be_visible()


def test_a_session_that_ends_leads_back_to_where_one_was(make_console):
    console = make_console()
    console.go("#/apps/demo/people/carol", "carol")
    console.page.context.clear_cookies()
    console.page.evaluate("location.hash = '#/apps/demo/people/bob'")
    expect(console.page.locator("main")).to_contain_text("Your session has ended")
    console.page.fill("input[name=operator]", "anna")
    console.page.fill("input[name=password]", console.stage.passwords["anna"])
    console.page.click("button[type=submit]")
    expect(console.page.locator("main h1")).to_contain_text("Bob")


@pytest.mark.parametrize("who, disabled", [
    ("vera", {"#/apps/demo/pushes/new": "Review and send", "#/apps/demo/messages/{muted}": "Show content", "#/operators": "Add an operator",
              "#/apps/demo/webhooks": "New webhook"}),
    ("carl", {"#/apps/demo/pushes/new": "Review and send", "#/apps/demo/credentials": "Ask APNs"}),
    ("sven", {"#/apps/demo/messages/{muted}": "Recall for everybody", "#/apps/demo/people/bob": "Ban", "#/apps": "New app"}),
])
def test_what_a_role_may_not_do_is_shown_with_the_reason(make_console, who, disabled):
    console = make_console(who=who)
    for address, label in disabled.items():
        console.go(address.format(**console.stage.messages))
        button = console.page.locator(f"main button:has-text('{label}')").first
        expect(button).to_have_attribute("aria-disabled", "true")
        assert "This needs the role" in button.get_attribute("title")
    assert not console.errors


def test_texts_are_hidden_until_somebody_who_may_asks(make_console):
    console = make_console(who="carl")
    console.go(f"#/apps/demo/messages/{console.stage.messages['muted']}")
    assert "Are you there?" not in console.page.content()
    console.page.click("main button:has-text('Show content')")
    expect(console.main).to_contain_text("Are you there?")
    records = console.stage.site.call("GET", "/v1/audit?limit=20", key=console.stage.operator_key())["records"]
    assert any(record["actor"]["name"] == "carl" and "messages" in record["action"] for record in records)


def test_ones_own_password_is_changed_with_the_one_before(make_console):
    console = make_console(who="sven")
    console.page.click("button[aria-label^='Signed in as']")
    console.page.click(".menu-item:has-text('Change password')")
    expect(console.page.locator("dialog")).to_be_visible()
    old, new = console.page.locator("dialog input").all()
    new.fill("short")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("At least 12 characters")
    new.fill("a long new password")
    old.fill("wrong")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("must be your password")
    old.fill(console.stage.passwords["sven"])
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_have_count(0)
    console.stage.passwords["sven"] = "a long new password"
    make_console(who="sven")
    assert not console.errors


def test_a_session_that_ends_elsewhere_is_noticed_without_a_click(make_console):
    """The stream of events ends with it, and the page asks why."""
    console = make_console()
    console.go("#/apps/demo/conversations", "Conversations")
    console.wait_for_stream()
    # Signed out in another tab of the same browser.
    console.page.evaluate("""async () => {
      await fetch('/v1/session', {method: 'DELETE', headers: {'X-CSRF-Token': localStorage.getItem('tidings.token')}});
    }""")
    expect(console.page.locator("main")).to_contain_text("Your session has ended", timeout=30_000)


def test_a_token_that_another_tab_has_changed_is_asked_for_again(make_console):
    console = make_console()
    console.go("#/apps/demo/people/bob", "Bob")
    console.page.evaluate("""async (password) => {
      const answer = await fetch('/v1/session', {
        method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({operator: 'anna', password})});
      localStorage.setItem('tidings.token', (await answer.json()).csrf_token);
    }""", console.stage.passwords["anna"])
    console.page.click("main summary:has-text('Aliases and tags')")
    console.page.locator("main form", has_text="Aliases").last.locator("button:has-text('Save')").click()
    expect(console.page.locator("#toasts")).to_contain_text("Saved")
