"""dev/size: lines by target and kind, now and at a commit, in a repository of its own."""

import os
import shutil

import pytest

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
}
FILES = {
    "Sources/Model/Words/Word.swift": 2, "Sources/Model/Words/Deep/More.swift": 1, "Sources/Model/Wire/wire.pb.swift": 9,
    "Sources/Server/Console/Pages/app.js": 4, "Sources/Server/Shop/openapi.yaml": 5, "Tests/WordsTests/WordTests.swift": 7,
    "Tests/Interop/test_it.py": 8, "README.md": 2, "dev/list.txt": 20, "Package.swift": 20,
}


@pytest.fixture
def size(run, root, tmp_path):
    """Runs the script in a repository of these files, all in one commit; returns the numbers of each row."""
    for name, lines in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a\n" * lines)
    shutil.copy(root / "dev/size", tmp_path / "dev/size")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=One"]):
        assert run("git", *command, env=GIT, cwd=tmp_path).returncode == 0

    def size(*arguments):
        done = run(tmp_path / "dev/size", *arguments, env=GIT, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return {line[:20].strip() or line: line.split()[-3 if arguments else -1:] for line in done.stdout.splitlines()[1:] if line}

    return size


def test_a_row_tells_the_lines_now_those_of_a_commit_and_the_difference(size, run, root, tmp_path):
    script = (root / "dev/size").read_text().count("\n")
    rows = {name: cells[0] for name, cells in size().items()}
    assert rows == {
        "Sources/Model/Words": "3", "Swift in Sources": "3", "Swift, generated": "9", "Swift in Tests": "7", "Python": "8",
        "openapi.yaml": "5", "Markdown": "2", "Console JavaScript": "4", "Scripts in dev": str(script),
    }
    (tmp_path / "Sources/Model/Words/Word.swift").unlink()
    (tmp_path / "Sources/Model/Words/New.swift").write_text("a\n" * 5)
    assert size("HEAD")["Swift in Sources"] == ["6", "3", "+3"]
    assert run(tmp_path / "dev/size", "gone", env=GIT, cwd=tmp_path).returncode == 2
