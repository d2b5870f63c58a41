"""Requests drawn from the description of the HTTP API (api_cases.py): no answer may be other than it says."""

import copy
import os
import shlex
import subprocess

import pytest
import yaml
from api_cases import LEFT_OUT, TAGS, Run, read_document
from conftest import ROOT
from media import everything

# More of them, and from another number: make prove-api.
CASES = int(os.environ.get("TIDINGS_API_CASES", "1500"))
SEED = int(os.environ.get("TIDINGS_API_SEED", "1"))

# Operations that need not be carried out once, with the reason.
NEVER_DONE: dict[str, str] = {
    "DELETE /v1/apps/{app}/webhooks/{webhook}/dead-letters/{delivery}": "a dead letter takes most of a day; test_webhooks.py deletes one",
}


# Descriptions that are wrong in one place, and the operation whose answers show it.
WRONG = {
    "a member of another type": (
        "GET /v1/apps/{app}/statistics", "response_schema",
        lambda it, schemas: schemas["Statistics"]["properties"]["since"].update(type="string")),
    "a member that is not there": (
        "GET /v1/apps/{app}/accounts", "response_schema",
        lambda it, schemas: schemas["Accounts"]["required"].append("total")),
    "a status that is missing": ("PUT /v1/apps/{app}/users/{user}/blocked/{other}", "status_code", lambda it, _: it["responses"].pop("204")),
    "another type of content": (
        "GET /metrics", "content_type", lambda it, _: it["responses"]["200"].update(content={"application/json": {}})),
    "a header that is missing": (
        "GET /v1/apps/{app}/object-names", "response_headers",
        lambda it, _: it["responses"]["200"]["headers"].update({"X-Total": {"required": True, "schema": {"type": "integer"}}})),
    "a member that need not be there after all": (
        "PUT /v1/apps/{app}/users/{user}/settings", "negative_data",
        lambda it, schemas: schemas["PutUserSettings"].update(required=["hides_content", "language", "levels"])),
}


@pytest.fixture
def described(make_site, tmp_path):
    return make_site(with_apns=True, with_production=True, settings=everything(tmp_path), app_settings={"tags": TAGS}).start()


def test_every_answer_is_as_described(described):
    document = read_document(described)
    run = Run(described, document, SEED)
    run.play(CASES)
    # A few draws of each: chance may have broken all of one's.
    for label in sorted(run.never() - set(NEVER_DONE)):
        run.play(100, lambda it: it == label)
    print(run.table())
    print(f"api: seed {SEED}, {run.count} requests, {run.done * 100 // run.count} % carried out, {len(run.failures)} kinds of failures")
    told = "\n\n".join(f"{operation}: {kind}\n  {text}" for (operation, kind), text in run.failures.items())
    assert not run.failures, f"seed {SEED}\n{told}"
    assert run.count >= CASES
    everything = {operation.label for operation in run.operations}
    assert set(LEFT_OUT) - everything == {"GET /v1/connect"}
    assert run.never() == set(NEVER_DONE), f"seed {SEED}: never carried out, or carried out after all"
    assert run.done / run.count > 0.5


def test_a_wrong_description_is_noticed(described):
    document = read_document(described)
    for number, (fault, (label, kind, spoil)) in enumerate(WRONG.items()):
        method, _, path = label.partition(" ")
        wrong = copy.deepcopy(document)
        spoil(wrong["paths"][path][method.lower()], wrong["components"]["schemas"])
        run = Run(described, wrong, SEED + number)
        # Bodies have many members that may be left out: one that has to be there is seldom what a draw leaves out.
        run.play(300 if kind == "negative_data" else 5, lambda it: it == label)
        found = [name for operation, name in run.failures if operation == label]
        assert any(kind in name for name in found), f"{fault}: {run.failures}"


# Of these, in one object, one has to be there, and only that one.
NEVER_NULL = {
    "POST /v1/extension/receipts message_id", "POST /v1/extension/receipts message_ids",
    *(f"POST /v1/apps/{{app}}/pushes {name}" for name in ("everybody", "users", "devices", "alias", "tag", "all", "any", "not")),
}


def test_a_member_that_need_not_be_there_may_be_null():
    document = yaml.load((ROOT / "Sources/Server/TidingsServer/API/openapi.yaml").read_text(), yaml.SafeLoader)

    def resolved(schema: dict) -> dict:
        while "$ref" in schema:
            schema = {**document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], **{key: it for key, it in schema.items() if key != "$ref"}}
        return schema

    def may_be_null(schema: dict) -> bool:
        schema = resolved(schema)
        return "null" in ([schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])) or any(map(may_be_null, schema.get("oneOf", [])))

    def found(schema: dict, label: str, within: tuple[str, ...] = ()):
        if (named := schema.get("$ref")) in within:
            # An audience is made of audiences.
            return
        within = (*within, named) if named else within
        schema = resolved(schema)
        for inner in [*schema.get("oneOf", []), *(schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))]:
            yield from found(inner, label, within)
        for name, member in schema.get("properties", {}).items():
            if name not in schema.get("required", []) and not may_be_null(member):
                yield f"{label} {name}"
            yield from found(member, label, within)

    strict = {
        it for path, methods in document["paths"].items() for method, operation in methods.items() if method != "servers"
        for content in operation.get("requestBody", {}).get("content", {}).values() if "schema" in content
        for it in found(content["schema"], f"{method.upper()} {path}")}
    assert strict == NEVER_NULL


def test_a_failure_prints_what_can_be_typed(described):
    wrong = read_document(described)
    wrong["paths"]["/v1/apps/{app}/statistics"]["get"]["responses"].pop("200")
    run = Run(described, wrong, SEED)
    run.play(1, lambda it: it == "GET /v1/apps/{app}/statistics")
    ((_, text),) = run.failures.items()
    (command,) = [line.strip() for line in text.splitlines() if line.strip().startswith("curl ")]
    assert command.endswith(f"{described.api}/v1/apps/demo/statistics")
    typed = shlex.split(command) + ["-s", "-o", "/dev/null", "-w", "%{http_code}"]
    assert subprocess.run(typed, capture_output=True, text=True, timeout=30).stdout == "200"
