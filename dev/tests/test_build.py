"""dev/build: what it asks of SwiftPM, one line of progress, and a log that is named when it fails."""

import os
import pty
import shutil
import subprocess

import pytest

SWIFT = """#!/bin/bash
printf '%s\\n' "$*" "only=$TIDINGS_ONLY testable=$TIDINGS_TESTABLE" > arguments
echo '[1/2] Compiling Toy A.swift'
echo '/tree/A.swift:1:2: error: no such thing'
echo '/tree/A.swift:1:2: error: no such thing'
exit $STATUS
"""


@pytest.fixture
def build(tmp_path, root, run):
    (tmp_path / "dev").mkdir()
    shutil.copy(root / "dev/build", tmp_path / "dev/build")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/swift").write_text(SWIFT)
    (tmp_path / "bin/swift").chmod(0o755)

    def build(*arguments, status=0):
        env = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "STATUS": str(status), "TIDINGS_ONLY": "", "TIDINGS_TESTABLE": ""}
        result = run(tmp_path / "dev/build", *arguments, env=env)
        return result, (tmp_path / "arguments").read_text().splitlines(), (tmp_path / ".build/build.log").read_text()

    return build


def test_the_demo_is_built_without_tests_and_without_what_it_does_not_play(build):
    result, (arguments, environment), _ = build("--demo")
    assert result.returncode == 0 and "--configuration debug" in arguments and "--build-tests" not in arguments
    assert environment == "only=tidings,ChatApp,ChatNotificationService,ChatNotificationContent,ChatBackend,ScreenApp testable="


def test_everything_else_is_optimised_and_can_be_tested(build):
    result, (arguments, environment), _ = build("--build-tests")
    assert result.returncode == 0 and "--configuration release" in arguments and arguments.endswith(" --build-tests")
    assert environment == "only= testable=1"


def test_what_the_compiler_says_is_in_the_log_and_nowhere_else(build):
    result, _, log = build()
    assert log.count("error: no such thing") == 2 and "[1/2] Compiling Toy A.swift" in log
    assert result.stdout == "" and "Compiling" not in result.stderr and result.stderr.splitlines()[-1].startswith("built in 0:0")


def test_a_build_that_fails_says_its_errors_once_and_names_the_log(build):
    result, _, _ = build(status=3)
    assert result.returncode == 3
    assert result.stderr.splitlines()[-2:] == [
        "/tree/A.swift:1:2: error: no such thing", "build: FAILED with status 3; all of its output is in .build/build.log"]


def test_a_terminal_sees_the_step_without_a_total_that_grows(build, tmp_path):
    build()
    ours, theirs = pty.openpty()
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "STATUS": "0"}
    subprocess.run([tmp_path / "dev/build"], env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    shown = os.read(ours, 10_000).decode()
    assert "  Compiling Toy A.swift" in shown and "[1/2]" not in shown
    os.close(ours)
    os.close(theirs)
