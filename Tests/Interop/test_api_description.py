"""The description of the HTTP API as generators of clients read it: names, subjects, bodies with names of their own, and examples that hold."""

from __future__ import annotations

import collections
import functools
import re

import jsonschema_rs
import pytest
import yaml
from conftest import ROOT

VERBS = {
    "activate", "add", "append", "ban", "block", "cancel", "change", "count", "create", "delete", "list", "mark", "override", "preview", "prove", "put",
    "read", "recall", "remove", "resume", "retire", "retry", "revoke", "roll", "rotate", "search", "send", "set", "sign", "start", "suspend", "test",
    "unban", "unblock", "watch"}


@functools.cache
def read() -> dict:
    return yaml.load((ROOT / "Sources/Server/TidingsServer/API/openapi.yaml").read_text(), yaml.SafeLoader)


def operations(document: dict) -> dict[str, dict]:
    return {f"{method} {path}": it for path, methods in document["paths"].items() for method, it in methods.items() if method != "servers"}


def bodies(document: dict):
    """Yields the JSON of requests and good answers."""
    for label, operation in operations(document).items():
        parts = {"body": operation.get("requestBody", {})}
        for status, answer in operation["responses"].items():
            if status < "300":
                parts[status] = document["components"]["responses"][answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
        for part, it in parts.items():
            if content := it.get("content", {}).get("application/json"):
                yield label, part, content


def names(document: dict) -> list[str]:
    """Returns what a generator would have to make a name for, or would name twice."""
    subjects = [it["name"] for it in document["tags"]]
    faults = [f"tag {name} twice" for name, count in collections.Counter(subjects).items() if count > 1]
    ids = collections.Counter(it.get("operationId", "") for it in operations(document).values())
    for label, it in operations(document).items():
        id, tags = it.get("operationId", ""), it.get("tags", [])
        if not (verb := re.fullmatch(r"([a-z]+)([A-Z][A-Za-z]*)?", id)) or verb[1] not in VERBS or ids[id] > 1:
            faults.append(f"{label}: operationId {id}")
        if len(tags) != 1 or tags[0] not in subjects:
            faults.append(f"{label}: tags {tags}")
    used = {tag for it in operations(document).values() for tag in it.get("tags", [])}
    faults += [f"tag {name} of no operation" for name in subjects if name not in used]
    faults += [f"{label} {part}: no name" for label, part, content in bodies(document) if set(content["schema"]) != {"$ref"}]
    return faults + [f"{label}: no example" for label, part, content in bodies(document) if part == "body" and "example" not in content]


def examples(document: dict) -> dict[str, tuple[dict, object]]:
    """Returns the examples of bodies, answers, schemas and parameters, each with its schema."""
    found = {f"{label} {part}": (content["schema"], content["example"]) for label, part, content in bodies(document) if "example" in content}
    for name, schema in document["components"]["schemas"].items():
        if "example" in schema:
            found[name] = ({"$ref": f"#/components/schemas/{name}"}, schema["example"])
    for kind in ("parameters", "headers"):
        found |= {f"{kind} {name}": (it["schema"], it["example"]) for name, it in document["components"][kind].items() if "example" in it}
    return found


def wrong_examples(document: dict) -> dict[str, str]:
    wrong = {}
    for label, (schema, value) in examples(document).items():
        validator = jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]}, validate_formats=True)
        if errors := [error.message for error in validator.iter_errors(value)]:
            wrong[label] = errors[0]
    return wrong


def test_every_operation_has_a_name_and_a_subject_and_every_body_a_name_and_an_example():
    assert names(read()) == []
    assert len(operations(read())) > 150


def test_every_example_is_as_its_schema_says():
    assert wrong_examples(read()) == {}
    assert len(examples(read())) > 80


@pytest.mark.parametrize(("spoil", "fault"), [
    (lambda it: it.update(operationId="readApp"), "post /v1/apps: operationId readApp"),
    (lambda it: it.update(operationId="newApp"), "post /v1/apps: operationId newApp"),
    (lambda it: it.pop("operationId"), "post /v1/apps: operationId "),
    (lambda it: it.update(tags=["apps", "users"]), "post /v1/apps: tags ['apps', 'users']"),
    (lambda it: it.update(tags=["other"]), "post /v1/apps: tags ['other']"),
    (lambda it: it["requestBody"]["content"]["application/json"].update(schema={"type": "object"}), "post /v1/apps body: no name"),
    (lambda it: it["requestBody"]["content"]["application/json"].pop("example"), "post /v1/apps: no example"),
])
def test_what_is_missing_is_told(spoil, fault):
    document = fresh()
    spoil(document["paths"]["/v1/apps"]["post"])
    assert fault in names(document)


def test_a_wrong_example_is_told():
    document = fresh()
    document["paths"]["/v1/apps"]["post"]["requestBody"]["content"]["application/json"]["example"]["id"] = "two words"
    assert list(wrong_examples(document)) == ["post /v1/apps body"]


def fresh() -> dict:
    """Returns a copy in which nothing is shared: one place is changed at a time."""
    return yaml.load(yaml.dump(read(), Dumper=Unshared), yaml.CSafeLoader)


class Unshared(yaml.CSafeDumper):
    def ignore_aliases(self, data):
        return True
