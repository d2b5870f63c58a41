"""dev/docs: the modules of the products become pages, and what DocC warns of is told."""

import json

import pytest

GOOD = """\
/// Adds.
///
/// - Parameter left: the first number.
public func sum(left: Int) -> Int { left }
"""


@pytest.fixture
def docs(script, tmp_path, monkeypatch):
    """The script, with its output elsewhere."""
    module = script("docs")
    monkeypatch.setattr(module, "OUTPUT", tmp_path / "docs")
    return module


def test_the_products_of_the_package_are_found(docs, run):
    package = json.loads(run("swift", "package", "describe", "--type", "json").stdout)
    found = docs.modules(package)
    products = {name for product in package["products"] if "library" in product["type"] for name in product["targets"]}
    assert products | {"TidingsModel", "ClientCore", "PhoneCore", "TidingsAppGroup"} == set(found)
    # Those that an app imports have a page that says what they are for.
    with_page = {name for name, folder in found.items() if (folder / f"{name}.docc" / f"{name}.md").is_file()}
    assert with_page == {product["name"] for product in package["products"] if "library" in product["type"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD, None),
        (GOOD.replace("Parameter left", "Parameter right"), "Parameter 'right' not found"),
        (GOOD.replace("Adds.", "Adds, see ``product(left:)``."), "'product(left:)' doesn't exist"),
    ],
)
def test_a_page_is_made_unless_docc_warns(docs, run, tmp_path, text, problem):
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    (tmp_path / "Toy.swift").write_text(text)
    done = run(
        "swiftc", "-module-name", "Toy", "-emit-module", "-emit-module-path", tmp_path / "Toy.swiftmodule", "-emit-symbol-graph",
        "-emit-symbol-graph-dir", graphs, tmp_path / "Toy.swift")
    assert done.returncode == 0, done.stderr
    problems = docs.convert("Toy", tmp_path, graphs, tmp_path / "Toy.doccarchive")
    if problem:
        assert any(problem in line and "Toy.swift" in line for line in problems), problems
    else:
        assert problems == []
        assert (tmp_path / "Toy.doccarchive/documentation/toy/sum(left:)/index.html").is_file()
