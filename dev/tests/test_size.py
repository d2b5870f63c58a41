"""dev/size: lines by target and kind, now and at a commit, in a repository of its own."""

import shutil

import pytest

from test_hooks import GIT

FILES = {
    "Sources/Model/Words/Word.swift": "a\nb\n",
    "Sources/Model/Words/Deep/More.swift": "c\n",
    "Sources/Model/Wire/wire.pb.swift": "g\n" * 9,
    "Sources/Server/Console/Console.swift": "d\n",
    "Sources/Server/Console/Pages/app.js": "e\n" * 4,
    "Sources/Server/Shop/openapi.yaml": "f\n" * 5,
    "Sources/Old/Gone/Gone.swift": "h\n" * 6,
    "Tests/WordsTests/WordTests.swift": "i\n" * 7,
    "Tests/Interop/test_it.py": "j\n" * 8,
    "README.md": "# k\n\nwithout an end",
    "dev/run": "#!/usr/bin/env bash\nl\n",
    "dev/list.txt": "m\n" * 20,
    "Package.swift": "n\n" * 20,
}


@pytest.fixture
def tree(run, root, tmp_path):
    """A repository with these files and the script in one commit, and a function that runs the script."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    shutil.copy(root / "dev/size", tmp_path / "dev/size")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=One"]):
        done = run("git", *command, env=GIT, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    def size(*arguments):
        return run(tmp_path / "dev/size", *arguments, env=GIT, cwd=tmp_path)

    size.path = tmp_path
    return size


def rows(result):
    """The numbers of each row."""
    assert (result.returncode, result.stderr) == (0, "")
    found = {}
    for line in result.stdout.splitlines()[1:]:
        name, *cells = [cell for cell in line.split("  ") if cell] if line else [""]
        found[name.strip()] = [cell.strip() for cell in cells]
    found.pop("")
    return found


def test_a_row_tells_the_lines_of_each_target_and_kind(tree, root):
    script = (root / "dev/size").read_text().count("\n")
    assert rows(tree()) == {
        "Sources/Model/Words": ["3"],
        "Sources/Old/Gone": ["6"],
        "Sources/Server/Console": ["1"],
        "Swift in Sources": ["10"],
        "Swift, generated": ["9"],
        "Swift in Tests": ["7"],
        "Python": ["8"],
        "openapi.yaml": ["5"],
        "Markdown": ["2"],
        "Console JavaScript": ["4"],
        "Scripts in dev": [str(script + 2)],
    }


def test_beside_a_commit_stand_its_lines_and_the_difference(tree):
    (tree.path / "Sources/Model/Words/Word.swift").write_text("a\n")
    (tree.path / "Sources/Old/Gone/Gone.swift").unlink()
    (tree.path / "Sources/Model/New").mkdir()
    (tree.path / "Sources/Model/New/New.swift").write_text("o\n" * 5)
    (tree.path / ".gitignore").write_text("Made\n")
    (tree.path / "Sources/Model/Made").mkdir()
    (tree.path / "Sources/Model/Made/Made.swift").write_text("p\n")
    found = rows(tree("HEAD"))
    assert {name: found[name] for name in found if name.startswith("Sources/") or name in ("Swift in Sources", "Markdown")} == {
        "Sources/Model/New": ["5", "0", "+5"],
        "Sources/Model/Words": ["2", "3", "-1"],
        "Sources/Old/Gone": ["0", "6", "-6"],
        "Sources/Server/Console": ["1", "1", "0"],
        "Swift in Sources": ["8", "10", "-2"],
        "Markdown": ["2", "2", "0"],
    }


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["gone"], "size: there is no commit gone\n"),
        ([""], "size: there is no commit \n"),
        (["HEAD:README.md"], "size: there is no commit HEAD:README.md\n"),
        (["HEAD", "HEAD"], "size: takes one commit at most: dev/size [COMMIT]\n"),
        (["--all"], "size: takes one commit at most: dev/size [COMMIT]\n"),
    ],
)
def test_what_is_no_commit_is_told_in_one_line(tree, arguments, fault):
    result = tree(*arguments)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", fault)


def test_without_a_repository_git_says_so(tree):
    shutil.rmtree(tree.path / ".git")
    for arguments in ([], ["HEAD"]):
        result = tree(*arguments)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert "not a git repository" in result.stderr


def test_help_is_what_the_script_says_of_itself(tree, script):
    result = tree("--help")
    assert (result.returncode, result.stdout) == (0, script("size").__doc__.strip() + "\n")
