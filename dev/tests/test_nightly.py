"""dev/nightly: every proof by its name, all of them also after one that fails; what has changed, and what a slow build leaves out."""

import os
import shutil
import subprocess

import pytest


@pytest.fixture
def house(tmp_path, root):
    """The scripts beside fakes of all that they start, which note how they were called; `broken` fails."""
    house = tmp_path / "house"
    shutil.copytree(root / "dev", house / "dev", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    note = f'#!/bin/bash\necho "${{0##*/}} $* percent=$TIDINGS_CASES_PERCENT" >> {house}/calls\n[ "$1" != prove-store ]\n'
    kept = {"test", "nightly", "stage", "changed"}
    fakes = {f"dev/{path.name}" for path in (root / "dev").iterdir() if path.is_file() and path.name not in kept}
    for name in [*fakes, "bin/make", ".build/release/tidings"]:
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).write_text(note)
        (house / name).chmod(0o755)
    for command in (["init", "-q"], ["add", "dev"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=house, check=True)
    return house


def calls(house):
    return (house / "calls").read_text().splitlines()


def path(house):
    """The fakes before all other commands; without the percentage of the run that this test is part of."""
    return {"PATH": f"{house / 'bin'}:{os.environ['PATH']}", "TIDINGS_CASES_PERCENT": ""}


def test_every_proof_runs_also_after_one_that_fails(run, house):
    result = run(house / "dev/nightly", env=path(house))
    assert result.returncode == 1 and result.stderr.endswith("nightly: FAILED: store\n")
    names = run(house / "dev/nightly", "--list").stdout.split()
    assert len(calls(house)) == len(names) and names[-1] == "mutation"
    assert "tidings simulate --seeds 1-2000 --phones 10 --hours 2 --faults swarm --jobs 2 --every-mark percent=" in calls(house)


def test_only_what_is_named_runs_and_an_unknown_name_is_said(run, house):
    assert run(house / "dev/nightly", "purity", "phone", env=path(house)).returncode == 0
    assert calls(house) == ["prove-purity  percent=", "make prove-phone percent="]
    result = run(house / "dev/nightly", "phone", "moon", env=path(house))
    assert len(calls(house)) == 2
    assert result.returncode == 2 and "there is no proof moon; there are demo purity" in result.stderr


def test_every_proof_of_the_makefile_is_one_of_the_night(run, root):
    targets = {line.split(":")[0] for line in (root / "Makefile").read_text().splitlines() if line.startswith(("prove-", "fuzz:"))}
    assert targets == {f"prove-{name}" for name in run("dev/nightly", "--list").stdout.split()} - {
        "prove-demo", "prove-purity", "prove-seeds", "prove-fuzz"} | {"fuzz"}


@pytest.mark.parametrize("slow, worlds, notifications, percent", [("1800", 700, 5000, 100), ("-1", 500, 3500, 25)])
def test_a_slow_build_makes_the_whole_run_smaller(run, house, slow, worlds, notifications, percent):
    result = run(house / "dev/test", env={**path(house), "SLOW_BUILD": slow})
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"run-tests unit percent={percent}" in calls(house)
    assert any(call.startswith(f"tidings chaos --notifications {notifications} ") for call in calls(house))
    first, last = next(call for call in calls(house) if "--every-mark" in call).split()[3].split("-")
    commit = subprocess.run(["git", "rev-parse", "--short=6", "HEAD"], cwd=house, capture_output=True, text=True).stdout
    assert (int(first), int(last) - int(first) + 1) == (int(commit, 16), worlds)
    assert ("so less was run" in result.stdout) == (percent < 100)


def test_purity_is_proven_when_what_it_depends_on_has_changed(run, house, root):
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=house, capture_output=True, text=True).stdout.strip()
    shutil.copy(root / "dev/prove-purity", house / "dev/prove-purity")
    (house / "Package.swift").write_text("")
    assert run(house / "dev/changed", "swift$", env={"BASE": base}).stdout == "Package.swift\n"
    (house / "Package.swift").unlink()
    for command in (["add", "dev"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=house, check=True)
    result = run(house / "dev/prove-purity", "--changed", env={"BASE": "HEAD"})
    assert (result.returncode, result.stdout) == (0, "prove-purity: nothing that it depends on has changed\n")


def test_without_a_commit_of_yesterday_everything_counts_as_changed(run, house):
    assert "dev/core" in run(house / "dev/changed").stdout.split()
    assert run(house / "dev/changed", "no such path").returncode == 1


def test_where_git_cannot_tell_what_has_changed_nothing_is_taken_as_proven(run, house, root):
    shutil.copy(root / "dev/prove-purity", house / "dev/prove-purity")
    assert run(house / "dev/changed", env={"BASE": "moon"}).returncode == 2
    assert run(house / "dev/prove-purity", "--changed", env={"BASE": "moon"}).returncode == 2
