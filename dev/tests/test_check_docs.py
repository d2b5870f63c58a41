"""dev/check-docs: a command that nothing runs does not stay in a page."""

import pytest


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/test").write_text("stage demo ./tool demo\n")
    (tmp_path / "dev/documented-commands.txt").write_text(
        "# a list\nmake demo => stage demo\ntool --seed * => dev/test: ./tool\ncd * => person\n"
    )
    (tmp_path / "page.md").write_text("```sh\n$ ignored outside\n```\n".replace("$ ignored outside", "make demo"))
    return tmp_path


def test_a_page_of_known_commands_holds(script, tree):
    (tree / "page.md").write_text("make lunch\n```sh\ncd x && make demo  # plays\n\n# said\ntool \\\n  --seed 7\n```\n```text\nno\n```\n")
    assert script("check-docs").check(tree) == []


def test_an_unknown_command_is_named_with_its_line(script, tree):
    (tree / "page.md").write_text("text\n```sh\nmake demo && make lunch\n```\n")
    assert script("check-docs").check(tree) == ["page.md:3: no stage runs this command: make lunch"]


def test_a_stage_that_is_gone_takes_its_commands_with_it(script, tree):
    (tree / "dev/test").write_text("stage other ./tool demo\n")
    faults = script("check-docs").check(tree)
    assert faults == ["dev/documented-commands.txt: make demo: dev/test has no stage demo"]


def test_a_text_that_is_gone_takes_its_commands_with_it(script, tree):
    (tree / "dev/test").write_text("stage demo other\n")
    faults = script("check-docs").check(tree)
    assert faults == ["dev/documented-commands.txt: tool --seed *: dev/test does not contain: ./tool"]


def test_a_filter_names_test_targets_that_are_there(script, tree):
    listing = tree / "dev/documented-commands.txt"
    listing.write_text(listing.read_text() + "swift test * => person\n")
    (tree / "Tests/ToyTests").mkdir(parents=True)
    (tree / "page.md").write_text("```sh\nswift test --filter '^ToyTests|^GoneTests'\n```\n")
    assert script("check-docs").check(tree) == [
        "page.md:2: there is no test target GoneTests: swift test --filter '^ToyTests|^GoneTests'"
    ]


def test_pages_without_any_command_are_a_fault(script, tree):
    (tree / "page.md").write_text("nothing\n")
    assert script("check-docs").check(tree) == ["no page shows a command in an `sh` block"]


def test_the_script_exits_with_one_and_the_faults(run, tree):
    (tree / "page.md").write_text("```sh\nmake lunch\n```\n")
    result = run("dev/check-docs", tree)
    assert result.returncode == 1
    assert "page.md:2" in result.stderr
