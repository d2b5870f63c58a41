"""What pages say is not there (absences.toml) is tried: by requests, by the keys of the configuration, and in the sources."""

import functools
import json
import re
import subprocess
import tomllib
import urllib.error
import urllib.request

import pytest
from conftest import ROOT, Site, tool
from test_apps import first_operator

CLAIMS: dict[str, dict[str, dict]] = tomllib.loads((ROOT / "Tests" / "Interop" / "absences.toml").read_text())
MIGRATION = ["migrating-from-jpush.md", "migrating-from-rongcloud.md", "migrating-from-xg.md"]
PROBES = {"asked", "queries", "members", "keys", "declared", "words", "files"}

# Words by which a page says that something is not there.
ABSENCE = re.compile(
    r"\*\*not there\*\*|is not there|has \*\*not\*\*|\b(?:is|are|has|have) no\b|no console|calls nobody|\bplanned\b|\bnot yet\b|unsupported|"
    r"\bnot (?:imported|taken over|changed|supported|possible|to be set)|[Nn]othing is (?:uploaded|asked|sent)|\bcannot\b")

# Bodies that their routes take, or refuse for what they are about: a member more is refused for itself.
CONTENT = {"object_name": "RC:TxtMsg", "content": "{\"content\":\"hi\"}"}
BODIES = {
    "POST messages": {"sender": "alice", "client_message_id": "c", "conversation": {"type": "PR", "target": "bob"}, "push": {}, **CONTENT},
    "POST pushes": {"notification": {"text": "hi"}, "audience": {"everybody": True}},
    "POST users/bob/silent-push": {"data": {}},
    "POST live-activities": {
        "environment": "sandbox", "token": "00" * 32, "topic": "com.example.chat", "event": "update", "content_state": {}},
    "PUT users/bob/profile": {"name": "Bob"},
    "PUT users/bob/settings/PR/alice": {"level": "all"},
    "PUT accounts/MC/news": {"audience": "everybody"},
    "POST api-keys": {"name": "more", "scopes": ["messages"]},
    "POST webhooks": {"name": "shop", "url": "https://shop.example.com/", "types": ["receipt"]},
}


def page(name: str) -> str:
    """The page's text with single spaces, so that a sentence may go over lines."""
    return " ".join((ROOT / "docs" / name).read_text().split())


def unproven(text: str, claims: list[str]) -> list[str]:
    """The words of absence that lie in no claim, with what stands around them; of the section on what is not there, all."""
    body, _, rest = text.partition(" ## What is not there ")
    section, _, after = rest.partition(" ## ")
    body = re.sub(r"\[what is not there\]\(#what-is-not-there\)", "", f"{body} {after}")
    for claim in claims:
        body, section = body.replace(claim, "¶"), section.replace(claim, "¶")
    found = [body[max(0, match.start() - 60):match.end() + 40] for match in ABSENCE.finditer(body)]
    return found + [part for part in re.split(r"[¶;.,]", section) if part.strip()]


# What stands where.


def test_each_claim_stands_on_its_page_once_and_is_tried():
    for name, claims in CLAIMS.items():
        text = page(name)
        for says, probes in claims.items():
            assert text.count(says) == 1, f"docs/{name} does not say once: {says}"
            assert PROBES & set(probes) and set(probes) <= PROBES | {"where"}, says


@pytest.mark.parametrize("name", MIGRATION)
def test_a_page_on_migration_says_nothing_absent_that_is_not_tried(name):
    assert unproven(page(name), list(CLAIMS[name])) == []


def test_a_word_of_absence_without_a_claim_is_found():
    text = "B is **not there**. Tidings has no console. ## What is not there C; D. ## Sources E cannot"
    around = "¶. Tidings has no console. Sources E cannot"
    assert unproven(text, ["B is **not there**", "C"]) == [around, around, " D"]


# Names.

# Pages that name other systems' calls beside ours: those on migration, and of the screens.
FOREIGN = {*MIGRATION, "screens.md"}
FILES = {"AuthKey_KEYID.p8", "PrivacyInfo.xcprivacy"}


def unknown_names(text: str, known: set[str]) -> list[str]:
    """The calls and members in backquotes, outside of blocks, that no source has: `send(text:to:)`, `Badge.set`."""
    names = re.findall(r"`((?:[A-Z]\w*\.)?[A-Za-z]\w*\([\w:_, ]*\)|[A-Z]\w*\.[a-z]\w*)`", re.sub(r"```.*?```", "", text))
    return [name for name in names if name not in FILES and not set(re.findall(r"\w+", name.partition("(")[0])) <= known]


def test_pages_name_no_call_that_no_source_has():
    known = {word for folder in ("Sources", "Tests", "Examples") for word in re.findall(r"\w+", sources(folder))}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = str(path.relative_to(ROOT / "docs"))
        if path.name not in FOREIGN and not name.startswith(("decisions", "reference")):
            text = page(name)
            for claim in CLAIMS.get(name, {}):
                text = text.replace(claim, "")
            assert unknown_names(text, known) == [], name
    assert unknown_names("`PhoneCall.reportIncoming()`, `Badge.set`, ``` `gone()` ``` `Gone.member`", {"Badge", "set"}) == [
        "PhoneCall.reportIncoming()", "Gone.member"]


# What the sources lack.


@functools.cache
def sources(where: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / where).rglob("*.swift")))


@functools.cache
def lowered(where: str) -> str:
    return sources(where).lower()


@functools.cache
def declared(where: str) -> set[str]:
    return set(re.findall(r"\b(?:func|var|let|case|class|struct|enum|protocol|typealias) (\w+)", sources(where)))


@functools.cache
def files() -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")


def found_in_sources(probes: dict) -> list[str]:
    where = probes.get("where", "Sources/SDK")
    return [
        *(name for name in probes.get("declared", []) if name in declared(where)),
        *(word for word in probes.get("words", []) if word.lower() in lowered(where)),
        *(ending for ending in probes.get("files", []) if any(name.endswith(ending) for name in files())),
    ]


def test_the_sources_have_nothing_that_a_page_says_is_not_there():
    for name, claims in CLAIMS.items():
        for says, probes in claims.items():
            assert found_in_sources(probes) == [], f"docs/{name}: {says}"


def test_what_the_sources_have_is_found():
    assert found_in_sources({"declared": ["setTags", "setTag"], "words": ["inappbanner"], "files": [".swift"]}) == [
        "setTags", "inappbanner", ".swift"]
    assert found_in_sources({"declared": ["AddressAttempts"], "where": "Sources/Server"}) == ["AddressAttempts"]


def test_no_key_of_the_configuration_is_one_that_a_page_says_is_not_there():
    printed = subprocess.run([tool(), "serve", "--keys"], capture_output=True, text=True, check=True).stdout
    keys = re.findall(r"^\|? *`?([a-z_]+(?:\.[a-z_A-Z]+)+)", printed, re.MULTILINE)
    assert len(keys) > 100 and "gateway.port" in keys
    for name, claims in CLAIMS.items():
        for says, probes in claims.items():
            for word in probes.get("keys", []):
                assert [key for key in keys if word in key] == [], f"docs/{name}: {says}"


# What the server refuses.


def answer(site: Site, method: str, path: str, body=None) -> tuple[int, str, str]:
    """Status, code of the problem, and the field it names with the rule."""
    key = site.operator.key if path.startswith(("api-keys", "webhooks")) else site.api_key
    request = urllib.request.Request(
        f"{site.api}/v1/apps/demo/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as told:
            return told.status, "", ""
    except urllib.error.HTTPError as error:
        problem = json.loads(error.read())
        return error.code, problem["code"], f"{problem.get('field')} {problem.get('rule')}"


def with_member(body: dict, member: str) -> dict:
    """The body with a member more; an audience has one, which it takes the place of."""
    outer, _, inner = member.rpartition(".")
    if not outer:
        return {**body, member: 1}
    return {**body, outer: {**({} if outer == "audience" else body.get(outer, {})), inner: 1}}


def found_by_asking(site: Site, probes: dict) -> list[str]:
    found = []
    for request in probes.get("asked", []):
        method, path = request.split(" ")
        if answer(site, method, path, None if method in ("GET", "DELETE") else {})[:2] not in [
                (404, "unknown_route"), (405, "method_not_allowed")]:
            found.append(request)
    for path in probes.get("queries", []):
        member = path.partition("?")[2].partition("=")[0]
        status, _, told = answer(site, "GET", path)
        if status != 400 or not told.startswith(f"{member} is not known in the query"):
            found.append(path)
    for request, members in probes.get("members", {}).items():
        for member in members:
            status, _, told = answer(site, *request.split(" "), with_member(BODIES[request], member))
            # An audience has one member, of these.
            unknown = "audience must have one of " if member.startswith("audience.") else f"{member} is not known here"
            if status != 400 or not told.startswith(unknown):
                found.append(f"{request}: {told}")
    return found


def test_the_server_refuses_what_pages_say_is_not_there(site):
    site.operator = first_operator(site)
    for request, body in BODIES.items():
        status, code, _ = answer(site, *request.split(" "), body)
        assert status not in (400, 401, 403), f"{request}: {code}"
    for name, claims in CLAIMS.items():
        for says, probes in claims.items():
            assert found_by_asking(site, probes) == [], f"docs/{name}: {says}"
    # What is there is found.
    there = {
        "asked": ["GET users", "POST pushes/preview", "DELETE pushes/01qdq6qdr0000"], "queries": ["users?limit=1"],
        "members": {"POST messages": ["counted"], "POST pushes": ["notification.sound", "audience.tag"]},
    }
    assert len(found_by_asking(site, there)) == 7
