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


def test_documented_is_what_a_product_brings_and_what_it_exports_again(docs, tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    for name, text in {
        "Kit": "@_exported public import Client\n@_exported public import Foundation\n", "Client": "public import Model\n", "Model": "",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "Exports.swift").write_text(text)
    package = {
        "targets": [{"name": name, "path": name} for name in ("Kit", "Client", "Model")],
        "products": [{"targets": ["Kit"], "type": {"library": ["automatic"]}}, {"targets": ["Model"], "type": {"executable": None}}],
    }
    assert docs.modules(package) == {"Client": tmp_path / "Client", "Kit": tmp_path / "Kit"}


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


def test_a_module_without_symbols_ends_the_run(docs, tmp_path, capsys):
    with pytest.raises(SystemExit):
        docs.convert("Toy", tmp_path, tmp_path, tmp_path / "Toy.doccarchive")
    assert f"the compiler wrote no symbols of Toy to {tmp_path}" in capsys.readouterr().err
