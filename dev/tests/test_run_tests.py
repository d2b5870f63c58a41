"""dev/run-tests: a test that fails fails the run, also if it passes alone then, unless it is named as unsteady with a reason."""

import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SWIFT = """#!/bin/sh
# Fails as often as the file says.
echo "$@" >> calls
while [ "$1" != --event-stream-output-path ]; do shift; done
events=$2
event() { echo '{"kind":"event","payload":{"kind":"'"$1"'","testID":"'"$2"'"'"$3"'}}' >> "$events"; }
for test in 'House.`is steady`()/Its.swift:3:2' 'House.`is (mostly) steady`()/Its.swift:5:2'; do
    echo '{"kind":"test","payload":{"kind":"function","id":"'"$test"'"}}' >> "$events"
    event testStarted "$test"
done
event testEnded 'House.`is steady`()/Its.swift:3:2'
left=$(cat left)
if [ "$left" -gt 0 ]; then
    echo $((left - 1)) > left
    event issueRecorded "$test" ',"issue":{"isKnown":false}'
    [ STATUS = 124 ] || event testEnded "$test"
    echo '✘ Test "is (mostly) steady" failed after 0.001 seconds with 1 issue.'
    echo '✘ Test run with 2 tests in 1 suite failed after 0.1 seconds with 1 issue.'
    exit STATUS
fi
ANSWER
echo '✔ Test run with 2 tests in 1 suite passed after 0.1 seconds.'
"""
FIRST = "test --configuration release --skip-build --event-stream-output-path .build/run-tests/unit.jsonl\n"
SECOND = (
    "test --configuration release --skip-build --no-parallel --event-stream-output-path .build/run-tests/unit-again.jsonl"
    r" --filter House\.`is \(mostly\) steady`\(\)\/Its\.swift:5:2" "\n"
)


@pytest.fixture
def house(tmp_path):
    """A house with the script, and a swift that fails so many times with a status."""
    (tmp_path / "dev").mkdir()
    for name in ("run-tests", "failed-tests", "unsteady"):
        shutil.copy(ROOT / "dev" / name, tmp_path / "dev" / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "Tests").mkdir()
    (tmp_path / "Tests" / "unsteady.toml").write_text("# None.\n")

    def make(failures, status=1, finds=True):
        swift = tmp_path / "bin" / "swift"
        swift.write_text(SWIFT.replace("STATUS", str(status)).replace("ANSWER", 'event testEnded "$test"' if finds else ""))
        swift.chmod(0o755)
        (tmp_path / "left").write_text(str(failures))
        return tmp_path

    return make


def list_as_unsteady(folder, *names):
    entries = (f"[[test]]\nname = '{name}'\nreason = 'the clock of the machine'\n" for name in names)
    (folder / "Tests" / "unsteady.toml").write_text("".join(entries))


MOSTLY = "House.`is (mostly) steady`()"
MEND = "run-tests: a test that fails once fails the run: mend it; Tests/unsteady.toml is for what cannot be mended now\n"


def unit(run, folder):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return run("env", f"PATH={path}", folder / "dev" / "run-tests", "unit")


def test_what_passes_runs_once(run, house):
    folder = house(0)
    result = unit(run, folder)
    assert (result.returncode, (folder / "calls").read_text()) == (0, FIRST)
    assert "run-tests" not in result.stdout


def test_what_fails_once_is_run_alone_and_fails_the_run_by_name(run, house):
    folder = house(1)
    result = unit(run, folder)
    assert (result.returncode, result.stderr) == (1, MEND)
    assert (folder / "calls").read_text() == FIRST + SECOND
    assert result.stdout.endswith(f"run-tests: failed, and passed alone: {MOSTLY}\n")


def test_what_fails_once_and_is_known_to_be_unsteady_is_named_with_the_reason(run, house):
    folder = house(1)
    list_as_unsteady(folder, MOSTLY)
    result = unit(run, folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert (folder / "calls").read_text() == FIRST + SECOND
    assert result.stdout.endswith(f"run-tests: unsteady, and known to be: {MOSTLY}: the clock of the machine\n")


def test_what_waits_for_ever_is_ended_and_run_alone_and_fails_the_run(run, house):
    folder = house(1, status=124)
    result = unit(run, folder)
    assert (result.returncode, result.stderr) == (1, MEND)
    assert "running were:\n  House.`is (mostly) steady`()/Its.swift:5:2\n" in result.stdout
    assert (folder / "calls").read_text() == FIRST + SECOND


def test_what_is_known_to_be_unsteady_and_fails_twice_fails(run, house):
    folder = house(2)
    list_as_unsteady(folder, MOSTLY)
    assert unit(run, folder).returncode == 1


@pytest.mark.parametrize("name", ["House.`is gone`()", "House.`is (mostly) steady`()/Its.swift:5:2", "House"])
def test_an_entry_that_is_no_test_fails_the_run_though_every_test_passed(run, house, name):
    folder = house(0)
    list_as_unsteady(folder, "House.`is steady`()", name)
    result = unit(run, folder)
    assert (result.returncode, result.stderr) == (2, f"unsteady: Tests/unsteady.toml: {name} is no test's name\n")


@pytest.mark.parametrize(
    "text, fault",
    [
        ("[[test]]\nname = 'a'", "an entry has a name and a reason, both texts, and nothing else: {'name': 'a'}"),
        ("[[test]]\nname = 'a'\nreason = ' '", "an entry has a name and a reason"),
        ("[[test]]\nname = 'a'\nreason = 'b'\nuntil = 1", "an entry has a name and a reason"),
        ("[[test]]\nname = 'a'\nreason = 'b'\n[[test]]\nname = 'a'\nreason = 'c'", "a stands there twice"),
        ("[[tests]]\nname = 'a'", "holds [[test]] only, not tests"),
        ("House: why not", "Expected"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(run, house, text, fault):
    folder = house(0)
    (folder / "Tests" / "unsteady.toml").write_text(text)
    result = unit(run, folder)
    assert result.returncode == 2
    assert result.stderr.startswith(f"unsteady: Tests/unsteady.toml: {fault}")


def test_what_fails_twice_fails(run, house):
    assert unit(run, house(2)).returncode == 1


def test_what_was_not_run_again_fails(run, house):
    result = unit(run, house(1, finds=False))
    assert (result.returncode, result.stderr) == (1, "run-tests: those above did not pass\n")


@pytest.mark.parametrize("status, line", [(139, ""), (1, "error: Exited with unexpected signal code 11")])
def test_a_crash_is_not_run_again(run, house, status, line):
    folder = house(1, status=status)
    swift = folder / "bin" / "swift"
    swift.write_text(swift.read_text().replace("    exit ", f"    echo '{line}'\n    exit "))
    assert unit(run, folder).returncode == status
    assert (folder / "calls").read_text() == FIRST


@pytest.fixture
def python_house(house, tmp_path):
    """A house with Python tests: one that is steady, one more, and one that wants the machine for itself."""
    folder = house(0)
    (folder / ".venv" / "bin").mkdir(parents=True)
    python = folder / ".venv" / "bin" / "python"
    # Without the plugins of other tests, which take longer to load than all of these to run.
    python.write_text(f'#!/bin/sh\nPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_ADDOPTS="-p xdist" exec "{os.sys.executable}" "$@"\n')
    python.chmod(0o755)
    for name in ("dev/tests", "Tests/Interop", "Tests/Faults", "Tests/Browser", "Tests/Abuse"):
        (folder / name).mkdir(parents=True)

    def make(more="pass", alone="pass"):
        (folder / "Tests" / "Interop" / "test_it.py").write_text(
            "import os, pathlib, pytest\n"
            "def note(name):\n    open(name, 'a').write('w' if 'PYTEST_XDIST_WORKER' in os.environ else 's')\n"
            "def once():\n"
            "    was = pathlib.Path('seen').exists()\n"
            "    pathlib.Path('seen').touch()\n"
            "    assert was\n"
            "def test_steady():\n    note('steady')\n"
            f"def test_more():\n    {more}\n"
            f"@pytest.mark.alone\ndef test_alone():\n    note('alone')\n    {alone}\n")
        return folder

    return make


def test_python_tests_run_beside_each_other_and_those_that_want_the_machine_after_them(run, python_house):
    folder = python_house()
    result = run(folder / "dev" / "run-tests", "interop")
    assert result.returncode == 0, result.stdout
    assert ((folder / "steady").read_text(), (folder / "alone").read_text()) == ("w", "s")
    log = folder / ".build" / "run-tests" / "interop.log"
    assert run(ROOT / "dev" / "count-tests", log).stdout == "3 passed, 0 failed\n"


@pytest.mark.parametrize("name, alone", [("more", "s"), ("alone", "ss")])
def test_python_tests_that_failed_are_run_again_alone(run, python_house, name, alone):
    test = f"Tests/Interop/test_it.py::test_{name}"
    folder = python_house(**{name: "once()"})
    result = run(folder / "dev" / "run-tests", "interop")
    assert (result.returncode, result.stderr) == (1, MEND), result.stdout
    assert ((folder / "steady").read_text(), (folder / "alone").read_text()) == ("w", alone)
    assert result.stdout.endswith(f"run-tests: failed, and passed alone: {test}\n")
    # The same, where it is known. An entry of another part is none of this one's business.
    (folder / "seen").unlink()
    list_as_unsteady(folder, test, "Tests/Abuse/test_gone.py::test_gone")
    result = run(folder / "dev" / "run-tests", "interop")
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert result.stdout.endswith(f"run-tests: unsteady, and known to be: {test}: the clock of the machine\n")


@pytest.mark.parametrize("part, name", [("interop", "Tests/Faults/test_it.py::test_more"), ("browser", "Tests/Browser/test_it.py"), ("abuse", "Tests/Abuse/test_it.py")])
def test_an_entry_that_is_no_python_test_is_refused_before_any_runs(run, python_house, part, name):
    folder = python_house()
    for other in ["Browser", "Abuse"]:
        (folder / "Tests" / other / "test_it.py").write_text("def test_held():\n    pass\n")
    list_as_unsteady(folder, name)
    result = run(folder / "dev" / "run-tests", part)
    assert (result.returncode, result.stderr) == (2, f"unsteady: Tests/unsteady.toml: {name} is no test's name\n")
    assert not (folder / "steady").exists()


@pytest.mark.parametrize("name", ["more", "alone"])
def test_python_tests_that_fail_twice_fail(run, python_house, name):
    assert run(python_house(**{name: "assert False"}) / "dev" / "run-tests", "interop").returncode == 1


def test_browser_tests_run_in_two_processes_and_what_failed_is_run_again_alone(run, python_house):
    folder = python_house()
    (folder / "Tests" / "Browser" / "test_it.py").write_text(
        "import os\n"
        "def test_seen_twice():\n"
        "    open('seen', 'a').write('w' if 'PYTEST_XDIST_WORKER' in os.environ else 's')\n"
        "    assert open('seen').read() == 'ws'\n")
    result = run(folder / "dev" / "run-tests", "browser")
    assert (result.returncode, result.stderr) == (1, MEND), result.stdout
    assert (folder / "seen").read_text() == "ws"
    assert result.stdout.endswith("run-tests: failed, and passed alone: Tests/Browser/test_it.py::test_seen_twice\n")


def test_attacks_run_one_by_one_and_what_failed_is_run_again_alone(run, python_house):
    folder = python_house()
    (folder / "Tests" / "Abuse" / "test_attack.py").write_text(
        "import os, pathlib\n"
        "def test_held():\n    open('held', 'a').write('w' if 'PYTEST_XDIST_WORKER' in os.environ else 's')\n"
        "def test_felt_once():\n"
        "    was = pathlib.Path('felt').exists()\n"
        "    pathlib.Path('felt').touch()\n"
        "    assert was\n")
    result = run(folder / "dev" / "run-tests", "abuse")
    assert (result.returncode, result.stderr) == (1, MEND), result.stdout
    assert (folder / "held").read_text() == "s"
    assert not (folder / "steady").exists()
    assert result.stdout.endswith("run-tests: failed, and passed alone: Tests/Abuse/test_attack.py::test_felt_once\n")
    (folder / "Tests" / "Abuse" / "test_attack.py").write_text("def test_felt():\n    assert False\n")
    assert run(folder / "dev" / "run-tests", "abuse").returncode == 1


def test_a_part_that_is_none_is_refused(run):
    result = run("dev/run-tests", "all")
    assert (result.returncode, result.stderr) == (2, "run-tests: say which part: dev/run-tests unit|interop|browser|abuse\n")
