"""Pushes and their credentials, by clicking: composed, scheduled, cancelled, taken back; uploaded, proven, activated."""

from __future__ import annotations

import base64
import time

from console_stage import TOPIC
from playwright.sync_api import expect


def compose(console, title: str, text: str):
    console.go("#/apps/demo/pushes", "Pushes")
    console.go("#/apps/demo/pushes/new", "New push")
    console.page.fill("input[name=title]", title)
    console.page.fill("textarea[name=text]", text)


def test_a_push_is_seen_before_it_goes_and_counted_after(console):
    compose(console, "Sale", "Everything <b>half</b> price")
    preview = console.page.locator(".wallpaper .alert")
    expect(preview).to_contain_text("Sale")
    expect(preview).to_contain_text("Everything <b>half</b> price")
    # The payload is the server's own, with its bytes.
    whole = console.page.locator(".budget li", has_text="payload")
    expect(whole).to_contain_text("of 4,096")
    console.page.click("summary:has-text('What APNs would get')")
    expect(console.page.locator("details[open] pre", has_text='"aps"')).to_contain_text('"mutable-content": 1')
    expect(console.page.locator(".count")).to_contain_text("people now")
    console.page.click(".segments label:has-text('some people')")
    console.page.fill("input[name=audience-users]", "bob, dave")
    expect(console.page.locator(".count")).to_contain_text("2 people now")
    console.page.click("main button:has-text('Review and send')")
    expect(console.page.locator("dialog")).to_contain_text("2 people")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("main h1")).to_contain_text("Push")
    expect(console.main).to_contain_text("done")
    # Bob has two devices that are pushed to, dave one that cannot be.
    expect(console.page.locator(".bars li", has_text="accepted by APNs")).to_contain_text("2")
    expect(console.page.locator(".bars li", has_text="no push token")).to_contain_text("1")
    console.page.fill("input[name=recipient]", "dave")
    console.page.click("main button:has-text('Open their message')")
    expect(console.main).to_contain_text("dave-iphone of dave could not be pushed")


def test_a_scheduled_push_is_cancelled(console):
    compose(console, "Later", "See you next year")
    console.page.click(".segments label:has-text('at a time') >> nth=0")
    console.page.fill("input[name=send_at]", time.strftime("%Y-%m-%dT09:00", time.localtime(time.time() + 86_400 * 30)))
    console.page.click("main button:has-text('Review and send')")
    console.page.click("dialog button[type=submit]")
    expect(console.main).to_contain_text("scheduled")
    push = console.page.url.rsplit("/", 1)[1]
    console.page.click("main button:has-text('Cancel')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator(".page-head")).to_contain_text("cancelled")
    assert console.stage.backend.call("GET", f"pushes/{push}")["state"] == "cancelled"
    # The list says what it is, whom it is for and how it stands.
    console.go("#/apps/demo/pushes", "Pushes")
    row = console.main.locator("tbody tr", has_text=push)
    for words in ("push with a notification", "everybody", "cancelled"):
        expect(row).to_contain_text(words)


def test_on_a_narrow_screen_the_preview_stays_above_the_fields(console):
    console.page.set_viewport_size({"width": 390, "height": 700})
    try:
        compose(console, "Narrow", "Always in view")
        console.page.locator("summary:has-text('Speed, lifetime, account')").scroll_into_view_if_needed()
        preview = console.page.locator(".wallpaper .alert")
        expect(preview).to_contain_text("Always in view")
        expect(preview).to_be_in_viewport(ratio=1)
        # What has the focus is not below it.
        console.page.locator("textarea[name=text]").blur()
        console.page.locator("textarea[name=text]").focus()
        top = console.page.evaluate("document.querySelector('.compose-look').getBoundingClientRect().bottom")
        assert console.page.evaluate("document.activeElement.getBoundingClientRect().top") >= top
    finally:
        console.page.set_viewport_size({"width": 1280, "height": 860})


def test_an_audience_is_told_in_words(console):
    made = console.stage.backend.call("POST", "pushes", {
        "notification": {"text": "Words"}, "audience": {"all": [{"users": ["bob", "dave"]}, {"not": {"any": [{"alias": "x"}, {"users": ["bob"]}]}}]}})
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/pushes", "Pushes")
    expect(console.main.locator("tbody tr", has_text=made["id"])).to_contain_text("bob and dave and not (alias “x” or bob)")


def test_a_push_is_taken_back(console):
    compose(console, "Oops", "This was wrong")
    console.page.click(".segments label:has-text('some people')")
    console.page.fill("input[name=audience-users]", "bob")
    expect(console.page.locator(".count")).to_contain_text("1 person now")
    console.page.click("main button:has-text('Review and send')")
    console.page.click("dialog button[type=submit]")
    expect(console.main).to_contain_text("done")
    console.page.click("main button:has-text('Take back')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator(".page-head")).to_contain_text("taken back")


def test_what_is_too_long_is_told_before_it_is_sent(console):
    compose(console, "x" * 300, "Text")
    expect(console.page.locator(".budget li", has_text="Title")).to_contain_text("too long")
    console.page.click(".segments label:has-text('some people')")
    console.page.fill("input[name=audience-users]", "bob")
    expect(console.page.locator(".count")).to_contain_text("1 person now")
    console.page.click("main button:has-text('Review and send')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .problem")).to_contain_text("title")
    console.page.click("dialog button:has-text('Cancel')")


def test_a_message_is_written_in_a_persons_name(console):
    console.go("#/apps/demo/pushes/new?what=message&to=carol", "Send a message")
    console.page.fill("input[name=sender]", "bob")
    console.page.fill("textarea[name=text]", "Dinner?")
    console.page.click("main button.primary:has-text('Send')")
    expect(console.page.locator("main h1")).to_contain_text("Message")
    expect(console.main).to_contain_text("APNs took the push for carol-iphone")


def test_a_push_to_many_asks_for_the_password_and_the_count(console):
    """As the server asks for it; to have so many devices would take longer than the test, so its refusals are told here in its words."""
    asked: list[dict] = []

    def answer(route):
        body = route.request.post_data_json
        asked.append(body.pop("confirm", None))
        refusals = {
            None: ("confirmation_needed", "confirm", "must have your password, and in devices how many the audience has: 2345"),
            (1, "wrong"): ("confirmation_needed", "confirm", "must have your password, and in devices how many the audience has: 2345"),
            (2345, "wrong"): ("wrong_password", "confirm.password", "must be your password, which it is not"),
        }
        confirm = asked[-1] and (asked[-1]["devices"], asked[-1]["password"])
        if confirm not in refusals:
            return route.continue_(post_data=body)
        code, field, rule = refusals[confirm]
        return route.fulfill(status=403, content_type="application/problem+json", json={
            "type": f"urn:tidings:problem:{code}", "title": code, "status": 403, "detail": f"{field} {rule}", "code": code, "field": field,
            "rule": rule, "request_id": "1", "instance": "urn:tidings:request:1"})

    console.page.route("**/pushes", lambda route: answer(route) if route.request.method == "POST" else route.continue_())
    compose(console, "Many", "To many")
    expect(console.page.locator(".count")).to_contain_text("people now")
    console.page.click("main button:has-text('Review and send')")
    expect(console.page.locator("dialog input[name=count]")).to_be_hidden()
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_contain_text("Type how many devices it reaches: 2345")
    console.page.fill("dialog input[name=count]", "1")
    console.page.fill("dialog input[name=password]", "wrong")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_contain_text("This is not the number of devices")
    console.page.fill("dialog input[name=count]", "2,345")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_contain_text("must be your password, which it is not")
    console.page.fill("dialog input[name=password]", "right")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("main h1")).to_contain_text("Push")
    console.page.unroute("**/pushes")
    assert asked[-1] == {"password": "right", "devices": 2345}


def apple(stage, path: str, body: dict):
    return stage.site.call("POST", path, body, base=f"http://127.0.0.1:{stage.site.control_port}")


def upload(console, name: str, content: bytes):
    console.page.set_input_files("#credential-file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_a_certificate_is_uploaded_proven_and_takes_over(console):
    stage = console.stage
    made = apple(stage, "/certificates", {"bundle_id": TOPIC, "password": "sesame", "topics": [TOPIC], "environments": ["sandbox"]})
    console.go("#/apps/demo/credentials", "Push credentials")
    upload(console, "push.p12", base64.b64decode(made["p12_base64"]))
    console.page.fill("main input[name=password]", "wrong")
    console.page.click("main button:has-text('Upload')")
    # What the server says of the password stands beside it.
    expect(console.page.locator("main .field-error:visible")).to_contain_text("must be")
    console.page.fill("main input[name=password]", "sesame")
    console.page.click("main button:has-text('Upload')")
    card = console.page.locator("main .card", has_text=f"Certificate for {TOPIC}")
    expect(card).to_contain_text("not active yet")
    expect(card).to_contain_text("expires in")
    card.locator("button:has-text('Ask APNs')").click()
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .note")).to_contain_text("APNs takes it.")
    expect(console.page.locator("dialog .note")).to_contain_text("BadDeviceToken")
    console.page.locator("dialog .dialog-actions button:has-text('Close')").click()
    expect(card).to_contain_text("APNs takes it")
    card.locator("button:has-text('Activate')").click()
    console.page.click("dialog button[type=submit]")
    expect(card).to_contain_text("active")
    credentials = stage.site.call("GET", "/v1/apps/demo/push-credentials", key=stage.operator_key())["push_credentials"]
    assert {(each["kind"], each["state"]) for each in credentials} >= {("certificate", "active"), ("token_key", "replaced")}
    # And back again: the key there was sends.
    card.locator("button:has-text('Roll back')").click()
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("main .card", has_text="Key ").first).to_contain_text("active")


def test_what_is_no_credential_is_refused_with_a_sentence_that_helps(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/credentials", "Push credentials")
    for name, content, words in [
        ("big.p8", b"x" * 70_000, "more than 64 kB"), ("push.cer", b"x", "A .cer file has no private key"), ("empty.p8", b"", "This file is empty"),
    ]:
        upload(console, name, content)
        expect(console.page.locator("main .note-bad")).to_contain_text(words)
        expect(console.page.locator("main button:has-text('Upload')")).to_be_hidden()
    upload(console, "<img src=x onerror=window.hit=1>.p8", b"hello")
    expect(console.page.locator(".drop")).to_contain_text("<img src=x onerror=window.hit=1>.p8")
    console.page.fill("input[name=team_id]", "TEAM123456")
    console.page.fill("input[name=key_id]", "KEY1234567")
    console.page.click("main button:has-text('Upload')")
    expect(console.page.locator("main .problem")).to_contain_text("file must")
    assert console.page.evaluate("window.hit") is None
