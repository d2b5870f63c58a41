"""dev/prove-mutation: a mutant is seen by the test of its row or it survived; one that cannot be applied is named."""

import time

import pytest

MUTANT = {
    "name": "one and one is three",
    "row": "sums",
    "file": "Sources/Wing/Toy/Sum.swift",
    "find": "left + right",
    "replace": "left + right + 1",
    "killed_by": ["adds"],
    "tests": "ToyTests",
}
SUM = "public func sum(_ left: Int, _ right: Int) -> Int { left + right }\npublic func unseen() -> Int { 1 }\n"
TESTS = """\
import Testing
import Toy

@Suite struct `A sum` {
    @Test func `adds two numbers`() { #expect(sum(1, 1) == 2) }
    @Test(arguments: [1, 2]) func `adds nothing`(number: Int) { #expect(sum(number, 0) == number) }
}
"""
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "tidings",
    targets: [
        .target(name: "Toy", path: "Sources/Wing/Toy"),
        .testTarget(name: "ToyTests", dependencies: ["Toy"], path: "Tests/ToyTests"),
        .target(name: "LeftOut", path: "Sources/Wing/LeftOut"),
    ])
package.targets.removeAll { $0.name == "LeftOut" && Context.environment["TIDINGS_ONLY"] == "ToyTests" }
"""


@pytest.fixture
def toy(script, tmp_path, monkeypatch):
    """The script on a package of one function, whose mutants are given."""
    module = script("prove-mutation")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FOLDER", tmp_path / "mutation")
    for path, text in {
        "Package.swift": MANIFEST,
        "Sources/Wing/Toy/Sum.swift": SUM,
        "Tests/ToyTests/SumTests.swift": TESTS,
        "Tests/Mutation/none.toml": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def write(*mutants, head=""):
        tables = ["\n".join(f"{key} = {toml(value)}" for key, value in mutant.items()) for mutant in mutants]
        text = head + "".join(f"[[mutant]]\n{table}\n" for table in tables)
        (tmp_path / "Tests/Mutation/toy.toml").write_text(text)
        return module

    return write


def toml(value):
    return str(value).lower() if isinstance(value, bool) else repr(value)


def run(module, monkeypatch, *arguments):
    """The status the script ends with."""
    monkeypatch.setattr("sys.argv", ["prove-mutation", *arguments])
    try:
        module.main()
    except SystemExit as end:
        return end.code
    return 0


def without(key):
    return {name: value for name, value in MUTANT.items() if name != key}


@pytest.mark.parametrize(
    ("mutant", "complaint"),
    [
        (MUTANT | {"shorts": True}, "unknown key ['shorts']"),
        (without("row"), "`row` must be a str"),
        (MUTANT | {"killed_by": "adds"}, "`killed_by` must be a list"),
        (MUTANT | {"find": "left * right"}, "`find` stands 0 times in Sources/Wing/Toy/Sum.swift, not once"),
        (MUTANT | {"find": "public func"}, "`find` stands 2 times in Sources/Wing/Toy/Sum.swift, not once"),
        (MUTANT | {"replace": "left + right"}, "`find` and `replace` are the same"),
        (MUTANT | {"file": "Sources/Wing/Toy/Gone.swift"}, "there is no file Sources/Wing/Toy/Gone.swift"),
        (MUTANT | {"tests": "OtherTests"}, "`tests` must start with one of ['ToyTests']"),
    ],
)
def test_one_that_cannot_be_applied_is_named(toy, monkeypatch, capsys, mutant, complaint):
    assert run(toy(mutant), monkeypatch, "--list") == 2
    assert complaint in capsys.readouterr().err


def test_names_differ_and_the_table_s_keys_are_known(toy, monkeypatch, capsys):
    assert run(toy(MUTANT, MUTANT), monkeypatch, "--list") == 2
    assert "toy.toml, mutant 2 (one and one is three): another mutant has this name" in capsys.readouterr().err
    assert run(toy(MUTANT, head="[defaults]\nrow = 'x'\n"), monkeypatch, "--list") == 2
    assert "toy.toml: unknown key ['row']" in capsys.readouterr().err


def test_no_mutants_is_an_error(toy, monkeypatch, capsys):
    for mutants, arguments in [((), ()), ((MUTANT,), ("--only", "no such row"))]:
        assert run(toy(*mutants), monkeypatch, *arguments) == 2
        assert "no mutant in Tests/Mutation is chosen" in capsys.readouterr().err


def test_every_fault_is_named_at_once_and_those_of_others_do_not_hinder_a_choice(toy, monkeypatch, capsys):
    broken = [MUTANT | {"name": name, "find": "gone", "row": "lost"} for name in ("first", "second")]
    assert run(toy(MUTANT, *broken), monkeypatch, "--list") == 2
    complaints = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert complaints == ["toy.toml, mutant 2 (first)", "toy.toml, mutant 3 (second)"]
    assert run(toy(MUTANT, *broken), monkeypatch, "--list", "--only", "sums") == 0


def test_a_choice_goes_by_name_row_and_file(toy, monkeypatch, capsys):
    other = MUTANT | {"name": "another", "row": "others"}
    for arguments, listed in [
        ((), ["sums", "others"]),
        (("--only", "three"), ["sums"]),
        (("--only", "others"), ["others"]),
        (("--only", "(three|another) .* Sources/Wing"), ["sums", "others"]),
        (("--only", "Sources/Wing"), ["sums", "others"]),
    ]:
        module = toy(without("tests"), other, head="[defaults]\ntests = 'ToyTests'\n")
        assert run(module, monkeypatch, "--list", *arguments) == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == listed


def test_two_mutants_of_changed_files_are_drawn_of_one_target_and_others_for_each_commit(script):
    module = script("prove-mutation")
    mutants = [
        MUTANT | {"name": f"{target} {number}", "file": f"{target}.swift", "tests": f"{target}Tests"}
        for target in ("One", "Two", "Three") for number in range(9)]
    draws = [module.drawn(mutants, {"One.swift", "Two.swift"}, f"commit {number}") for number in range(50)]
    assert all(len(draw) == 2 and draw[0]["file"] == draw[1]["file"] != "Three.swift" for draw in draws)
    assert len({mutant["name"] for draw in draws for mutant in draw}) == 18
    assert module.drawn(mutants, {"One.swift"}, "commit") == module.drawn(mutants, {"One.swift"}, "commit")
    assert module.drawn(mutants, {"README.md"}, "commit") == []


@pytest.mark.parametrize(
    ("output", "status", "names"),
    [
        ('✔ Test "adds" passed after 0.1 seconds.', 0, []),
        ('✘ Test "adds" failed after 0.1 seconds with 1 issue.', 1, ["adds"]),
        ('✘ Test "adds" with 2 test cases failed after 0.1 seconds with 1 issue.', 1, ["adds"]),
        ('✘ Test "adds" recorded an issue at A.swift:1:2: Expectation failed: a at b', 1, ["adds"]),
        (
            '✘ Test "adds" recorded an issue with 1 argument cell → AC in SU at A.swift:1:2: Expectation failed',
            1,
            ["adds [cell → AC in SU]"],
        ),
        (
            '✘ Test "keeps" recorded an issue with 1 argument promise → "P1" at A.swift:1:2: Issue recorded\n'
            "↳ P1: bob has not got it (seed 7)",
            1,
            ['keeps [promise → "P1"], seed 7'],
        ),
        ('\x1b[91m✘\x1b[0m Test plain() failed after 0.1 seconds with 1 issue.', 1, ["plain()"]),
        ('◇ Test "adds" started.\nFatal error: Index out of range', 1, ["the run died"]),
        ('◇ Test "adds" started.', -11, ["the run died"]),
        ("◇ Test run started.", 0, None),
        ("✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.", 69, None),
    ],
)
def test_what_failed_is_read_from_the_run(script, output, status, names):
    assert script("prove-mutation").results(output, status) == (names, status)


def test_a_run_tells_the_seen_from_the_survivors(toy, monkeypatch, capsys, tmp_path):
    seen = MUTANT
    argument = MUTANT | {"name": "by its argument", "killed_by": ["adds nothing [number → 2]"]}
    survivor = MUTANT | {"name": "nobody looks", "find": "{ 1 }", "replace": "{ 2 }"}
    elsewhere = MUTANT | {"name": "seen by another row's test", "killed_by": ["subtracts"]}
    crash = MUTANT | {"name": "crashes", "replace": "[left + right][left + 1]", "killed_by": ["adds two"]}
    table = tmp_path / "table.md"
    module = toy(seen, argument, survivor, elsewhere, crash)
    assert run(module, monkeypatch, "--table", str(table)) == 1
    printed = capsys.readouterr()
    assert 'sums: one and one is three: seen by "adds ' in printed.out
    assert 'sums: by its argument: seen by "adds nothing [number → 2]"' in printed.out
    assert "sums: nobody looks: SURVIVED; failing tests: [] (0)" in printed.out
    assert 'sums: crashes: seen by "adds two, which crashed"' in printed.out
    assert "3 of 5 seen" in printed.out
    assert "not seen: nobody looks; seen by another row's test" in printed.err
    rows = table.read_text().splitlines()
    assert len(rows) == 7
    assert rows[4] == "| sums | nobody looks | — | 0 |"
    assert (tmp_path / "Sources/Wing/Toy/Sum.swift").read_text() == SUM
    assert (tmp_path / "mutation/Toy/Sources/Wing/Toy/Sum.swift").read_text() == SUM

    # The unbroken copy is warm: these two build one file each.
    assert run(toy(seen), monkeypatch) == 0
    assert "1 of 1 seen" in capsys.readouterr().out
    assert run(toy(seen | {"replace": "left + nothing"}), monkeypatch) == 2
    assert "does not compile" in capsys.readouterr().out
    time.sleep(1.1)  # as long as the script waits between a build and a change
    (tmp_path / "Sources/Wing/Toy/Sum.swift").write_text(SUM.replace("{ left + right }", "{ 0 * (left + right) }"))
    assert run(toy(seen), monkeypatch) == 1
    assert "the unbroken tree fails already" in capsys.readouterr().err


CORE = {"name": "Toy", "sample": 20, "floor": 60}
RULES = """\
/// Keeps what is small.
public struct Small {
    public private(set) var kept: [Int] = []
    public init() {}
    public mutating func keep(_ number: Int) -> Bool {
        guard number < 10 else { return false }
        self.kept.append(number)
        return true
    }
    public mutating func forget() {
        self.kept = []
        print("forgotten")
    }
}
"""
RULE_TESTS = """\
import Testing
import Toy

@Suite struct `What is small` {
    @Test func `is kept`() {
        var small = Small()
        #expect(small.keep(9) && !small.keep(10))
        #expect(small.kept == [9])
    }
}
"""


@pytest.fixture
def rules(toy, tmp_path):
    """The script on a core whose mutants are made by the operators."""

    def write(**change):
        (tmp_path / "Sources/Wing/Toy/Sum.swift").write_text(RULES)
        (tmp_path / "Sources/Wing/Toy/Small").mkdir(exist_ok=True)
        (tmp_path / "Tests/ToyTests/SumTests.swift").write_text(RULE_TESTS)
        lines = "\n".join(f"{key} = {toml(value)}" for key, value in (CORE | change).items())
        (tmp_path / "Tests/Mutation/operators.toml").write_text(f"[[core]]\n{lines}\n")
        return toy()

    return write


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "Gone"}, "`name` must be one of ['Toy']"),
        ({"sample": "all"}, "`sample` must be a int"),
        ({"sample": 0}, "`sample` must be at least 1"),
        ({"floor": 101}, "`floor` 1 to 100"),
        ({"more": 1}, "unknown key ['more']; known are ['floor', 'folders', 'name', 'sample', 'tests']"),
        ({"folders": "Small"}, "`folders` must be a list"),
        ({"folders": []}, "`folders` must be some of ['Small']"),
        ({"folders": ["Small", "Gone"]}, "`folders` must be some of ['Small']"),
        ({"folders": [1]}, "`folders` must be some of ['Small']"),
        ({"tests": 1}, "`tests` must be a str"),
        ({"tests": "OtherTests"}, "`tests` must start with one of ['ToyTests']"),
    ],
)
def test_a_core_that_cannot_be_read_is_named(rules, monkeypatch, capsys, change, complaint):
    assert run(rules(**change), monkeypatch, "--list") == 2
    assert complaint in capsys.readouterr().err


def test_cores_are_listed_with_what_is_tried_of_them(rules, monkeypatch, capsys):
    assert run(rules(), monkeypatch, "--list") == 0
    assert "20 mutants of Toy" in capsys.readouterr().out


def test_an_entry_is_chosen_by_its_sort_and_by_its_title(rules, monkeypatch, capsys):
    def listed(*arguments, **change):
        status = run(rules(folders=["Small"], tests="ToyTests.*small", **change), monkeypatch, "--list", *arguments)
        return status, capsys.readouterr().out.split()

    found = (0, ["operators", "20", "mutants", "of", "Toy/Small", "by", "Toy"])
    for arguments in [(), ("--operators",), ("--only", "^Toy/Small by Toy$")]:
        assert listed(*arguments) == found
    for arguments in [("--curated",), ("--only", "by Other")]:
        assert listed(*arguments) == (2, [])


EXCUSED = {"core": "Toy", "file": "Sum.swift", "mutants": ["statement: self.kept = []"], "reason": "nobody keeps on"}


@pytest.fixture
def excuse(rules, tmp_path):
    """The script on a core of which some mutants are excused."""

    def write(*entries, **change):
        tables = ["\n".join(f"{key} = {toml(value)}" for key, value in entry.items()) for entry in entries]
        module = rules(**change)
        (tmp_path / "Tests/Mutation/excused.toml").write_text("".join(f"[[excused]]\n{table}\n" for table in tables))
        return module

    return write


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"core": "Gone"}, "excused.toml, entry 1 (Sum.swift): `core` must be one of ['Toy']"),
        ({"reason": ""}, "`reason` must be a str"),
        ({"mutants": "all"}, "`mutants` must be a list"),
        ({"seen_by": 1}, "`seen_by` must be a str"),
        ({"line": 3}, "unknown key ['line']"),
        ({"mutants": ["never: a", "never: a"]}, "excused twice: never: a"),
    ],
)
def test_an_excuse_that_cannot_be_read_is_named(excuse, monkeypatch, capsys, change, complaint):
    assert run(excuse(EXCUSED | change), monkeypatch, "--list") == 2
    assert complaint in capsys.readouterr().err


def test_an_excuse_for_what_the_source_lacks_is_out_of_date(excuse, monkeypatch, capsys):
    assert run(excuse(EXCUSED | {"mutants": ["never: number < 11"]}), monkeypatch) == 1
    assert "Toy: excused, and not in the source: Sum.swift: never: number < 11" in capsys.readouterr().err


def test_what_is_excused_does_not_count_and_must_not_be_seen(excuse, monkeypatch, capsys):
    assert run(excuse(EXCUSED, floor=100), monkeypatch) == 0
    printed = capsys.readouterr().out
    assert "Toy: 6 of 6 seen, 1 excused, 100 %; the floor is 100 %" in printed
    assert "not seen: " not in printed
    # The build is warm: the source is the same.
    assert run(excuse(EXCUSED, EXCUSED | {"mutants": ["never: number < 10"]}), monkeypatch) == 1
    printed = capsys.readouterr().out
    assert "excused, but seen: Sources/Wing/Toy/Sum.swift:6: never: number < 10" in printed
    assert "Toy: 1 excused, but seen: their entries can go" in printed


def test_all_mutants_are_tried_where_no_sample_is_named(excuse, monkeypatch, capsys, tmp_path):
    module = excuse(EXCUSED)
    table = tmp_path / "Tests/Mutation/operators.toml"
    table.write_text("\n".join(line for line in table.read_text().splitlines() if not line.startswith("sample")))
    assert run(module, monkeypatch, "--list") == 0
    assert "all mutants of Toy" in capsys.readouterr().out
    assert run(module, monkeypatch) == 0
    assert "7 of 7 mutants of the operators follow" in capsys.readouterr().out


def test_at_most_a_hundred_and_twenty_are_curated(toy, monkeypatch, capsys):
    assert run(toy(*[MUTANT | {"name": str(number)} for number in range(121)]), monkeypatch, "--list") == 2
    assert "121 curated mutants, at most 120 are wanted" in capsys.readouterr().err


def test_operators_break_a_core_and_what_no_test_sees_counts_against_its_floor(rules, monkeypatch, capsys, tmp_path):
    assert run(rules(), monkeypatch) == 0
    printed = capsys.readouterr().out
    # The condition never and always, both literals, ten, what is appended; what forgets is tested by nothing.
    assert "7 of 7 mutants of the operators" in printed
    assert "Toy: 6 of 7 seen, 85 %; the floor is 60 %" in printed
    assert "not seen: Sources/Wing/Toy/Sum.swift:11: statement: self.kept = []" in printed
    assert (tmp_path / "Sources/Wing/Toy/Sum.swift").read_text() == RULES
    assert run(rules(floor=90), monkeypatch) == 1
    assert "below their floor, or excused without need: Toy" in capsys.readouterr().err


OTHER_TESTS = """\
import Testing
import Toy

@Suite struct `Whoever keeps` {
    @Test func `keeps one`() {
        var small = Small()
        let isKept = small.keep(1)
        #expect(isKept)
        #expect(small.kept == [1])
    }
    @Test func `is never asked`() { #expect(Bool(false)) }
}
"""


def test_the_tests_of_another_target_can_be_asked_about_some_folders_of_a_core(rules, monkeypatch, capsys, tmp_path):
    chosen = {"folders": ["Small"], "tests": "OtherTests.*keeps one"}
    (tmp_path / "Tests/OtherTests").mkdir(parents=True)
    (tmp_path / "Tests/OtherTests/OtherTests.swift").write_text(OTHER_TESTS)
    other = '.testTarget(name: "OtherTests", dependencies: ["Toy"], path: "Tests/OtherTests"),'
    (tmp_path / "Package.swift").write_text(
        MANIFEST.replace("    ])\n", f"        {other}\n    ])\n").replace('"ToyTests" }', '"OtherTests" }'))
    module = rules(**chosen)
    assert run(module, monkeypatch) == 2
    assert "Toy/Small by Other: the operators find nothing to break there" in capsys.readouterr().err
    (tmp_path / "Sources/Wing/Toy/Sum.swift").rename(tmp_path / "Sources/Wing/Toy/Small/Small.swift")
    (tmp_path / "Sources/Wing/Toy/Sum.swift").write_text("public func not() -> Bool { false }\n")
    assert run(module, monkeypatch) == 1
    printed = capsys.readouterr()
    # Nobody asks whether something is too large.
    assert "Toy/Small by Other: the unbroken tree passes; 7 of 7 mutants of the operators follow" in printed.out
    assert "not seen: Sources/Wing/Toy/Small/Small.swift:6: always: number < 10" in printed.out
    assert "Toy/Small by Other: 3 of 7 seen, 42 %; the floor is 60 %" in printed.out
    assert "excused without need: Toy/Small by Other" in printed.err
    assert (tmp_path / "mutation/Toy-Other-operators/.build/release").exists()
    chosen["tests"] = "OtherTests.*nobody"
    module = rules(**chosen)
    (tmp_path / "Sources/Wing/Toy/Sum.swift").write_text("public func not() -> Bool { false }\n")
    assert run(module, monkeypatch) == 1
    assert "Toy/Small by Other: the filter OtherTests.*nobody finds no test" in capsys.readouterr().err


def mutate(text):
    from mutation import operators
    mutants = operators.plan("A.swift", text)
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    return operators.apply(text, mutants)


@pytest.mark.parametrize(
    ("text", "mutated"),
    [
        ("func f() { if a { g() } }", "func f() { if (!isMutant(1) && ((isMutant(2) || (a)))) { g() } }"),
        ("func f() { if let a { g() } }", None),
        ("func f() { if case .a = b { g() } }", None),
        ("let a = true", None),
        ("func f() { switch a { case (true, 1): g() } }", None),
        ("func f() -> Bool { true }", "func f() -> Bool { (isMutant(1) ? false : true) }"),
        ("func f() -> Int { 7 + a.0 + $1 }", "func f() -> Int { (isMutant(1) ? 8 : 7) + a.0 + $1 }"),
        ('func f() -> String { "7 \\(g("true"))" }', None),
        ("init() {\n    self.a = b\n}", None),
        ("func f() {\n    self.a = b\n    g()\n}", "func f() {\n    if !isMutant(1) { self.a = b }\n    g()\n}"),
        ("func f() {\n    effects.append(\n        .a(b))\n}", "func f() {\n    if !isMutant(1) { effects.append(\n        .a(b)) }\n}"),
        ("func f() {\n    self.a = b\n        + c\n    g()\n}", None),
        ("func f<A>() where A == B { g() }", None),
        ("func f() {\n    // if true { 1 }\n}", None),
    ],
)
def test_operators_know_where_an_expression_stands(toy, text, mutated):
    assert mutate(text) == (text if mutated is None else mutated)


def test_every_source_can_be_read_by_the_operators(script, root):
    operators = script("prove-mutation").operators
    sources = sorted((root / "Sources").rglob("*.swift"))
    assert sources
    for path in sources:
        operators.tokens(path.read_text())
    read = operators.tokens("x < 1e15, y == 0o600, 1.5e-3, 0...3")
    numbers = [token.text for token in read if token.kind == "number"]
    assert numbers == ["1e15", "0o600", "1.5e-3", "0", "3"]
