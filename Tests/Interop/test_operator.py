"""The server as an operator meets it: a fault is named with its field or file, nothing starts half, and it ends cleanly."""

import asyncio
import json
import os
import pathlib
import pty
import re
import subprocess

import pytest
from tidings_client import Client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = os.environ.get("TIDINGS_TOOL", ROOT / ".build" / "release" / "tidings")


@pytest.fixture
def serve():
    """Runs `tidings serve` to its end with a changed configuration, and returns its completed process."""

    def serve(site, text=None, flags=()):
        if text is not None:
            site.config.write_text(text)
        return subprocess.run(
            [TOOL, "serve", "--config", site.config, *flags],
            cwd=site.folder, capture_output=True, text=True, timeout=60, check=False,
        )

    return serve


def assert_named(result, *words):
    """The process refused in plain words: all of these, and no trace of a crash."""
    said = result.stdout + result.stderr
    assert result.returncode > 0, f"status {result.returncode}: {said}"
    for word in words:
        assert word in said, said
    assert "Fatal error" not in said and "Thread 0" not in said, said


def test_at_a_terminal_the_log_is_text_and_elsewhere_json(make_site):
    site = make_site()
    person, terminal = pty.openpty()
    server = subprocess.Popen([TOOL, "serve", "--config", site.config], cwd=site.folder, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
    os.close(terminal)
    try:
        first = os.read(person, 4_096).decode().splitlines()[0]
    finally:
        server.terminate()
        server.wait(60)
        os.close(person)
    assert re.match(r"20\S+Z (info|notice|warning) \w", first), first
    site.start()
    assert json.loads(site.server.log.read_text().splitlines()[0])["message"]


def test_all_faults_of_a_configuration_are_listed_at_once(make_site, serve):
    result = serve(make_site(), "gateway:\n  port: 99999\napi:\n  prot: 7480\nlog:\n  level: loud\n")
    assert_named(result, "gateway.port", "99999", "api.prot", "log.level", "loud")
    assert result.returncode == 78


def test_a_configuration_that_is_no_yaml_or_not_there_is_named(make_site, serve):
    site = make_site()
    assert_named(serve(site, "gateway: [\n"), "server.yaml")
    site.config.unlink()
    assert_named(serve(site), "server.yaml", "no such file")


def test_a_port_in_use_is_named(site, make_site, serve):
    other = make_site()
    result = serve(other, flags=["--set", f"gateway.port={site.gateway_port}"])
    assert_named(result, str(site.gateway_port), "gateway.port")
    result = serve(other, flags=["--set", f"api.port={site.api_port}"])
    assert_named(result, str(site.api_port), "api.port")
    result = serve(other, flags=["--set", f"phone.port={site.phone_port}"])
    assert_named(result, str(site.phone_port), "phone.port")


def test_a_database_that_cannot_be_written_is_named(make_site, serve):
    site = make_site()
    assert_named(serve(site, flags=["--set", f"store.path={site.folder}/no/such/folder/a.sqlite"]), "no/such/folder")
    (site.folder / "text.sqlite").write_text("this is not a database, it is a text of some length\n" * 20)
    assert_named(serve(site, flags=["--set", f"store.path={site.folder}/text.sqlite"]), "text.sqlite")


def test_sigterm_asks_clients_to_come_back_and_ends_with_status_0(site):
    async def story():
        client = Client(site.gateway, site.token("alice"))
        await client.connect()
        site.server.process.terminate()
        # The client does not understand `reconnect` and stays; the server ends all the same.
        await asyncio.to_thread(site.server.process.wait, 60)
        await client.close()

    asyncio.run(asyncio.wait_for(story(), 90))
    assert site.server.process.returncode == 0, site.server.tail()


def test_the_documented_configuration_is_a_good_one(make_site, serve):
    page = (ROOT / "docs" / "server" / "configuration.md").read_text()
    example = re.search(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    place = make_site()
    # The key of the example is made, as openssl makes one; the page names a path of the reader's machine.
    key = place.folder / "AuthKey.p8"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], check=True,
        capture_output=True,
    )
    result = serve(place, re.sub(r"key_path: \S+", f"key_path: {key}", example), flags=["--check"])
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def test_every_key_it_prints_stands_in_the_documentation_with_its_default(make_site, serve):
    result = serve(make_site(), flags=["--keys"])
    page = (ROOT / "docs" / "server" / "configuration.md").read_text()
    keys = re.findall(r"^(\S+) = (.*?)    # (.*)$", result.stdout, re.MULTILINE)
    assert len(keys) > 20
    for name, default, summary in keys:
        told = f"`{default}`" if default else ""
        assert f"| `{name}` | {summary} | {told} |" in page
