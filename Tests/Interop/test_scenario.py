"""`tidings scenario`, as docs/testing/scenarios.md shows it: output, options and exit statuses."""

import json
import pathlib
import re
import subprocess

import pytest

from conftest import tool

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "testing" / "scenarios.md"


def scenario(folder, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [tool(), "scenario", *arguments], cwd=folder, capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    """A folder with the page's first example, and one in which the badge is wrong."""
    example = re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)[1]
    (tmp_path / "my-app.yaml").write_text(example)
    wrong = re.sub(r"(expect: .*badge: )\d+", r"\g<1>7", example)
    assert wrong != example, "the first example expects a badge"
    (tmp_path / "wrong.yaml").write_text(wrong)
    return tmp_path


def test_a_file_that_holds_ends_with_0(folder):
    status, output = scenario(folder, "my-app.yaml")
    assert status == 0, output
    assert "ok" in output


def test_only_some_cases(folder):
    status, output = scenario(folder, "my-app.yaml", "--filter", "tap")
    assert status == 0, output
    assert "tap" in output


def test_the_trace_shows_what_happened(folder):
    status, output = scenario(folder, "my-app.yaml", "--trace")
    assert status == 0
    assert "didReceive" in output and "willFinishLaunching" in output


def test_json_is_for_programs(folder):
    status, output = scenario(folder, "my-app.yaml", "--json")
    assert status == 0
    json.loads(output)


def test_a_difference_is_a_table_and_ends_with_1(folder):
    status, output = scenario(folder, "wrong.yaml")
    assert status == 1
    assert "FAIL" in output and "expected" in output and "actual" in output


def test_a_file_that_cannot_be_understood_ends_with_2_and_names_the_place(folder):
    (folder / "bad.yaml").write_text("title: x\nphone:\n  ios: 17\n  colour: red\ncases:\n  - {case: y, steps: [wait: 1 s]}\n")
    status, output = scenario(folder, "bad.yaml")
    assert status == 2
    assert "bad.yaml:4:" in output and "colour" in output


def test_every_key_is_explained(folder):
    status, output = scenario(folder, "--explain")
    assert status == 0
    assert "ios" in output
