"""`tidings scenario` with an app's own code: files that hold, files that must fail, and what is told of them.

The app is `Tests/ScreenApp`; the page's own examples are run, too, of which one has a server and the example app.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import tool

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "testing" / "scenario-code.md"
EXAMPLES = [text for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S) if "executable:" in text]
HEAD = "title: A counter\napp: {executable: ScreenApp, lifecycle: application, bundle: com.example.screen}\nstepTime: 1 s\ncases:\n"


def scenario(folder, *arguments: str) -> tuple[int, str]:
    """What it prints; with --json the standard output alone, as a program reads it."""
    # A task for an event loop that is shut down ends the process, instead of a line that nobody would find the reason of.
    environment = {**os.environ, "SWIFTNIO_STRICT": "1"}
    done = subprocess.run(
        [tool(), "scenario", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=150, stdin=subprocess.DEVNULL,
        check=False)
    return done.returncode, done.stdout + ("" if "--json" in arguments else done.stderr)


def write(folder, *cases: str, head: str = HEAD):
    (folder / "f.yaml").write_text(head + "".join(cases))


def case(name: str, *steps: str) -> str:
    return f"  - case: {name}\n    steps:\n" + "".join(f"      - {step}\n" for step in steps)


OPEN = ("person: open", "expect: {screen: {shows: [0 taps]}, within: 20 s}")


def test_the_page_has_an_app_alone_and_one_with_a_server():
    assert len(EXAMPLES) >= 2
    assert any("server:" in text for text in EXAMPLES) and any("server:" not in text for text in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: re.search("title: (.*)", text)[1])
def test_the_examples_of_the_page_hold(tmp_path, example):
    (tmp_path / "f.yaml").write_text(example)
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 0, output
    assert output.endswith(", 0 failed\n") and "ok   " in output


def test_a_text_that_is_not_on_the_screen_fails_with_the_place_and_a_picture(tmp_path):
    write(tmp_path, case("wrong", *OPEN, "press: Count", "expect: {screen: {shows: [7 taps, Count], lacks: [1 taps]}}"))
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 1, output
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert lines[:7] == [
        "f.yaml: A counter", "FAIL wrong", "screen at f.yaml:10:18", 'expected actual', '≠ shows "7 taps" not there',
        'shows "Count" "Count"', '≠ lacks "1 taps" "1 taps"',
    ], output
    picture = [line for line in lines if line[:1] in "┌│└"]
    assert any("1 taps" in line for line in picture) and any("[Count]" in line for line in picture), output
    assert lines[-1] == "1 case, 1 failed"


@pytest.mark.parametrize(
    "steps, place, reason",
    [
        ((*OPEN, "press: Cuont"), "9:9", 'view is not on the screen: Cuont; tap is taken by "Count", "Count Later"'),
        ((*OPEN, "press: 0 taps"), "9:9", 'action is not taken by 0 taps: tap; tap is taken by "Count", "Count Later"'),
        ((*OPEN, "enter: {text: hi, into: Count}"), "9:9", "action is not taken by Count: enter; nothing on the screen takes enter"),
        ((*OPEN, "scroll: {until: 99}"), "9:9", '"99" is nowhere down the screen: action is taken by no view: scroll'),
        ((*OPEN, "person: home", "press: Count"), "10:9", "app must be in the foreground"),
        (("system: kill",), "7:9", "app does not run: com.example.screen"),
        ((*OPEN, "push: {id: m, alert: a}", "tap: n"), "10:9", "n is not in the list; there: nothing"),
        ((*OPEN, "person: home", "push: {id: m, alert: a}", "tap: n"), "11:9", "n is not in the list; there: m"),
    ],
)
def test_a_step_that_is_not_possible_fails(tmp_path, steps, place, reason):
    allowed = "" if "there: m" not in reason else ", environment: {SCREEN_NOTES: 1}"
    head = HEAD.replace("com.example.screen}", f"com.example.screen{allowed}}}")
    if allowed:
        steps = ("person: open", "expect: {screen: {shows: [registered]}, within: 20 s}", *steps[2:])
    write(tmp_path, case("impossible", *steps, "expect: {badge: 0}"), head=head)
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 1, output
    assert f"step at f.yaml:{place}" in output
    assert reason in output


def test_a_case_does_not_take_longer_than_its_time(tmp_path):
    write(tmp_path, "  - case: slow\n    caseTime: 2 s\n    steps:\n      - wait: 1 h\n      - expect: {badge: 0}\n")
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 1
    assert "step at f.yaml:9:9" in output and "longer than its caseTime, 2000 ms" in output, output


def test_json_filter_and_trace(tmp_path):
    write(tmp_path, case("counts", *OPEN, "press: Count", "expect: {screen: {shows: [1 taps]}}"), case("not run", "expect: {badge: 7}"))
    status, output = scenario(tmp_path, "f.yaml", "--filter", "counts", "--json", "--trace")
    assert status == 0, output
    result = json.loads(output)
    assert (result["cases"], result["failed"], result["problems"]) == (1, 0, [])
    (only,) = result["files"][0]["cases"]
    assert (only["case"], only["passed"], only["checks"], only["differences"]) == ("counts", True, 2, [])
    assert "picture" not in only
    kinds = {line["kind"] for line in only["trace"]}
    assert {"step", "callback", "process_spawned"} <= kinds
    status, output = scenario(tmp_path, "f.yaml", "--json")
    assert status == 1
    failed = json.loads(output)["files"][0]["cases"][1]
    assert failed["differences"] == [{"line": 13, "column": 18, "key": "badge", "expected": ["7"], "actual": ["0"]}]
    assert failed["picture"][0].startswith("┌") and failed["picture"][-1].startswith("└")


def test_an_app_that_ends_is_told_with_what_it_wrote(tmp_path):
    app = tmp_path / "broken"
    app.write_text("#!/bin/sh\necho it does not work >&2\nexit 3\n")
    app.chmod(0o755)
    write(tmp_path, case("broken", "person: open", "expect: {screen: {shows: [hi]}}"), head=HEAD.replace("ScreenApp", "./broken"))
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 1
    assert "the app's output ends:" in output and "it does not work" in output, output


def test_an_executable_is_found_from_the_files_folder(tmp_path):
    (tmp_path / "inner").mkdir()
    shutil.copy(pathlib.Path(tool()).parent / "ScreenApp", tmp_path / "Own")
    (tmp_path / "inner" / "f.yaml").write_text(HEAD.replace("executable: ScreenApp", "executable: ../Own") + case("own", *OPEN))
    status, output = scenario(tmp_path, "inner/f.yaml")
    assert status == 0, output


def test_an_executable_that_is_not_there_ends_with_2(tmp_path):
    write(tmp_path, case("none", *OPEN), case("none either", *OPEN), head=HEAD.replace("ScreenApp", "NoSuchApp"))
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 2
    assert output.count("f.yaml:2:19: executable must be an executable file, and there is none at") == 1, output


def test_keys_of_the_other_kind_of_case_are_refused_with_the_place(tmp_path):
    write(tmp_path, case("mixed", "person: open", "shows: x", "expect: {screen: {shows: [a]}}"))
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 2
    assert "f.yaml:8:9: shows is for the simulated app, and this one runs its own code" in output, output
    write(tmp_path, case("simulated", "press: Count", "expect: {badge: 0}"), head="title: t\ncases:\n")
    status, output = scenario(tmp_path, "f.yaml")
    assert status == 2
    assert "f.yaml:5:9: press needs an app with code of its own: give app.executable" in output, output


def test_the_keys_are_explained(tmp_path):
    status, output = scenario(tmp_path, "--explain")
    assert status == 0
    for key in ("press", "enter", "submit", "hold", "scroll", "swipe", "executable", "server", "shows", "within"):
        assert re.search(rf"^  {key} ", output, re.M), key
