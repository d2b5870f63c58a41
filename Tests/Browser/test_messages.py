"""The life of a message: its sentence for each end, as it happens, and whatever strangers have written as text."""

from __future__ import annotations

import json
import re
import time
import uuid

import pytest
from console_stage import SCRIPT, apple
from playwright.sync_api import expect


@pytest.mark.parametrize("message, sentence", [
    ("muted", "carol-iphone of carol stayed silent because carol has muted this conversation"),
    ("pushed", "APNs took the push for bob-iphone of bob"),
    ("tokenless", "dave-iphone of dave could not be pushed: its app has registered no push token"),
    ("homeless", "erin was signed in on no device"),
    ("late", "It waits for frank-iphone of frank until frank’s quiet hours end"),
    ("dead", "gina-iphone of gina could not be pushed: APNs says that the app is not on this phone any more"),
    ("live", "alice-iphone of alice had it on its open screen"),
    ("elsewhere", "hank-iphone of hank was not pushed: the message was read on hank-ipad"),
])
def test_a_sentence_says_what_became_of_it(console, message, sentence):
    console.go(f"#/apps/demo/messages/{console.stage.messages[message]}", "Message")
    expect(console.main).to_contain_text(sentence)


def test_it_is_told_how_long_before_the_deadline_it_was_read_elsewhere(console):
    message = console.stage.messages["deadline"]
    console.stage.backend.wait_for_ends(message, "ivan", "read_elsewhere", "settled")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    lane = console.page.locator("main .lane", has_text="ivan-iphone")
    expect(lane).to_contain_text(re.compile(
        r"ivan-iphone of ivan was not pushed: the message was read on ivan-ipad [\d.]+ sec before the deadline\."))
    lane.locator("summary:has-text('Step by step')").click()
    expect(lane).to_contain_text("read on ivan-ipad")
    expect(lane).to_contain_text("the device missed its deadline")


def test_a_message_is_found_by_its_id(console):
    console.go("#/apps/demo/messages", "Messages")
    console.page.click("main button:has-text('Search')")
    expect(console.main).to_contain_text("Type an id, a person or a word.")
    console.page.fill("input[name=find]", console.stage.messages["muted"].upper())
    console.page.press("input[name=find]", "Enter")
    expect(console.page.locator("main h1")).to_contain_text(console.stage.messages["muted"])


def test_an_id_that_nobody_has_says_so_and_what_to_do(console):
    console.go("#/apps/demo/messages/0000000000000", "Message")
    expect(console.page.locator(".problem")).to_contain_text("13 letters and digits, and of this app")
    expect(console.page.locator(".problem .problem-id")).to_be_visible()


def test_a_message_is_found_by_its_words(console):
    console.go("#/apps/demo/messages", "Messages")
    console.page.fill("input[name=find]", "lunch tw")
    console.page.press("input[name=find]", "Enter")
    expect(console.main).to_contain_text("Lunch at twelve?")
    console.page.fill("input[name=until]", "2020-01-01T09:00")
    console.page.press("input[name=find]", "Enter")
    expect(console.main).to_contain_text("No message has all these words")
    console.page.click("main button:has-text('Back to the newest')")
    expect(console.page.locator("input[name=until]")).to_be_hidden()
    expect(console.page.locator("input[name=find]")).to_be_focused()


def lines(console):
    return console.page.locator("main .message-line")


def test_the_newest_messages_stand_there_in_one_line_each(console):
    """Without having seen them: when, from whom to whose device, what became of it, after how long."""
    stage = console.stage
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/messages", "Messages")
    line = lines(console).and_(console.page.locator(f"[data-message='{stage.messages['pushed']}']"))
    expect(line).to_contain_text(re.compile(r"^\d\d:\d\d:\d\d" + stage.messages["pushed"] + r"alice →\s+to bob-ip\w+, bob-ip\w+accepted by APNs × 2[\d.]+ (ms|sec)$"))
    assert line.bounding_box()["height"] < 40
    waiting = lines(console).and_(console.page.locator(f"[data-message='{stage.messages['late']}']"))
    expect(waiting).to_contain_text("quiet hours")
    # The sender's other devices are no news.
    expect(lines(console).filter(has_text=stage.messages["group"])).not_to_contain_text("alice-iphone")
    console.page.check("input[name=filler]")
    expect(lines(console).filter(has_text=stage.messages["group"])).to_contain_text(re.compile("and \\d+ more|alice-iphone"))
    console.page.uncheck("input[name=filler]")
    # The line leads to its message, wherever it is pressed.
    line.click(position={"x": 400, "y": 4})
    expect(console.page.locator("main h1")).to_contain_text(stage.messages["pushed"])


def test_the_newest_are_of_one_person_where_one_is_named(console):
    stage = console.stage
    console.go("#/apps/demo/messages", "Messages")
    console.page.fill("input[name=find]", "carol")
    console.page.press("input[name=find]", "Enter")
    expect(console.main).to_contain_text("From and to carol")
    expect(lines(console).and_(console.page.locator(f"[data-message='{stage.messages['muted']}']"))).to_contain_text("muted")
    expect(lines(console).and_(console.page.locator(f"[data-message='{stage.messages['dead']}']"))).to_have_count(0)
    assert "user=carol" in console.page.url
    console.page.click("main a:has-text('Why was it silent?')")
    expect(console.page.locator("input[name=why-user]")).to_have_value("carol")
    console.go("#/apps/demo/messages", "Messages")
    console.page.select_option("select[name=state]", "bad")
    expect(lines(console).and_(console.page.locator(f"[data-message='{stage.messages['dead']}']"))).to_contain_text("token dead")
    expect(lines(console).and_(console.page.locator(f"[data-message='{stage.messages['muted']}']"))).to_have_count(0)
    console.page.select_option("select[name=state]", "")


def test_what_trying_again_cannot_mend_has_no_button_for_it(console):
    console.page.route("**/v1/apps/demo/messages?*", lambda route: route.fulfill(
        status=404, content_type="application/problem+json", body=json.dumps({"code": "search_off", "detail": "search.path must be set"})))
    try:
        console.go("#/apps/demo/messages", "Messages")
        console.page.fill("input[name=find]", "lunch")
        console.page.press("input[name=find]", "Enter")
        expect(console.page.locator("main .problem")).to_contain_text("set search.path in its configuration")
        expect(console.page.locator("main .problem button:has-text('Try again')")).to_have_count(0)
    finally:
        console.page.unroute("**/v1/apps/demo/messages?*")


def test_what_happens_is_seen_as_it_happens(console):
    console.go("#/apps/demo/messages", "Messages")
    console.wait_for_stream()
    message = console.stage.backend.say("alice", "bob", "Just now")
    row = lines(console).filter(has_text=message)
    expect(row).to_contain_text("accepted by APNs")
    # By how it waits or has ended, too.
    console.page.select_option("select[name=state]", "end.disabled")
    expect(console.main).to_contain_text("Nothing that happened fits")
    console.page.select_option("select[name=state]", "end.accepted")
    expect(row).to_be_visible()
    console.page.select_option("select[name=state]", "")


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
    console.go("#/apps/demo/messages")
    console.page.fill("input[name=find]", "你好")
    console.page.press("input[name=find]", "Enter")
    expect(console.main).to_contain_text(f"{SCRIPT} 你好")
    assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0


def test_script_in_a_reason_of_apns_is_text(console):
    """What APNs answers goes through many hands before it is read: on the message, in both searches, and as it happens."""
    stage = console.stage
    user = f"jane{uuid.uuid4().hex[:6]}"
    token = stage.register_token(user)
    stage.add_phone(user, f"{user}-iphone", token)
    console.go("#/apps/demo/messages?find=legs", "Messages")
    console.wait_for_stream()
    apple(stage, "/faults", {"rules": [{"fault": "respond", "status": 400, "reason": SCRIPT, "token": token, "count": 1}]})
    message = stage.backend.say("alice", user, "Refused")
    try:
        stage.backend.wait_for_ends(message, user, "rejected")
    finally:
        apple(stage, "/faults", {})
    console.page.fill("input[name=legs-reason]", "ONERROR=window")
    console.page.click("main button:has-text('Search deliveries')")
    found = console.page.locator(".tab-panel tbody tr")
    expect(found.first).to_contain_text(SCRIPT)
    expect(found.first).to_contain_text(f"{user}-iphone")
    expect(console.page.locator("main tbody tr", has_text=message[:6]).last).to_contain_text("refused by APNs")
    console.page.click("[role=tab][data-key=person]")
    console.page.fill("input[name=why-user]", user)
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text(f"APNs has refused the push for good ({SCRIPT})")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    lane = console.page.locator("main .lane", has_text=f"{user}-iphone")
    expect(lane).to_contain_text(f"APNs has refused the push for good ({SCRIPT})")
    lane.locator("summary:has-text('Step by step')").click()
    expect(lane.locator(".steps")).to_contain_text(f"400 {SCRIPT}")
    assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0


def test_an_outage_of_apns_is_seen_as_a_pause_and_ends_by_itself(console):
    stage = console.stage
    key = stage.operator_key()
    console.go("#/apps/demo", "demo")
    console.wait_for_stream()
    apple(stage, "/faults", {"rules": [{"fault": "outage"}]})
    try:
        # The first finds out; the other waits from its start.
        stage.backend.say("alice", "bob", "Into the outage")
        deadline = time.monotonic() + 20
        while all(lane["state"] == "usable" for lane in stage.site.call("GET", "/v1/apps/demo/statistics", key=key)["lanes"]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        message = stage.backend.say("alice", SCRIPT, "Behind it")
        stage.backend.wait_for_open_leg(message, SCRIPT, "provider_down")
        expect(console.main.locator(".attention")).to_contain_text("APNs does not answer")
        expect(console.main.locator("section.card", has_text="What waits for APNs").locator("tbody tr", has_text="paused")).to_contain_text("APNs does not answer")
    finally:
        apple(stage, "/faults", {})
    console.go(f"#/apps/demo/messages/{message}", "Message")
    lane = console.page.locator("main .lane", has_text="x-iphone")
    # The longer it lasted, the longer the server leaves APNs alone.
    expect(lane).to_contain_text("APNs took the push for x-iphone", timeout=40_000)
    expect(lane.locator(".lane-sentence")).to_contain_text("it was held up by “APNs down”")
    expect(lane.locator(".lane-line")).to_have_attribute("aria-label", re.compile("APNs down.*APNs"))


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


def test_a_persons_devices_are_told_with_token_environment_sight_lease_badge_and_notifications(console):
    stage = console.stage
    # Somebody new: a minute after nothing has happened to a person the server has forgotten what pushes told. The iPad comes when the push has
    # gone, which it would hold up.
    stage.add_phone("judy", "judy-iphone", stage.register_token("judy"))
    message = stage.backend.say("alice", "judy", "On the icon")
    stage.backend.wait_for_ends(message, "judy", "accepted")
    stage.add_phone("judy", "judy-ipad", stage.register_token("judy-ipad"), stays=True)
    unread = stage.backend.call("GET", "users/judy/unread")["unread"]
    pad, phone = stage.backend.call("GET", "users/judy/devices")["devices"]
    assert (pad["id"], pad["badge"], pad["last_seen_at"]) == ("judy-ipad", None, None)
    assert (phone["id"], phone["badge"]) == ("judy-iphone", unread)
    # The server reckons it anew for each answer, from two clocks of whole milliseconds.
    times = console.page.evaluate("at => [at - 1, at, at + 1].map(each => new Date(each).toISOString())", phone["last_seen_at"])
    seen = f"time:is({', '.join(f'[datetime={json.dumps(each)}]' for each in times)})"
    token = {device: f"{stage.tokens[device][:4]}…{stage.tokens[device][-4:]}" for device in ("judy-ipad", "judy-iphone")}
    allowed = ["allowed", "Banners, Sounds, Badge, Lock screen, and Notification list"]

    console.go("#/apps/demo/people/judy", "judy")
    rows = console.page.locator("main table[role=table]").first.locator("tbody tr")
    wanted = {
        "judy-ipad": {
            "Lease, last seen": ["in the foreground", "connected now"], "Badge": ["set by the app"],
            "Push token": ["registered", "sandbox", token["judy-ipad"]], "Notifications, as reported": allowed},
        "judy-iphone": {
            "Lease, last seen": ["gone"], "Badge": [str(unread)], "Push token": ["registered", "sandbox", token["judy-iphone"]],
            "Notifications, as reported": allowed},
    }
    for device, cells in wanted.items():
        for label, words in cells.items():
            for word in words:
                expect(rows.filter(has_text=device).locator(f"[data-label='{label}']")).to_contain_text(word)
    expect(rows.filter(has_text="judy-iphone").locator(f"[data-label='Lease, last seen'] {seen}")).to_have_count(1)

    console.go("#/apps/demo/people/judy/devices/judy-iphone", "judy-iphone")
    for label, words in {
        "Lease": ["gone"], "Badge": [f"{unread}, by the last push that APNs took"], "The next push tells": [str(unread)],
        "Push token": ["registered", token["judy-iphone"]], "Environment": ["sandbox"], "Notifications": ["allowed"],
    }.items():
        fact = console.page.locator("main dl.facts > div", has=console.page.locator("dt", has_text=re.compile(f"^{label}$")))
        for word in words:
            expect(fact.first).to_contain_text(word)
    expect(console.page.locator(f"main dl.facts {seen}")).to_have_count(1)
    assert stage.tokens["judy-iphone"] not in console.page.content()


def test_a_device_is_told_anew_when_the_app_goes_to_the_background(console):
    stage = console.stage
    console.go("#/apps/demo/people/judy/devices/judy-ipad", "judy-ipad")
    console.wait_for_stream()
    lease = console.page.locator("main dl.facts > div", has=console.page.locator("dt", has_text="Lease"))
    expect(lease).to_contain_text("in the foreground")
    try:
        stage.say_run_state("judy-ipad", "background", 90_000)
        expect(lease).to_contain_text("in the background")
        expect(lease).to_contain_text(re.compile(r"until \d\d:\d\d:\d\d"))
        expect(console.page.locator("main .page-head .chips")).to_contain_text("in the background")
    finally:
        stage.say_run_state("judy-ipad", "foreground")
    expect(lease).to_contain_text("in the foreground")


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
    # A server that stops waits ten seconds for those who are there.
    console.stage.drop_phones()
    site.server.stop()
    expect(console.page.locator(".live")).to_contain_text("Reconnecting")
    site.start()
    console.wait_for_stream()
    message = console.stage.backend.say("alice", "bob", "After the restart")
    expect(lines(console).filter(has_text=message)).to_be_visible()


MUTED = "carol-iphone of carol stayed silent because carol has muted this conversation"


def test_a_message_is_drawn_before_the_phones_are_known(console, stage):
    held = []
    # Playwright keeps what it makes of a handler on it, which no method of a list takes.
    console.page.route("**/v1/phones", lambda route: held.append(route))
    console.go("#/apps/demo/people/carol", "carol")
    console.go(f"#/apps/demo/messages/{stage.messages['muted']}", "Message")
    expect(console.page.locator(".lane", has_text="carol-iphone")).to_be_visible()
    assert len(held) == 1
    held[0].abort()
    console.page.unroute("**/v1/phones")
    expect(console.page.locator(".lane", has_text="carol-iphone")).to_be_visible()


def test_why_somebodys_phone_was_silent(console):
    """Asked of a person and a time, without knowing any message or conversation."""
    console.go("#/apps/demo/people/carol", "carol")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text(MUTED)
    console.page.fill("input[name=why-at]", "2020-01-01T09:00")
    console.page.click("main button:has-text('Say why')")
    expect(console.main).to_contain_text("No message to this person at that time")


def test_why_silent_takes_any_person(console):
    console.go("#/apps/demo", "demo")
    console.page.click("main a:has-text('Why was a phone silent?')")
    expect(console.main).to_contain_text("In this browser’s time zone")
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
    console.page.select_option("select[name=legs-state]", "no_device")
    console.page.click("main button:has-text('Search deliveries')")
    expect(console.page.locator(".field-error:visible")).to_contain_text("type an id")
    console.page.select_option("select[name=legs-state]", "open")
    console.page.fill("input[name=legs-user]", "frank")
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("quiet hours")
    console.page.select_option("select[name=legs-state]", "")
    console.page.fill("input[name=legs-user]", "")
    console.page.fill("input[name=legs-device]", "gina-iphone")
    console.page.fill("input[name=legs-reason]", "TOKEN_dead")
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("gina-iphone")
    # And by the time at which it was sent.
    console.page.fill("input[name=legs-until]", "2020-01-01T09:00")
    console.page.click("main button:has-text('Search deliveries')")
    expect(console.page.locator(".tab-panel")).to_contain_text("No delivery found")
    console.page.fill("input[name=legs-until]", "")
    console.page.fill("input[name=legs-since]", time.strftime("%Y-%m-%dT%H:%M", time.localtime(time.time() - 3_600)))
    console.page.click("main button:has-text('Search deliveries')")
    expect(found.first).to_contain_text("gina-iphone")


def test_what_deliveries_wait_for_leads_to_those_deliveries(console):
    """The bar of the overview, without knowing whose they are."""
    backend = console.stage.backend
    message = backend.say("alice", "frank", "Still asleep?")
    backend.wait_for_open_leg(message, "frank", "quiet_hours")
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo")
    console.page.locator(".bars a", has_text="quiet hours").click()
    expect(console.page.locator("select[name=legs-state]")).to_have_value("wait:quiet_hours")
    expect(console.page.locator("input[name=legs-user]")).to_have_value("")
    found = console.page.locator(".tab-panel tbody tr")
    expect(found.filter(has_text=message).first).to_contain_text("frank")
    console.page.select_option("select[name=legs-state]", "wait:provider_down")
    console.page.click("main button:has-text('Search deliveries')")
    expect(console.page.locator(".tab-panel")).to_contain_text("No delivery found")


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
    expect(lane).to_contain_text("failed, which decides")


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


KATES = [str(uuid.UUID(int=0x83fc46e7419040a396bc3a4800000000 + each)) for each in (0x8035d0, 0x80a1b2, 0x80c3d4)]


def test_devices_are_called_by_whose_they_are_and_what(console):
    """Ids that a program has made say nothing: they stand in the title, and their ends tell two of a kind apart."""
    stage = console.stage
    stage.add_phone("kate", KATES[0], stage.register_token("kate"), platform="ios", system="17.2", model="iPhone16,1")
    stage.add_phone("kate", KATES[1], None, platform="macos", system="14.1")
    message = stage.backend.say("alice", "kate", "To both")
    stage.backend.wait_for_ends(message, "kate", "accepted", "no_token")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    lane = console.page.locator("main .lane", has_text="kate’s iPhone")
    expect(lane.locator(".lane-sentence")).to_contain_text("APNs took the push for kate’s iPhone ")
    expect(lane.locator("a.device")).to_have_attribute("title", f"iPhone16,1 · iOS 17.2 · {KATES[0]}")
    assert KATES[0] not in console.main.inner_text()
    expect(console.main).to_contain_text("kate’s Mac could not be pushed: its app has registered no push token.")
    lane.locator("a.device").first.click()
    expect(console.page.locator("main h1")).to_have_text("Devicekate’s iPhone")
    expect(console.main).to_contain_text("iPhone16,1 · iOS 17.2")
    console.go("#/apps/demo/people")
    stage.add_phone("kate", KATES[2], stage.register_token("kate-2"), platform="ios", system="16.0")
    console.go("#/apps/demo/people/kate", "kate")
    for name in ("kate’s iPhone (35d0)", "kate’s iPhone (c3d4)", "kate’s Mac"):
        expect(console.page.locator("main a.device", has_text=name)).to_be_visible()


def test_why_silent_says_first_what_was_silent_and_folds_the_rest_away(console):
    stage = console.stage
    stage.add_phone("lena", "lena-iphone", stage.register_token("lena"), stays=True, disposition=None)
    message = stage.backend.say("alice", "lena", "Are you frozen?")
    stage.backend.wait_for_ends(message, "lena", "accepted")
    console.go("#/apps/demo/messages?find=person", "Messages")
    console.page.fill("input[name=why-user]", "lena")
    console.page.click("main button:has-text('Say why')")
    expect(console.page.locator("main .count")).to_have_text("1 message, none silent.")
    console.page.click("main summary:has-text('1 delivery that was not silent')")
    expect(console.page.locator("main .lane-sentence")).to_contain_text(re.compile(r"^The phone did not answer for [\d.]+ sec, so it was pushed\. APNs took the push for lena-iphone of lena"))
    stage.backend.set_level("lena", "PR:alice", "blocked")
    muted = stage.backend.say("alice", "lena", "And muted?")
    stage.backend.wait_for_ends(muted, "lena", "muted")
    console.page.click("main button:has-text('Say why')")
    expect(console.page.locator("main .count")).to_have_text("2 messages, 1 silent on a device.")
    expect(console.page.locator("main .lane-sentence").first).to_contain_text("lena-iphone of lena stayed silent because lena has muted")
    expect(console.page.locator("main details .lane-sentence")).to_be_hidden()


def test_the_senders_own_devices_are_told_that_they_wrote_it(console):
    stage = console.stage
    stage.add_phone("mona", "mona-iphone", stage.register_token("mona"))
    message = stage.backend.say("mona", "bob", "From the backend")
    stage.backend.wait_for_ends(message, "mona", "not_notifiable")
    console.go(f"#/apps/demo/messages/{message}", "Message")
    expect(console.main).to_contain_text("mona wrote it on another device, so nothing rings on mona-iphone.")
