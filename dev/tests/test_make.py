"""The Makefile: what a person types does what the help says."""

import pytest


def test_make_alone_lists_every_command(run, root):
    result = run(*["make"])
    assert result.returncode == 0
    named = {line.split()[1] for line in result.stdout.splitlines() if line.startswith("  make ")}
    assert {"run", "demo", "test", "format", "hooks", "check", "build", "release", "clean"} <= named


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("run", ["dev/bootstrap run", "dev/build --demo", "tidings demo --stay"]),
        ("demo", ["dev/bootstrap run", "dev/build --demo", "tidings demo"]),
        ("test", ["dev/test"]),
    ],
)
def test_a_command_starts_with_the_set_up(run, target, expected):
    result = run("make", "--dry-run", target)
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert len(lines) == len(expected)
    assert all(text in line for text, line in zip(expected, lines))


def test_the_dry_run_of_make_run_ends_with_the_demo_that_stays(run):
    assert run("make", "--dry-run", "run").stdout.splitlines()[-1].endswith("tidings demo --stay")


def test_everything_starts_with_the_set_up_too(root):
    stages = [line.split()[1:] for line in (root / "dev/test").read_text().splitlines() if line.startswith("stage ")]
    assert stages[0] == ["bootstrap", "dev/bootstrap", "test"]
    assert len({stage[0] for stage in stages}) == len(stages)


def test_every_build_checks_the_imports(root):
    for path in ["dev/build", "dev/prove-purity"]:
        assert "--explicit-target-dependency-import-check error" in (root / path).read_text(), path
    # Nothing else builds the package.
    for path in ["Makefile", "dev/test"]:
        text = (root / path).read_text()
        assert "dev/build" in text and "swift build" not in text, path
