"""dev/fuzz-apns: it names suites that are there, and a million of cases is counted, not claimed."""

import re


def test_every_suite_it_names_is_there_and_every_fuzzed_suite_is_named(root):
    script = (root / "dev" / "fuzz-apns").read_text()
    named = set("".join(re.findall(r"^suites\+?='(.*)'$", script, re.MULTILINE)).split("|"))
    fuzzed = set()
    for file in (root / "Tests").rglob("*.swift"):
        text = file.read_text()
        if "Fuzz.run(" in text and "import Requirements" in text:
            fuzzed |= set(re.findall(r"@Suite.* struct `([^`]*)`", text))
    # The script names a suite as far as no character means something in a pattern.
    assert named == {name.split(" (")[0] for name in fuzzed}


def test_the_long_form_is_more_than_a_million(root):
    counts = [
        int(count.replace("_", ""))
        for file in (root / "Tests").rglob("*.swift")
        for count in re.findall(r"Fuzz\.run\([^)]*long: ([\d_]+)\)", file.read_text())
    ]
    assert len(counts) >= 12 and sum(counts) >= 1_000_000
