"""dev/check-docs: a command that nothing runs, a heading that is not there and a page that is too long do not stay."""

import pytest

LIST = "# a list\nmake demo => stage demo\ntool --seed * => dev/test: ./tool\ncd * => person\nswift test * => person\n"
PAGE = "make lunch\n```sh\ncd x && make demo  # plays\n\n# said\ntool \\\n  --seed 7\n```\n```text\nno\n```\n"


@pytest.mark.parametrize(
    ("page", "stages", "faults"),
    [
        (PAGE, "stage demo ./tool demo\n", []),
        ("text\n```sh\nmake demo && make lunch\n```\n", "stage demo ./tool", ["page.md:3: no stage runs this command: make lunch"]),
        (PAGE, "stage other ./tool demo\n", ["dev/documented-commands.txt: make demo: dev/test has no stage demo"]),
        (PAGE, "stage demo", ["dev/documented-commands.txt: tool --seed *: dev/test does not contain: ./tool"]),
        (
            "```sh\nswift test --filter '^ToyTests|^GoneTests'\n```\n", "stage demo ./tool",
            ["page.md:2: there is no test target GoneTests: swift test --filter '^ToyTests|^GoneTests'"],
        ),
        (
            PAGE + "## `A` [b](c.md): d\n[e](#a-b-d) [f](page.md#gone) [g](https://h/#i)\n```\n[j](#k)\n```\n", "stage demo ./tool",
            ["page.md:13: there is no heading page.md#gone"],
        ),
        ("nothing\n", "stage demo ./tool", ["no page shows a command in an `sh` block"]),
    ],
)
def test_what_the_pages_show_is_run_somewhere(script, run, tmp_path, page, stages, faults):
    (tmp_path / "Tests/ToyTests").mkdir(parents=True)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/test").write_text(stages)
    (tmp_path / "dev/documented-commands.txt").write_text(LIST)
    (tmp_path / "page.md").write_text(page)
    assert script("check-docs").check(tmp_path) == faults
    assert run("dev/check-docs", tmp_path).returncode == bool(faults)


def test_a_page_has_20_kilobytes_at_most_but_for_references(script, tmp_path):
    for path in ("docs/long.md", "docs/inside/requirements.md", "LONG.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("```sh\nmake demo\n```\n" + "a" * 20_000)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/documented-commands.txt").write_text("make demo => person\n")
    assert script("check-docs").check(tmp_path) == ["docs/long.md: 20020 bytes, at most 20000: split it"]
