"""Pushes and their credentials, by clicking: composed, scheduled, cancelled, taken back; uploaded, proven, activated."""

from __future__ import annotations

import base64
import subprocess
import time
import uuid

import pytest
from console_stage import SCRIPT, TOPIC, apple
from playwright.sync_api import expect


def start_over(console):
    """The draft of an earlier test may be there: it is kept until it is sent."""
    button = console.page.locator(".page-head button:has-text('Start over')")
    if button.is_visible():
        button.click()
        console.page.click("dialog button[type=submit]")
        expect(button).to_be_hidden()


def compose(console, title: str, text: str):
    console.go("#/apps/demo/pushes", "Pushes")
    console.go("#/apps/demo/pushes/new", "New push")
    start_over(console)
    console.page.fill("input[name=title]", title)
    console.page.fill("textarea[name=text]", text)


def row_of(console, push: str):
    """Its line in the list, where the id stands in the address alone."""
    return console.main.locator("tbody tr", has=console.page.locator(f"a[href$='/{push}']"))


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


def test_a_push_counts_only_in_a_conversation_and_what_the_app_alone_gets_has_none(console):
    compose(console, "Sale", "Half price")
    console.page.click("summary:has-text('Speed, lifetime, account')")
    conversation, counted = (console.page.get_by_label(label) for label in ("stands among the conversations", "stands there, and counts as unread"))
    request = console.page.locator("pre", has_text='"audience"').first
    expect(counted).to_be_hidden()
    conversation.check()
    counted.check()
    expect(request).to_contain_text('"counted": true')
    conversation.uncheck()
    expect(counted).to_be_hidden()
    expect(request).not_to_contain_text("counted")
    conversation.check()
    console.page.click(".segments label:has-text('To the app itself')")
    expect(request).to_contain_text('"custom"')
    expect(request).not_to_contain_text("conversation")
    expect(conversation).to_have_count(0)
    start_over(console)


def test_a_scheduled_push_is_cancelled(console):
    compose(console, "Later", "See you next year")
    console.page.click(".segments label:has-text('at a time') >> nth=0")
    console.page.fill("input[name=send_at]", time.strftime("%Y-%m-%dT09:00", time.localtime(time.time() + 86_400 * 30)))
    console.page.click("main button:has-text('Review and send')")
    # The review shows what goes, and when.
    expect(console.page.locator("dialog .alert")).to_contain_text("See you next year")
    expect(console.page.locator("dialog")).to_contain_text("It goes on ")
    expect(console.page.locator("dialog")).to_contain_text("09:00:00")
    console.page.click("dialog button[type=submit]")
    expect(console.main).to_contain_text("scheduled")
    push = console.page.url.rsplit("/", 1)[1]
    console.page.click("main button:has-text('Cancel')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator(".page-head")).to_contain_text("cancelled")
    assert console.stage.backend.call("GET", f"pushes/{push}")["state"] == "cancelled"
    # The list says what it is, whom it is for and how it stands.
    console.go("#/apps/demo/pushes", "Pushes")
    row = row_of(console, push)
    for words in ("Later", "push with a notification", "everybody", "cancelled"):
        expect(row).to_contain_text(words)


def test_what_pushes_say_is_shown_when_it_is_asked_for(console):
    made = console.stage.backend.call("POST", "pushes", {
        "notification": {"title": "Told <i>", "text": "Only when asked"}, "audience": {"users": ["nobody-there"]}})
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/pushes", "Pushes")
    row = row_of(console, made["id"])
    # Until then it is called by whom it is for.
    expect(row.locator("a").first).to_have_text("Push to nobody-there")
    expect(console.main).not_to_contain_text("Only when asked")
    console.page.click("main button:has-text('Show what they say')")
    expect(row).to_contain_text("Told <i>")
    expect(row).to_contain_text("Only when asked")


def test_a_push_is_sent_again_with_what_it_said(console):
    compose(console, "Weekly", "Every Monday")
    console.page.click("summary:has-text('Sound, urgency, image, custom data')")
    console.page.fill("input[name=thread_id]", "news")
    console.page.click(".segments label:has-text('some people')")
    console.page.fill("input[name=audience-users]", "bob, dave")
    console.page.click("main button:has-text('Review and send')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("main h1")).to_have_text("PushWeekly")
    expect(console.page.locator("main .alert")).to_contain_text("Every Monday")
    console.page.click("main button:has-text('Send again')")
    expect(console.page.locator("main h1")).to_have_text("New push")
    assert drafted(console) == {"title": "Weekly", "text": "Every Monday"}
    assert console.page.input_value("input[name=thread_id]") == "news"
    assert console.page.input_value("input[name=audience-users]") == "bob, dave"
    start_over(console)
    # Of one that was not sent from here the list tells what it says, to whoever asks.
    made = console.stage.backend.call("POST", "pushes", {"notification": {"title": "Elsewhere", "text": "By the backend"}, "audience": {"all": [{"users": ["bob"]}, {"not": {"alias": "x"}}]}})
    console.go(f"#/apps/demo/pushes/{made['id']}", "Push")
    expect(console.main).not_to_contain_text("By the backend")
    console.page.click("main button:has-text('Show content')")
    expect(console.page.locator("main .alert")).to_contain_text("By the backend")
    console.page.click("main button:has-text('Send again')")
    expect(console.page.locator("main h1")).to_have_text("New push")
    assert drafted(console) == {"title": "Elsewhere", "text": "By the backend"}
    expect(console.page.locator("main .segments input:checked").nth(1)).to_have_value("json")
    start_over(console)


def test_a_template_is_kept_and_begun_with(console):
    compose(console, "Shop", "Your order can be picked up")
    console.page.click("summary:has-text('Templates')")
    console.page.click("main button:has-text('Save as template')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("Type a name.")
    console.page.fill("dialog input[name=template]", "Pick up <b>")
    # A browser that keeps nothing more.
    console.page.evaluate("() => { window.kept = Storage.prototype.setItem; Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("This browser did not keep it")
    console.page.evaluate("() => { Storage.prototype.setItem = window.kept; }")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_have_count(0)
    start_over(console)
    assert drafted(console) == {"title": "", "text": ""}
    console.page.click("summary:has-text('Templates')")
    console.page.get_by_role("button", name="Begin with Pick up <b>").click()
    expect(console.page.locator("textarea[name=text]")).to_have_value("Your order can be picked up")
    expect(console.page.locator("input[name=title]")).to_have_value("Shop")
    console.page.click("summary:has-text('Templates')")
    console.page.get_by_role("button", name="Remove the template Pick up <b>").click()
    console.page.click("dialog button[type=submit]")
    expect(console.page.get_by_role("button", name="Begin with Pick up <b>")).to_have_count(0)
    start_over(console)


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
    expect(row_of(console, made["id"])).to_contain_text("bob and dave and not (alias “x” or bob)")


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
    start_over(console)


def drafted(console) -> dict:
    """What stands in the composer."""
    return {name: console.page.input_value(f"main [name={name}]") for name in ("title", "text")}


def test_a_draft_is_there_until_it_is_sent_or_emptied(console):
    compose(console, "Kept", "Half written <b>")
    console.page.click(".segments label:has-text('some people')")
    console.page.fill("input[name=audience-users]", "bob, carol")
    console.page.click(".segments label:has-text('at a time') >> nth=0")
    console.page.fill("input[name=send_at]", "2031-05-04T09:30")
    kept = {"title": "Kept", "text": "Half written <b>"}
    # Another page, and the same address again.
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/pushes/new", "New push")
    assert drafted(console) == kept
    assert console.page.input_value("input[name=audience-users]") == "bob, carol"
    assert console.page.input_value("input[name=send_at]") == "2031-05-04T09:30"
    expect(console.page.locator(".count")).to_contain_text("2 people now")
    expect(console.page.locator(".wallpaper .alert")).to_contain_text("Half written <b>")
    # Another choice, and back.
    console.page.click(".segments label:has-text('To the app itself')")
    expect(console.page.locator("main")).to_contain_text("never shown, never pushed")
    assert drafted(console) == kept
    console.page.click(".segments label:has-text('Push to an audience')")
    expect(console.page.locator(".wallpaper")).to_be_visible()
    # Another language, and back.
    for open_menu, language, heading in (("Language", "简体中文", "新建推送"), ("语言", "English", "New push")):
        console.page.click(f"header button[aria-label='{open_menu}']")
        console.page.click(f"header .menu-item:has-text('{language}')")
        expect(console.page.locator("main h1")).to_contain_text(heading)
        assert drafted(console) == kept
    # It is of this app alone, and emptied after a question.
    console.page.click(".page-head button:has-text('Start over')")
    console.page.click("dialog button:has-text('Cancel')")
    assert drafted(console) == kept
    start_over(console)
    assert drafted(console) == {"title": "", "text": ""}
    expect(console.page.locator(".count")).to_contain_text("people now")
    assert console.page.locator("input[name=audience-users], input[name=send_at]").count() == 0


def test_a_draft_ends_with_the_session(make_console):
    console = make_console(who=None)
    console.sign_in()
    compose(console, "Secret", "For nobody else")
    console.page.click("header button[aria-label*='anna']")
    console.page.click("header .menu-item:has-text('Sign out')")
    # Without loading the page anew, with which everything in memory would be gone.
    console.page.fill("input[name=operator]", "anna")
    console.page.fill("input[name=password]", console.stage.passwords["anna"])
    console.page.click("button[type=submit]")
    console.page.wait_for_selector("nav.side-nav", state="attached")
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/pushes/new", "New push")
    assert drafted(console) == {"title": "", "text": ""}


def test_an_app_is_woken_from_the_composer(console):
    console.go("#/apps/demo/pushes", "Pushes")
    console.go("#/apps/demo/pushes/new", "New push")
    console.page.click(".segments label:has-text('Silent, to wake the app')")
    expect(console.page.locator("main h1")).to_contain_text("Wake an app")
    for words in ("three silent pushes an hour", "force-quit"):
        expect(console.main).to_contain_text(words)
    console.page.fill("textarea[name=silent-data]", '{"sync": true}')
    expect(console.page.locator(".budget li", has_text="payload")).to_contain_text("of 4,096")
    console.page.click("main button:has-text('Send silently')")
    expect(console.page.locator(".field-error:visible")).to_contain_text("Type the id of a person.")
    console.page.fill("input[name=silent-user]", "gina")
    console.page.click("main button:has-text('Send silently')")
    # Her phone's token is dead, which is told as the server found it.
    expect(console.main.locator("tbody tr")).to_contain_text("token dead")
    start_over(console)
    assert console.page.input_value("textarea[name=silent-data]") == ""


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
            "request_id": "1"})

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


def upload(console, name: str, content: bytes):
    console.page.set_input_files("#credential-file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})


@pytest.mark.requirement("C2.1")
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


def drop(console, name: str, content: str):
    """As a file is let go of over the page: with it nothing but its name and content comes."""
    console.page.locator(".drop").evaluate("""(drop, [name, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], name));
      for (const type of ['dragover', 'drop']) drop.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
    }""", [name, content])


def make_certificate(days: int) -> bytes:
    """A certificate for pushes in the sandbox, with its key, as Apple marks them; signed by nobody, so no APNs takes it."""
    return subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(days), "-keyout", "-", "-out", "-",
         "-subj", f"/UID={TOPIC}/CN=Apple Push Services: {TOPIC}", "-addext", "1.2.840.113635.100.6.3.1=DER:0500"],
        capture_output=True, check=True).stdout


def test_a_key_is_dropped_and_a_certificate_that_expires_soon_is_told_everywhere(console):
    """In an app of its own, which sends nothing: what is active there matters to nobody else."""
    stage, key, app = console.stage, console.stage.operator_key(), f"soon{uuid.uuid4().hex[:6]}"
    stage.site.call("POST", "/v1/apps", {"id": app}, key=key)
    console.page.reload()
    console.page.wait_for_selector("nav.side-nav")
    console.go(f"#/apps/{app}/credentials", "Push credentials")
    expect(console.main).to_contain_text("There is no push credential yet")
    # What is dropped is looked at as what is chosen.
    for name, content, words in [("big.p8", "x" * 70_000, "more than 64 kB"), ("app.mobileprovision", "x", "profile")]:
        drop(console, name, content)
        expect(console.page.locator("main .note-bad")).to_contain_text(words)
    made = apple(stage, "/keys", {"topics": [TOPIC], "environments": ["sandbox"]})
    drop(console, f"AuthKey_{made['key_id']}.p8", made["p8"])
    expect(console.page.locator("main .note-bad")).to_have_count(0)
    expect(console.page.locator(".drop")).to_contain_text(f"AuthKey_{made['key_id']}.p8")
    expect(console.page.locator("input[name=key_id]")).to_have_value(made["key_id"])
    console.page.fill("input[name=team_id]", made["team_id"])
    console.page.fill("input[name=topics]", TOPIC)
    console.page.click("main button:has-text('Upload')")
    dropped = console.page.locator("main .card", has_text=f"Key {made['key_id']}")
    expect(dropped).to_contain_text("not active yet")
    expect(dropped).to_contain_text("does not expire")
    # What APNs says of it is text, whatever it says.
    token = stage.register_token(app)
    apple(stage, "/faults", {"rules": [{"fault": "respond", "status": 403, "reason": SCRIPT, "token": token}]})
    try:
        dropped.locator("button:has-text('Ask APNs')").click()
        console.page.get_by_label("Token of a phone with the app").fill(token)
        console.page.click("dialog button[type=submit]")
        expect(console.page.locator("dialog .note")).to_contain_text(SCRIPT)
    finally:
        apple(stage, "/faults", {})
    console.page.locator("dialog .dialog-actions button:has-text('Close')").click()
    expect(dropped.locator(".proofs")).to_contain_text(SCRIPT)
    # A certificate with its key as PEM, which has five days left.
    upload(console, "push.pem", make_certificate(days=5))
    console.page.click("main button:has-text('Upload')")
    card = console.page.locator("main .card", has_text=f"Certificate for {TOPIC}")
    expect(card.locator(".chip-bad")).to_contain_text("expires in")
    card.locator("button:has-text('Activate')").click()
    expect(console.page.locator("dialog .note-wait")).to_contain_text("APNs has not taken it yet")
    console.page.check("dialog label:has-text('Activate it all the same') input")
    console.page.click("dialog button[type=submit]")
    expect(card.locator(".chip", has_text="active")).to_have_class("chip chip-good")
    console.go(f"#/apps/{app}", app)
    expect(console.main.locator(".attention .note-bad")).to_contain_text(f"The push credential for {TOPIC} expires in")
    expect(console.main.locator(".tile", has_text="expir")).to_contain_text("in ")
    console.main.locator(".attention .note-bad a").click()
    expect(console.page.locator("main h1")).to_have_text("Push credentials")
    assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0
