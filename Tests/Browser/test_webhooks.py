"""Webhooks by clicking: added, tried, changed, turned off and on, with another secret, removed; and what could not be delivered."""

from __future__ import annotations

import uuid

from console_stage import SCRIPT
from playwright.sync_api import expect


def press(console, label: str):
    console.page.locator(f"main .page-head button:has-text('{label}')").click()


def confirm(console):
    console.page.click("dialog button[type=submit]")


def keep_secret(console) -> str:
    """The secret, which is shown this once."""
    secret = console.page.locator("dialog.secret pre").inner_text().strip()
    console.page.click("dialog button:has-text('I have kept it')")
    assert secret.startswith("whsec_")
    return secret


def told(console, name: str) -> dict:
    """What the server says of it."""
    all_of_them = console.stage.site.call("GET", "/v1/apps/demo/webhooks", key=console.stage.operator_key())["webhooks"]
    return next(webhook for webhook in all_of_them if webhook["name"] == name)


def test_a_webhook_is_added_and_its_secret_told_once(console):
    name = f"hook {uuid.uuid4().hex[:6]}"
    console.go("#/apps/demo/webhooks", "Webhooks")
    press(console, "New webhook")
    confirm(console)
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("Give it a name.")
    console.page.fill("dialog input[name=name]", name)
    console.page.fill("dialog input[name=url]", "ftp://127.0.0.1/hook")
    confirm(console)
    console.confirm()
    # What is wrong besides is told where it was asked for.
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("must")
    # Nothing goes to the server's own machine, which the test says, too.
    console.page.fill("dialog input[name=url]", "https://127.0.0.1:1/hook")
    for box in console.page.locator("dialog input[type=checkbox]").all():
        box.uncheck()
    confirm(console)
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("Choose at least one.")
    console.page.check("dialog label:has-text('device_signed_out') input")
    confirm(console)
    console.confirm()
    first = keep_secret(console)
    expect(console.page.locator("main h1")).to_have_text(name)
    assert first not in console.page.content()
    assert told(console, name)["types"] == ["device_signed_out"]
    press(console, "Send a test")
    expect(console.main).to_contain_text("It was not taken. Its address is in a private network")
    # Changed, turned off and on.
    press(console, "Change")
    console.page.check("dialog label:has-text('leg_ended') input")
    confirm(console)
    expect(console.main.locator(".facts")).to_contain_text("a delivery has ended")
    assert told(console, name)["types"] == ["device_signed_out", "leg_ended"]
    press(console, "Turn off")
    confirm(console)
    expect(console.page.locator(".page-head .chip")).to_have_text("off")
    assert not told(console, name)["enabled"]
    press(console, "Turn on")
    confirm(console)
    expect(console.page.locator(".page-head .chip")).not_to_have_text("off")
    # Another secret, with which the one before signs for a while.
    press(console, "New secret")
    console.page.select_option("dialog select", "3600")
    confirm(console)
    console.confirm()
    assert keep_secret(console) != first
    expect(console.main.locator(".facts")).to_contain_text("signs, too, until")
    press(console, "Remove")
    console.page.fill("dialog input", name)
    confirm(console)
    expect(console.page.locator("main h1")).to_have_text("Webhooks")
    expect(console.main).not_to_contain_text(name)
    console.go("#/apps/demo/audit", "Audit")
    expect(console.page.locator("main tbody tr").first).to_contain_text("remove a webhook")


def test_dead_letters_are_sent_again_or_removed(console):
    """It takes hours until something is given up, so the list is told here in the server's words."""
    kinds = [("message_accepted", "status", 503), ("leg_ended", "timed_out", None), ("push_job", "overflow", None)]
    letters = [
        {"id": f"letter{number}", "type": kind, "at": 1_795_728_300_000 + number, "attempts": 8, "died_at": 1_795_789_500_000,
         "reason": reason, "status": status, "data": {"user": SCRIPT}} for number, (kind, reason, status) in enumerate(kinds)]
    asked: list[dict] = []

    def answer(route):
        request = route.request
        if request.method == "GET":
            return route.fulfill(json={"dead_letters": letters, "next": None})
        if request.method == "DELETE":
            letters[:] = [letter for letter in letters if letter["id"] != request.url.rsplit("/", 1)[1]]
            return route.fulfill(status=204)
        asked.append(request.post_data_json)
        retried = asked[-1].get("ids", [letter["id"] for letter in letters])
        letters[:] = [letter for letter in letters if letter["id"] not in retried]
        return route.fulfill(json={"retried": len(retried)})

    pattern = "**/dead-letters**"
    console.page.route(pattern, answer)
    try:
        console.go(f"#/apps/demo/webhooks/{console.stage.places()['webhook']}", "Orders")
        rows = console.main.locator("tbody tr")
        expect(rows).to_have_count(3)
        expect(rows.nth(0)).to_contain_text("a message was stored")
        expect(rows.nth(0)).to_contain_text("It answered with status 503.")
        expect(rows.nth(1)).to_contain_text("No whole answer within ten seconds.")
        expect(rows.nth(2)).to_contain_text("Never tried: too many waited before it.")
        rows.nth(0).locator("summary").click()
        expect(rows.nth(0).locator("pre")).to_contain_text(SCRIPT)
        rows.nth(1).locator("button:has-text('Send again')").click()
        expect(rows).to_have_count(2)
        rows.nth(1).locator("button:has-text('Remove')").click()
        confirm(console)
        expect(rows).to_have_count(1)
        console.main.locator("button:has-text('Send all again')").click()
        expect(console.main).to_contain_text("No dead letter")
        expect(console.main.locator("button:has-text('Send all again')")).to_be_hidden()
        assert asked == [{"ids": ["letter1"]}, {}]
    finally:
        console.page.unroute(pattern)


def test_the_overview_names_a_webhook_with_dead_letters(console):
    def answer(route):
        webhooks = route.fetch().json()["webhooks"]
        for webhook in webhooks:
            webhook["state"]["dead_letters"] = 6 if webhook["name"] == "Orders" else 0
        route.fulfill(json={"webhooks": webhooks})

    pattern = "**/v1/apps/demo/webhooks"
    console.page.route(pattern, answer)
    try:
        console.go("#/apps/demo", "demo")
        expect(console.main.locator(".attention .note-bad", has_text="The webhook Orders has 6 dead letters.")).to_have_count(1)
        console.main.locator(".attention a:has-text('Orders')").click()
        expect(console.page.locator("main h1")).to_have_text("Orders")
    finally:
        console.page.unroute(pattern)


def test_what_the_server_does_not_know_of_deliveries_is_no_zero(console):
    """Its file cannot be read: told here in the server's words, since a damaged one is made anew."""
    unknown = {"pending": None, "dead_letters": None, "last_delivered_at": None, "last_failure": None}
    webhook = console.stage.places()["webhook"]

    def answer(route):
        if route.request.method != "GET":
            return route.continue_()
        told = route.fetch().json()
        for one in told.get("webhooks", [told]):
            one["state"] = unknown
        return route.fulfill(json=told)

    patterns = ("**/v1/apps/demo/webhooks", f"**/v1/apps/demo/webhooks/{webhook}")
    for pattern in patterns:
        console.page.route(pattern, answer)
    try:
        console.go("#/apps/demo/webhooks", "Webhooks")
        row = console.main.locator("tbody tr").filter(has_text="Orders").first
        expect(row.locator(".chip")).to_have_text("unknown: the file of deliveries cannot be read")
        expect(row.locator("td.num")).to_have_text(["unknown", "unknown"])
        console.go(f"#/apps/demo/webhooks/{webhook}", "Orders")
        expect(console.page.locator(".page-head .chip")).to_have_text("unknown: the file of deliveries cannot be read")
        expect(console.main.locator(".note-wait")).to_contain_text("What waits and what failed is unknown")
        expect(console.main.locator(".tiles")).to_have_count(0)
    finally:
        for pattern in patterns:
            console.page.unroute(pattern)


def test_an_app_without_webhooks_says_what_to_do(console):
    name = f"bare{uuid.uuid4().hex[:6]}"
    console.stage.site.call("POST", "/v1/apps", {"id": name}, key=console.stage.operator_key())
    console.page.reload()
    console.page.wait_for_selector("nav.side-nav")
    console.go(f"#/apps/{name}/webhooks", "Webhooks")
    expect(console.main).to_contain_text("No webhook yet")
    console.main.locator(".empty button:has-text('New webhook')").click()
    expect(console.page.locator("dialog input[name=url]")).to_be_visible()
    console.page.click("dialog button:has-text('Cancel')")
