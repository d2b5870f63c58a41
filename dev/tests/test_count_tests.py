"""dev/count-tests: the closing line of a run counts what ran, and nothing else."""

import pytest

SWIFT_PASSED = """\
Test Suite 'All tests' started at 2026-01-01 00:00:00.000
Test Suite 'All tests' passed at 2026-01-01 00:00:00.001
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds
◇ Test run started.
✔ Test "is not pushed to" passed after 0.001 seconds.
✔ Test run with 128 tests in 17 suites passed after 3.210 seconds.
"""

SWIFT_FAILED = """\
◇ Test run started.
✘ Test "has a name" recorded an issue at A.swift:3:5: Expectation failed: a == b
✘ Test "has a name" failed after 0.001 seconds with 1 issue.
✘ Test case passing 1 argument word → "x" to "takes words" failed after 0.001 seconds with 1 issue.
✘ Test "takes words" with 3 test cases failed after 0.002 seconds with 1 issue.
✘ Suite "A suite" failed after 0.002 seconds with 2 issues.
✘ Test run with 10 tests in 2 suites failed after 0.010 seconds with 2 issues.
"""

SWIFT_CRASHED = """\
◇ Test run started.
✔ Test "is not pushed to" passed after 0.001 seconds.
error: Exited with unexpected signal code 11
"""


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (SWIFT_PASSED, (128, 0)),
        (SWIFT_FAILED, (8, 2)),
        (SWIFT_CRASHED, None),
        ("✔ Test run with 1 test in 1 suite passed after 0.1 seconds.", (1, 0)),
        ("✔ Test run with 1 test passed after 0.1 seconds.", (1, 0)),
        ("✘ Test run with 2 tests in 1 suite failed after 0.1 seconds with 1 issue.", (1, 1)),
        ("41 passed in 2.50s", (41, 0)),
        ("=== 1 failed, 40 passed, 2 skipped in 2.50s ===", (40, 1)),
        ("3 passed, 2 errors in 61.20s (0:01:01)", (3, 2)),
        ("collected 41 items", None),
        (SWIFT_FAILED + "run-tests: once more, what failed\n✔ Test run with 2 tests passed after 1 seconds.", (10, 0)),
        (SWIFT_PASSED + "run-tests: once more, what failed\n" + SWIFT_CRASHED, None),
        ("2 failed, 40 passed in 2.50s\nrun-tests: once more, what failed\n1 failed, 1 passed in 1.00s", (41, 1)),
        ("2 failed, 40 passed in 2.50s\nrun-tests: once more, what failed\n", None),
        (
            "2 failed, 40 passed in 2.50s\nrun-tests: once more, what failed\n2 passed in 1.00s\n"
            "run-tests: failed, and passed alone: Tests/Interop/test_it.py::test_one\n"
            "run-tests: unsteady, and known to be: Tests/Interop/test_it.py::test_two: why\n",
            (41, 1),
        ),
        ("", None),
    ],
)
def test_a_log_counts_by_its_closing_line(script, text, counts):
    assert script("count-tests").count(text) == counts


def test_the_sum_of_all_logs_is_the_last_line(run, tmp_path):
    (tmp_path / "unit").write_text(SWIFT_PASSED)
    (tmp_path / "interop").write_text("12 passed in 0.10s\n")
    result = run("dev/count-tests", tmp_path / "unit", tmp_path / "interop")
    assert (result.returncode, result.stdout) == (0, "140 passed, 0 failed\n")


@pytest.mark.parametrize("text", [SWIFT_FAILED, SWIFT_CRASHED, "✔ Test run with 0 tests in 0 suites passed after 0.1 seconds.", None])
def test_a_failure_a_crash_nothing_or_a_missing_log_fails_the_count(run, tmp_path, text):
    log = tmp_path / "unit"
    if text is not None:
        log.write_text(text)
    result = run("dev/count-tests", log)
    assert result.returncode == 1
    assert result.stdout.endswith(" failed\n")
