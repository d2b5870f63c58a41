"""What holds of the console's files, whatever a browser does with them."""

from __future__ import annotations

import pathlib
import re

import pytest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Server" / "Console" / "Pages"
OPENAPI = PAGES.parents[1] / "TidingsServer" / "API" / "openapi.yaml"
SCRIPTS = sorted(PAGES.glob("*.js"))
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
    "pushState": ["scheduled", "running", "done", "cancelled", "recalling", "recalled"],
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


def test_every_end_and_wait_has_a_sentence():
    english = words("en")
    assert [end for end in FAMILIES["end"] if end != "settled" and f"sentence.end.{end}" not in english] == []
    assert [wait for wait in FAMILIES["wait"] if f"sentence.wait.{wait}" not in english] == []


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


def test_no_word_is_there_for_nothing():
    """A key is asked for by name, or belongs to a family whose last parts are put together."""
    text = "\n".join(script.read_text() for script in SCRIPTS if script not in CATALOGUES["en"] + CATALOGUES["zh-Hans"])
    built = re.findall(r"`([\w.-]*)\$\{", text)
    literal = set(re.findall(r"'([\w.-]+)'", text))
    unused = []
    for key in words("en"):
        stem = key.removesuffix(".one").removesuffix(".other").removesuffix(".detail").removesuffix(".until")
        if key in literal or stem in literal or any(prefix and stem.startswith(prefix) for prefix in built):
            continue
        unused.append(key)
    assert unused == []


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


def test_colours_are_named_in_one_file():
    for sheet in PAGES.glob("*.css"):
        # A virtual iPhone looks like one, not like the console.
        if sheet.name not in ("tokens.css", "phone.css"):
            assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(", re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.S)), sheet.name


def test_every_colour_names_its_dark_one():
    """Light and dark stand side by side; what stands alone is the same in both."""
    text = (PAGES / "tokens.css").read_text()
    colours = [(name, value) for name, value in re.findall(r"(--[\w-]+): ([^;]+);", text) if re.search(r"#[0-9a-f]{6}|rgb\(", value)]
    assert [name for name, value in colours if "light-dark(" not in value] == ["--wallpaper-ink"]
    assert re.findall(r'data-theme="(\w+)"\] \{ color-scheme: (\w+); \}', text) == [("light", "light"), ("dark", "dark")]


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
