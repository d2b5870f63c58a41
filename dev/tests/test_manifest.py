"""The manifest as SwiftPM reads it: what the SDK brings along on Apple's systems, and what cores can see."""

import json
import re

import pytest

SDK = ["TidingsClient", "TidingsKit", "TidingsNotificationService", "TidingsUI"]
COLLECTIONS = {"DequeModule", "OrderedCollections", "HeapModule"}


@pytest.fixture
def targets(root, run, tmp_path):
    """The targets by name, as on Linux or as on Apple's systems."""

    def targets(apple=False, only=None, testable=False):
        manifest = (root / "Package.swift").read_text()
        if apple:
            assert "#if os(Linux)" in manifest
            manifest = manifest.replace("#if os(Linux)", "#if os(Windows)")
        (tmp_path / "Package.swift").write_text(manifest)
        asked = {"TIDINGS_ONLY": only, "TIDINGS_TESTABLE": "1" if testable else None}
        env = {name: value for name, value in asked.items() if value}
        result = run("swift", "package", "--package-path", tmp_path, "dump-package", env=env)
        assert result.returncode == 0, result.stderr
        package = json.loads(result.stdout)
        targets.packages = {dependency["sourceControl"][0]["identity"] for dependency in package["dependencies"]}
        return {target["name"]: target for target in package["targets"]}

    return targets


def dependencies(target):
    """The targets and the package products a target names."""
    ours, products = set(), set()
    for dependency in target["dependencies"]:
        (kind, value), = dependency.items()
        (products if kind == "product" else ours).add(value[0])
    return ours, products


def closure(targets, names):
    """All package products that come along with some targets."""
    products, seen, waiting = set(), set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        ours, more = dependencies(targets[name])
        products |= more
        waiting += ours
    return products


def test_on_apples_systems_the_sdk_brings_along_protobuf_grdb_and_collections_only(targets):
    assert closure(targets(apple=True), SDK) <= {"SwiftProtobuf", "GRDB"} | COLLECTIONS


def test_the_check_can_see_nio_where_it_is(targets):
    assert "NIOCore" in closure(targets(), SDK)


def test_cores_see_cores_and_collections_only(targets, root):
    found = targets()
    cores = set(re.findall(r'^targets \+= core\(\s*"\w+", "(\w+)"', (root / "Package.swift").read_text(), re.MULTILINE))
    assert len(cores) >= 9
    for name in cores:
        ours, products = dependencies(found[name])
        assert ours <= cores, f"{name} sees {ours - cores}"
        assert products <= COLLECTIONS, f"{name} sees {products - COLLECTIONS}"


def test_alone_a_core_has_its_tests_and_what_they_need_and_no_package_but_its_containers(targets):
    found = targets(only="ServerCoreTests")
    assert set(found) == {
        "ServerCoreTests", "ServerCore", "StoreMachine", "StoreModel", "APNsModel", "TidingsModel", "Requirements"}
    assert targets.packages == {"swift-collections"}
    assert set(targets(only="TidingsWireTests,APNsModel")) == {
        "TidingsWireTests", "TidingsWire", "TidingsModel", "Requirements", "APNsModel"}
    assert targets.packages == {"swift-collections", "swift-protobuf"}


def unsafe_flags(target):
    """What SwiftPM refuses in a package that another one depends on."""
    return [flag for setting in target["settings"] if "unsafeFlags" in setting["kind"] for flag in setting["kind"]["unsafeFlags"]["_0"]]


def test_an_app_that_depends_on_a_product_finds_no_unsafe_flag(targets):
    assert [name for name, target in targets().items() if target["type"] != "test" and unsafe_flags(target)] == []


def test_what_dev_build_builds_can_be_imported_with_testable(targets):
    found = targets(testable=True)
    # In C, which tests need not see into.
    del found["EmbeddedFiles"]
    assert all("-enable-testing" in unsafe_flags(target) for target in found.values() if target["type"] != "test")
