"""dev/count-tests: the closing line of a run counts what ran, and nothing else."""

import pytest

SWIFT_PASSED = """\
Test Suite 'All tests' passed at 2026-01-01 00:00:00.001
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds
✔ Test run with 128 tests in 17 suites passed after 3.210 seconds.
"""
SWIFT_FAILED = """\
✘ Test "has a name" failed after 0.001 seconds with 1 issue.
✘ Test case passing 1 argument word → "x" to "takes words" failed after 0.001 seconds with 1 issue.
✘ Test "takes words" with 3 test cases failed after 0.002 seconds with 1 issue.
✘ Test run with 10 tests in 2 suites failed after 0.010 seconds with 2 issues.
"""
SWIFT_CRASHED = "◇ Test run started.\nerror: Exited with unexpected signal code 11\n"
AGAIN = "run-tests: once more, what failed\n"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (SWIFT_PASSED, (128, 0)), (SWIFT_FAILED, (8, 2)), (SWIFT_CRASHED, None), ("", None), ("collected 41 items", None),
        ("✔ Test run with 1 test passed after 0.1 seconds.", (1, 0)), ("41 passed in 2.50s", (41, 0)),
        ("=== 1 failed, 40 passed, 2 skipped in 2.50s ===", (40, 1)), ("3 passed, 2 errors in 61.20s (0:01:01)", (3, 2)),
        (f"{SWIFT_FAILED}{AGAIN}✔ Test run with 2 tests passed after 1 seconds.", (10, 0)),
        (f"{SWIFT_PASSED}{AGAIN}{SWIFT_CRASHED}", None),
        (f"2 failed, 40 passed in 2.50s\n{AGAIN}1 failed, 1 passed in 1.00s", (41, 1)),
        (f"2 failed, 40 passed in 2.50s\n{AGAIN}2 passed in 1.00s\nrun-tests: failed, and passed alone: test_one\n", (41, 1)),
    ],
)
def test_a_log_counts_by_its_closing_line(script, text, counts):
    assert script("count-tests").count(text) == counts


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [("12 passed in 0.10s\n", 0, "140 passed, 0 failed\n"), (SWIFT_FAILED, 1, "136 passed, 2 failed\n"), (None, 1, "128 passed, 0 failed\n")])
def test_the_sum_of_all_logs_is_the_last_line_and_a_failure_or_a_missing_log_fails(run, tmp_path, text, status, said):
    (tmp_path / "unit").write_text(SWIFT_PASSED)
    if text is not None:
        (tmp_path / "interop").write_text(text)
    result = run("dev/count-tests", tmp_path / "unit", tmp_path / "interop")
    assert (result.returncode, result.stdout) == (status, said)
