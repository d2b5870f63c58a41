"""Every page of the console: reachable by its address, readable at both widths and in both lights, accessible, in both languages."""

from __future__ import annotations

import urllib.parse

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

SCRIPT = "<img/src=x/onerror=window.hit=1>"
QUOTED = urllib.parse.quote(SCRIPT, safe="")
# Each with a word of its heading, in both languages.
PAGES = {
    "apps": ("#/apps", "Apps", "应用"),
    # Off here; test_phones.py has some.
    "phones": ("#/phones", "Phones", "手机"),
    "operators": ("#/operators", "Operators", "操作员"),
    "audit": ("#/audit", "Audit", "审计"),
    "api": ("#/api", "HTTP API", "HTTP API"),
    "overview": ("#/apps/demo", "demo", "demo"),
    "messages": ("#/apps/demo/messages", "Messages", "消息"),
    "message": ("#/apps/demo/messages/{group}", "Message", "消息"),
    "waiting message": ("#/apps/demo/messages/{late}", "Message", "消息"),
    "people": ("#/apps/demo/people", "People", "用户"),
    "person": ("#/apps/demo/people/carol", "carol", "carol"),
    "stranger": (f"#/apps/demo/people/{QUOTED}", "Bobby", "Bobby"),
    "device": ("#/apps/demo/people/bob/devices/bob-iphone", "bob-iphone", "bob-iphone"),
    "conversations": ("#/apps/demo/conversations", "Conversations", "会话"),
    "conversation": ("#/apps/demo/conversations/GRP/team", "Weekend team", "Weekend team"),
    "pushes": ("#/apps/demo/pushes", "Pushes", "推送"),
    "push": ("#/apps/demo/pushes/{push}", "Push", "推送"),
    "new push": ("#/apps/demo/pushes/new", "New push", "新建推送"),
    "new message": ("#/apps/demo/pushes/new?what=message", "Send a message", "发送消息"),
    "new silent push": ("#/apps/demo/pushes/new?what=silent", "Wake an app", "唤醒应用"),
    "credentials": ("#/apps/demo/credentials", "Push credentials", "推送证书"),
    "webhooks": ("#/apps/demo/webhooks", "Webhooks", "Webhook"),
    "webhook": ("#/apps/demo/webhooks/{webhook}", "Orders", "Orders"),
    "settings": ("#/apps/demo/settings", "Settings and keys", "设置与密钥"),
    "pushes' settings": ("#/apps/demo/settings?tab=push", "Settings and keys", "设置与密钥"),
    "keys": ("#/apps/demo/settings?tab=keys", "Settings and keys", "设置与密钥"),
    "limits": ("#/apps/demo/settings?tab=limits", "Settings and keys", "设置与密钥"),
    "words": ("#/apps/demo/settings?tab=words", "Settings and keys", "设置与密钥"),
    "storage": ("#/apps/demo/settings?tab=storage", "Settings and keys", "设置与密钥"),
    "audit of the app": ("#/apps/demo/audit", "Audit of the app", "应用审计"),
    "nowhere": ("#/apps/demo/nowhere", "There is nothing here", "这里什么都没有"),
    "no such app": ("#/apps/other", "There is nothing here", "这里什么都没有"),
}
# Words of ours that are found on a page as they stand are keys nobody has written words for.
KEYS_SHOWN = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    if (/^[a-z][A-Za-z]*(\\.[A-Za-z0-9_]+)+$/.test(text) && !walk.currentNode.parentElement.closest('code, bdi, pre') && !text.startsWith('com.')) {
      found.push(text);
    }
  }
  return found;
}"""
OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > width + 1)
    .slice(0, 5).map(each => each.tagName + '.' + each.getAttribute('class'));
}"""
# What can be pressed or typed into, and cards, each among its kind: none lies on another.
OVERLAPS = """() => {
  const seen = each => { const box = each.getBoundingClientRect(); return box.width > 1 && box.height > 1 && each.checkVisibility({visibilityProperty: true}); };
  const found = [];
  for (const kind of ['main a, main button, main input, main select, main textarea, main summary, main label.check', 'main .card, main .tiles, main .page-head', '.top > *']) {
    const all = [...document.querySelectorAll(kind)].filter(each => seen(each) && !each.closest('.off-screen') && !each.closest('.code'));
    for (let one = 0; one < all.length; one += 1) {
      for (let two = one + 1; two < all.length; two += 1) {
        if (all[one].contains(all[two]) || all[two].contains(all[one])) continue;
        const a = all[one].getBoundingClientRect(), b = all[two].getBoundingClientRect();
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 2 && high > 2) found.push(`${all[one].outerHTML.slice(0, 60)} | ${all[two].outerHTML.slice(0, 60)}`);
      }
    }
  }
  return found.slice(0, 5);
}"""


def find_serious(page, rules: list[str] | None = None) -> list:
    """What axe-core finds that is serious; by some rules only, if they are named. Its script stays in the page, which is one for all addresses."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("async options => (await axe.run(document, options)).violations", options)
    return [(each["id"], each["nodes"][0]["target"], each["nodes"][0]["failureSummary"])
            for each in found if each["impact"] in ("serious", "critical")]


def check_boxes(console, width: int):
    """At this width nothing scrolls sideways, and nothing lies on something else."""
    console.page.set_viewport_size({"width": width, "height": 860})
    console.settle()
    assert console.page.evaluate(OVERFLOW) == [], width
    assert console.page.evaluate(OVERLAPS) == [], width


def address_of(name: str, stage) -> str:
    return PAGES[name][0].format(**stage.places())


@pytest.mark.parametrize("name", PAGES)
def test_page(name, console, stage):
    """One visit for all that holds of each page: its heading has the focus, it has a title, nothing scrolls sideways, nothing lies on
    something else, no word is missing, and axe-core finds nothing serious; wide, between and narrow, light and dark."""
    page = console.page
    page.set_viewport_size({"width": 1280, "height": 860})
    address = address_of(name, stage)
    if page.evaluate("location.hash") == address:
        console.go("#/apps" if name != "apps" else "#/operators")
    console.go(address, PAGES[name][1])
    expect(page.locator("main h1")).to_be_focused()
    assert page.title().endswith(" · Tidings") and len(page.title()) > len(" · Tidings")
    assert page.locator("h1").count() == 1
    assert page.evaluate(KEYS_SHOWN) == []
    for width in (1280, 768, 390):
        check_boxes(console, width)
        for scheme in ("light", "dark"):
            # Between the two there is nothing that neither of them has.
            if width == 768:
                continue
            page.emulate_media(color_scheme=scheme)
            # Only colours differ in the dark, and they are the same at every width.
            if scheme == "dark" and width == 390:
                continue
            assert find_serious(page, ["color-contrast"] if scheme == "dark" else None) == [], (width, scheme)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 860})
    assert page.evaluate("window.hit") is None


def test_every_page_in_chinese(make_console, stage):
    console = make_console(locale="zh-CN", width=390)
    assert console.page.evaluate("document.documentElement.lang") == "zh-Hans"
    for name, (_, _, heading) in PAGES.items():
        console.go(address_of(name, stage), heading)
        assert console.page.evaluate(KEYS_SHOWN) == [], name
        assert console.page.evaluate(OVERFLOW) == [], name
    assert not console.errors


@pytest.mark.parametrize("locale, heading", [("en-US", "Sign in"), ("zh-CN", "登录")])
def test_the_sign_in_page(locale, heading, make_console, stage):
    """As every page; nobody is signed in here, so it has nothing of the frame. The form with what it refuses, and the link from a terminal."""
    console = make_console(locale=locale, who=None)
    page = console.page
    for fragment in ("", "#link=unused"):
        page.goto("about:blank")
        page.goto(f"{stage.url}{fragment}")
        expect(page.locator("main h1")).to_contain_text(heading)
        if not fragment:
            page.click("button[type=submit]")
            expect(page.locator("main .field-error:visible")).to_have_count(2)
        assert page.title().endswith(" · Tidings") and page.locator("h1").count() == 1
        assert page.evaluate(KEYS_SHOWN) == []
        for width in (1280, 768, 390):
            check_boxes(console, width)
        # Colours are the same in every language.
        for scheme in ("light", "dark") if locale == "en-US" else ("light",):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert find_serious(page, ["color-contrast"] if scheme == "dark" else None) == [], (fragment, scheme)
    assert not console.errors


def test_the_app_stays_beside_the_pages_of_the_server(console):
    """Whoever looks at operators or the audit finds the way back where it was."""
    console.go("#/apps/demo")
    console.go("#/operators", "Operators")
    expect(console.page.locator(".app-chooser select")).to_have_value("demo")
    expect(console.page.locator("nav.side-nav [aria-current]")).to_have_text("Operators")
    console.page.click("nav.side-nav a:has-text('Messages')")
    expect(console.page.locator("main h1")).to_have_text("Messages")


def test_words_of_other_pages_come_with_the_first_of_them(make_console):
    console = make_console()
    names = "performance.getEntriesByType('resource').map(each => each.name.split('/').pop()).filter(each => each.startsWith('text-'))"
    console.go("#/apps/demo", "demo")
    console.page.reload()
    expect(console.page.locator("main h1")).to_have_text("demo")
    assert console.page.evaluate(names) == ["text-en.js"]
    console.go("#/apps/demo/people", "People")
    assert console.page.evaluate(names) == ["text-en.js", "text-pages-en.js", "text-sentences-en.js"]
    assert not console.errors


def test_the_language_is_chosen_and_kept(make_console):
    console = make_console(locale="fr-FR")
    expect(console.page.locator("main h1")).to_be_visible()
    console.page.click("button[aria-label='Language']")
    console.page.click("text=简体中文")
    expect(console.page.locator("nav.side-nav")).to_contain_text("操作员")
    console.page.reload()
    expect(console.page.locator("nav.side-nav")).to_contain_text("操作员")


def test_light_or_dark_is_chosen_and_kept(make_console):
    console = make_console()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = console.page.evaluate(ground)
    console.page.click("button[aria-label='Light or dark']")
    console.page.click(".menu-item:has-text('Dark')")
    dark = console.page.evaluate(ground)
    assert light != dark
    console.page.reload()
    console.page.wait_for_selector("nav.side-nav")
    assert console.page.evaluate(ground) == dark


def test_everything_is_reached_by_keyboard(console):
    """From the top: the skip link, then the frame, then the page; a card is opened and closed without a mouse."""
    page = console.page
    console.go("#/apps/demo/messages", "Messages")
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("input[name=find]")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("[role=tab][data-key=newest]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[role=tab][data-key=person]")).to_be_focused()
    expect(page.locator("[role=tabpanel] input[name=why-user]")).to_be_visible()
    page.evaluate("document.body.removeAttribute('tabindex')")


FOCUS = """() => {
  const {activeElement: held} = document;
  return held === document.body ? 'browser' : held.closest('dialog') ? 'dialog' : 'page';
}"""


def hold_focus_in_dialog(console):
    """From stop to stop, and backwards: in a dialog, or with the browser itself, never in what lies behind; Escape closes it."""
    page = console.page
    expect(page.locator("dialog")).to_be_visible()
    stops = []
    for key in ("Tab",) * 7 + ("Shift+Tab",) * 7:
        stops.append(page.evaluate(FOCUS))
        page.keyboard.press(key)
    assert stops[0] == "dialog" and set(stops) <= {"dialog", "browser"} and stops.count("dialog") >= 10, stops
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_dialog_keeps_the_focus_and_gives_it_back(console):
    page = console.page
    console.go("#/operators", "Operators")
    # A question, opened from the page.
    opener = console.main.locator("tbody tr", has_text="vera").get_by_role("button", name="Remove")
    opener.focus()
    page.keyboard.press("Enter")
    hold_focus_in_dialog(console)
    expect(opener).to_be_focused()
    # The form for a password, from a menu, which is closed by then: its button stands for it.
    menu = page.locator("button[aria-label^='Signed in as']")
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".menu-item:has-text('Change password')")).to_be_focused()
    page.keyboard.press("Enter")
    hold_focus_in_dialog(console)
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")


def test_back_and_forward_go_from_page_to_page(console):
    console.go("#/apps/demo/people", "People")
    console.page.click("main a:has-text('carol')")
    expect(console.page.locator("main h1")).to_contain_text("carol")
    console.page.go_back()
    expect(console.page.locator("main h1")).to_contain_text("People")
    console.page.go_forward()
    expect(console.page.locator("main h1")).to_contain_text("carol")


def test_the_first_load_is_small_and_from_this_server_alone(make_console, stage):
    console = make_console(who=None)
    sizes: dict[str, int] = {}
    console.page.on("response", lambda answer: sizes.__setitem__(answer.url, int(answer.headers.get("content-length", 0))))
    console.sign_in()
    console.page.wait_for_selector("main h1")
    origin = stage.url.removesuffix("/console/")
    assert all(url.startswith(origin) for url in sizes), sizes
    pages = {url: size for url, size in sizes.items() if "/console/" in url}
    assert 20_000 < sum(pages.values()) < 200_000, pages


def test_a_page_works_without_a_script_in_its_markup(make_console):
    """The policy of the answer allows no inline script or style; nothing asks for one."""
    console = make_console()
    console.go("#/apps/demo", "demo")
    assert not [error for error in console.errors if "Content Security Policy" in error]
    assert console.page.locator("[style]").evaluate_all(
        "all => all.filter(each => [...each.style].some(name => !name.startsWith('--'))).length") == 0


def test_ctrl_k_finds_ids_people_and_pages_by_keyboard(console, stage):
    page = console.page
    console.go("#/apps/demo/people", "People")
    page.keyboard.press("Control+k")
    field = page.locator("dialog input[name=quick]")
    expect(field).to_be_focused()
    assert find_serious(page) == []
    # A page, by its name; the second one by the arrow.
    field.fill("push")
    expect(page.locator("dialog [role=option][aria-selected=true]")).to_contain_text("Pushes")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("dialog [role=option][aria-selected=true]")
    expect(chosen).to_contain_text("Push credentials")
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Push credentials")
    expect(page.locator("dialog")).to_have_count(0)
    # A person, by the beginning of their id; on a page of the server it is of the app somebody was at.
    console.go("#/operators", "Operators")
    page.click("button.quick-button")
    field.fill("caro")
    expect(page.locator("dialog [role=option]").first).to_contain_text("carol")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_contain_text("carol")
    # A message, by its id.
    page.keyboard.press("Control+k")
    field.fill(stage.messages["muted"])
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_contain_text(stage.messages["muted"])
    # What a stranger is called is text.
    page.keyboard.press("Control+k")
    field.fill("<img")
    expect(page.locator("dialog [role=option]").first).to_contain_text(SCRIPT)
    field.fill("no such thing at all")
    expect(page.locator("dialog")).to_contain_text("Nothing is called “no such thing at all”.")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    assert page.evaluate("window.hit") is None
