"""The life of a message: its sentence for each end, as it happens, and whatever strangers have written as text."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

SCRIPT = "<img/src=x/onerror=window.hit=1>"


@pytest.mark.parametrize("message, sentence", [
    ("muted", "carol-iphone of carol stayed silent because carol has muted this conversation"),
    ("pushed", "APNs took the push for bob-iphone of bob"),
    ("tokenless", "dave-iphone of dave could not be pushed: its app has registered no push token"),
    ("homeless", "erin was signed in on no device"),
    ("late", "It waits for frank-iphone of frank until frank’s quiet hours end"),
    ("dead", "gina-iphone of gina could not be pushed: APNs says that the app is not on this phone any more"),
    ("live", "alice had it on the screen of alice-iphone"),
    ("elsewhere", "hank-iphone of hank was not pushed: the message was read on hank-ipad"),
])
def test_a_sentence_says_what_became_of_it(console, message, sentence):
    console.go(f"#/apps/demo/messages/{console.stage.messages[message]}", "Message")
    expect(console.main).to_contain_text(sentence)


def test_a_message_is_found_by_its_id(console):
    console.go("#/apps/demo/messages", "Messages")
    console.page.fill("input[name=message]", "nonsense")
    console.page.click("main button:has-text('Open')")
    expect(console.main).to_contain_text("An id of a message has 13 letters and digits.")
    console.page.fill("input[name=message]", console.stage.messages["muted"])
    console.page.click("main button:has-text('Open')")
    expect(console.page.locator("main h1")).to_contain_text(console.stage.messages["muted"])


def test_an_id_that_nobody_has_says_so_and_what_to_do(console):
    console.go("#/apps/demo/messages/0000000000000", "Message")
    expect(console.page.locator(".problem")).to_contain_text("13 letters and digits, and of this app")
    expect(console.page.locator(".problem .problem-id")).to_be_visible()


def test_a_message_is_found_by_its_words(console):
    console.go("#/apps/demo/messages?find=text", "Messages")
    console.page.fill("input[name=text]", "lunch tw")
    console.page.click("main button:has-text('Search and show texts')")
    expect(console.main).to_contain_text("Lunch at twelve?")


def test_what_happens_is_seen_as_it_happens(console):
    console.go("#/apps/demo/messages", "Messages")
    console.wait_for_stream()
    message = console.stage.backend.say("alice", "bob", "Just now")
    row = console.page.locator("main tbody tr", has_text=message[:6])
    expect(row.first).to_contain_text("accepted by APNs")
    # By whom it waits or has ended, too.
    console.page.fill("input[name=live-user]", "nobody")
    expect(console.main).to_contain_text("Nothing that happened fits")
    console.page.fill("input[name=live-user]", "bob-iphone")
    expect(row.first).to_be_visible()
    console.page.fill("input[name=live-user]", "")


def test_the_life_goes_on_while_one_looks(console):
    """A message in quiet hours waits; when they are taken away it is pushed, and the page says so by itself."""
    backend = console.stage.backend
    backend.set_person("frank", quiet_hours={"start": 0, "end": 0, "time_zone": "Europe/Berlin", "manner": "defer"})
    message = backend.say("alice", "frank", "Still awake?")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    console.wait_for_stream()
    expect(console.main).to_contain_text("It waits for frank-iphone")
    backend.set_person("frank", quiet_hours=None)
    expect(console.main).to_contain_text("APNs took the push for frank-iphone")
    # What was seen of it stays: the wait before the end.
    console.page.locator("main .lane", has_text="frank-iphone").locator("summary:has-text('Step by step')").click()
    expect(console.page.locator("main .lane", has_text="frank-iphone")).to_contain_text("handed to APNs")
    backend.set_person("frank", quiet_hours={"start": 0, "end": 0, "time_zone": "Europe/Berlin", "manner": "defer"})


def test_whatever_strangers_write_is_text(console):
    stage = console.stage
    for address in (f"#/apps/demo/messages/{stage.messages['script']}", "#/apps/demo/people"):
        console.go(address)
        expect(console.main).to_contain_text(SCRIPT)
    console.go(f"#/apps/demo/messages/{stage.messages['script']}")
    console.page.click("main button:has-text('Show content')")
    expect(console.main).to_contain_text(f"{SCRIPT} 你好")
    console.go("#/apps/demo/messages?find=text")
    console.page.fill("input[name=text]", "你好")
    console.page.click("main button:has-text('Search and show texts')")
    expect(console.main).to_contain_text(f"{SCRIPT} 你好")
    assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0


def test_a_message_is_recalled_after_a_question(console):
    message = console.stage.backend.say("alice", "carol", "Forget this")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    console.page.click("main button:has-text('Recall for everybody')")
    console.page.click("dialog button:has-text('Cancel')")
    assert "recall" not in console.stage.site.trace(message)
    console.page.click("main button:has-text('Recall for everybody')")
    console.page.click("dialog button[type=submit]")
    expect(console.main).to_contain_text("Recalled by")
    assert console.stage.site.trace(message)["recall"]


def test_a_test_push_explains_why_a_phone_is_silent(console):
    console.go("#/apps/demo/people/frank/devices/frank-iphone", "frank-iphone")
    console.page.click("main button:has-text('Send the test push')")
    expect(console.main).to_contain_text("APNs took it.")
    expect(console.main).to_contain_text("it would wait: quiet hours")
    expect(console.page.locator(".tests li", has_text="It is not the person’s quiet hours")).to_contain_text("waits")


def test_which_phones_somebody_has_is_one_page_away(console):
    console.go("#/apps/demo/people/bob", "Bob")
    rows = console.page.locator("main table[role=table]").first.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("bob-iphone")
    expect(rows.nth(1)).to_contain_text("registered")


def test_a_persons_conversations_are_listed_with_what_is_unread(console):
    console.go("#/apps/demo/people/carol", "carol")
    conversations = console.main.locator("section.card", has=console.page.get_by_role("heading", name="Conversations", exact=True)).locator("tbody tr")
    alice = conversations.filter(has_text="Alice Liddell")
    expect(alice).to_contain_text("muted")
    expect(conversations.filter(has_text="Weekend team")).to_contain_text("group team")
    alice.locator("a", has_text="with alice").click()
    expect(console.page.locator("main h1")).to_contain_text("alice")


def test_the_page_comes_back_by_itself_after_a_restart(console):
    console.go("#/apps/demo/messages", "Messages")
    console.wait_for_stream()
    site = console.stage.site
    site.server.stop()
    expect(console.page.locator(".live")).to_contain_text("Reconnecting")
    site.start()
    console.wait_for_stream()
    message = console.stage.backend.say("alice", "bob", "After the restart")
    expect(console.page.locator("main tbody tr", has_text=message[:6]).first).to_be_visible()


MUTED = "carol-iphone of carol stayed silent because carol has muted this conversation"


def test_why_somebodys_phone_was_silent(console):
    """Asked of a person and a time, without knowing any message or conversation."""
    console.go("#/apps/demo/people/carol", "carol")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text(MUTED)
    console.page.fill("input[name=why-at]", "2020-01-01T09:00")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text("No message to this person at that time")


def test_why_silent_takes_any_person(console):
    console.go("#/apps/demo/messages?find=person", "Messages")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text("Type the id of a person.")
    console.page.fill("input[name=why-user]", "carol")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text(MUTED)
    console.page.fill("input[name=why-user]", "hank")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text("the message was read on hank-ipad")


def test_deliveries_are_found_by_device_state_and_reason(console):
    backend = console.stage.backend
    backend.wait_for_open_leg(backend.say("alice", "frank", "Asleep?"), "frank", "quiet_hours")
    console.go("#/apps/demo/messages?find=legs", "Messages")
    found = console.page.locator(".tab-panel tbody tr")
    console.page.select_option("select[name=legs-state]", "muted")
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("carol-iphone")
    console.page.select_option("select[name=legs-state]", "open")
    console.page.click("main button:has-text('Search deliveries')")
    expect(console.page.locator(".field-error:visible")).to_contain_text("type an id")
    console.page.fill("input[name=legs-user]", "frank")
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("quiet hours")
    console.page.select_option("select[name=legs-state]", "")
    console.page.fill("input[name=legs-user]", "")
    console.page.fill("input[name=legs-device]", "gina-iphone")
    console.page.fill("input[name=legs-reason]", "TOKEN_dead")
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("gina-iphone")


def test_the_life_of_a_message_is_told_to_whoever_comes_later(console):
    """Waits, tests, request and answer come from the server: this browser has seen nothing of them."""
    console.go(f"#/apps/demo/messages/{console.stage.messages['pushed']}", "Message")
    lane = console.page.locator("main .lane", has_text="bob-iphone")
    lane.locator("summary:has-text('Step by step')").click()
    expect(lane).to_contain_text("handed to APNs")
    lane.locator("summary:has-text('The request to APNs')").click()
    expect(lane).to_contain_text("apns-collapse-id")
    lane.locator("summary:has-text('The verdict’s tests')").first.click()
    expect(lane).to_contain_text("There is a push token that may work")
    console.go(f"#/apps/demo/messages/{console.stage.messages['muted']}", "Message")
    lane = console.page.locator("main .lane", has_text="carol-iphone")
    lane.locator("summary:has-text('Step by step')").click()
    lane.locator("summary:has-text('The verdict’s tests')").click()
    expect(lane).to_contain_text("decided here")


def test_an_app_is_woken_silently(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/people/bob", "Bob")
    console.page.click("main summary:has-text('Wake the app')")
    console.page.fill("textarea[name=silent-data]", "no JSON")
    console.page.click("main button:has-text('Send silently')")
    expect(console.page.locator(".field-error:visible")).to_contain_text("not JSON")
    console.page.fill("textarea[name=silent-data]", '{"sync": true}')
    console.page.click("main button:has-text('Send silently')")
    rows = console.page.locator("main details[open] tbody tr")
    expect(rows).to_have_count(2)
    expect(console.page.locator("main details[open]")).to_contain_text("force-quit")
