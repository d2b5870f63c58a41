"""dev/counts: what is counted falls to named floors where building took over 30 minutes, and `make test` says so."""

import os
import re
import shutil

import pytest

RULE = "WORLDS=2000\nCHAOS_NOTIFICATIONS=5000\nTIDINGS_CASES_PERCENT=100\n"
FLOOR = "WORLDS=500\nCHAOS_NOTIFICATIONS=3500\nTIDINGS_CASES_PERCENT=25\n"
FALLEN = (
    "over 30, so these fall to their floors: 500 worlds instead of 2000, 3500 notifications while APNs fails instead of 5000, "
    "25 percent of the fuzzed and random cases of the unit tests, the API's among them instead of 100\n")


@pytest.fixture
def stages(tmp_path):
    """The record of the stages so far, as the environment names it."""

    def stages(**seconds):
        (tmp_path / "stages.tsv").write_text("".join(f"{name}\t{took}\t0\n" for name, took in seconds.items()))
        return {"STAGES": str(tmp_path)}

    return stages


def test_after_thirty_minutes_of_building_everything_counted_runs_in_full(run, stages):
    env = stages(bootstrap=900, build=1_800)
    result = run("dev/counts", env=env)
    assert (result.returncode, result.stdout, result.stderr) == (0, RULE, "")
    assert run("dev/counts", "--report", env=env).stdout == ""


def test_after_more_than_that_it_falls_to_its_floors_and_says_so(run, stages):
    env = stages(build=1_861)
    result = run("dev/counts", env=env)
    assert (result.returncode, result.stdout) == (0, FLOOR)
    assert result.stderr == "counts: building took 31.0 minutes, " + FALLEN
    assert run("dev/counts", "--report", env=env).stdout == result.stderr


def test_before_the_build_nothing_is_said(run, stages):
    result = run("dev/counts", env=stages(bootstrap=1_500))
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "counts: the stage build has not run\n")


@pytest.mark.parametrize(
    "line, fault",
    [
        ("WORLDS 2000 500", "line 1: an entry is VARIABLE RULE FLOOR WHAT, with whole numbers: WORLDS 2000 500"),
        ("WORLDS many 500 worlds", "line 1: an entry is VARIABLE RULE FLOOR WHAT, with whole numbers: WORLDS many 500 worlds"),
        ("WORLDS 500 2000 worlds", "line 1: the floor of WORLDS must be 1 to 500, it is 2000"),
        ("WORLDS 2000 0 worlds", "line 1: the floor of WORLDS must be 1 to 2000, it is 0"),
        ("WORLDS 2 1 worlds\nWORLDS 3 1 worlds", "line 2: WORLDS stands there twice"),
    ],
)
def test_a_floor_that_cannot_be_read_is_refused(script, line, fault):
    with pytest.raises(ValueError, match="^" + re.escape(fault) + "$"):
        script("counts").read(line)


def test_what_is_counted_is_what_make_test_runs(root, script):
    variables = [entry[0] for entry in script("counts").read((root / "dev/counts.txt").read_text())]
    used = (root / "dev/test").read_text() + (root / "Tests/Requirements/Fuzz.swift").read_text()
    assert [name for name in variables if f"${name}" not in used and f'"{name}"' not in used] == []


@pytest.mark.parametrize("minutes, expected", [(29, RULE), (31, FLOOR)])
def test_a_slow_build_makes_the_whole_run_smaller(run, root, tmp_path, minutes, expected):
    """dev/test with every command of its stages replaced by one that notes what it was given, and a build of so many minutes."""
    house = tmp_path / "house"
    (house / "bin").mkdir(parents=True)
    shutil.copytree(root / "dev", house / "dev", ignore=shutil.ignore_patterns("tests"))
    note = f'#!/bin/bash\necho "${{0##*/}} $* percent=$TIDINGS_CASES_PERCENT" >> {house}/calls\n'
    fakes = ["dev/bootstrap", "dev/lint", "dev/run-tests", "dev/prove-run", "dev/prove-purity", "dev/prove-mutation", "dev/prove-replay"]
    for name in [*fakes, "bin/swift", ".build/release/tidings"]:
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).unlink(missing_ok=True)
        (house / name).write_text(note)
        (house / name).chmod(0o755)
    # A stage that took as long as it is told to have.
    stage = (house / "dev/stage").read_text()
    assert "$((SECONDS - started))" in stage
    (house / "dev/stage").write_text(stage.replace("$((SECONDS - started))", str(minutes * 60)))
    result = run(house / "dev" / "test", env={"PATH": f"{house / 'bin'}:{os.environ['PATH']}"})
    assert result.returncode == 0, result.stdout + result.stderr
    calls = (house / "calls").read_text().splitlines()
    worlds, notifications, percent = (line.split("=")[1] for line in expected.splitlines())
    assert f"run-tests unit percent={percent}" in calls
    assert any(call.startswith(f"tidings chaos --notifications {notifications} ") for call in calls)
    assert any(call.startswith(f"tidings simulate --seeds 1-{worlds} ") for call in calls)
    said = f"counts: building took {minutes}.0 minutes, "
    # Once where they fall, and once more at the end, under the minutes.
    assert ((said + FALLEN) in result.stderr, (said + FALLEN) in result.stdout.split("all  ")[-1]) == (minutes > 30, minutes > 30)
