"""dev/prove-worlds: equal parts that together are the whole, and clear errors."""

import pytest

ECHO = {"TIDINGS": "echo"}


def seeds(run, *arguments):
    result = run("dev/prove-worlds", *arguments, env=ECHO)
    assert result.returncode == 0, result.stderr
    command = result.stdout.splitlines()[-1].split()
    first, last = command[command.index("--seeds") + 1].split("-")
    return int(first), int(last)


def test_it_runs_ten_thousand_phone_days_on_bad_networks(run):
    result = run("dev/prove-worlds", "--first", "1", "--jobs", "2", env=ECHO)
    assert result.stdout.splitlines()[-1] == (
        "simulate --seeds 1-1000 --phones 10 --hours 24 --faults harsh --jobs 2 --every-mark"
    )


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_the_parts_together_are_the_whole(run, parts):
    ranges = [seeds(run, "--first", "5000", "--shard", f"{part}/{parts}") for part in range(1, parts + 1)]
    assert ranges[0][0] == 5000
    assert ranges[-1][1] == 5999
    assert all(before[1] + 1 == after[0] for before, after in zip(ranges, ranges[1:]))
    sizes = [last - first + 1 for first, last in ranges]
    assert max(sizes) - min(sizes) <= 1


def test_another_day_has_other_seeds(run):
    first, last = seeds(run)
    assert first % 1000 == 0 and first > 20_000_000
    assert last == first + 999


def test_it_fails_as_the_tool_does(run):
    assert run("dev/prove-worlds", env={"TIDINGS": "false"}).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard"], "--shard takes a value"),
        (["--shards", "1/2"], "unknown option --shards"),
        (["--shard", "2"], "--shard must be I/N"),
        (["--shard", "0/2"], "--shard must name one of its parts"),
        (["--shard", "3/2"], "--shard must name one of its parts"),
        (["--shard", "1/0"], "--shard must have 1 to 1000 parts"),
        (["--first", "x"], "--first must be a number"),
        (["--jobs", "0"], "--jobs must be at least 1"),
    ],
)
def test_bad_input_is_named(run, arguments, words):
    result = run("dev/prove-worlds", *arguments, env=ECHO)
    assert result.returncode == 2
    assert words in result.stderr
