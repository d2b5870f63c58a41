"""The calls and members that pages name are in the sources."""

import re

from conftest import ROOT

# Pages that name other systems' calls beside ours: those on migration, of the screens, and of what iOS and APNs do.
FOREIGN = {
    "migrating-from-jpush.md", "migrating-from-rongcloud.md", "migrating-from-xg.md", "screens.md", "ios-delivery.md", "apns.md"}
FILES = {"AuthKey_KEYID.p8", "PrivacyInfo.xcprivacy"}


def unknown_names(text: str, known: set[str]) -> list[str]:
    """The calls and members in backquotes, outside of blocks, that no source has: `send(text:to:)`, `Badge.set`."""
    names = re.findall(r"`((?:[A-Z]\w*\.)?[A-Za-z]\w*\([\w:_, ]*\)|[A-Z]\w*\.[a-z]\w*)`", re.sub(r"```.*?```", "", text))
    return [name for name in names if name not in FILES and not set(re.findall(r"\w+", name.partition("(")[0])) <= known]


def test_pages_name_no_call_that_no_source_has():
    sources = (path for folder in ("Sources", "Tests", "Examples") for path in (ROOT / folder).rglob("*.swift"))
    known = {word for path in sources for word in re.findall(r"\w+", path.read_text())}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.name not in FOREIGN and path.parent.name != "decisions":
            text = re.sub(r"\n## What is not there\n.*?(?=\n## |\Z)", "", path.read_text(), flags=re.DOTALL)
            assert unknown_names(" ".join(text.split()), known) == [], path.name
    assert unknown_names("`PhoneCall.reportIncoming()`, `Badge.set`, ``` `gone()` ``` `Gone.member`", {"Badge", "set"}) == [
        "PhoneCall.reportIncoming()", "Gone.member"]
