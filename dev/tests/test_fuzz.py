"""dev/fuzz: it names suites that are there, and a million of cases in each part is counted, not claimed."""

import re
import subprocess

import pytest


def parts(root) -> dict[str, set[str]]:
    """The suites of each part of the script."""
    text = (root / "dev" / "fuzz").read_text()
    found: dict[str, set[str]] = {}
    for name, suites in re.findall(r"^(apns|server)\+?='(.*)'$", text, re.MULTILINE):
        found.setdefault(name, set()).update(suite for suite in suites.split("|") if suite)
    return found


def fuzzed(root) -> dict[str, int]:
    """How many cases the long form of each suite has, as far as no character of its name means something in a pattern."""
    counts: dict[str, int] = {}
    for file in (root / "Tests").rglob("*.swift"):
        text = file.read_text()
        if "Fuzz.run(" not in text or "import Requirements" not in text:
            continue
        # A suite and what stands up to the next one.
        for suite in re.split(r"(?=@Suite)", text)[1:]:
            name = re.search(r"@Suite.* struct `([^`(]*)", suite)
            cases = [int(count.replace("_", "")) for count in re.findall(r"long: ([\d_]+)\)", suite)]
            if name and cases:
                counts[name[1].strip()] = sum(cases)
    return counts


def test_every_suite_it_names_is_there_and_every_fuzzed_suite_is_named(root):
    named = parts(root)
    assert not named["apns"] & named["server"]
    assert named["apns"] | named["server"] == set(fuzzed(root))


@pytest.mark.parametrize("part", ["apns", "server"])
def test_the_long_form_of_each_part_is_more_than_a_million(root, part):
    counts = fuzzed(root)
    assert sum(counts[suite] for suite in parts(root)[part]) >= 1_000_000


def test_another_part_is_refused(root):
    ran = subprocess.run([root / "dev" / "fuzz", "all"], capture_output=True, text=True)
    assert ran.returncode == 2 and "apns, server or nothing" in ran.stderr
