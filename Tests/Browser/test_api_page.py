"""The page API: the reference of the HTTP API, made from what the server says of itself."""

from __future__ import annotations

import json
import urllib.request

import pytest
from playwright.sync_api import expect
from test_every_page import KEYS_SHOWN, OVERFLOW, find_serious


@pytest.fixture(scope="module")
def description(stage) -> dict:
    with urllib.request.urlopen(f"{stage.site.api}/openapi.json", timeout=20) as answer:
        return json.load(answer)


def operations(description: dict) -> set[str]:
    return {it["operationId"] for methods in description["paths"].values() for name, it in methods.items() if name != "servers"}


def test_it_has_every_operation_and_schema_and_shows_each_whole(console, description):
    console.go("#/api", "HTTP API")
    names = set(console.page.locator("details[data-name]").evaluate_all("all => all.map(each => each.dataset.name)"))
    assert names == operations(description) | set(description["components"]["schemas"])
    console.page.evaluate("() => { for (const each of document.querySelectorAll('details[data-name]')) each.open = true; }")
    expect(console.page.locator("details[data-name] .disclosure-body:empty")).to_have_count(0)
    assert console.page.evaluate(KEYS_SHOWN) == []
    assert console.page.evaluate(OVERFLOW) == []


def test_an_operation_has_an_address_and_says_what_it_takes_and_answers(console):
    page = console.page
    # Examples name the app that the operator was at.
    console.go("#/apps/demo", "demo")
    console.go("#/api/sendMessage", "HTTP API")
    operation = page.locator("details[data-name=sendMessage]")
    expect(operation).to_have_attribute("open", "")
    expect(operation.locator("summary")).to_be_focused()
    expect(operation.locator("summary")).to_contain_text("POST /v1/apps/{app}/messages")
    expect(operation.locator("summary .chip")).to_have_text("messages")
    expect(operation.locator("tr", has=page.get_by_text("lifetime_ms", exact=True))).to_contain_text("1–2592000000")
    expect(operation.locator("tr", has=page.get_by_text("403", exact=True))).to_contain_text("missing_scope")
    expect(operation.locator(".code pre")).to_contain_text("/v1/apps/demo/messages'")
    expect(operation.locator(".code pre")).to_contain_text('"client_message_id":"order-4711"')
    assert find_serious(page) == []
    # A named schema is a link to it.
    operation.get_by_role("link", name="Conversation", exact=True).first.click()
    expect(page.locator("details[data-name=Conversation] summary")).to_be_focused()


def test_words_find_operations_also_from_every_page(console):
    page = console.page
    console.go("#/operators", "Operators")
    console.go("#/api", "HTTP API")
    page.fill("main input[name=find]", "put mute conversations")
    shown = page.locator("details[data-name]:visible")
    expect(shown).not_to_have_count(0)
    assert all("mute" in text.lower() for text in shown.all_inner_texts())
    page.fill("main input[name=find]", "no such operation")
    expect(page.locator("main .empty")).to_be_visible()
    console.go("#/operators", "Operators")
    page.keyboard.press("Control+k")
    page.locator("dialog input[name=quick]").fill("recallMess")
    expect(page.locator("dialog [role=option]").first).to_contain_text("recallMessage")
    page.keyboard.press("Enter")
    expect(page.locator("details[data-name=recallMessage] summary")).to_be_focused()
