"""dev/core: the short loop builds one target with its tests and what they need, and leaves everything else alone."""

import shutil

import pytest

TESTS = """\
import Testing
import Toy

@Suite struct `A sum` {
    @Test func `adds two numbers`() { #expect(sum(1, 1) == 2) }
    @Test func `adds nothing`() { #expect(sum(1, 0) == 1) }
}
"""


@pytest.fixture
def toy(root, tmp_path):
    """A package with the end of the real manifest: one function, a test of it, and a target that does not compile."""
    tail = (root / "Package.swift").read_text().partition('if let only = Context.environment["TIDINGS_ONLY"]')
    assert tail[1]
    manifest = (
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        'let package = Package(name: "tidings", targets: [\n'
        '    .target(name: "Toy", path: "Sources/Wing/Toy"),\n'
        '    .testTarget(name: "ToyTests", dependencies: ["Toy"]),\n'
        '    .target(name: "Other", path: "Sources/Wing/Other"),\n'
        '    .testTarget(name: "OtherTests", dependencies: ["Other"]),\n'
        "])\n")
    for path, text in {
        "Package.swift": manifest + tail[1] + tail[2],
        "Sources/Wing/Toy/Sum.swift": "public func sum(_ left: Int, _ right: Int) -> Int { left + right }\n",
        "Sources/Wing/Other/Broken.swift": "this does not compile\n",
        "Tests/ToyTests/SumTests.swift": TESTS,
        "Tests/OtherTests/OtherTests.swift": "nor does this\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "dev").mkdir()
    shutil.copy(root / "dev" / "core", tmp_path / "dev" / "core")
    return tmp_path


def test_one_target_is_built_and_its_tests_are_run_again_after_an_edit(run, toy):
    core = toy / "dev" / "core"
    first = run(core, "Toy", cwd=toy, timeout=300)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Test run with 2 tests" in first.stdout
    assert not (toy / "Package.resolved").exists() and not (toy / ".build" / "debug").exists()
    # By name, and only that.
    chosen = run(core, "Toy", "nothing", cwd=toy, timeout=300)
    assert chosen.returncode == 0 and "Test run with 1 test " in chosen.stdout, chosen.stdout + chosen.stderr
    none = run(core, "Toy", "multiplies", cwd=toy, timeout=300)
    assert (none.returncode, none.stderr) == (1, "core: no test of Toy has a name in which multiplies is found\n")
    source = toy / "Sources/Wing/Toy/Sum.swift"
    source.write_text(source.read_text().replace("left + right", "left - right"))
    broken = run(core, "Toy", cwd=toy, timeout=300)
    assert broken.returncode == 1 and 'Test "adds two numbers" failed' in broken.stdout, broken.stdout


@pytest.mark.parametrize("arguments", [[], ["Toys"], ["../Toy"], ["Toy", "a", "b"]])
def test_what_is_no_target_with_tests_is_refused_with_those_that_are(run, toy, arguments):
    result = run(toy / "dev" / "core", *arguments, cwd=toy)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("core: say which target, and if you like a filter: dev/core NAME [FILTER].")
    assert result.stderr.split()[-2:] == ["Other", "Toy"]
    assert not (toy / ".build").exists()


def test_make_passes_name_and_filter_on(run):
    result = run("make", "--dry-run", "core", "NAME=ServerCore", "FILTER=quiet hours")
    assert (result.returncode, result.stdout) == (0, 'dev/core ServerCore "quiet hours"\n')
    assert run("make", "--dry-run", "core", "NAME=ServerCore").stdout == "dev/core ServerCore\n"
