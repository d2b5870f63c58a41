"""What holds of the console's files, whatever a browser does with them."""

from __future__ import annotations

import pathlib
import re

import pytest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Server" / "Console" / "Pages"
OPENAPI = PAGES.parents[1] / "TidingsServer" / "API" / "openapi.yaml"
SCRIPTS = sorted(PAGES.glob("*.js"))
CALLBACKS = PAGES.parents[2] / "Phone" / "PhoneCore" / "Callback.swift"
REFERENCE = PAGES.parents[3] / "docs" / "testing" / "ios-delivery.md"
# A part with many words, such as the phones, has catalogues of its own.
CATALOGUES = {language: sorted(PAGES.glob(f"text*-{language}.js")) for language in ("en", "zh-Hans")}
ENTRY = re.compile(r"^  '((?:[^'\\]|\\.)*)': '((?:[^'\\]|\\.)*)',$", re.M)
# Families of keys of which the last part comes from the server: every word of docs and openapi.yaml has to be there.
FAMILIES = {
    "end": ["settled", "accepted", "own_device", "no_device", "signed_out", "disabled", "not_notifiable", "blocked", "read_elsewhere",
            "recalled", "expired", "muted", "quiet_hours", "no_token", "token_quarantined", "token_dead", "rejected"],
    "wait": ["live", "grace", "quiet_hours", "active_elsewhere", "merging", "config_fault", "breaker_open", "throttled", "provider_down",
             "in_flight"],
    "role": ["view", "content", "send", "administer"],
    "kind": ["PR", "DS", "GRP", "CS", "SYS", "MC", "MP", "PH", "CHRM"],
    "lease": ["foreground", "background", "probing", "grace", "returning", "gone"],
    "pushState": ["scheduled", "running", "done", "cancelled", "missed", "recalling", "recalled"],
    "level": ["all", "mentions", "mentions_of_me", "mentions_of_all", "blocked"],
    "authorization": ["not_determined", "denied", "authorized", "provisional", "ephemeral"],
    "scope": ["tokens", "messages", "conversations", "history", "settings", "trace", "accounts", "media"],
    "proof": ["proven", "topic_proven", "refused", "undecided"],
    "lane": ["usable", "config_fault", "breaker_open", "provider_down"],
    "webhookType": ["message_accepted", "message_edited", "message_recalled", "leg_ended", "receipt", "device_signed_in", "device_signed_out",
                    "push_job", "test"],
    "webhookFailure": ["refused_connection", "timed_out", "tls_failed", "name_not_found", "address_not_allowed", "status",
                       "connection_lost", "overflow"],
    "token": ["none", "registered", "quarantined", "dead"],
    "storage": ["messages", "custom_messages", "pushes", "media", "log_entries", "conversations", "people", "devices", "kept_answers"],
}


def words(language: str) -> dict[str, str]:
    found = [entry for catalogue in CATALOGUES[language] for entry in ENTRY.findall(catalogue.read_text())]
    assert len(found) == len(dict(found)), "a word is there twice"
    return dict(found)


def test_both_catalogues_have_the_same_words():
    english, chinese = words("en"), words("zh-Hans")
    assert len(english) > 500
    # Chinese has one form where English has two.
    singular = {key for key in english if key.endswith(".one")}
    assert set(english) - singular == set(chinese)
    assert all(f"{key[:-4]}.other" in english for key in singular)


def test_both_catalogues_fill_in_the_same_places():
    english, chinese = words("en"), words("zh-Hans")
    places = re.compile(r"\{\w+\}")
    for key, text in chinese.items():
        assert set(places.findall(text)) == set(places.findall(english[key])), key


def test_every_key_that_is_asked_for_is_there():
    english = words("en")
    asked: set[str] = set()
    for script in SCRIPTS:
        text = script.read_text()
        asked |= set(re.findall(r"\bt[x]?\('([^'$]+)'", text))
        asked |= {f"{key}.other" for key in re.findall(r"\btn\('([^']+)'", text)}
    assert len(asked) > 300
    assert asked - set(english) == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_word_that_the_server_may_name_is_there(family):
    english = words("en")
    assert [name for name in FAMILIES[family] if f"{family}.{name}" not in english] == []


def test_the_audit_has_words_for_every_change():
    """What is kept of an operator's call is its method and its route below the app; what changes nothing is not kept."""
    routes = re.findall(r"^  /v1/(?:apps/\{app\}/)?(\S+):\n((?:    .*\n|\n)+)", OPENAPI.read_text(), re.M)
    changes = {f"{method.upper()} {route}" for route, text in routes for method in re.findall(r"^    (post|put|patch|delete):", text, re.M)}
    # Those of apps, keys, secrets, credentials, operators and webhooks themselves are kept by their own names.
    own = r" (apps|settings$|suspend$|resume$|token-secrets|api-keys|client-keys|push-credentials|operators|session|pushes/preview|webhooks(/\{\w+\}(/secret)?)?$)"
    phones = {change for change in changes if re.search(r" (installations|extension)|^(POST media/uploads/\{id\})$", change)}
    asked = {change for change in changes - phones if not re.search(own, change)}
    assert len(asked) > 50
    english = words("en")
    assert sorted(change for change in asked if f"action.{change}" not in english) == []
    reads = ["GET conversations/{type}/{id}/messages", "GET messages", "GET messages/{id}/receipts", "GET media", "GET media/{id}"]
    assert [read for read in reads if f"action.{read}" not in english] == []


def callbacks() -> set[str]:
    """All that a virtual phone can call, by the names of its trace."""
    body = re.search(r"^public enum Callback: .*?^}", CALLBACKS.read_text(), re.M | re.S)[0].split("package static let tag")[0]
    return set(re.findall(r"^    (?:indirect )?case (\w+)", body, re.M))


def test_every_call_of_a_phone_is_explained_in_both_languages_with_its_section():
    calls = callbacks()
    assert len(calls) > 40 and {"willPresent", "serviceExtensionTimeWillExpire"} <= calls
    # A call that is explained by its case, as a launch by icon or by notification, has words for each case that trace-words.js tells apart.
    text = (PAGES / "trace-words.js").read_text()
    cases = {
        "didFinishLaunching": ["notification", "background", "icon"], "sceneWillConnect": ["response", "icon"],
        "receiveResponse": ["text", "dismiss", "tap", "action"], "receiveRemoteFetch": ["active", "inactive", "background"],
    }
    assert all(f"'{case}'" in text for name in cases if name != "receiveRemoteFetch" for case in cases[name])
    for language in CATALOGUES:
        there = words(language)
        unexplained = [name for name in sorted(calls) if f"phones.call.{name}" not in there
                       and not (name in cases and all(f"phones.call.{name}.{case}" in there for case in cases[name]))]
        assert unexplained == [], language
    sections = dict(re.findall(r"(\w+): '(\d+(?:\.\d+)?)'", re.search(r"const SECTION_OF_CALL = {.*?^};", text, re.M | re.S)[0]))
    assert set(sections) == calls


def test_every_section_that_the_trace_names_is_in_the_reference():
    named = set(re.findall(r"'(\d+(?:\.\d+)?)'", (PAGES / "trace-words.js").read_text()))
    assert {"2.2", "5.5", "6.1", "6.3", "6.4", "12"} <= named
    there = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", REFERENCE.read_text(), re.M))
    assert named - there == set()
    # The server has that very page.
    assert (PAGES / "ios-delivery.md").resolve() == REFERENCE.resolve()


def test_no_markup_is_made_from_text():
    for script in SCRIPTS:
        text = script.read_text()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
            assert forbidden not in text, f"{script.name} has {forbidden}"
        assert not re.search(r"setAttribute\(\s*'(style|on\w+)'", text), script.name


def test_nothing_is_asked_of_another_host():
    for file in [*SCRIPTS, *PAGES.glob("*.css"), *PAGES.glob("*.html")]:
        text = re.sub(r"http://www\.w3\.org/\S+", "", file.read_text())
        assert not re.search(r"(src|href)\s*=\s*[\"']https?:|url\(\s*[\"']?https?:|import\(?\s*'https?:|fetch\('https?:", text), file.name
    page = (PAGES / "index.html").read_text()
    assert "<style" not in page and not re.search(r"\sstyle=|\son\w+=", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def luminance(colour: str) -> float:
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_can_be_read_on_their_ground(theme):
    text = (PAGES / "tokens.css").read_text()
    colours = {name: {"light": light, "dark": dark}[theme]
               for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)}
    pairs = [(ink, ground) for ink in ("ink", "ink-2", "ink-3") for ground in ("page", "card", "raised")]
    pairs += [(f"{state}-ink", f"{state}-soft") for state in ("good", "wait", "bad", "quiet")]
    pairs += [("accent", "card"), ("accent", "page"), ("accent-ink", "accent"), ("accent-soft-ink", "accent-soft"), ("bad", "card"),
              ("ink-2", "hover"), ("ink", "hover"), ("ink-3", "sunken")]
    for ink, ground in pairs:
        lighter, darker = sorted((luminance(colours[ink]), luminance(colours[ground])), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{ink} on {ground}"


def imports(text: str) -> set[str]:
    """The modules that a module names, at its head or when they are needed."""
    return set(re.findall(r"^(?:import|export)\b[^;]*?from '\./([^']+)'", text, re.M)) | set(re.findall(r"\bimport\('\./([^']+)'\)", text))


def find_circle(graph: dict[str, set[str]]) -> list[str]:
    """A way from a module back to itself; empty where there is none."""
    done: set[str] = set()

    def search(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name):], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if circle := search(other, [*way, name]):
                return circle
        done.add(name)
        return []

    return next((circle for name in sorted(graph) if (circle := search(name, []))), [])


def test_no_module_imports_itself_by_way_of_others():
    graph = {script.name: imports(script.read_text()) for script in SCRIPTS}
    assert len(graph) > 50 and "page-message.js" in graph["routes.js"] and "dom.js" in graph["page-message.js"]
    assert find_circle(graph) == []


def test_a_circle_of_modules_is_found():
    router, page = "const load = () => import('./page.js');", "import { go } from './router.js';\nimport {\n  h,\n} from './dom.js';"
    graph = {"router.js": imports(router), "page.js": imports(page), "dom.js": set()}
    assert graph["page.js"] == {"router.js", "dom.js"}
    assert find_circle(graph) == ["page.js", "router.js", "page.js"]
    assert find_circle({**graph, "page.js": {"dom.js"}}) == []
