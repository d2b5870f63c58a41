"""dev/hooks/commit-msg, as git runs it: on the file of a message."""

import pytest

SIXTY = "Hold pushes for five seconds after a socket drops, but three"


@pytest.fixture
def hook(run, root, tmp_path):
    def hook(message):
        (tmp_path / "message").write_text(message)
        done = run("git", "init", "--quiet", tmp_path)
        assert done.returncode == 0
        return run(root / "dev/hooks/commit-msg", tmp_path / "message", cwd=tmp_path)

    return hook


@pytest.mark.parametrize(
    "message",
    [
        SIXTY, f"{SIXTY}\n\n{'long ' * 40}", "推" * 60, f"\n# {'comment' * 20}\n{SIXTY}\n", f"fixup! squash! {SIXTY}",
        f"Merge branch '{'x' * 70}'", f"Merge pull request #12 from someone/{'x' * 60}", f'Revert "{SIXTY}"',
        f"Hold pushes\n# {'-' * 24} >8 {'-' * 24}\ndiff --git a b\n",
    ],
)
def test_a_message_as_contributing_asks_is_taken(hook, message):
    assert (hook(message).returncode, hook(message).stderr) == (0, "")


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (f"{SIXTY}s", "the subject has 61 characters; at most 60 are allowed"), ("推" * 61, "has 61 characters"),
        ("# Only a comment.\n", "the subject is empty"), (f"fixup! {SIXTY}s", "has 61 characters"),
        ("Hold pushes\nfor five seconds", "the second line has to be blank"), (f"Revert {SIXTY}", "has 67 characters"),
        ("Merge the two readers of settings into one that names the wrong field", "has 69 characters"),
    ],
)
def test_any_other_is_refused_with_the_rule(hook, message, complaint):
    result = hook(message)
    assert result.returncode == 1
    assert complaint in result.stderr and "CONTRIBUTING.md" in result.stderr


def test_make_hooks_switches_it_on(run):
    assert run("make", "--dry-run", "hooks").stdout == "git config core.hooksPath dev/hooks\n"
