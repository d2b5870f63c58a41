"""Apps, keys and operators, by clicking: what is made, told once, changed and taken away."""

from __future__ import annotations

import uuid

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
    expect(console.page.locator("dialog pre")).to_contain_text("tk_")
    key = console.page.locator("dialog pre").inner_text().strip()
    console.page.click("dialog button:has-text('I have kept it')")
    assert console.stage.site.call("GET", f"/v1/apps/{name}/statistics", key=key)["connections"] == 0
    # An empty app says what to do next, and can be suspended after its name was typed.
    console.go(f"#/apps/{name}/people", "People")
    expect(console.main).to_contain_text("Nobody yet")
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
    expect(console.page.locator("dialog pre")).to_contain_text("to_")
    console.page.click("dialog button:has-text('I have kept it')")
    row = console.page.locator("main tbody tr", has_text=name)
    expect(row).to_contain_text("view")
    row.locator("button:has-text('Change role')").click()
    console.page.select_option("dialog select", "send")
    console.page.click("dialog button[type=submit]")
    expect(row).to_contain_text("send")
    row.locator("button:has-text('Remove')").click()
    console.page.fill("dialog input", name)
    console.page.click("dialog button[type=submit]")
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


def test_the_overview_draws_the_hour_the_server_has_kept_at_once(console):
    console.go("#/apps/demo/people", "People")
    console.go("#/apps/demo", "demo")
    charts = console.main.locator("figure.chart")
    expect(charts).to_have_count(5)
    expect(console.main).to_contain_text("Counted since")
    expect(console.main.locator("section.card", has_text="What waits for APNs")).to_be_visible()
    expect(console.main.locator("section.card", has_text="How fast it goes").locator("tbody tr")).to_have_count(4)
    # What has not ended stands beside what has: frank's quiet hours hold a message back.
    expect(console.main.locator("section.card", has_text="What deliveries wait for")).to_contain_text("quiet hours")
    ended = console.main.locator("section.card", has_text="How deliveries ended")
    expect(ended).to_contain_text("in the last hour")
    ended.locator("summary", has_text="Since the server was started").click()
    expect(ended.locator("details[open] .bars li").first).to_be_visible()
