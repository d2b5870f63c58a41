"""A client in Python that openapi-python-client makes from the description the server ships: it is made without a warning, and works."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest
import requests
from tidings_client import Client

# The generator knows these types of content by other names.
CONFIGURATION = {
    "project_name_override": "tidings", "package_name_override": "tidings_generated",
    "content_type_overrides": {
        "application/offset+octet-stream": "application/octet-stream", "image/jpeg": "application/octet-stream",
        "application/yaml": "text/html", "text/plain": "text/html", "text/event-stream": "text/html"},
}


@pytest.fixture
def generated(site, tmp_path, monkeypatch):
    """The package, imported; the description is that of the running server."""
    description, configuration = tmp_path / "openapi.yaml", tmp_path / "configuration.json"
    description.write_bytes(requests.get(f"{site.api}/openapi.yaml", timeout=20).content)
    configuration.write_text(json.dumps(CONFIGURATION))
    # It formats what it has made with ruff, which stands beside it.
    programs = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(description), "--config", str(configuration), "--meta", "none",
         "--output-path", str(tmp_path / "tidings_generated"), "--fail-on-warning"],
        capture_output=True, text=True, timeout=240, env={**os.environ, "PATH": programs}, cwd=tmp_path)
    assert made.returncode == 0 and "WARNING" not in made.stdout, f"{made.stdout}\n{made.stderr}"
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("tidings_generated")
    for name in [name for name in sys.modules if name.split(".")[0] == "tidings_generated"]:
        del sys.modules[name]


def test_a_generated_client_sends_reads_lists_and_is_told_problems(site, generated):
    models = importlib.import_module("tidings_generated.models")
    client = generated.AuthenticatedClient(base_url=site.api, token=site.api_key)

    def call(operation: str, *path: str, **more):
        """What it answers, as the type it should have; a problem has the code."""
        answer = importlib.import_module(f"tidings_generated.api.{operation}").sync_detailed(*path, client=client, **more)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    # Somebody is there once something is said of them.
    call("users.put_profile", "demo", "alice", body=models.PutProfile(name="Alice", portrait=None))
    assert call("users.read_profile", "demo", "alice").name == "Alice"
    conversation = models.Conversation(type_=models.ConversationType.PR, target="bob")
    message = models.SendMessage(
        sender="alice", client_message_id="generated", conversation=conversation, content=json.dumps({"content": "from a generated client"}))
    sent = call("messages.send_message", "demo", body=message)
    assert isinstance(sent, models.Sent) and not sent.repeated
    assert call("messages.send_message", "demo", body=message).message_id == sent.message_id
    history = call("messages.list_messages", "demo", models.ConversationType.PR, "alice", user="bob")
    assert [(it.message_id, json.loads(it.content)["content"]) for it in history.messages] == [(sent.message_id, "from a generated client")]
    assert call("users.read_unread", "demo", "bob").unread == 1
    call("users.mark_conversation_read", "demo", "bob", body=models.MarkConversationRead(
        conversation=models.Conversation(type_=models.ConversationType.PR, target="alice"), up_to=sent.message_id))
    assert call("users.read_unread", "demo", "bob").unread == 0
    token = call("tokens.create_token", "demo", body=models.TokenDraft(user="bob")).token

    async def sign_in():
        bob = Client(site.gateway, token, device="bobs-phone")
        await bob.connect()
        await bob.ping()
        await bob.close()

    asyncio.run(asyncio.wait_for(sign_in(), 60))
    assert [it.id for it in call("devices.list_devices", "demo", "bob").devices] == ["bobs-phone"]
    trace = importlib.import_module("tidings_generated.api.messages.read_trace")
    refused = trace.sync_detailed("demo", "0000000000000", client=client)
    assert refused.status_code == 404 and isinstance(refused.parsed, models.Problem)
    assert refused.parsed.code == models.ProblemCode.UNKNOWN_MESSAGE
