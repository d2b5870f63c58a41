"""dev/hooks/commit-msg, tried by `git commit` in a repository of its own, and the two ways to hear of it."""

import os
import pty
import shutil
import subprocess

import pytest

# Nobody's own settings and none of a git that runs these tests.
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
}
SIXTY = "Hold pushes for five seconds after a socket drops, but three"
TOO_LONG = f"{SIXTY}s"


class Repository:
    """A repository with the files of dev/ and the Makefile."""

    def __init__(self, path, run):
        self.path = path
        self._run = run

    def run(self, *command, env=None):
        return self._run(*command, env={**GIT, **(env or {})}, cwd=self.path)

    def git(self, *arguments, env=None):
        result = self.run("git", *arguments, env=env)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def commit(self, message, *options):
        """Commits a message as it is given."""
        return self.run("git", "commit", "--allow-empty", f"--message={message}", *options)

    def write(self, text, *options):
        """Commits what an editor leaves behind: the text above the lines that git had put there."""
        (self.path / "typed").write_text(text)
        editor = self.path / "editor"
        editor.write_text('#!/bin/sh\ncat typed "$1" > both\ncp both "$1"\n')
        editor.chmod(0o755)
        return self.run("git", "commit", "--allow-empty", *options, env={"GIT_EDITOR": "./editor"})

    def subjects(self):
        return self.git("log", "--format=%s").splitlines()


@pytest.fixture
def empty(tmp_path, root, run):
    """A repository in which the hook is not on."""
    path = tmp_path / "repository"
    path.mkdir()
    shutil.copy(root / "Makefile", path)
    shutil.copytree(root / "dev/hooks", path / "dev/hooks")
    shutil.copy(root / "dev/bootstrap", path / "dev")
    repository = Repository(path, run)
    repository.git("init", "--quiet", "--initial-branch=main")
    return repository


@pytest.fixture
def repository(empty):
    """A repository in which the hook is on, with one commit."""
    empty.git("config", "core.hooksPath", "dev/hooks")
    empty.git("commit", "--quiet", "--allow-empty", "--message=Begin")
    return empty


def refused(result, *texts):
    """Whether the commit was refused with every one of the texts."""
    assert result.returncode == 1, result.stderr
    assert all(text in result.stderr for text in texts), result.stderr
    return True


def test_a_subject_of_60_characters_is_taken(repository):
    result = repository.commit(SIXTY)
    assert (result.returncode, result.stderr) == (0, "")
    assert repository.subjects() == [SIXTY, "Begin"]


def test_a_subject_of_61_characters_is_refused_with_its_length_and_the_rule(repository):
    assert refused(repository.commit(TOO_LONG), "the subject has 61 characters; at most 60 are allowed", TOO_LONG, "CONTRIBUTING.md")
    assert repository.subjects() == ["Begin"]


def test_a_refused_message_is_kept_where_the_refusal_says(repository):
    assert refused(repository.commit(f"{TOO_LONG}\n\nThe reason."), "the message is in .git/COMMIT_EDITMSG")
    assert (repository.path / ".git/COMMIT_EDITMSG").read_text() == f"{TOO_LONG}\n\nThe reason.\n"


@pytest.mark.parametrize("character", ["é", "推", "🔔"])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_characters_are_counted_and_not_bytes(repository, character, locale):
    message = repository.path / "message"
    message.write_text(character * 60)
    assert repository.run("dev/hooks/commit-msg", message, env={"LC_ALL": locale}).returncode == 0
    message.write_text(character * 61)
    assert refused(repository.run("dev/hooks/commit-msg", message, env={"LC_ALL": locale}), "has 61 characters")


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a comment.\n"])
def test_an_empty_subject_is_refused(repository, text):
    assert refused(repository.write(text), "the subject is empty; it has to say in 1 to 60 characters")
    assert repository.subjects() == ["Begin"]


def test_a_second_line_that_is_not_blank_is_refused_with_its_length(repository):
    assert refused(repository.commit("Hold pushes\nfor five seconds"), "the second line has to be blank", "has 16 characters: for five")
    assert repository.subjects() == ["Begin"]


def test_both_faults_of_a_message_are_named_at_once(repository):
    assert refused(repository.commit(f"{TOO_LONG}\nbody"), "61 characters", "the second line has to be blank")


def test_a_body_of_any_width_after_a_blank_line_is_taken(repository):
    result = repository.commit(f"Hold pushes\n\n{'long ' * 40}\n\nSecond paragraph.")
    assert (result.returncode, result.stderr) == (0, "")


def test_blank_lines_above_the_subject_are_left_out_as_git_leaves_them_out(repository):
    assert repository.write("\n  \nHold pushes\n\nbody\n").returncode == 0
    assert repository.subjects() == ["Hold pushes", "Begin"]
    assert refused(repository.write(f"\n\n{TOO_LONG}\n"), "has 61 characters")


def test_comments_are_no_part_of_the_message(repository):
    comment = f"# {'a comment is as long as it likes ' * 3}\n"
    assert repository.write(f"{comment}Hold pushes\n{comment}\nbody\n").returncode == 0
    assert repository.subjects() == ["Hold pushes", "Begin"]
    assert refused(repository.write(f"{comment}{TOO_LONG}\n"), "has 61 characters")


def test_a_comment_begins_as_git_is_told(repository):
    repository.git("config", "core.commentChar", ";")
    assert repository.write("; a comment\n#12 is mended\n; a comment\n\nbody\n").returncode == 0
    assert repository.subjects() == ["#12 is mended", "Begin"]


def test_the_change_that_git_shows_below_the_message_is_no_part_of_it(repository):
    (repository.path / "file").write_text("text\n")
    repository.git("add", "file")
    editor = repository.path / "editor"
    editor.write_text("#!/bin/sh\n{ echo 'Hold pushes'; sed -n '/>8/,$p' \"$1\"; } > both\ncp both \"$1\"\n")
    editor.chmod(0o755)
    result = repository.run("git", "commit", "--verbose", env={"GIT_EDITOR": "./editor"})
    assert "diff --git" in (repository.path / "both").read_text()
    assert result.returncode == 0, result.stderr


def branch(repository, name):
    """A branch with a commit, from main."""
    repository.git("checkout", "--quiet", "-b", name)
    repository.git("commit", "--quiet", "--allow-empty", "--message=Hold pushes")
    repository.git("checkout", "--quiet", "main")


def test_a_merge_keeps_the_subject_that_git_gives_it(repository):
    name = f"pushes/{'held-' * 12}five-seconds"
    branch(repository, name)
    repository.git("merge", "--no-ff", "--no-edit", name)
    repository.git("commit", "--amend", "--no-edit", "--allow-empty")
    assert repository.subjects()[0] == f"Merge branch '{name}'"


@pytest.mark.parametrize(
    "subject",
    [
        f"Merge remote-tracking branch 'origin/{'x' * 60}' into main",
        f"Merge branches '{'x' * 40}' and '{'y' * 40}'",
        f"Merge tag '{'1' * 60}'",
        f"Merge pull request #12 from someone/{'x' * 60}",
        f"Merge https://example.com/{'x' * 60}",
    ],
)
def test_the_other_forms_of_a_merge_pass_too(repository, subject):
    assert repository.commit(subject).returncode == 0


def test_what_a_person_calls_a_merge_is_measured(repository):
    assert refused(repository.commit("Merge the two readers of settings into one that names the wrong field"), "has 69 characters")
    branch(repository, "other")
    assert refused(repository.run("git", "merge", "--no-ff", "other", "-m", TOO_LONG), "has 61 characters")


def test_a_revert_keeps_the_form_of_git(repository):
    (repository.path / "file").write_text("text\n")
    repository.git("add", "file")
    repository.git("commit", "--quiet", f"--message={SIXTY}")
    repository.git("revert", "--no-edit", "HEAD")
    assert repository.subjects()[0] == f'Revert "{SIXTY}"'
    assert repository.commit(f'Reapply "{SIXTY}"').returncode == 0


def test_a_revert_in_other_words_is_measured(repository):
    assert refused(repository.commit(f"Revert {SIXTY}"), "has 67 characters")


@pytest.mark.parametrize("mark", ["fixup!", "squash!", "amend!", "fixup! squash!"])
def test_of_a_fixup_the_subject_behind_the_mark_is_measured(repository, mark):
    assert repository.commit(f"{mark} {SIXTY}").returncode == 0
    assert refused(repository.commit(f"{mark} {TOO_LONG}"), f"has 61 characters; at most 60 are allowed: {TOO_LONG}")


def test_a_fixup_of_git_s_own_making_passes_and_is_squashed(repository):
    for number, message in enumerate([f"--message={SIXTY}", "--fixup=HEAD"]):
        (repository.path / f"file{number}").write_text("text\n")
        repository.git("add", f"file{number}")
        repository.git("commit", "--quiet", message)
    repository.git("rebase", "--quiet", "--interactive", "--autosquash", "HEAD~2", env={"GIT_SEQUENCE_EDITOR": ":"})
    assert repository.subjects() == [SIXTY, "Begin"]


def test_make_hooks_switches_the_hook_on_in_this_clone(empty):
    assert empty.commit(TOO_LONG).returncode == 0
    assert empty.run("make", "hooks").returncode == 0
    assert empty.git("config", "--local", "core.hooksPath") == "dev/hooks\n"
    assert refused(empty.commit(TOO_LONG), "has 61 characters")


@pytest.fixture
def bootstrap(empty, tmp_path):
    """Runs dev/bootstrap in the repository, on a machine that is ready; its output goes to a terminal or to a pipe."""
    if not os.path.exists("/usr/include/sqlite3.h") and not os.path.exists("/usr/local/include/sqlite3.h"):
        pytest.skip("SQLite's headers are not here")
    swift = tmp_path / "bin/swift"
    swift.parent.mkdir()
    swift.write_text("#!/bin/sh\necho 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'\n")
    swift.chmod(0o755)

    def bootstrap(terminal=True, **env):
        path = f"{swift.parent}:{os.environ['PATH']}"
        command = ["dev/bootstrap", "run"]
        if not terminal:
            return empty.run(*command, env={"PATH": path, "CI": "", "YES": "", **env}).stdout
        ours, theirs = pty.openpty()
        everything = {**os.environ, **GIT, "PATH": path, "CI": "", "YES": "", **env}
        subprocess.run(command, cwd=empty.path, env=everything, stdin=subprocess.DEVNULL, stdout=theirs, timeout=60, check=True)
        os.write(theirs, b"<end>")
        os.close(theirs)
        text = b""
        while not text.endswith(b"<end>"):
            text += os.read(ours, 4096)
        os.close(ours)
        return text.decode().replace("\r\n", "\n").removesuffix("<end>")

    return bootstrap


def test_the_set_up_offers_the_hook_in_one_line_and_changes_nothing(empty, bootstrap):
    before = (empty.path / ".git/config").read_text()
    offer = bootstrap()
    assert "make hooks, or git config core.hooksPath dev/hooks\n" in offer and offer.count("\n") == 1
    assert (empty.path / ".git/config").read_text() == before


def test_without_a_terminal_the_set_up_offers_nothing(bootstrap):
    assert bootstrap(terminal=False) == ""


def test_continuous_integration_is_offered_nothing(bootstrap):
    assert bootstrap(CI="1") == ""


@pytest.mark.parametrize("folder", ["dev/hooks", "/elsewhere/hooks"])
def test_whoever_has_chosen_a_folder_of_hooks_is_offered_nothing(empty, bootstrap, folder):
    empty.git("config", "core.hooksPath", folder)
    assert bootstrap() == ""


def test_a_tree_without_git_is_offered_nothing(empty, bootstrap):
    shutil.rmtree(empty.path / ".git")
    assert bootstrap() == ""
