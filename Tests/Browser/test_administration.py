"""Apps, keys and operators, by clicking: what is made, told once, changed and taken away."""

from __future__ import annotations

import time
import urllib.parse
import uuid

from console_stage import SCRIPT
from playwright.sync_api import expect


def test_an_app_is_made_and_its_secret_told_once(console):
    name = f"shop{uuid.uuid4().hex[:6]}"
    console.go("#/apps", "Apps")
    console.page.click("main button:has-text('New app')")
    console.page.fill("dialog input[name=id]", "no spaces")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("must")
    console.page.fill("dialog input[name=id]", name)
    console.page.fill("dialog input[name=topics]", "com.example.shop")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_contain_text(f"Token secret of {name}")
    assert len(console.page.locator("dialog pre").inner_text().strip()) == 64
    console.page.click("dialog button:has-text('I have kept it')")
    expect(console.page.locator("main h1")).to_contain_text("Settings and keys")
    expect(console.main).to_contain_text("No API key yet")
    # An API key for it, told once, too.
    console.page.click("main button:has-text('New API key')")
    console.page.fill("dialog input[type=text]", "backend")
    console.page.click("dialog label:has-text('trace')")
    console.page.click("dialog button[type=submit]")
    console.confirm()
    expect(console.page.locator("dialog pre")).to_contain_text("tk_")
    key = console.page.locator("dialog pre").inner_text().strip()
    console.page.click("dialog button:has-text('I have kept it')")
    assert console.stage.site.call("GET", f"/v1/apps/{name}/statistics", key=key)["connections"] == 0
    # An empty app says what to do next, and can be suspended after its name was typed.
    console.go(f"#/apps/{name}/people", "People")
    expect(console.main).to_contain_text("Nobody yet")
    console.go(f"#/apps/{name}/settings?tab=storage", "Settings")
    expect(console.main).to_contain_text("Nothing is kept yet")
    console.go(f"#/apps/{name}", name)
    expect(console.main).to_contain_text("No push credential is active")
    console.go(f"#/apps/{name}/settings", "Settings")
    console.page.click("main button:has-text('Suspend')")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog")).to_contain_text(f"Type {name} to confirm")
    console.page.fill("dialog input", name)
    console.page.click("dialog button[type=submit]")
    expect(console.main).to_contain_text("This app is suspended")


def test_settings_are_saved_and_what_breaks_a_rule_is_told_beside_it(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/settings", "Settings")
    members = console.main.locator(".field", has_text="Members of a group at most").locator("input")
    members.fill("9999")
    console.page.click("main button:has-text('Save')")
    expect(console.main.locator(".field", has_text="Members of a group at most").locator(".field-error")).to_contain_text("must")
    members.fill("250")
    console.page.click("main button:has-text('Save')")
    expect(console.page.locator("#toasts")).to_contain_text("Saved")
    settings = console.stage.site.call("GET", "/v1/apps/demo", key=console.stage.operator_key())
    assert (settings.get("app") or settings)["settings"]["members_max"] == 250
    console.page.click("[role=tab][data-key=limits]")
    console.page.fill("input[aria-label='messages: One person']", "100/600")
    console.page.click("main button:has-text('Save')")
    expect(console.page.locator("#toasts").last).to_contain_text("Saved")
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/settings?tab=limits", "Settings")
    expect(console.page.locator("input[aria-label='messages: One person']")).to_have_value("100/600")


def test_what_is_kept_is_shown_by_kind(console):
    kept = console.stage.site.call("GET", "/v1/apps/demo/storage", key=console.stage.operator_key())
    assert kept["people"]["number"] > 0
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/settings?tab=storage", "Settings")
    rows = console.main.locator("tbody tr")
    expect(rows).to_have_count(len(kept))
    expect(rows.filter(has_text="Messages, without recalled ones")).to_have_count(1)
    expect(rows.filter(has=console.page.get_by_role("rowheader", name="People", exact=True))).to_contain_text(str(kept["people"]["number"]))


def save(console) -> int:
    """Saves settings; says with which status they were answered."""
    with console.page.expect_response(lambda answer: answer.request.method == "PUT" and answer.url.endswith("/settings")) as answer:
        console.page.click("main button:has-text('Save')")
    return answer.value.status


def test_words_of_notifications_are_kept_by_language(console):
    stage = console.stage
    words = lambda: stage.site.call("GET", "/v1/apps/demo", key=stage.operator_key())["settings"]["words"]  # noqa: E731
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/settings?tab=words", "Settings")
    console.page.click("main button:has-text('Add a language')")
    added = console.main.locator("fieldset.word-set").last
    added.get_by_label("Language", exact=True).fill("de")
    added.get_by_label("Where no text may be shown").fill("Neue Nachricht")
    added.get_by_label("For several at once").fill("{count} neue Nachrichten")
    # A language that the server has no words of its own in needs all of them; what is missing is told beside it.
    assert save(console) == 400
    expect(added.locator(".field-error:visible")).to_contain_text("must be 1 to 256 bytes")
    for label, text in [("For who hides", "Verborgen"), ("In the place of a recalled message", "Zurückgenommen"), ("For kinds without", "Etwas Neues")]:
        added.get_by_label(label).fill(text)
    assert save(console) == 200
    assert (words()["languages"]["de"]["neutral"], words()["languages"]["de"]["several"]) == ("Neue Nachricht", "{count} neue Nachrichten")
    console.page.reload()
    kept = console.main.locator("fieldset.word-set", has_text="de")
    expect(kept.get_by_label("Language", exact=True)).to_have_value("de")
    expect(kept.get_by_label("Where no text may be shown")).to_have_value("Neue Nachricht")
    expect(kept.get_by_label("For several at once")).to_have_value("{count} neue Nachrichten")
    expect(kept.get_by_label("In the place of a recalled message")).to_have_value("Zurückgenommen")
    kept.locator("button:has-text('Remove this language')").click()
    assert save(console) == 200
    assert "de" not in words()["languages"]


def test_a_change_that_somebody_else_was_faster_with_is_refused(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/settings", "Settings")
    key = console.stage.operator_key()
    info = console.stage.site.call("GET", "/v1/apps/demo", key=key)
    info = info.get("app") or info
    console.stage.site.call("PUT", "/v1/apps/demo/settings", {**info["settings"], "name": "Changed"}, key=key)
    console.page.click("main button:has-text('Save')")
    expect(console.page.locator("main .problem")).to_contain_text("Somebody else has changed the app")
    console.stage.site.call("PUT", "/v1/apps/demo/settings", {**info["settings"], "name": None}, key=key)


def test_an_operator_is_added_given_another_role_and_removed(console):
    name = f"op-{uuid.uuid4().hex[:6]}"
    console.go("#/operators", "Operators")
    console.page.click("main button:has-text('Add an operator')")
    console.page.fill("dialog input", name)
    console.page.click("dialog button[type=submit]")
    console.confirm("a wrong one")
    expect(console.page.locator("dialog .field-error:visible")).to_contain_text("must be your password")
    console.confirm()
    expect(console.page.locator("dialog pre")).to_contain_text("to_")
    console.page.click("dialog button:has-text('I have kept it')")
    row = console.page.locator("main tbody tr", has_text=name)
    expect(row).to_contain_text("view")
    row.locator("button:has-text('Change role')").click()
    console.page.select_option("dialog select", "send")
    console.page.click("dialog button[type=submit]")
    console.confirm()
    expect(row).to_contain_text("send")
    row.locator("button:has-text('Remove')").click()
    console.page.fill("dialog input", name)
    console.page.click("dialog button[type=submit]")
    console.confirm()
    expect(row).to_have_count(0)
    console.go("#/audit", "Audit")
    expect(console.page.locator("main tbody tr", has_text=name).first).to_contain_text("remove an operator")


def test_another_apps_people_are_not_seen(console):
    """The page of one app asks for nothing of another: what it shows is what the server has of that app."""
    key = console.stage.operator_key()
    name = f"apart{uuid.uuid4().hex[:6]}"
    console.stage.site.call("POST", "/v1/apps", {"id": name}, key=key)
    console.page.reload()
    console.page.wait_for_selector("nav.side-nav")
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    for part in ("", "/people", "/messages", "/pushes", "/credentials", "/audit"):
        console.go(f"#/apps/{name}{part}")
        assert "bob" not in console.main.inner_text()
    assert not [url for url in asked if "/v1/apps/demo" in url]


def test_a_question_goes_with_its_page(console):
    console.go("#/operators", "Operators")
    console.page.click("main button:has-text('Add an operator')")
    expect(console.page.locator("dialog")).to_be_visible()
    console.page.go_back()
    expect(console.page.locator("dialog")).to_have_count(0)


def test_whoever_administers_sees_the_server_and_its_backup(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps", "Apps")
    server = console.main.locator("section.card", has=console.page.locator("h2", has_text="The server"))
    expect(server).to_contain_text("Version")
    expect(server).to_contain_text("none made by this server")


def test_conversations_are_listed_with_their_members(console):
    console.stage.site.call("PUT", "/v1/apps/demo/conversations/GRP/listed", {"name": "Listed here", "members": ["bob", "dave"]})
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/conversations", "Conversations")
    row = console.main.locator("tr", has_text="Listed here")
    expect(row).to_contain_text("2")
    row.locator("a").click()
    expect(console.page.locator("main h1")).to_contain_text("Listed here")


def test_who_is_in_a_group_and_may_write_is_told_with_what_was_written(console):
    backend = console.stage.backend
    until = int(time.time() * 1_000) + 86_400_000
    backend.call("PUT", "conversations/GRP/crew", {"name": "Crew", "members": [
        {"user": "alice", "role": "owner"}, {"user": "bob", "role": "admin", "nickname": "Bobby"}, {"user": "dave"}, {"user": "uma"}]})
    backend.call("PUT", "conversations/GRP/crew/mutes/dave", {})
    backend.call("PUT", "conversations/GRP/crew/mutes/uma", {"until": until})
    backend.say("alice", "crew", "All hands", kind="GRP")
    console.go("#/apps/demo/conversations/GRP/crew", "Crew")
    members = console.main.locator("section.card", has=console.page.get_by_role("heading", name="Members", exact=True)).locator("tbody tr")
    expect(members).to_have_count(4)
    for user, *words in [("alice", "owner", "may write"), ("bob", "admin", "Bobby", "may write"), ("dave", "member", "may not write"),
                         ("uma", "member", "may not write until")]:
        for word in words:
            expect(members.filter(has=console.page.get_by_role("link", name=user, exact=True))).to_contain_text(word)
    expect(console.main.locator("table", has_text="Muted members").locator("tbody tr")).to_have_count(2)
    assert "All hands" not in console.main.inner_text()
    console.page.fill("input[name=reader]", "dave")
    console.page.click("main button:has-text('Show content')")
    expect(console.main).to_contain_text("All hands")
    # Of what is unread, the person's page has the number for each conversation.
    backend.say("bob", "uma", "One more")
    members.get_by_role("link", name="uma", exact=True).click()
    expect(console.page.locator("main h1")).to_have_text("uma")
    expect(console.main.locator(".tile", has_text="Unread").first).to_contain_text("2")
    conversations = console.main.locator("section.card", has=console.page.get_by_role("heading", name="Conversations", exact=True)).locator("tbody tr")
    expect(conversations).to_have_count(2)
    for row in conversations.all():
        expect(row.locator("[data-label=Unread]")).to_have_text("1")


def test_accounts_are_listed_with_who_speaks_for_them(console):
    backend = console.stage.backend
    backend.call("PUT", "accounts/MP/daily", {"audience": "followers", "owner": "alice", "operators": ["bob"]})
    backend.call("PUT", "accounts/MP/daily/followers/carol")
    backend.call("PUT", "accounts/CS/help")
    backend.call_person("daily", "Daily news")
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/conversations", "Conversations")
    accounts = console.main.locator("section.card", has=console.page.get_by_role("heading", name="Accounts", exact=True))
    daily = accounts.locator("tbody tr", has_text="daily")
    for words in ("Daily news", "followers", "alice", "bob"):
        expect(daily).to_contain_text(words)
    expect(daily.locator("[data-label=Followers]")).to_have_text("1")
    expect(accounts.locator("tbody tr", has_text="help")).to_contain_text("the backend")
    for account in ("MP/daily", "CS/help"):
        backend.call("DELETE", f"accounts/{account}")
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo/conversations", "Conversations")
    expect(accounts).to_contain_text("No account is declared")


def test_a_person_is_banned_and_let_in_again(console):
    console.stage.backend.call_person("vic", "Vic")
    console.stage.backend.call("PUT", "users/vic/blocked/mallory")
    console.go("#/apps/demo/people/vic", "Vic")
    expect(console.main.locator(".facts div", has_text="Has blocked")).to_contain_text("mallory")
    console.main.get_by_role("button", name="Ban", exact=True).click()
    console.page.fill("dialog [name=reason]", "spam")
    console.page.fill("dialog [name=until]", "2021-01-01T00:00")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator("dialog .field", has_text="End of the ban")).to_contain_text("must be in the future")
    console.page.fill("dialog [name=until]", "2099-01-01T00:00")
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator(".page-head .chip")).to_have_text("banned")
    expect(console.main.locator(".facts div", has_text="Reason of the ban")).to_contain_text("spam")
    expect(console.main.locator(".facts div", has_text="End of the ban")).to_contain_text("2099")
    told = console.stage.backend.call("GET", "users/vic")
    assert told["banned"] and told["ban"]["reason"] == "spam" and told["ban"]["until"] > 4_070_000_000_000
    console.main.get_by_role("button", name="Let in again").click()
    console.page.click("dialog button[type=submit]")
    expect(console.page.locator(".page-head .chip")).to_have_count(0)


def test_script_in_names_is_text(console):
    """Names of apps, groups, webhooks, people and accounts, and tags; those of keys and operators, which the server takes letters for alone,
    are told here in its form."""
    stage, key, app = console.stage, console.stage.operator_key(), f"odd{uuid.uuid4().hex[:6]}"
    quoted = urllib.parse.quote(SCRIPT, safe="")
    ask = lambda method, path, body=None: stage.site.call(method, f"/v1/apps{path}", body, key=key)  # noqa: E731
    settings = ask("POST", "", {"id": app, "settings": {"name": SCRIPT}})["app"]["settings"]
    ask("PUT", f"/{app}/settings", {**settings, "tags": [SCRIPT]})
    webhook = ask("POST", f"/{app}/webhooks", {"name": SCRIPT, "url": "https://127.0.0.1:1/hook", "types": ["device_signed_out"]})["webhook"]["id"]
    ask("PUT", f"/{app}/users/{quoted}/profile", {"name": SCRIPT, "portrait": f"https://a/{SCRIPT}"})
    ask("PUT", f"/{app}/users/{quoted}/tags", {"tags": [SCRIPT]})
    ask("PUT", f"/{app}/users/{quoted}/aliases", {"aliases": [SCRIPT]})
    ask("PUT", f"/{app}/conversations/GRP/{quoted}", {"name": SCRIPT, "portrait": f"https://b/{SCRIPT}", "members": [
        {"user": SCRIPT, "role": "owner", "nickname": f"nick {SCRIPT}"}]})
    ask("PUT", f"/{app}/accounts/MP/{quoted}", {"operators": [SCRIPT]})
    at = int(time.time() * 1_000)

    def answer(route):
        told = route.fetch().json()
        if "operators" in told:
            told["operators"][0] |= {"name": SCRIPT}
        else:
            told["api_keys"] = [{"name": SCRIPT, "scopes": [SCRIPT], "created_at": at, "last_used_at": None, "previous_ends_at": None}]
            told["client_keys"] = [{"name": f"client {SCRIPT}", "key": SCRIPT, "created_at": at, "revoked_at": None}]
        route.fulfill(json=told)

    patterns = [f"**/v1/apps/{app}", "**/v1/operators?*"]
    for pattern in patterns:
        console.page.route(pattern, answer)
    try:
        console.page.reload()
        console.page.wait_for_selector("nav.side-nav")
        for address, *words in [
            ("#/apps", SCRIPT), (f"#/apps/{app}", SCRIPT), (f"#/apps/{app}/webhooks", SCRIPT), (f"#/apps/{app}/webhooks/{webhook}", SCRIPT),
            (f"#/apps/{app}/people/{quoted}", SCRIPT, f"https://a/{SCRIPT}"), (f"#/apps/{app}/conversations", SCRIPT),
            (f"#/apps/{app}/conversations/GRP/{quoted}", f"nick {SCRIPT}", f"https://b/{SCRIPT}"), ("#/operators", SCRIPT),
            (f"#/apps/{app}/settings?tab=keys", SCRIPT, f"client {SCRIPT}"), (f"#/apps/{app}/audit", SCRIPT),
        ]:
            console.go(address)
            for word in words:
                expect(console.main).to_contain_text(word)
            assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0, address
        # In questions and fields, too.
        console.go(f"#/apps/{app}/settings?tab=keys", "Settings")
        console.main.locator("tbody tr", has_text=SCRIPT).first.locator("button:has-text('Remove')").click()
        expect(console.page.locator("dialog")).to_contain_text(SCRIPT)
        console.page.keyboard.press("Escape")
        console.page.click("[role=tab][data-key=general]")
        expect(console.main.locator(".field", has_text="Tags").locator("input")).to_have_value(SCRIPT)
        console.go(f"#/apps/{app}/people/{quoted}")
        console.page.click("main summary:has-text('Aliases and tags')")
        for field in ("Aliases", "Tags"):
            expect(console.main.locator("form .field", has_text=field).last.locator("input")).to_have_value(SCRIPT)
        assert console.page.evaluate("window.hit") is None and console.page.locator("main img").count() == 0
    finally:
        for pattern in patterns:
            console.page.unroute(pattern)


def test_the_overview_draws_the_hour_the_server_has_kept_at_once(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo", "demo")
    charts = console.main.locator("figure.chart")
    expect(charts).to_have_count(4)
    # What was sent stands above the charts; times are drawn from 1 ms on, each line ten times the one below.
    expect(console.main.locator("section.card", has_text="Just now").locator(".message-line").first).to_be_visible()
    times = charts.filter(has_text="Stored to device").locator(".plot-ticks span")
    assert times.all_inner_texts()[:3] == ["1 ms", "10 ms", "100 ms"]
    slowest = console.main.locator("section.card", has_text="How fast it goes").locator(".message-line")
    expect(slowest).to_have_count(3)
    # A sender's own device is no delivery.
    expect(console.main.locator("section.card", has_text="How deliveries ended").locator(".bars").first).not_to_contain_text("sent from here")
    expect(console.main).to_contain_text("Counted since")
    expect(console.main.locator("section.card", has_text="What waits for APNs")).to_be_visible()
    expect(console.main.locator("section.card", has_text="How fast it goes").locator("tbody tr")).to_have_count(4)
    # What has not ended stands beside what has: frank's quiet hours hold a message back.
    expect(console.main.locator("section.card", has_text="What deliveries wait for")).to_contain_text("quiet hours")
    ended = console.main.locator("section.card", has_text="How deliveries ended")
    expect(ended).to_contain_text("in the last hour")
    ended.locator("summary", has_text="Since the server was started").click()
    expect(ended.locator("details[open] .bars li").first).to_be_visible()


def test_a_new_app_shows_four_steps_to_its_first_push_ticked_as_they_are_done(console):
    stage = console.stage
    key = stage.operator_key()
    stage.site.call("POST", "/v1/apps", {"id": "steps"}, key=key)
    console.go("#/apps", "Apps")
    console.page.reload()
    console.page.wait_for_selector("main h1")
    console.go("#/apps/steps", "steps")
    steps = console.page.locator("main .start-step")
    expect(steps).to_have_count(4)
    expect(console.page.locator("main .start-done")).to_have_count(0)
    expect(console.page.locator("main figure.chart:visible")).to_have_count(0)
    stage.site.call("POST", "/v1/apps/steps/api-keys", {"name": "backend", "scopes": ["messages"]}, key=key)
    expect(console.page.locator("main .start-done")).to_contain_text("Make an API key", timeout=20_000)
    expect(console.page.locator("main .start-done")).to_have_count(1)
    steps.first.locator("a").click()
    expect(console.page.locator("main h1")).to_contain_text("Settings and keys")
    console.go("#/apps/demo", "demo")
    expect(console.page.locator("main figure.chart:visible")).to_have_count(4)
    expect(console.page.locator("main .start-step")).to_have_count(0)
