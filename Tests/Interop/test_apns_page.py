"""The examples of docs/testing/apns-simulator.md, run as they stand there against `tidings apns`; only ports are put in."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

import pytest

from apple import Apple
from conftest import tool

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "testing" / "apns-simulator.md"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def apple(tmp_path):
    apple = Apple(tmp_path)
    yield apple
    apple.stop()


def test_curl_pushes(apple):
    [script] = [block for block in blocks("sh") if "curl --http2" in block]
    assert "HTTP/2 200" in apple.run(["bash", "-ec", apple.with_ports(script)])
    apple.expect_push()


def test_curl_sets_a_fault(apple):
    [script] = [block for block in blocks("sh") if "/faults" in block]
    assert json.loads(apple.run(["bash", "-ec", apple.with_ports(script)])) == {"ok": True}
    assert apple.get("/faults")["counts"] == [{"matched": 0, "taken": 0}]


def test_python_pushes(apple):
    [script] = blocks("python")
    (apple.folder / "push.py").write_text(apple.with_ports(script))
    assert apple.run([sys.executable, "push.py"]) == "200\n"
    apple.expect_push()


def test_node_pushes(apple):
    [script] = blocks("js")
    (apple.folder / "push.js").write_text(apple.with_ports(script))
    assert apple.run(["node", "push.js"]) == "200\n"
    apple.expect_push()


def test_go_pushes(apple):
    [lines] = blocks("go")
    program = (
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"github.com/sideshow/apns2"\n'
        '\t"github.com/sideshow/apns2/token"\n)\n\nfunc main() {\n'
        + apple.with_ports(lines)
        + "\tif err != nil {\n\t\tpanic(err)\n\t}\n\tfmt.Println(answer.StatusCode)\n}\n"
    )
    (apple.folder / "main.go").write_text(program)
    apple.run(["go", "mod", "init", "example.com/push"])
    fetched = subprocess.run(["go", "mod", "tidy"], capture_output=True, text=True, timeout=120, cwd=apple.folder)
    if "no such host" in fetched.stderr or "i/o timeout" in fetched.stderr:
        pytest.skip("Go's module proxy cannot be reached from here")
    assert fetched.returncode == 0, fetched.stderr
    held = json.loads((apple.folder / "apns-state/credential.json").read_text())
    answer = apple.run(
        ["go", "run", "."], SSL_CERT_FILE=str(apple.folder / "apns-state/ca.pem"), KEY=held["p8_path"],
        KID=held["key_id"],
    )
    assert answer == "200\n"
    apple.expect_push()


def test_the_help_and_the_page_name_every_control_request(apple):
    page = PAGE.read_text()
    requests = re.findall(r"(?:GET |POST) +(/[a-z]+)", apple.run([tool(), "apns", "--help"]))
    assert len(requests) >= 12
    assert [path for path in requests if path not in page] == []


def test_a_restart_with_a_database_keeps_the_device(tmp_path):
    database = str(tmp_path / "state.db")
    first = Apple(tmp_path, "--state-db", database)
    first.stop()
    second = Apple(tmp_path, "--state-db", database)
    try:
        assert second.device == first.device
    finally:
        second.stop()
