"""dev/prove-replay: equal runs hold; different, silent and failing ones do not."""


def test_two_equal_runs_hold(run):
    result = run("dev/prove-replay", "echo", "trace hash: 0af3")
    assert result.returncode == 0
    assert "hash 0af3" in result.stdout


def test_two_different_runs_are_shown(run):
    result = run("dev/prove-replay", "bash", "-c", "echo trace hash: 0af3; echo $$")
    assert result.returncode == 1
    assert "two runs of one seed differ" in result.stderr


def test_runs_without_a_hash_do_not_count_as_equal(run):
    result = run("dev/prove-replay", "echo", "fine")
    assert result.returncode == 1
    assert "no line 'trace hash" in result.stderr


def test_a_run_that_fails_fails_the_proof(run):
    assert run("dev/prove-replay", "bash", "-c", "echo trace hash: 1; exit 3").returncode == 3
